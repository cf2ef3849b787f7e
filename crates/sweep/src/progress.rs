//! How far a sweep has come: a bar on a terminal, a line a minute elsewhere; on standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use rowclone_config::library::locked;
use rowclone_sim::quantity::grouped;

use super::run::Tally;

/// How often a line is printed where there is no terminal.
const EVERY: Duration = Duration::from_secs(60);

/// Of a sweep under way.
pub struct Progress {
    bar: ProgressBar,
    state: Arc<Mutex<State>>,
    /// Hung up at the end.
    lines: Option<(Sender<()>, JoinHandle<()>)>,
}

#[derive(Clone, Debug)]
struct State {
    name: String,
    points: u64,
    done: u64,
    runs: Tally,
    begun: Instant,
}

impl Progress {
    /// Creates the progress of a sweep with `points` points, which starts now.
    pub fn new(name: &str, points: u64) -> Progress {
        let state = State { name: name.to_owned(), points, done: 0, runs: Tally::default(), begun: Instant::now() };
        let state = Arc::new(Mutex::new(state));
        if io::stderr().is_terminal() {
            let template = "{prefix} {wide_bar} {pos} of {len} points{pace}{msg}";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            // A bar that cannot say its rate says the rest.
            let told = Arc::clone(&state);
            let style = style.with_key("pace", move |_: &ProgressState, text: &mut dyn fmt::Write| {
                let _ = write!(text, "{}", locked(&told).pace(Instant::now()));
            });
            let bar = ProgressBar::new(points).with_style(style).with_prefix(name.to_owned());
            return Progress { bar, state, lines: None };
        }
        let (hang_up, hung_up) = mpsc::channel();
        let told = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            while hung_up.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                let line = locked(&told).line(Instant::now());
                // Where standard error cannot be written, the line is lost and the sweep goes on.
                let _ = writeln!(io::stderr().lock(), "{line}");
            }
        });
        Progress { bar: ProgressBar::hidden(), state, lines: Some((hang_up, thread)) }
    }

    /// A point is done; so have runs come to be by now.
    pub(super) fn point_done(&self, tally: &Tally) {
        {
            // Given back before the bar is drawn, which reads it.
            let mut state = locked(&self.state);
            state.done += 1;
            state.runs = tally.clone();
        }
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

impl State {
    fn line(&self, now: Instant) -> String {
        let State { name, points, done, runs: Tally { failed, .. }, .. } = self;
        let failed = if *failed > 0 { format!(", {} failed", grouped(*failed)) } else { String::new() };
        format!("{name}: {} of {} points{failed}{}", grouped(*done), grouped(*points), self.pace(now))
    }

    /// Points a second, and the time left, were all that is left to take as long as what took time until now.
    fn pace(&self, now: Instant) -> String {
        let seconds = (now - self.begun).as_secs_f64();
        // Runs that were done before take no time here.
        let worked = self.runs.done + self.runs.failed;
        if worked == 0 || self.done == 0 || seconds <= 0.0 {
            return String::new();
        }
        let runs_a_point = (worked + self.runs.kept) as f64 / self.done as f64;
        let rate = worked as f64 / runs_a_point / seconds;
        let left = Duration::from_secs_f64(self.points.saturating_sub(self.done) as f64 / rate);
        format!(", {rate:.1} a second, {} left", HumanDuration(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_how_fast_and_how_long() {
        let begun = Instant::now();
        let mut state = State { name: "x".to_owned(), points: 10_000, done: 0, runs: Tally::default(), begun };
        assert_eq!(state.line(begun), "x: 0 of 10,000 points");
        // 3 runs a point; 1800 of 12,000 were not done before.
        state = State { done: 4000, runs: Tally { done: 1798, kept: 10_200, failed: 2, first_failure: None }, ..state };
        let line = state.line(begun + EVERY);
        assert_eq!(line, "x: 4,000 of 10,000 points, 2 failed, 10.0 a second, 10 minutes left");
    }
}
