//! `rowclone-sim run`: a scenario under each of its policies, side by side.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::Cycles;
use energy::Prices;
use host::{Place, TraceCounts, place};
use memctrl::{Completion, Policy};
use report::figures::by_cause;
use report::table::bytes;
use report::{Comparison, OperationRow, RunInputs, RunReport, TraceReport, csv_file, run_tables};
use rowclone::{Mechanism, Operation, Part};

use crate::CliError;
use crate::args::{RunArgs, RunFormat};
use crate::experiment::{self, VariantRun, Wanted};
use crate::input::{Scenario, SystemConfig, Variant, Workload};
use crate::interrupt;
use crate::output::{self, AtomicFile, Existing, Stdout};

/// Runs, and prints what was asked for.
///
/// # Errors
/// Anything wrong with a file, the memory, or the terminal; each in one message.
pub fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let scenario = Scenario::read(&args.scenario.scenario, &args.scenario.set)?;
    let stop = interrupt::flag()?;
    let prices = experiment::prices(&scenario.system)?;
    // Every file is opened before anything runs, and gets its name when all is done: all of them, or none.
    let variants = scenario.variants();
    let mut files = Files::open(args, &variants, scenario.epoch)?;
    let mut references = References::new(&scenario.system, &prices, &stop);
    let mut reports = Vec::new();
    for (&variant, log) in variants.iter().zip(&mut files.logs) {
        let wanted = Wanted { check: args.check, stop: &stop };
        let mut run = experiment::run(&scenario, &prices, variant, wanted, log.take())?;
        *log = run.log.take();
        reports.push(report(&scenario, &prices, variant, &run, &mut references)?);
    }
    let text = render(&reports, args.format)?;
    files.commit(&reports)?;
    let mut stdout = Stdout::lock();
    stdout.print(text)?;
    stdout.finish()?;
    let failed = reports.iter().any(|report| report.check.as_ref().is_some_and(|check| !check.passed()));
    Ok(if failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// One log a result: `log.csv` becomes `log-rule.csv` where there are several.
fn log_file(path: &Path, variant: Variant, variants: usize, existing: Existing) -> Result<AtomicFile, CliError> {
    let Some(stem) = path.file_stem().filter(|_| !path.is_dir()) else {
        let message = format!("{}: is a directory", path.display());
        return Err(CliError::new(message).with_help("give `--commands` the name of a file"));
    };
    if path == Path::new("-") {
        let message = "`--commands -`: a log needs a file, for its end is entered at its beginning";
        return Err(CliError::new(message).with_help("give the name of a new file"));
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

fn render(reports: &[RunReport], format: RunFormat) -> Result<String, CliError> {
    Ok(match format {
        RunFormat::Table => run_tables::text(reports),
        RunFormat::Json => serde_json::to_string_pretty(reports).map_err(CliError::new)? + "\n",
        RunFormat::Csv => csv_file::results(reports).map_err(CliError::new)?,
    })
}

/// The files that a run writes besides its standard output.
struct Files {
    /// One a result, where logs are wanted.
    logs: Vec<Option<AtomicFile>>,
    /// `report.txt`, `results.json`, `results.csv`, `operations.csv`, and with epochs `epochs.csv`, where a directory is wanted.
    results: Vec<AtomicFile>,
    /// The directory, where it had to be made.
    made: Option<PathBuf>,
}

impl Files {
    fn open(args: &RunArgs, variants: &[Variant], epoch: Option<Cycles>) -> Result<Files, CliError> {
        let existing = Existing::with_force(args.force);
        let mut files = Files { logs: Vec::new(), results: Vec::new(), made: None };
        for &variant in variants {
            let log = args.commands.as_deref().map(|path| log_file(path, variant, variants.len(), existing));
            files.logs.push(log.transpose()?);
        }
        if let Some(directory) = &args.out {
            if !directory.exists() {
                files.made = Some(directory.clone());
            }
            std::fs::create_dir_all(directory).map_err(|error| match error.kind() {
                std::io::ErrorKind::AlreadyExists => {
                    CliError::new(format!("{}: is a file", directory.display())).with_help("give `--out` a directory")
                }
                _ => CliError::writing(directory, &error),
            })?;
            let by_epoch = epoch.map(|_| "epochs.csv");
            for name in ["report.txt", "results.json", "results.csv", "operations.csv"].into_iter().chain(by_epoch) {
                files.results.push(AtomicFile::create(&directory.join(name), existing)?);
            }
        }
        Ok(files)
    }

    fn commit(mut self, reports: &[RunReport]) -> Result<(), CliError> {
        let texts = [
            render(reports, RunFormat::Table)?,
            render(reports, RunFormat::Json)?,
            render(reports, RunFormat::Csv)?,
            csv_file::operations(reports).map_err(CliError::new)?,
            csv_file::epochs(reports).map_err(CliError::new)?,
        ];
        for (file, text) in self.results.iter_mut().zip(texts) {
            let written = std::io::Write::write_all(file, text.as_bytes());
            written.map_err(|error| CliError::writing(file.target(), &error))?;
        }
        let mut written = Vec::new();
        for file in self.logs.drain(..).flatten().chain(self.results.drain(..)) {
            written.push(file.target().display().to_string());
            file.commit()?;
        }
        self.made = None;
        if !written.is_empty() {
            output::message(&format!("wrote {}", written.join(", ")));
        }
        Ok(())
    }
}

impl Drop for Files {
    /// A directory that was made for nothing goes again; one with anything in it stays.
    fn drop(&mut self) {
        self.results.clear();
        if let Some(directory) = &self.made {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

/// Channel copies on an idle memory, simulated once each.
struct References<'a> {
    system: &'a SystemConfig,
    prices: &'a Prices,
    stop: &'a Arc<AtomicBool>,
    known: BTreeMap<String, (Cycles, f64)>,
}

impl<'a> References<'a> {
    fn new(system: &'a SystemConfig, prices: &'a Prices, stop: &'a Arc<AtomicBool>) -> Self {
        References { system, prices, stop, known: BTreeMap::new() }
    }

    /// Latency and energy (nJ, above standby) of the operation over the channel.
    fn channel(&mut self, operation: Operation) -> Result<(Cycles, f64), CliError> {
        let key = operation.to_string();
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let completion = experiment::alone(self.system, self.prices, Policy::Channel, operation, self.stop)?;
        let latency = completion.latency();
        let energy = experiment::operation_energy(self.prices, &completion.commands).operation().nj();
        self.known.insert(key, (latency, energy));
        Ok((latency, energy))
    }

    /// Sets a latency and an energy against the channel's.
    fn compare(&mut self, channel: Operation, latency: Cycles, nj: f64) -> Result<Comparison, CliError> {
        let (channel_latency, channel_nj) = self.channel(channel)?;
        Ok(Comparison {
            latency_cycles: channel_latency.0,
            energy_nj: channel_nj,
            speedup: channel_latency.0 as f64 / latency.0 as f64,
            energy_ratio: channel_nj / nj,
        })
    }

    /// The pair in one bank that the published baseline copies; for a zeroing, itself.
    fn same_bank(&self, operation: Operation) -> Option<Operation> {
        match operation {
            Operation::Copy { dst, bytes, .. } => {
                let src = place(&self.system.planner, Place::SameBank, dst, bytes).ok()?;
                Some(Operation::Copy { src, dst, bytes })
            }
            Operation::Init { .. } => Some(operation),
            Operation::Read { .. } | Operation::Write { .. } => None,
        }
    }
}

/// More operations than this are summed up, and not listed one by one: each is compared with runs of its own.
const LISTED_MOST: usize = 10_000;

fn report(
    scenario: &Scenario,
    prices: &Prices,
    variant: Variant,
    run: &VariantRun,
    references: &mut References<'_>,
) -> Result<RunReport, CliError> {
    let (clock, policy) = (scenario.system.system.clock(), variant.policy);
    let mut operations = Vec::new();
    if let Workload::Operations(specs) = &scenario.workload
        && specs.len() <= LISTED_MOST
    {
        for (spec, completion) in specs.iter().zip(&run.completions) {
            operations.push(operation_row(experiment::label(spec), scenario, prices, policy, completion, references)?);
        }
    }
    let mut warnings = warnings(&scenario.system);
    if let Workload::Operations(specs) = &scenario.workload
        && specs.len() > LISTED_MOST
    {
        warnings.push(format!("more than {LISTED_MOST} operations: they are summed up, and not listed one by one"));
    }
    if run.stats.whole.requests == 0 {
        warnings.push("nothing was played: the trace holds no copy and no fill that this memory can take".to_string());
    }
    if matches!(scenario.workload, Workload::Trace(_)) {
        warnings.push("no last-level cache is modelled: every recorded copy and zeroing goes to memory".to_string());
    }
    if run.dropped_activations > 0 {
        warnings.push(format!(
            "{}: {} copy activations were dropped by the chips",
            variant.label("/"),
            run.dropped_activations
        ));
    }
    Ok(RunReport::new(RunInputs {
        policy: policy.name(),
        placement: variant.placement.name(),
        scenario: &scenario.name,
        system: &summary(&scenario.system),
        controller: &scenario.system.controller.summary(),
        seed: scenario.seed,
        currents: prices.set(),
        clock,
        channels: scenario.system.system.geometry.channels(),
        stats: &run.stats,
        energy: &run.energy.whole,
        epoch_energy: &run.energy.epochs,
        operations,
        allocator: run.allocator.clone(),
        trace: run.trace.as_ref().zip(trace_path(scenario)).map(|(counts, path)| trace_report(path, counts)),
        check: run.check.clone(),
        dropped_activations: run.dropped_activations,
        warnings,
    }))
}

fn operation_row(
    label: String,
    scenario: &Scenario,
    prices: &Prices,
    policy: Policy,
    completion: &Completion,
    references: &mut References<'_>,
) -> Result<OperationRow, CliError> {
    let operation = completion.operation;
    let energy = experiment::operation_energy(prices, &completion.commands);
    let (latency, nj) = (completion.latency(), energy.operation().nj());
    let compared = matches!(operation, Operation::Copy { .. } | Operation::Init { .. }) && latency.0 > 0;
    let same_pair = compared.then_some(operation);
    let same_bank = same_pair.and_then(|operation| references.same_bank(operation));
    let mut against =
        |channel: Option<Operation>| channel.map(|channel| references.compare(channel, latency, nj)).transpose();
    let (against_same_pair, against_same_bank) = (against(same_pair)?, against(same_bank)?);
    let (reasons, mend) = why(scenario, policy, completion);
    Ok(OperationRow {
        label,
        mechanism: experiment::mechanisms(completion),
        reasons,
        mend,
        arrival_cycle: completion.arrival.0,
        latency_cycles: latency.0,
        latency_ns: scenario.system.system.clock().ns(latency),
        energy_nj: nj,
        energy_by_cause_nj: by_cause(&energy),
        channel_bytes: completion.channel_bytes(),
        against_same_pair,
        against_same_bank,
    })
}

/// Why the parts of an operation were served as they were, and what the user could change so that FPM serves them: of each
/// mechanism and reason the first sentence, for parts differ in their numbers.
fn why(scenario: &Scenario, policy: Policy, completion: &Completion) -> (Vec<String>, Vec<String>) {
    let (mut reasons, mut mend) = (BTreeMap::new(), BTreeMap::new());
    for block in scenario.system.planner.blocks(&completion.operation) {
        for part in block.parts() {
            for chosen in chosen(policy, part, completion) {
                let key = (Reverse(chosen), policy.reason(part, chosen));
                reasons.entry(key).or_insert_with(|| format!("{}: {}", chosen.name(), because(policy, part, chosen)));
            }
            if policy.admits().contains(&Mechanism::Fpm)
                && let Err(reason) = part.allows(Mechanism::Fpm)
                && let Some(help) = reason.mend()
            {
                mend.entry(reason.name()).or_insert_with(|| format!("{reason}: {help}"));
            }
        }
    }
    (reasons.into_values().collect(), mend.into_values().collect())
}

/// What a part was given; of a policy that weighs, all that the tally of the operation leaves possible.
fn chosen(policy: Policy, part: &Part, completion: &Completion) -> Vec<Mechanism> {
    if !experiment::weighs(policy) {
        return vec![policy.choose(part)];
    }
    let taken =
        completion.segments.0.keys().filter(|(mechanism, reason)| {
            part.allows(*mechanism).is_ok() && policy.reason(part, *mechanism) == *reason
        });
    taken.map(|(mechanism, _)| *mechanism).collect()
}

fn because(policy: Policy, part: &Part, chosen: Mechanism) -> String {
    let ruled = Policy::Rule.choose(part);
    match policy {
        Policy::Fastest if chosen != ruled => format!("estimated to be done sooner than by {}", ruled.name()),
        Policy::LeastEnergy if chosen != ruled => format!("takes less energy than {}", ruled.name()),
        _ => policy.explain(part, chosen),
    }
}

fn trace_path(scenario: &Scenario) -> Option<&Path> {
    match &scenario.workload {
        Workload::Trace(trace) => Some(&trace.path),
        _ => None,
    }
}

/// One line about a system.
fn summary(config: &SystemConfig) -> String {
    let (bin, geometry) = (config.system.bin, config.system.geometry);
    let count = |count: u8, noun: &str| if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") };
    format!(
        "{} (DDR3-{} {}, {} x {}, {} {} chips, rows of {}, {} rows a subarray, {})",
        config.name,
        bin.name,
        bin.latencies(),
        count(geometry.channels(), "channel"),
        count(geometry.ranks(), "rank"),
        geometry.density(),
        geometry.width(),
        bytes(geometry.row_bytes()),
        geometry.rows_per_subarray(),
        bytes(geometry.bytes())
    )
}

/// What to know about a system before believing its numbers.
fn warnings(config: &SystemConfig) -> Vec<String> {
    let (currents, geometry) = (&config.currents, config.system.geometry);
    let mut warnings = Vec::new();
    if currents.density() != geometry.density() {
        warnings.push(format!(
            "the currents `{}` are of {} chips, and the system has {} chips: its energies are those of another part",
            currents.name(),
            currents.density(),
            geometry.density()
        ));
    }
    warnings
}

fn trace_report(path: &Path, counts: &TraceCounts) -> TraceReport {
    TraceReport {
        file: path.display().to_string(),
        copies: counts.copies,
        fills: counts.fills,
        accesses: counts.accesses,
        reads: counts.reads,
        writebacks: counts.writebacks,
        skipped_outside: counts.skipped_outside,
        skipped_reserved: counts.skipped_reserved,
        skipped: counts.skipped.iter().map(|skipped| format!("line {}: {}", skipped.line, skipped.why)).collect(),
    }
}
