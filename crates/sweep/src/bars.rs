//! Progress bars of long runs, on standard error if it is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// Duration below which a run shows no bar, because the bar would disappear before it can be read.
const SHOWN_FROM_REQUESTS: u64 = 10_000;

/// Creates a bar for a number of requests; none if the number is unknown.
pub fn of_requests(label: &str, count: Option<u64>) -> ProgressBar {
    count.filter(|&count| count >= SHOWN_FROM_REQUESTS).map_or_else(ProgressBar::hidden, |count| of_file(label, count))
}

pub fn of_file(label: &str, length: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} {wide_bar} {percent:>3} %, {eta} left");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_prefix(label.to_string())
}
