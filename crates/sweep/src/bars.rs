//! Progress of a long run, on standard error if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Runs shorter than this show nothing: a bar that flashes by only disturbs.
const SHOWN_FROM_REQUESTS: u64 = 10_000;

/// A bar for a number of requests; none where the number is unknown.
pub fn of_requests(label: &str, count: Option<u64>) -> ProgressBar {
    count.filter(|&count| count >= SHOWN_FROM_REQUESTS).map_or_else(ProgressBar::hidden, |count| of_file(label, count))
}

pub fn of_file(label: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} %, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_prefix(label.to_string())
}
