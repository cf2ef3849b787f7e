//! How far a long run has come: on a terminal, on standard error; nowhere else.

use dram_spec::Cycle;
use indicatif::{ProgressBar, ProgressStyle};
use memctrl::{Completion, Request, RequestSource};

/// Runs shorter than this show nothing: a bar that flashes by only disturbs.
const SHOWN_FROM_REQUESTS: u64 = 10_000;

/// A bar moves on by so many requests at once: each move asks for the time.
const STEP_REQUESTS: u64 = 256;

/// A bar for so many requests; none where nobody knows how many there will be.
pub fn of_requests(label: &str, count: Option<u64>) -> ProgressBar {
    count.filter(|&count| count >= SHOWN_FROM_REQUESTS).map_or_else(ProgressBar::hidden, |count| bar(label, count))
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

/// Moves a bar on as requests are done.
pub struct Watched<S> {
    source: S,
    done: u64,
    bar: ProgressBar,
}

impl<S> Watched<S> {
    /// Beside a bar that counts requests.
    pub fn new(source: S, bar: ProgressBar) -> Watched<S> {
        Watched { source, done: 0, bar }
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
        self.done += 1;
        if self.done.is_multiple_of(STEP_REQUESTS) {
            self.bar.set_position(self.done);
        }
        self.source.complete(completion);
    }
}
