//! The schedulers, from their definitions (`memctrl::policy::scheduler`).

use dram_spec::{BankId, SourceId};

use super::access::{Access, Kind, Stamp};

/// A scheduler with its parameters and its state.
#[derive(Clone, Debug)]
pub enum Scheduler {
    /// The oldest access of the channel.
    Fcfs,
    /// Row hits first.
    FrFcfs,
    /// Row hits first, up to so many accesses to an open row.
    FrFcfsCap(u32),
    /// Sources with more consecutive reads than the threshold go last until the next clearing.
    Bliss { threshold: u32, interval: u64, last: Option<SourceId>, consecutive: u32, blacklist: Vec<SourceId> },
    /// Reads go in batches; within a batch by source.
    ParBs { cap: usize, marked: Vec<Stamp>, ranking: Vec<SourceId> },
}

/// The order of accesses, the smallest first: class, whether a row command is needed first, rank of the source, age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    pub class: u8,
    pub is_miss: bool,
    pub rank: usize,
    pub stamp: Stamp,
}

impl Scheduler {
    /// With nothing blacklisted.
    pub fn bliss(threshold: u32, interval: u64) -> Scheduler {
        Scheduler::Bliss { threshold, interval, last: None, consecutive: 0, blacklist: Vec::new() }
    }

    /// With no batch.
    pub fn par_bs(cap: usize) -> Scheduler {
        Scheduler::ParBs { cap, marked: Vec::new(), ranking: Vec::new() }
    }

    /// Whether of all candidates only the one of least priority counts.
    pub fn is_strict(&self) -> bool {
        matches!(self, Scheduler::Fcfs)
    }

    /// The priority of an access, given whether its row is open and how many accesses the open row has served.
    pub fn priority(&self, access: &Access, is_hit: bool, served: u32) -> Priority {
        let stamp = access.stamp.expect("it is queued");
        let plain = Priority { class: 0, is_miss: !is_hit, rank: 0, stamp };
        match self {
            Scheduler::Fcfs => Priority { is_miss: false, ..plain },
            Scheduler::FrFcfs => plain,
            Scheduler::FrFcfsCap(cap) => Priority { is_miss: !(is_hit && served < *cap), ..plain },
            Scheduler::Bliss { .. } | Scheduler::ParBs { .. } if access.kind == Kind::Write => plain,
            Scheduler::Bliss { blacklist, .. } => {
                Priority { class: u8::from(blacklist.contains(&access.source)), ..plain }
            }
            Scheduler::ParBs { marked, ranking, .. } => {
                let rank = ranking.iter().position(|source| *source == access.source).unwrap_or(usize::MAX);
                Priority { class: u8::from(!marked.contains(&stamp)), rank, ..plain }
            }
        }
    }

    /// The priority of a thread's row command: that of a row miss at its stamp (25).
    pub fn thread_priority(&self, stamp: Stamp) -> Priority {
        Priority { class: 0, is_miss: !self.is_strict(), rank: 0, stamp }
    }

    /// Before the decision of a cycle, with the queued reads of the channel.
    pub fn update(&mut self, now: u64, reads: &[(BankId, SourceId, Stamp)]) {
        match self {
            Scheduler::Bliss { interval, blacklist, .. } if now > 0 && now.is_multiple_of(*interval) => {
                blacklist.clear();
            }
            Scheduler::ParBs { cap, marked, ranking } if marked.is_empty() && !reads.is_empty() => {
                (*marked, *ranking) = batch(reads, *cap);
            }
            _ => {}
        }
    }

    /// The RD or WR of an access was issued.
    pub fn served(&mut self, access: &Access) {
        if access.kind == Kind::Write {
            return;
        }
        match self {
            Scheduler::Bliss { threshold, last, consecutive, blacklist, .. } => {
                if *last != Some(access.source) {
                    (*last, *consecutive) = (Some(access.source), 0);
                }
                *consecutive += 1;
                if *consecutive > *threshold {
                    *consecutive = 0;
                    blacklist.push(access.source);
                }
            }
            Scheduler::ParBs { marked, .. } => marked.retain(|stamp| Some(*stamp) != access.stamp),
            _ => {}
        }
    }
}

/// The reads that a new batch marks, and its sources, the best first.
fn batch(reads: &[(BankId, SourceId, Stamp)], cap: usize) -> (Vec<Stamp>, Vec<SourceId>) {
    let is_marked = |&(bank, source, stamp): &(BankId, SourceId, Stamp)| {
        reads.iter().filter(|read| read.0 == bank && read.1 == source && read.2 < stamp).count() < cap
    };
    let marked: Vec<_> = reads.iter().copied().filter(is_marked).collect();
    let mut sources: Vec<SourceId> = marked.iter().map(|read| read.1).collect();
    sources.sort_unstable();
    sources.dedup();
    let load = |source: SourceId| {
        let own: Vec<_> = marked.iter().filter(|read| read.1 == source).collect();
        let in_bank = |bank: BankId| own.iter().filter(|read| read.0 == bank).count();
        (own.iter().map(|read| in_bank(read.0)).max(), own.len(), source)
    };
    sources.sort_by_key(|&source| load(source));
    (marked.iter().map(|read| read.2).collect(), sources)
}
