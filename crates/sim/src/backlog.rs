//! Backlog: requests that have arrived and that the controller has not taken.

use std::collections::VecDeque;

use dram_spec::{Cycle, Cycles};

/// The backlog when the last request arrived. If the offered load exceeds the service rate, the
/// backlog grows with the length of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Requests of the run.
    pub offered: u64,
    /// Requests that had arrived when the last one arrived, and were taken later. Above 8000, at
    /// most 0.02 % too large.
    pub requests: u64,
    /// Time from the arrival of the last request until it was taken.
    pub wait: Cycles,
}

/// Maximum number of groups of requests that the meter stores. The relative error of a large
/// backlog is at most the reciprocal of half this number.
const GROUPS_MAX: usize = 1 << 14;

/// Counts the requests taken after the latest arrival.
#[derive(Debug)]
pub(crate) struct Meter {
    offered: u64,
    /// Latest arrival.
    arrival: Cycle,
    /// Time from the arrival of the last request until it was taken.
    wait: Cycles,
    /// Groups of the requests taken after the latest arrival: cycle at which the last of a group
    /// was taken, and number of requests.
    groups: VecDeque<(Cycle, u64)>,
    /// Requests per group; more only if they were taken in one cycle.
    group_requests: u64,
}

impl Meter {
    pub(crate) fn new() -> Meter {
        Meter { offered: 0, arrival: Cycle::ZERO, wait: Cycles(0), groups: VecDeque::new(), group_requests: 1 }
    }

    #[inline]
    pub(crate) fn take(&mut self, now: Cycle, arrival: Cycle) {
        self.offered += 1;
        self.arrival = self.arrival.max(arrival);
        self.wait = now.since(arrival);
        while self.groups.front().is_some_and(|&(taken, _)| taken <= self.arrival) {
            self.groups.pop_front();
        }
        if now > self.arrival {
            self.add(now);
        }
    }

    /// Counts a request taken after the latest arrival.
    fn add(&mut self, now: Cycle) {
        match self.groups.back_mut() {
            Some((taken, requests)) if *requests < self.group_requests || *taken == now => {
                (*taken, *requests) = (now, *requests + 1);
            }
            _ => self.groups.push_back((now, 1)),
        }
        if self.groups.len() == GROUPS_MAX {
            let pairs = self.groups.make_contiguous().chunks_exact(2);
            self.groups = pairs.map(|pair| (pair[1].0, pair[0].1 + pair[1].1)).collect();
            self.group_requests *= 2;
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        let requests = self.groups.iter().map(|(_, requests)| requests).sum();
        Backlog { offered: self.offered, requests, wait: self.wait }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(requests: &[(u64, u64)]) -> Backlog {
        let mut meter = Meter::new();
        for &(arrival, taken) in requests {
            meter.take(Cycle(taken), Cycle(arrival));
        }
        meter.backlog()
    }

    #[test]
    fn the_backlog_counts_requests_waiting_at_the_last_arrival() {
        assert_eq!(backlog(&[]), Backlog::default());
        assert_eq!(backlog(&[(0, 0), (10, 10), (20, 20)]), Backlog { offered: 3, requests: 0, wait: Cycles(0) });
        // One per 10 cycles, served at one per 15: two have been taken since 30 at cycle 40, and
        // the last is taken at 60.
        let slow = [(0, 0), (10, 15), (20, 30), (30, 45), (40, 60)];
        assert_eq!(backlog(&slow), Backlog { offered: 5, requests: 2, wait: Cycles(20) });
        // A burst served before the last arrival is not a backlog.
        assert_eq!(
            backlog(&[(0, 0), (0, 30), (0, 60), (60, 60)]),
            Backlog { offered: 4, requests: 0, wait: Cycles(0) }
        );
        assert_eq!(backlog(&[(0, 5), (0, 5), (0, 6)]), Backlog { offered: 3, requests: 3, wait: Cycles(6) });
    }

    /// One request per cycle, of which one in three is served: two thirds wait at the end.
    #[test]
    fn a_large_backlog_is_counted_in_groups() {
        let mut meter = Meter::new();
        (0..1_000_000).for_each(|index| meter.take(Cycle(3 * index), Cycle(index)));
        let Backlog { offered, requests, wait } = meter.backlog();
        assert_eq!((offered, wait), (1_000_000, Cycles(1_999_998)));
        // Requests taken after 999,999: all but the first 333,334.
        assert!((666_666..=666_666 + 666_666 * 2 / GROUPS_MAX as u64 + 1).contains(&requests), "{requests}");
        assert!(meter.groups.len() < GROUPS_MAX);
    }
}
