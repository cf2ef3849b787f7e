//! Execution of a sweep: points run in parallel, and each finished run is recorded at once.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use rayon::ThreadPoolBuilder;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelBridge, ParallelIterator};
use report::{Cell, CellColumn, run_cells, warnings};
use rowclone_sim::{Attachments, Outcome, TraceTally};

use rowclone_config::{Failure, Library, ResolvedScenario, Scenario, Variant, Workload, library::locked};

use super::digest::{Digest, ScenarioDigest};
use super::file::SweepFile;
use super::journal::{JournalWriter, Journals};
use super::points::{Point, Points};
use super::progress::{Progress, Tally};
use super::record::Record;
use super::shard::Shard;
use super::traces::{PlayedFile, Traces};

/// A sweep, with the state that its runs share.
pub struct Sweep<'a> {
    /// Points of the sweep.
    pub points: Points<'a>,
    /// Whether runs that skip more than 1 % of the records of a trace count as successful.
    pub allow_skipped: bool,
    pub(super) file: &'a SweepFile,
    pub(super) run_columns: Vec<CellColumn>,
    library: Library,
    traces: Traces,
    pub(super) stop: &'a Arc<AtomicBool>,
    jobs: usize,
}

/// The runs of a point, or the error of the point.
pub(super) type Plan = Result<Planned, String>;

/// The runs of a point.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) seed: u64,
    /// Path of the key that lists the policies.
    pub(super) key: &'static str,
    /// The listed runs, which have rows, and then the references that are not listed.
    pub(super) runs: Vec<PlannedRun>,
}

impl Planned {
    /// Index of a run.
    pub(super) fn place(&self, variant: Variant) -> Option<usize> {
        self.runs.iter().position(|run| run.variant == variant)
    }
}

/// A run of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlannedRun {
    pub(super) variant: Variant,
    pub(super) digest: Digest,
    /// The run to which its ratios refer.
    pub(super) reference: Variant,
    /// Whether the run has a row; a run without one only provides ratios.
    pub(super) is_listed: bool,
}

/// A point that can run.
struct Ready {
    scenario: Scenario,
    /// Trace or programs of the point.
    traces: Vec<PlayedFile>,
}

