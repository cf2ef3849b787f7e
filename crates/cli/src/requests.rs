//! One request of a scenario, for the commands that explain requests.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_spec::{CommandEvent, Cycle, EventSink};
use memctrl::{Completion, Request};
use rowclone::Operation;
use rowclone_sim::quantity::grouped;
use rowclone_sim::{Observer, SharedObserver, label};

use crate::experiment::{self, Wanted};
use crate::interrupt;
use rowclone_config::{Failure, Scenario, Variant, Workload};

/// A request that the controller took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Number in the order of acceptance by the controller, from 0.
    pub number: u64,
    /// Cycle of acceptance.
    pub at: Cycle,
    /// Operation.
    pub operation: Operation,
}

/// Observes a run, and stops it after a request.
struct Search<'a> {
    /// Number of the request; without a number, the first copy or initialization.
    number: Option<u64>,
    seen: u64,
    found: Option<Taken>,
    stop: &'a Arc<AtomicBool>,
}

impl EventSink for Search<'_> {
    fn command(&mut self, _: &CommandEvent) {}
}

impl Observer for Search<'_> {
    fn taken(&mut self, now: Cycle, request: &Request) {
        let index = self.seen;
        self.seen += 1;
        let is_copy = request.operation.is_copy();
        if self.found.is_none() && self.number.map_or(is_copy, |number| number == index) {
            self.found = Some(Taken { number: index, at: now, operation: request.operation });
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    fn done(&mut self, _: &Completion) {}
}

/// The request with a number in a run; without a number, the first copy or initialization.
///
/// # Errors
/// The run has fewer requests, or no copy; a trace cannot be read; the run was interrupted.
pub fn nth(scenario: &Scenario, variant: Variant, number: Option<u64>) -> Result<Taken, Failure> {
    let stop = interrupt::flag();
    let search = RefCell::new(Search { number, seen: 0, found: None, stop: &stop });
    let wanted = Wanted { observer: Some(&search as SharedObserver<'_>), progress: false, ..Wanted::new(&stop) };
    let played = experiment::run(scenario, variant, wanted, None);
    let Search { seen, found, .. } = search.into_inner();
    if let Some(found) = found {
        // The search stopped the run.
        stop.store(false, Ordering::Relaxed);
        return Ok(found);
    }
    played?;
    let (path, label) = (scenario.path.display(), variant.label("/"));
    Err(match number {
        Some(number) => {
            let message =
                format!("{path}: {label} has {} requests, and none of number {}", grouped(seen), grouped(number));
            Failure::new(message).with_help(numbers(seen))
        }
        None => {
            Failure::new(format!("{path}: none of the {} requests of {label} copies or initializes", grouped(seen)))
                .with_help("`--request 0` explains the first request")
        }
    })
}

/// Operations to explain, with their labels. Of a scenario with a list of operations, they are all of the list, or the
/// one with the number. Of a workload, they are the request with the number, or the first copy or initialization, with
/// each placement of its pages.
///
/// # Errors
/// As [`nth`].
pub fn chosen(scenario: &Scenario, number: Option<u64>) -> Result<Vec<(String, Operation)>, Failure> {
    if let Workload::Operations(listed) = &scenario.workload {
        let mut all = listed.iter().map(|listed| (label(listed.spec()), listed.operation()));
        let Some(number) = number else { return Ok(all.collect()) };
        let count = listed.len();
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        return all.nth(place).map(|one| vec![one]).ok_or_else(|| {
            Failure::at(&scenario.path, format_args!("lists {count} operations, and none of number {number}"))
                .with_help(numbers(count as u64))
        });
    }
    let mut variants: Vec<Variant> = Vec::new();
    for variant in scenario.variants() {
        if variants.iter().all(|other| other.placement != variant.placement) {
            variants.push(variant);
        }
    }
    let of = |variant: &Variant| {
        let Taken { number, operation, .. } = nth(scenario, *variant, number)?;
        let placed = variant.placement.name().map_or(String::new(), |placement| format!(", {placement}"));
        Ok((format!("request {number}{placed}"), operation))
    };
    variants.iter().map(of).collect()
}

/// The arguments of `--request`.
fn numbers(count: u64) -> String {
    match count {
        0 => "no request was accepted".to_owned(),
        _ => format!("requests count from 0: give `--request` a number from 0 to {}", count - 1),
    }
}
