//! How far a sweep has come: a bar on a terminal, a line a minute elsewhere; on standard error.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};
use report::table::grouped;

use crate::output;

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
    failed: u64,
    /// Points whose runs were all done before take no time.
    worked: u64,
    begun: Instant,
}

impl Progress {
    /// Of a sweep of so many points, from now on.
    pub fn new(name: &str, points: u64) -> Progress {
        let state = State { name: name.to_owned(), points, done: 0, failed: 0, worked: 0, begun: Instant::now() };
        let state = Arc::new(Mutex::new(state));
        if io::stderr().is_terminal() {
            let template = "{prefix} {wide_bar} {pos} of {len} points, {rate} a second, {eta} left{msg}";
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
            // A bar that cannot say its rate says the rest.
            let style = style.with_key("rate", |state: &ProgressState, text: &mut dyn fmt::Write| {
                let _ = write!(text, "{:.1}", state.per_sec());
            });
            let bar = ProgressBar::new(points).with_style(style).with_prefix(name.to_owned());
            return Progress { bar, state, lines: None };
        }
        let (hang_up, hung_up) = mpsc::channel();
        let told = Arc::clone(&state);
        let thread = std::thread::spawn(move || {
            while hung_up.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                output::message(&told.lock().unwrap_or_else(PoisonError::into_inner).line(Instant::now()));
            }
        });
        Progress { bar: ProgressBar::hidden(), state, lines: Some((hang_up, thread)) }
    }

    /// A point is done; so have runs come to be by now.
    pub(super) fn point_done(&self, tally: &Tally) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        state.failed = tally.failed;
        state.worked += u64::from(tally.done > 0 || tally.failed > 0);
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
        let State { name, points, done, failed, worked, begun } = self;
        let failed = if *failed > 0 { format!(", {} failed", grouped(*failed)) } else { String::new() };
        let seconds = (now - *begun).as_secs_f64();
        let pace = if *worked > 0 && seconds > 0.0 {
            let rate = *worked as f64 / seconds;
            let left = Duration::from_secs_f64((points - done) as f64 / rate);
            format!(", {rate:.1} a second, {} left", HumanDuration(left))
        } else {
            String::new()
        };
        format!("{name}: {} of {} points{failed}{pace}", grouped(*done), grouped(*points))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_how_many_how_fast_and_how_long() {
        let begun = Instant::now();
        let mut state = State { name: "x".to_owned(), points: 10_000, done: 0, failed: 0, worked: 0, begun };
        assert_eq!(state.line(begun), "x: 0 of 10,000 points");
        state = State { done: 4000, failed: 2, worked: 600, ..state };
        let line = state.line(begun + EVERY);
        assert_eq!(line, "x: 4,000 of 10,000 points, 2 failed, 10.0 a second, 10 minutes left");
    }
}
