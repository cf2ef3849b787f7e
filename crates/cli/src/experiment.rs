//! Runs of a scenario, with command logs and progress bars on standard error.

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::EventSink;
use indicatif::{ProgressBar, ProgressStyle};
use rowclone_config::{AtomicFile, Failure, Scenario, Variant};
use rowclone_sim::{Attachments, Experiment, Outcome, RunProgress, SharedObserver, dialect};
use trace_io::command_log::LogWriter;

/// Optional checks and outputs of a run.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Whether to check the commands against the rules, and the memory against a flat array.
    pub check: bool,
    /// Flag that stops the run when it is set.
    pub stop: &'a Arc<AtomicBool>,
    /// Observer of commands and requests.
    pub observer: Option<SharedObserver<'a>>,
    /// Whether to show the progress on a terminal.
    pub progress: bool,
}

impl<'a> Wanted<'a> {
    /// Options of a run that shows its progress, without checks and observer.
    pub const fn new(stop: &'a Arc<AtomicBool>) -> Wanted<'a> {
        Wanted { check: false, stop, progress: true, observer: None }
    }
}

/// Number of requests below which a run shows no bar, because the bar would disappear before it can be read.
const SHOWN_FROM_REQUESTS: u64 = 10_000;

/// Executes one run of a scenario. Afterwards the command log is complete, but not committed.
///
/// # Errors
/// A trace cannot be read, a log cannot be written, the current set lacks a current, or the run was interrupted.
pub fn run<'a>(
    scenario: &'a Scenario,
    variant: Variant,
    wanted: Wanted<'a>,
    log: Option<AtomicFile>,
) -> Result<(Outcome, Option<AtomicFile>), Failure> {
    let target = log.as_ref().map(|log| log.target().to_path_buf()).unwrap_or_default();
    let writing = |error: std::io::Error| Failure::writing(&target, &error);
    let system = scenario.system.memory.system();
    let log = log.map(|file| LogWriter::new(file, system, dialect(variant.policy))).transpose();
    let mut log = log.map_err(writing)?;
    let requests = OnceCell::new();
    let show = |progress: RunProgress| {
        let shown = progress.total.filter(|&total| total >= SHOWN_FROM_REQUESTS);
        let new = || shown.map_or_else(ProgressBar::hidden, |total| bar(variant, total));
        requests.get_or_init(new).set_position(progress.done);
    };
    let attachments = Attachments {
        stop: Some(wanted.stop),
        commands: log.as_mut().map(|log| log as &mut dyn EventSink),
        observer: wanted.observer,
        progress: if wanted.progress { Some(&show) } else { None },
    };
    let experiment = scenario.experiment(variant, |trace| {
        if wanted.progress { Box::new(bar(variant, trace.size()).wrap_read(trace)) } else { Box::new(trace) }
    })?;
    let outcome = Experiment { is_checked: wanted.check, ..experiment }.run_with(attachments);
    if let Some(requests) = requests.get() {
        requests.finish_and_clear();
    }
    let mut outcome = outcome.map_err(|error| scenario.failure(error))?;
    outcome.policy = variant.name();
    Ok((outcome, log.map(LogWriter::into_result).transpose().map_err(writing)?))
}

/// A bar for a number of requests or bytes.
fn bar(variant: Variant, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} %, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_prefix(variant.label("/"))
}
