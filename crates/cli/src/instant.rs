//! Instants on the command line: cycles, or times since reset.

use std::str::FromStr;

use dram_spec::{Clock, Cycle, Min};
use report::timeline::Window;

use rowclone_config::{Failure, quantity};

/// An instant in a command line: `5000`, `90ns`, `7.8us`, `1ms`.
#[derive(Clone, Copy, Debug, PartialEq, derive_more::Display)]
pub enum Instant {
    /// A cycle.
    #[display("{_0}")]
    Cycle(u64),
    /// A time after reset, ps.
    #[display("{}ns", *_0 as f64 / 1000.0)]
    Picoseconds(u64),
}

impl FromStr for Instant {
    type Err = String;

    fn from_str(text: &str) -> Result<Instant, String> {
        let cycle = quantity::number(text).map(Instant::Cycle);
        cycle
            .or_else(|| quantity::time(text).map(Instant::Picoseconds))
            .ok_or_else(|| "must be a cycle, such as 5000, or a time, such as 90ns, 7.8us or 1ms".to_owned())
    }
}

impl Instant {
    /// The first cycle at or after the instant.
    pub fn cycle(self, clock: Clock) -> Cycle {
        match self {
            Instant::Cycle(cycle) => Cycle(cycle),
            Instant::Picoseconds(ps) => Cycle::ZERO + clock.at_least(Min::ps(ps)),
        }
    }
}

/// The cycles from one instant up to, but without, another.
///
/// # Errors
/// The window contains no cycle.
pub fn window(from: Option<Instant>, to: Option<Instant>, clock: Clock) -> Result<Window, Failure> {
    let first = from.map_or(Window::ALL.from, |from| from.cycle(clock));
    let last = to.map_or(Window::ALL.to, |to| to.cycle(clock));
    if first < last {
        return Ok(Window { from: first, to: last });
    }
    let shown = |instant: Option<Instant>| instant.map_or("0".to_owned(), |instant| instant.to_string());
    let message = format!("`--from {}` to `--to {}`: no cycle lies between them", shown(from), shown(to));
    Err(Failure::new(message).with_help(format!("try `--to {}`", first.0.saturating_add(1000))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_cycles_or_times() {
        let cycle = |text: &str| text.parse::<Instant>().map(|instant| instant.cycle(Clock::DDR3_1066).0);
        assert_eq!(cycle("5_000"), Ok(5000));
        assert_eq!([cycle("90ns"), cycle("90.1 ns"), cycle("7.8us"), cycle("1ms")], [48, 49, 4160, 533_334].map(Ok));
        assert_eq!([cycle("90_000ps"), cycle("0.001s")], [48, 533_334].map(Ok));
        for wrong in ["", "ns", "-1", "-1ns", "1.5", "infns", "NaNus", "5 days", "cycle"] {
            assert!(cycle(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_empty_window_is_refused_with_one_that_is_not() {
        let error = window(Some(Instant::Picoseconds(90_000)), Some(Instant::Cycle(48)), Clock::DDR3_1066).unwrap_err();
        assert_eq!(
            error,
            Failure::new("`--from 90ns` to `--to 48`: no cycle lies between them").with_help("try `--to 1048`")
        );
        assert_eq!(window(None, None, Clock::DDR3_1066), Ok(Window::ALL));
    }
}
