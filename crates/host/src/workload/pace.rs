//! Requests that wait for no completion.

use std::fmt;

use dram_spec::Cycle;
use rowclone::Operation;

use super::gap::{Gap, Gaps};
use super::kind::RequestGenerator;

/// A number of requests with a fixed gap, or as fast as they are taken.
#[derive(Clone, Debug)]
pub(super) struct Paced<I> {
    operations: I,
    requests: u64,
    left: u64,
    gaps: Gaps,
    next: Cycle,
}

impl<I: Iterator<Item = Operation> + fmt::Debug + 'static> Paced<I> {
    /// The first `requests` operations, from cycle 0 on.
    pub(super) fn generator(operations: I, requests: u64, gap: Gap) -> Box<dyn RequestGenerator> {
        Box::new(Paced { operations, requests, left: requests, gaps: Gaps::new(gap), next: Cycle::ZERO })
    }
}

impl<I: Iterator<Item = Operation> + fmt::Debug> RequestGenerator for Paced<I> {
    fn requests(&self) -> u64 {
        self.requests
    }

    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        (self.left > 0).then_some(self.next)
    }

    fn take(&mut self, now: Cycle) -> Option<(Option<Cycle>, Operation)> {
        self.next_arrival().filter(|&at| at <= now)?;
        self.left -= 1;
        let operation = self.operations.next()?;
        if self.gaps.are_zero() {
            return Some((None, operation));
        }
        let arrival = self.next;
        self.next += self.gaps.next();
        Some((Some(arrival), operation))
    }
}
