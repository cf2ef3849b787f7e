//! `rowclone-sim run`: runs a scenario under each of its policies.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dram_spec::Cycles;
use report::timeline::Window;
use report::{RunReport, SCHEMA_VERSION, Timeline, csv_file, first_screen, run_tables, warnings};
use rowclone_sim::quantity::{bytes, counted};
use rowclone_sim::{ControllerSettings, CopyMethod, MemorySystem, Outcome, Reference, SharedObserver};

use super::core_runs::break_even_bytes;
use super::explain_address;
use super::programs::alone_ipc;
use super::same_bank::SameBankCopies;
use crate::args::{RunArgs, RunFormat};
use crate::experiment::{self, Wanted};
use crate::instant;
use crate::interrupt;
use crate::output;
use rowclone_config::{
    AtomicFile, Existing, Failure, Scenario, SystemConfig, Variant, Workload, create_directory, larger_copy_unit,
    programs,
};
use trace_io::trace::Recorded;

/// Runs a scenario, and prints the requested outputs.
///
/// # Errors
/// An error of a file, the memory, or the terminal.
pub fn run(args: &RunArgs) -> Result<ExitCode, Failure> {
    args.format.check_details(args.details)?;
    let scenario = args.scenario.read()?;
    let stop = interrupt::flag();
    let clock = scenario.system.memory.system().clock();
    let window = instant::window(args.from, args.to, clock)?;
    // All files are opened before the runs, and committed together after them.
    let variants = scenario.variants();
    let mut files = Files::open(args, &variants, scenario.epoch)?;
    let mut same_bank = SameBankCopies::new(&scenario.system.memory, &stop);
    let rerun = format!("rowclone-sim run {}", args.scenario.command_line());
    let mut outcomes = Vec::new();
    for ((&variant, log), drawing) in variants.iter().zip(&mut files.logs).zip(&mut files.timelines) {
        let drawn = drawing.take().map(|file| timeline(&scenario, variant, window, file));
        let observer = drawn.as_ref().map(|(_, timeline)| timeline as SharedObserver<'_>);
        let wanted = Wanted { check: args.check, observer, progress: !args.quiet, ..Wanted::new(&stop) };
        let (run, written) = experiment::run(&scenario, variant, wanted, log.take())?;
        *log = written;
        if let Some((target, timeline)) = drawn {
            if !args.quiet && window.from >= run.stats.end {
                let (policy, cycle, ns) = (variant.label("/"), run.stats.end, clock.ns(Cycles(run.stats.end.0)));
                let what = "its timeline from `--from` on is empty";
                output::message(&format!("{policy}: ends at cycle {cycle}, {ns} ns: {what}"));
            }
            let written = timeline.into_inner().into_result();
            *drawing = Some(written.map_err(|error| Failure::writing(&target, &error))?);
        }
        outcomes.push(run);
    }
    let wanted = Wanted { progress: !args.quiet, ..Wanted::new(&stop) };
    let references = references(&scenario, &variants, &outcomes, args.no_baseline, wanted)?;
    let alone_ipc = alone(&scenario, args)?;
    let assumptions = assumptions_of(&scenario, args.check)?;
    let assumptions: String = assumptions.iter().flat_map(|sentence| ["\n", sentence]).collect();
    let reports = variants.iter().zip(outcomes).map(|(&variant, mut outcome)| {
        let reference = references.iter().find(|(known, _)| *known == scenario.reference(variant));
        if let Some((_, figures)) = reference {
            outcome.compare(figures);
        }
        let reference = reference.map(|(reference, _)| reference.label("/"));
        report(&scenario, [&rerun, &assumptions], variant, reference, outcome, &alone_ipc, &mut same_bank)
    });
    let reports = reports.collect::<Result<Vec<_>, _>>()?;
    let text = match args.format {
        RunFormat::Table if !args.details => first_screen::text(&reports),
        format => render(&reports, format, output::width())?,
    };
    let written = files.commit(&reports)?;
    if !args.quiet {
        if !written.is_empty() {
            output::message(&format!("wrote {}", written.join(", ")));
        }
        output::print(text)?;
    }
    let failed = reports.iter().any(|report| !report.outcome.passed_checks());
    let incomplete = !args.allow_skipped && say_incomplete(args, &reports);
    Ok(if failed || incomplete { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The references of all variants: those that the scenario lists, and others, which run for the ratios alone unless
/// `--no-baseline` is given.
fn references<'a>(
    scenario: &'a Scenario,
    variants: &[Variant],
    outcomes: &[Outcome],
    is_unwanted: bool,
    wanted: Wanted<'a>,
) -> Result<Vec<(Variant, Reference)>, Failure> {
    let listed = variants.iter().zip(outcomes).map(|(&variant, outcome)| (variant, outcome.reference()));
    let mut known: Vec<(Variant, Reference)> = listed.collect();
    if !is_unwanted {
        for variant in scenario.unlisted_references() {
            known.push((variant, experiment::run(scenario, variant, wanted, None)?.0.reference()));
        }
    }
    Ok(known)
}

/// Instructions per cycle of each of several programs alone, as in `programs`; none with `--no-baseline`.
fn alone(scenario: &Scenario, args: &RunArgs) -> Result<Vec<f64>, Failure> {
    match (&scenario.machine, &scenario.workload) {
        (Some(machine), Workload::Programs(workload)) if workload.files().len() > 1 && !args.no_baseline => {
            alone_ipc(machine, workload.files(), (workload.region, workload.copies), args.check, || ())
        }
        _ => Ok(Vec::new()),
    }
}

/// Prints a warning for each result that does not represent its trace; returns whether there is one.
fn say_incomplete(args: &RunArgs, reports: &[RunReport]) -> bool {
    let mut any = false;
    for report in reports {
        if let Some(why) = report.outcome.trace.as_ref().and_then(|trace| warnings::too_much_skipped(trace.tally())) {
            output::message(&format!("{}: {why}", report.label()));
            any = true;
        }
    }
    if any {
        output::message(&args.scenario.words(warnings::SKIPPED_HELP));
    }
    any
}

/// A timeline that is drawn during a run, with the name of its file.
type Drawn = (PathBuf, RefCell<Timeline<AtomicFile>>);

fn timeline(scenario: &Scenario, variant: Variant, window: Window, file: AtomicFile) -> Drawn {
    let memory = &scenario.system.memory;
    let title = format!("{}, {}", scenario.name, variant.label("/"));
    let target = file.target().to_owned();
    (target, RefCell::new(Timeline::new(file, &title, memory.system(), memory.map(), window)))
}

/// Output that a run writes once per result: the flag that names it, and the reason why it goes to a file only.
type PerResult = (&'static str, &'static str);

const LOG: PerResult = ("--commands", "a log needs a file, because its header contains the end of the run");
const TIMELINE: PerResult = ("--timeline", "a timeline needs a file, because standard output has the results");

/// The file of an output: `log.csv` becomes `log-rowclone.csv` where there are several variants.
fn file_of(
    (flag, why): PerResult,
    path: &Path,
    variant: Variant,
    variants: usize,
    existing: Existing,
) -> Result<AtomicFile, Failure> {
    let Some(stem) = path.file_stem().filter(|_| !path.is_dir()) else {
        return Err(Failure::at(path, "is a directory").with_help(format!("give `{flag}` the name of a file")));
    };
    if path == Path::new("-") {
        return Err(Failure::new(format!("`{flag} -`: {why}")).with_help("give the name of a new file"));
    }
    if variants == 1 || path.metadata().is_ok_and(|there| !there.is_file()) {
        return AtomicFile::create(path, existing);
    }
    let stem = stem.to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}-{}.{}", variant.label("-"), extension.to_string_lossy()),
        None => format!("{stem}-{}", variant.label("-")),
    };
    AtomicFile::create(&path.with_file_name(name), existing)
}

fn render(reports: &[RunReport], format: RunFormat, width: usize) -> Result<String, Failure> {
    Ok(match format {
        RunFormat::Table => run_tables::text(reports, width),
        RunFormat::Json => serde_json::to_string_pretty(reports).map_err(Failure::new)? + "\n",
        RunFormat::Csv => csv_file::results(reports).map_err(Failure::new)?,
    })
}

/// Output files of a run.
struct Files {
    /// Command logs, one per result, if requested.
    logs: Vec<Option<AtomicFile>>,
    /// Timelines, one per result, if requested.
    timelines: Vec<Option<AtomicFile>>,
    /// `report.txt`, `results.json`, `results.csv`, `operations.csv`, and with epochs `epochs.csv`, if a directory is
    /// requested.
    results: Vec<AtomicFile>,
    /// The directory, if the run created it.
    made: Option<PathBuf>,
}

impl Files {
    fn open(args: &RunArgs, variants: &[Variant], epoch: Option<Cycles>) -> Result<Files, Failure> {
        let existing = Existing::with_force(args.force);
        let mut files = Files { logs: Vec::new(), timelines: Vec::new(), results: Vec::new(), made: None };
        if let (Some(log), Some(timeline)) = (&args.commands, &args.timeline)
            && log == timeline
        {
            return Err(Failure::at(log, "is given to both `--commands` and `--timeline`")
                .with_help("give each a file of its own"));
        }
        for &variant in variants {
            for (kind, path, files) in
                [(LOG, &args.commands, &mut files.logs), (TIMELINE, &args.timeline, &mut files.timelines)]
            {
                let file = path.as_deref().map(|path| file_of(kind, path, variant, variants.len(), existing));
                files.push(file.transpose()?);
            }
        }
        if let Some(directory) = &args.out {
            if !directory.exists() {
                files.made = Some(directory.clone());
            }
            create_directory(directory)?;
            let by_epoch = epoch.map(|_| "epochs.csv");
            for name in ["report.txt", "results.json", "results.csv", "operations.csv"].into_iter().chain(by_epoch) {
                files.results.push(AtomicFile::create(&directory.join(name), existing)?);
            }
        }
        Ok(files)
    }

    /// Writes the results, and commits all files; returns their names.
    fn commit(mut self, reports: &[RunReport]) -> Result<Vec<String>, Failure> {
        let texts = [
            render(reports, RunFormat::Table, usize::MAX)?,
            render(reports, RunFormat::Json, usize::MAX)?,
            render(reports, RunFormat::Csv, usize::MAX)?,
            csv_file::operations(reports).map_err(Failure::new)?,
            csv_file::epochs(reports).map_err(Failure::new)?,
        ];
        let per_result = self.logs.drain(..).chain(self.timelines.drain(..)).flatten();
        // Their contents are complete.
        let per_result = per_result.map(|file| (file, String::new()));
        let written = AtomicFile::complete_all(per_result.chain(self.results.drain(..).zip(texts)).collect())?;
        self.made = None;
        Ok(written)
    }
}

impl Drop for Files {
    /// Removes a directory that was created and is still empty.
    fn drop(&mut self) {
        self.results.clear();
        if let Some(directory) = &self.made {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

fn report(
    scenario: &Scenario,
    [rerun, assumptions]: [&str; 2],
    variant: Variant,
    reference: Option<String>,
    mut run: Outcome,
    alone_ipc: &[f64],
    same_bank: &mut SameBankCopies<'_>,
) -> Result<RunReport, Failure> {
    let memory = &scenario.system.memory;
    let mut warnings = warnings::of_run(scenario, variant, &run);
    let latency_from = run.trace.as_ref().map(|trace| format!("\nlatencies count from {}", trace.latency_from));
    if let Workload::Operations(listed) = &scenario.workload
        && listed.len() > Outcome::OPERATIONS_MAX
    {
        let most = Outcome::OPERATIONS_MAX;
        warnings.push(format!("more than {most} operations: they are summed up, and not listed one by one"));
    }
    for (row, completion) in run.operations.iter_mut().zip(&run.completions) {
        same_bank.compare(row, completion.operation)?;
    }
    Ok(RunReport {
        schema_version: SCHEMA_VERSION,
        placement: variant.placement.name(),
        scenario: scenario.name.clone(),
        system: summary(&scenario.system),
        controller: controller(scenario, variant).summary(),
        seed: scenario.seed,
        currents: memory.prices().map(|prices| prices.set().to_owned()),
        background_rho: background_rho(memory),
        rerun: rerun.to_owned(),
        reference,
        baseline: match &scenario.machine {
            Some(machine) => programs::baseline(machine),
            None => "copies over the memory channel".to_owned(),
        },
        alone_ipc: alone_ipc.to_owned(),
        break_even_bytes: break_even(scenario, variant)?,
        mix: run.cores.as_ref().and_then(|cores| cores.mix(alone_ipc)),
        outcome: run,
        warnings,
        brief: brief(scenario) + &latency_from.unwrap_or_default() + assumptions,
        copies: scenario.copies(),
        row_bytes: memory.system().geometry.row_bytes(),
    })
}

/// Assumptions about the recordings of a scenario, a list of sentences.
pub(super) fn assumptions_of(scenario: &Scenario, is_checked: bool) -> Result<Vec<String>, Failure> {
    match (&scenario.workload, &scenario.machine) {
        (Workload::Programs(workload), Some(machine)) => programs::assumptions(workload.files(), machine, is_checked),
        _ => Ok(Vec::new()),
    }
}

/// The break-even size of the device of a policy; none without one.
fn break_even(scenario: &Scenario, variant: Variant) -> Result<Option<u64>, Failure> {
    match &scenario.machine {
        Some(machine) => break_even_bytes(machine, CopyMethod::of(variant.policy)),
        None => Ok(None),
    }
}

/// The controller of a run: a policy with a device sets the scheduler, unless the system names one.
fn controller(scenario: &Scenario, variant: Variant) -> ControllerSettings {
    let settings = scenario.system.memory.controller();
    match &scenario.machine {
        Some(machine) => CopyMethod::of(variant.policy).controller(settings, &machine.devices),
        None => settings.clone(),
    }
}

/// The parameter of the background model; none if it and that of the standard are 1.
fn background_rho(memory: &MemorySystem) -> Option<f64> {
    let rho = memory.prices()?.background_rho();
    let of_standard = memory.system().standard().definition().background_rho;
    (rho < 1.0 || of_standard < 1.0).then_some(rho)
}

/// Lines for the terminal: scenario and system, trace with arrivals and usable capacity, and copy unit.
fn brief(scenario: &Scenario) -> String {
    let system = &scenario.system;
    let geometry = system.memory.system().geometry;
    let ranks = match geometry.ranks() {
        1 => String::new(),
        ranks => format!(" x {ranks} ranks"),
    };
    let trace = match &scenario.workload {
        Workload::Trace(trace) => {
            let origin = if trace.is_timing_given { "" } else { " (default)" };
            let usable = if trace.as_recorded {
                format!("\nusable capacity {}", explain_address::usable(system.memory.map()))
            } else {
                String::new()
            };
            let ipc = match trace.format.recorded {
                Recorded::OsEvents => "\nno IPC: only page faults were recorded, no instructions",
                _ => "",
            };
            format!("\ntrace of the format {}, arrivals: {}{origin}{usable}{ipc}", trace.format.name, trace.timing)
        }
        _ => String::new(),
    };
    format!(
        "{} on {}: {}, {}, {}{ranks}, {} rows{trace}",
        scenario.name,
        system.name,
        system.memory.system().bin.full_name(),
        bytes(geometry.bytes()),
        counted(u64::from(geometry.channels()), "channel"),
        bytes(geometry.row_bytes()),
    ) + &copy_unit(scenario)
}

/// A line about the copy unit of allocators, if the unit is not a page.
fn copy_unit(scenario: &Scenario) -> String {
    let unit = scenario.allocator.as_ref().map(|allocator| allocator.copy_unit);
    let text = unit.and_then(|unit| larger_copy_unit(unit, &scenario.system));
    text.map_or_else(String::new, |text| format!("\n{text}"))
}

/// One line about a system.
pub(super) fn summary(config: &SystemConfig) -> String {
    let (bin, geometry) = (config.memory.system().bin, config.memory.system().geometry);
    format!(
        "{} ({} {}, {} x {}, {} {} chips, rows of {}, {} rows per subarray, {})",
        config.name,
        bin.full_name(),
        bin.latencies(),
        counted(u64::from(geometry.channels()), "channel"),
        counted(u64::from(geometry.ranks()), "rank"),
        geometry.density(),
        geometry.width(),
        bytes(geometry.row_bytes()),
        geometry.rows_per_subarray(),
        bytes(geometry.bytes())
    )
}
