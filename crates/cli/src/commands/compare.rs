//! `rowclone-sim compare`: every copier on one machine and workload.

use std::cmp::Reverse;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::experiment::{self, Wanted};
use host::machine::{NetworkSettings, Region};
use memctrl::policy::copy::BASELINE;
use rayon::ThreadPoolBuilder;
use report::CompareTable;
use report::compare::ComparedCase;
use report::plot::{Extent, Picture, svg};
use report::table::Align::Left;
use report::table::{TextColumn, listed};
use rowclone_config::{
    AtomicFile, Existing, Failure, MachineConfig, ReceiverConfig, Scenario, Variant, create_directory,
    error::FailureCause, programs, programs::assumptions,
};
use rowclone_sim::Outcome;
use rowclone_sim::compare::{Case, CaseOperation, CopierComparison, CopierResult, NamedCopier, Unable};

use super::core_runs::{in_parallel, run_programs};
use super::run::assumptions_of;
use crate::args::{CompareArgs, RunFormat};
use crate::{interrupt, output};

/// Refuses an option that lists a value twice.
fn once<T: PartialEq + Display>(option: &str, values: impl IntoIterator<Item = T>) -> Result<(), Failure> {
    let values: Vec<T> = values.into_iter().collect();
    match values.iter().enumerate().find(|(at, value)| values[..*at].contains(value)) {
        Some((_, again)) => Err(Failure::new(format!("--{option} lists `{again}` twice; name each value once"))),
        None => Ok(()),
    }
}

/// Compares copiers, and prints and writes the results.
///
/// # Errors
/// An error of a file, the machine or the terminal; a signal; a failed check.
pub fn run(args: &CompareArgs) -> Result<ExitCode, Failure> {
    if args.list {
        return output::print(names());
    }
    args.format.check_details(args.details)?;
    let copiers = if args.copiers.is_empty() { NamedCopier::all() } else { args.copiers.clone() };
    once("copiers", copiers.iter().map(|copier| copier.name()))?;
    once("operations", &args.operations)?;
    once("sources", &args.sources)?;
    once("sizes", &args.sizes)?;
    once("reads", &args.reads)?;
    let files = args.out.as_deref().map(|path| Files::open(path, args.force)).transpose()?;
    let pool = ThreadPoolBuilder::new().num_threads(args.jobs.map_or(0, std::num::NonZeroUsize::get)).build();
    let pool = pool.map_err(|error| Failure::new(format!("the runs cannot be started: {error}")))?;
    let table = pool.install(|| match &args.file {
        None => of_cases(args, copiers),
        Some(path) if path.extension().is_some_and(|ending| ending == "toml") => of_scenario(args, path, copiers),
        Some(path) => of_program(args, path, copiers),
    })?;
    let text = match args.format {
        RunFormat::Table => table.to_text(args.details, output::width()),
        RunFormat::Json => json(&table)?,
        RunFormat::Csv => table.to_csv().map_err(Failure::new)?,
    };
    if let Some(files) = files {
        output::message(&format!("wrote {}", files.write(&table)?.join(", ")));
    }
    output::print(text)
}

fn json(table: &CompareTable) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(&table.json()).map_err(Failure::new)? + "\n")
}

/// The names of all copiers with their kinds, and how messages reach them.
fn names() -> String {
    let columns: [TextColumn<'_, NamedCopier>; 2] = [
        ("copier", Left, &|copier| copier.name().to_owned()),
        ("kind", Left, &|copier| copier.kind().name().to_owned()),
    ];
    listed(&columns, &NamedCopier::all(), usize::MAX)
        + "each of them receives a message from memory, and by cache injection (`receive`)\n"
}

/// The cases of the options, or all.
fn cases(args: &CompareArgs) -> Vec<Case> {
    let or_all = |given: &[u64], all: &[u64]| if given.is_empty() { all.to_vec() } else { given.to_vec() };
    let is_wanted = |given: &[String], name: &str| given.is_empty() || given.iter().any(|given| given == name);
    let operations: Vec<CaseOperation> = CaseOperation::all()
        .into_iter()
        .filter(|operation| is_wanted(&args.operations, operation.name()))
        .filter(|operation| operation.name() != "copy" || is_wanted(&args.sources, operation.state()))
        .collect();
    Case::all(&operations, &or_all(&args.sizes, &Case::SIZES), &or_all(&args.reads, &Case::READS))
}

