//! Progress of a sweep on standard error: a bar on a terminal, else one line per minute.

use std::fmt;
use std::io::{self, IsTerminal, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use rowclone_config::library::locked;
use rowclone_sim::quantity::grouped;

/// Counts of the runs of a sweep by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs finished by this invocation.
    pub done: u64,
    /// Runs finished by earlier invocations.
    pub kept: u64,
    /// Failed runs, and points without any run.
    pub failed: u64,
    /// The first point with a failed run, and its error.
    pub first_failure: Option<(u64, String)>,
}

impl Tally {
    pub(super) fn fail(&mut self, point: u64, error: &str) {
        self.failed += 1;
        if self.first_failure.as_ref().is_none_or(|(first, _)| point < *first) {
            self.first_failure = Some((point, error.to_owned()));
        }
    }
}

/// Interval of lines without a terminal.
const EVERY: Duration = Duration::from_secs(60);

/// Progress of a sweep.
pub struct Progress {
    /// The bar, hidden without a terminal. It counts the points in both cases.
    bar: ProgressBar,
    runs: Arc<Mutex<Tally>>,
    /// Sender whose drop ends the thread that prints lines.
    lines: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the progress of a sweep with `points` points.
    pub fn new(name: &str, points: u64) -> Progress {
        let runs = Arc::new(Mutex::new(Tally::default()));
        let template = "{prefix} {wide_bar} {pos} of {len} points{pace}{msg}";
        // An invalid template would show a bar without the rate.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let told = Arc::clone(&runs);
        let style = style.with_key("pace", move |state: &ProgressState, text: &mut dyn fmt::Write| {
            let _ = write!(text, "{}", pace(&locked(&told), state.pos(), points, state.elapsed()));
        });
        let bar = ProgressBar::new(points).with_style(style).with_prefix(name.to_owned());
        let lines = (!io::stderr().is_terminal()).then(|| {
            let (hang_up, hung_up) = mpsc::channel();
            let (name, bar, told) = (name.to_owned(), bar.clone(), Arc::clone(&runs));
            let thread = std::thread::spawn(move || {
                while hung_up.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                    let line = line(&name, &locked(&told), bar.position(), points, bar.elapsed());
                    // A line that cannot be written to standard error is lost; the sweep continues.
                    let _ = writeln!(io::stderr().lock(), "{line}");
                }
            });
            (hang_up, thread)
        });
        Progress { bar, runs, lines }
    }

    /// Counts a finished point and the finished runs.
    pub(super) fn point_done(&self, tally: &Tally) {
        // The lock is released before the bar is drawn, because drawing reads it.
        locked(&self.runs).clone_from(tally);
        if tally.failed > 0 {
            self.bar.set_message(format!(", {} failed", grouped(tally.failed)));
        }
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some((hang_up, thread)) = self.lines.take() {
            drop(hang_up);
            let _ = thread.join();
        }
    }
}

fn line(name: &str, runs: &Tally, done: u64, points: u64, elapsed: Duration) -> String {
    let failed = if runs.failed > 0 { format!(", {} failed", grouped(runs.failed)) } else { String::new() };
    format!("{name}: {} of {} points{failed}{}", grouped(done), grouped(points), pace(runs, done, points, elapsed))
}

/// Points per second, and the remaining time at this rate.
fn pace(runs: &Tally, done: u64, points: u64, elapsed: Duration) -> String {
    // Runs of earlier invocations take no time.
    let worked = runs.done + runs.failed;
    if worked == 0 || done == 0 || elapsed.is_zero() {
        return String::new();
    }
    let runs_per_point = (worked + runs.kept) as f64 / done as f64;
    let rate = worked as f64 / runs_per_point / elapsed.as_secs_f64();
    let left = Duration::from_secs_f64(points.saturating_sub(done) as f64 / rate);
    format!(", {rate:.1} per second, {} left", HumanDuration(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_how_fast_and_how_long() {
        assert_eq!(line("x", &Tally::default(), 0, 10_000, Duration::ZERO), "x: 0 of 10,000 points");
        // 3 runs per point; 1800 of 12,000 were not finished before.
        let runs = Tally { done: 1798, kept: 10_200, failed: 2, first_failure: None };
        let line = line("x", &runs, 4000, 10_000, EVERY);
        assert_eq!(line, "x: 4,000 of 10,000 points, 2 failed, 10.0 per second, 10 minutes left");
    }
}