impl<'a> Sweep<'a> {
    /// Creates a sweep with a number of jobs.
    ///
    /// # Errors
    /// It has too many points, or none.
    pub fn new(file: &'a SweepFile, jobs: usize, stop: &'a Arc<AtomicBool>) -> Result<Sweep<'a>, Failure> {
        Ok(Sweep {
            points: Points::of(file)?,
            allow_skipped: false,
            file,
            run_columns: run_cells::columns(),
            library: Library::default(),
            traces: Traces::default(),
            stop,
            jobs,
        })
    }

    /// Reads the scenario of a point, as `run` does.
    ///
    /// # Errors
    /// As reading a scenario.
    pub fn resolve(&self, point: &Point<'_>) -> Result<ResolvedScenario, Failure> {
        ResolvedScenario::read(&self.library, &self.file.scenario, &point.words)
    }

    /// The runs of a point and their inputs, or the error of the point.
    fn prepare(&self, number: u64) -> Result<(Planned, Ready), Failure> {
        let resolved = self.resolve(&self.points.point(number))?;
        let files = match &resolved.scenario.workload {
            Workload::Trace(trace) => slice::from_ref(&trace.path),
            Workload::Programs(workload) => workload.files(),
            Workload::Operations(_) | Workload::Made(_) => &[],
        };
        let traces = files.iter().map(|path| self.traces.open(path, self.stop)).collect::<Result<Vec<_>, _>>()?;
        let of_traces: Vec<Digest> = traces.iter().map(|trace| trace.digest).collect();
        let digest = ScenarioDigest::new(&resolved, &of_traces, &self.run_columns);
        let scenario = resolved.scenario;
        let planned = |variant, is_listed| PlannedRun {
            variant,
            digest: digest.of(variant),
            reference: scenario.reference(variant),
            is_listed,
        };
        let mut runs: Vec<_> = scenario.variants().into_iter().map(|variant| planned(variant, true)).collect();
        if self.file.with_baseline {
            runs.extend(scenario.unlisted_references().into_iter().map(|variant| planned(variant, false)));
        }
        Ok((Planned { seed: scenario.seed, key: scenario.key_of_copiers(), runs }, Ready { scenario, traces }))
    }

    /// Calls a function for each point of a list, in parallel jobs, and collects the plans.
    fn each_point(
        &self,
        numbers: &[u64],
        visit: impl Fn(u64, &Planned, &Ready) -> Result<(), Failure> + Sync,
        after: impl Fn(u64, &Plan) + Sync,
    ) -> Result<Vec<Plan>, Failure> {
        let pool = ThreadPoolBuilder::new().num_threads(self.jobs).build();
        let pool = pool.map_err(|error| Failure::new(format!("{} jobs cannot be started: {error}", self.jobs)))?;
        let plan = |&number: &u64| {
            let plan = match self.prepare(number) {
                _ if self.stop.load(Ordering::Relaxed) => return Err(Failure::interrupted()),
                Ok((planned, ready)) => {
                    visit(number, &planned, &ready)?;
                    Ok(planned)
                }
                Err(error) => Err(error.to_string()),
            };
            after(number, &plan);
            Ok((number, plan))
        };
        // Jobs take points in turn instead of contiguous parts: neighboring points use the same trace.
        let plans = pool.install(|| numbers.iter().par_bridge().map(plan).collect::<Result<BTreeMap<u64, Plan>, _>>());
        Ok(plans?.into_values().collect())
    }

    /// Numbers of the points of a shard, or of all points.
    pub fn numbers(&self, shard: Option<Shard>) -> Vec<u64> {
        (0..self.points.count()).filter(|&number| shard.is_none_or(|shard| shard.has(number))).collect()
    }

    /// Plans of some points, without running them.
    pub(super) fn plans(&self, numbers: &[u64]) -> Result<Vec<Plan>, Failure> {
        self.each_point(numbers, |_, _, _| Ok(()), |_, _| {})
    }

    /// Executes the runs of these points that are not finished, and records them in a journal of the directory.
    ///
    /// # Errors
    /// The sweep was interrupted, or the journal cannot be written. Finished runs stay in the journal.
    pub(super) fn run(
        &self,
        numbers: &[u64],
        directory: &Path,
        shard: Option<Shard>,
        progress: &Progress,
    ) -> Result<(Vec<Plan>, Tally), Failure> {
        let mut journals = Journals::default();
        journals.read(directory)?;
        let writer = Mutex::new(JournalWriter::open(directory, &self.file.name, shard)?);
        let (tally, fault) = (Mutex::new(Tally::default()), OnceLock::new());
        let tallied = || locked(&tally);
        let visit = |number: u64, planned: &Planned, ready: &Ready| {
            planned.runs.par_iter().with_max_len(1).try_for_each(|&PlannedRun { variant, digest, .. }| {
                if journals.has_done(digest) {
                    let known = journals.find(digest, &self.run_columns)?;
                    match known.map(|record| self.counted(record.outcome)) {
                        Some(Err(error)) => tallied().fail(number, &error),
                        Some(Ok(_)) | None => tallied().kept += 1,
                    }
                    return Ok(());
                }
                let begun = Instant::now();
                let outcome = self.cells(ready, variant);
                Failure::if_raised(self.stop)?;
                match self.counted(outcome.clone()) {
                    Ok(_) => tallied().done += 1,
                    Err(error) => tallied().fail(number, &error),
                }
                let record = Record { digest, wall: begun.elapsed(), outcome };
                let appended = locked(&writer).append(&record);
                appended.inspect_err(|error| {
                    // The other jobs stop as well; their errors are consequences.
                    let _ = fault.set(error.clone());
                    self.stop.store(true, Ordering::Relaxed);
                })
            })
        };
        let after = |number: u64, plan: &Plan| {
            if let Err(error) = plan {
                tallied().fail(number, error);
            }
            progress.point_done(&tallied());
        };
        let plans = self.each_point(numbers, visit, after);
        match fault.into_inner() {
            Some(fault) => Err(fault),
            None => Ok((plans?, tally.into_inner().unwrap_or_else(PoisonError::into_inner))),
        }
    }

    /// The outcome of a run for the table: its cells or its error. A run that skipped too many records of its trace is
    /// an error unless this is allowed. The journal keeps it as finished, because repeating it would not change it.
    pub(super) fn counted(&self, outcome: Result<Vec<Cell>, String>) -> Result<Vec<Cell>, String> {
        let cells = outcome?;
        let count = |name: &str| {
            let place = self.run_columns.iter().position(|column| column.name == name)?;
            if let Some(Cell::Count(count)) = cells.get(place) { *count } else { None }
        };
        let tally = count("trace_records").zip(count("trace_skipped_records"));
        let tally = tally.map(|(records, skipped_records)| TraceTally { records, skipped_records });
        match tally.and_then(warnings::too_much_skipped) {
            Some(why) if !self.allow_skipped => Err(format!("{why}: {}", warnings::SKIPPED_HELP)),
            Some(_) | None => Ok(cells),
        }
    }

    /// Executes a run; a panic of the model is an error of the run.
    fn cells(&self, ready: &Ready, variant: Variant) -> Result<Vec<Cell>, String> {
        let Ready { scenario, traces } = ready;
        let run = || {
            let attachments = Attachments { stop: Some(self.stop), ..Attachments::default() };
            let run = scenario.experiment(variant, |trace| Box::new(trace))?.run_with(attachments);
            let run = run.map_err(|error| scenario.failure(error))?;
            let run = Outcome { policy: variant.name(), ..run };
            traces.iter().try_for_each(PlayedFile::check_unchanged)?;
            let geometry = scenario.system.memory.system().geometry;
            let reserved = geometry.reserved_bytes() as f64 / geometry.bytes() as f64;
            Ok(run_cells::cells(&run, reserved, &warnings::of_run(scenario, variant, &run)))
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(outcome) => outcome.map_err(|error: Failure| error.to_string()),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
                Err(format!("the simulator failed: {}", text.unwrap_or("without a message")))
            }
        }
    }
}