/// Copies, zeroings and messages under each copier.
fn of_cases(args: &CompareArgs, copiers: Vec<NamedCopier>) -> Result<CompareTable, Failure> {
    let machine = args.machine.read()?;
    let network = machine.settings.network.unwrap_or_else(|| NetworkSettings::gigabit(1, 1, 1));
    let working_set_bytes = args.working_set.unwrap_or_else(|| CopierComparison::half_of_cache(&machine.settings));
    let comparison = CopierComparison {
        system: &machine.system.memory,
        settings: &machine.settings,
        devices: &machine.devices,
        receiver: ReceiverConfig::shipped()?.settings(&network, true),
        working_set_bytes,
        is_checked: args.check,
    };
    let (cases, stop) = (cases(args), interrupt::flag());
    let jobs: Vec<(Case, NamedCopier)> =
        cases.iter().flat_map(|&case| copiers.iter().map(move |&copier| (case, copier))).collect();
    let run = |&(case, copier): &(Case, NamedCopier)| checked(copier, comparison.result(copier, case, &stop)?);
    // The longest runs begin first.
    let mut begun: Vec<usize> = (0..jobs.len()).collect();
    begun.sort_by_key(|&place| Reverse(jobs[place].0.bytes));
    let mut results = in_parallel(&begun, |&place| Ok((place, run(&jobs[place])?)))?;
    results.sort_by_key(|(place, _)| *place);
    let mut results = results.into_iter().map(|(_, result)| result);
    let case = |case| ComparedCase::new(case, copiers.iter().copied().zip(results.by_ref()).collect());
    let cases = cases.into_iter().map(case).collect();
    Ok(CompareTable {
        machine: machine.name.clone(),
        working_set_bytes: Some(working_set_bytes),
        assumptions: Vec::new(),
        copiers,
        cases,
    })
}

/// A result whose checks passed.
fn checked(copier: NamedCopier, result: CopierResult) -> Result<CopierResult, Failure> {
    if result.passed_checks {
        return Ok(result);
    }
    Err(Failure::new(format!("a check failed under `{}`", copier.name()))
        .with_help("this is a defect of the simulator: report the command line"))
}

/// The result of a run. An error becomes the reason why the copier has no result, except a signal, which remains an
/// error.
fn copier_result(copier: NamedCopier, run: Result<Outcome, Failure>) -> Result<CopierResult, Failure> {
    match run {
        Ok(outcome) => checked(copier, CopierResult::of_outcome(copier, &outcome)),
        Err(error) if error.cause == FailureCause::Interrupted => Err(error),
        Err(error) => Ok(refused(Unable::Impossible(error.to_string()))),
    }
}

/// A result without figures.
const fn refused(why: Unable) -> CopierResult {
    CopierResult { figures: Err(why), passed_checks: true }
}

