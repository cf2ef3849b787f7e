//! Progress of a recording, on standard error if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rowclone_sim::quantity::grouped;

/// A line with the number of recorded words.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Begins the line.
    pub fn begin() -> Progress {
        let style = ProgressStyle::with_template("recording: {msg} words, {elapsed}");
        let bar = ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress { bar }
    }

    /// Shows the words recorded so far.
    pub fn show(&self, words: u64) {
        self.bar.set_message(grouped(words));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
