//! How far a long run has come: on a terminal, on standard error; nowhere else.

use dram_spec::Cycle;
use indicatif::{ProgressBar, ProgressStyle};
use memctrl::{Completion, Request, RequestSource};

/// Runs shorter than this show nothing: a bar that flashes by only disturbs.
const SHOWN_FROM_OPERATIONS: u64 = 10_000;

/// A bar for a list of so many operations.
pub fn of_operations(label: &str, count: u64) -> ProgressBar {
    if count < SHOWN_FROM_OPERATIONS { ProgressBar::hidden() } else { bar(label, count) }
}

/// A bar for a trace file of so many bytes, read as the run goes on.
pub fn of_file(label: &str, bytes: u64) -> ProgressBar {
    bar(label, bytes)
}

fn bar(label: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} %, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_prefix(label.to_string())
}

/// Moves a bar on with each operation that is done.
pub struct Watched<S> {
    source: S,
    bar: ProgressBar,
}

impl<S> Watched<S> {
    /// Beside a bar that counts operations.
    pub fn new(source: S, bar: ProgressBar) -> Watched<S> {
        Watched { source, bar }
    }

    /// The source back, and the bar away.
    pub fn finish(self) -> S {
        self.bar.finish_and_clear();
        self.source
    }
}

impl<S: RequestSource> RequestSource for Watched<S> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        self.source.take(now)
    }

    fn complete(&mut self, completion: Completion) {
        self.bar.inc(1);
        self.source.complete(completion);
    }
}