/// A scenario under each copier, once per placement of its pages.
fn of_scenario(args: &CompareArgs, path: &Path, copiers: Vec<NamedCopier>) -> Result<CompareTable, Failure> {
    if args.machine.machine.is_some() {
        let error = Failure::new("`--machine` is given, but the scenario names its machine or system");
        return Err(error.with_help("write `--set machine=NAME`"));
    }
    let scenario = Scenario::read(path, &args.machine.set)?;
    let mut copiers = copiers;
    if args.copiers.is_empty() && scenario.machine.is_none() {
        // Without cores, the channel has no loop.
        copiers.insert(0, NamedCopier::of_policy(BASELINE));
    }
    let stop = interrupt::flag();
    let mut placements = Vec::new();
    for variant in scenario.variants() {
        if !placements.contains(&variant.placement) {
            placements.push(variant.placement);
        }
    }
    let jobs: Vec<Variant> = placements
        .iter()
        .flat_map(|&placement| {
            copiers.iter().map(move |&NamedCopier { policy, copy_loop }| Variant { policy, copy_loop, placement })
        })
        .collect();
    let run = |&variant: &Variant| variant_result(&scenario, variant, args.check, &stop);
    let mut results = in_parallel(&jobs, run)?.into_iter();
    let case = |placement: &rowclone_config::Placement| {
        let state = match placement.name().filter(|_| placements.len() > 1) {
            Some(placement) => format!("{}, {placement}", scenario.name),
            None => scenario.name.clone(),
        };
        ComparedCase::scenario(state, copiers.iter().copied().zip(results.by_ref()).collect())
    };
    let cases = placements.iter().map(case).collect();
    let machine = scenario.machine.as_ref().map_or(&scenario.system.name, |machine| &machine.name);
    let assumptions = assumptions_of(&scenario, args.check)?;
    Ok(CompareTable { machine: machine.clone(), working_set_bytes: None, assumptions, copiers, cases })
}

/// The result of a scenario under a copier.
fn variant_result(
    scenario: &Scenario,
    variant: Variant,
    check: bool,
    stop: &Arc<AtomicBool>,
) -> Result<CopierResult, Failure> {
    let copier = variant.copier();
    if copier.needs_cores() && scenario.machine.is_none() {
        return Ok(refused(Unable::NeedsCores));
    }
    let wanted = Wanted { check, progress: false, ..Wanted::new(stop) };
    copier_result(copier, experiment::run(scenario, variant, wanted, None).map(|(outcome, _)| outcome))
}

/// A program trace, or a memory trace with instructions, on a core under each copier.
fn of_program(args: &CompareArgs, path: &Path, copiers: Vec<NamedCopier>) -> Result<CompareTable, Failure> {
    let machine = args.machine.read()?;
    let name = programs::label(path)?;
    let run = |&copier: &NamedCopier| {
        let settings = copier.applied_to(&machine.settings);
        let of_copier = MachineConfig { settings, ..machine.clone() };
        let method = rowclone_sim::CopyMethod::of(copier.policy);
        let settings = programs::recording_settings(args.copies, method);
        let program = programs::open(path, &of_copier, settings)?;
        let run = run_programs(&of_copier, method, vec![program], Region::default(), args.check);
        copier_result(copier, run.map(|(outcome, _)| outcome))
    };
    let results = in_parallel(&copiers, run)?;
    let case = ComparedCase::scenario(name, copiers.iter().copied().zip(results).collect());
    let assumptions = assumptions(&[path.to_owned()], &machine, args.check)?;
    Ok(CompareTable { machine: machine.name, working_set_bytes: None, assumptions, copiers, cases: vec![case] })
}

/// Files of a directory, opened before anything runs.
struct Files<'a> {
    directory: &'a Path,
    existing: Existing,
    results: Vec<AtomicFile>,
}

impl<'a> Files<'a> {
    fn open(path: &'a Path, force: bool) -> Result<Files<'a>, Failure> {
        create_directory(path)?;
        let existing = Existing::with_force(force);
        let names = ["report.txt", "results.json", "results.csv", "compare.html"];
        let open = |name: &str| AtomicFile::create(&path.join(name), existing);
        Ok(Files { directory: path, existing, results: names.into_iter().map(open).collect::<Result<_, _>>()? })
    }

    /// Writes the results and the pictures; returns the names of the files.
    fn write(self, table: &CompareTable) -> Result<Vec<String>, Failure> {
        let texts =
            [table.to_text(true, usize::MAX), json(table)?, table.to_csv().map_err(Failure::new)?, table.to_html()];
        let mut contents: Vec<(AtomicFile, String)> = self.results.into_iter().zip(texts).collect();
        for picture in table.pictures() {
            let path = self.directory.join(format!("{}.svg", picture.name));
            let file = AtomicFile::create(&path, self.existing)?;
            contents.push((file, svg(&Picture::of(&picture.chart, Extent::COLUMN))));
        }
        AtomicFile::complete_all(contents)
    }
}
