//! Comparison of two runs of a case.

use std::fmt::Debug;

use dram_spec::{CommandEvent, Effect, IssueCause};
use memctrl::stats::{Epoch, Stats};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::runs::Outcome;

/// Compares the outcomes of two runs; `names` are for messages.
pub fn same(names: [&str; 2], outcomes: [&Outcome; 2]) -> Result<(), TestCaseError> {
    let [first, second] = outcomes;
    let both = first.events.iter().zip(&second.events);
    let at = both.take_while(|(first, second)| first == second).count();
    if at < first.events.len().max(second.events.len()) {
        let before = list(&first.events[at.saturating_sub(25)..at]);
        let [first, second] = outcomes.map(|outcome| list(&outcome.events[at..outcome.events.len().min(at + 6)]));
        let [one, other] = names;
        return Err(TestCaseError::fail(format!("command {at}:\n{before}{one}:\n{first}{other}:\n{second}")));
    }
    prop_assert_eq!(first.completions.len(), second.completions.len());
    for (first, second) in first.completions.iter().zip(&second.completions) {
        prop_assert_eq!(format!("{:?}", first), format!("{:?}", second));
    }
    prop_assert!(first.memory == second.memory, "memory differs");
    same_stats(names, [&first.stats, &second.stats])
}

fn same_stats(names: [&str; 2], [first, second]: [&Stats; 2]) -> Result<(), TestCaseError> {
    prop_assert_eq!((first.from, first.end), (second.from, second.end));
    prop_assert_eq!(first.epochs.len(), second.epochs.len());
    let whole = |stats: &Stats| Epoch { from: stats.from, to: stats.end, figures: stats.whole.clone() };
    let all = |stats: &Stats| stats.epochs.iter().cloned().chain([whole(stats)]).collect::<Vec<_>>();
    for (first, second) in all(first).iter().zip(&all(second)) {
        let [from, to] = [first.from, first.to];
        prop_assert!(first == second, "figures from {from} to {to}:\n{}", differences(names, [first, second]));
    }
    Ok(())
}

/// Lines in which two values differ, each with the names of the enclosing structures.
fn differences(names: [&str; 2], values: [&dyn Debug; 2]) -> String {
    let [first, second] = values.map(paths);
    let only = |name: &str, these: &[String], others: &[String]| -> String {
        let lines = these.iter().filter(|line| !line.contains("buckets") && !others.contains(line));
        lines.flat_map(|line| [name, ": ", line, "\n"]).collect()
    };
    only(names[0], &first, &second) + &only(names[1], &second, &first)
}

fn paths(value: &dyn Debug) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let path = |line: &str| {
        let depth = (line.len() - line.trim_start().len()) / 4;
        names.truncate(depth);
        names.push(line.trim().to_owned());
        names.join(" ")
    };
    format!("{value:#?}").lines().map(path).collect()
}

fn list(events: &[CommandEvent]) -> String {
    events.iter().map(listed).collect()
}

fn listed(event: &CommandEvent) -> String {
    let CommandEvent { at, channel, command, effect, cause, held_by } = event;
    let cause = match cause {
        IssueCause::Copy { request, mechanism, program } => format!("copy {} {mechanism} {program}", request.0),
        cause => format!("{cause:?}"),
    };
    let effect = match effect {
        Effect::Plain => "",
        Effect::Copied { .. } => " (copy)",
        Effect::Dropped { .. } => " (dropped)",
        Effect::Moved { .. } => " (moves)",
    };
    let held_by = held_by.unwrap_or("-");
    format!("{at:>7} ch{} {:<34} {cause:<20} {held_by}\n", channel.0, format!("{command}{effect}"))
}
