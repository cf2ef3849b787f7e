//! The schedulers, by their definitions (`memctrl::policy::scheduler`).

use dram_spec::{BankId, SourceId};

use super::access::{Access, Kind, Stamp};

/// A scheduler with its parameters and its state.
#[derive(Clone, Debug)]
pub enum Scheduler {
    /// The oldest access of the channel.
    Fcfs,
    /// Row hits first.
    FrFcfs,
    /// Row hits first, up to a number of accesses to an open row.
    FrFcfsCap(u32),
    /// Sources with more consecutive reads than the threshold have the lowest class until the next
    /// clearing.
    Bliss { threshold: u32, interval: u64, last: Option<SourceId>, consecutive: u32, blacklist: Vec<SourceId> },
    /// Reads are served in batches; within a batch by source.
    ParBs { cap: usize, marked: Vec<Stamp>, ranking: Vec<SourceId> },
}

/// Priority, the smallest first: class, whether a row command is needed first, rank of the source,
/// age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    pub class: u8,
    pub is_miss: bool,
    pub rank: usize,
    pub stamp: Stamp,
}

impl Scheduler {
    /// Starts without blacklisted sources.
    pub fn bliss(threshold: u32, interval: u64) -> Scheduler {
        Scheduler::Bliss { threshold, interval, last: None, consecutive: 0, blacklist: Vec::new() }
    }

    /// Starts without a batch.
    pub fn par_bs(cap: usize) -> Scheduler {
        Scheduler::ParBs { cap, marked: Vec::new(), ranking: Vec::new() }
    }

    /// Whether only the candidate of least priority may be issued.
    pub fn is_strict(&self) -> bool {
        matches!(self, Scheduler::Fcfs)
    }

    /// Priority of an access, by whether its row is open and the number of accesses that the open
    /// row has served.
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

    /// Priority of a thread's row command: that of a row miss with its stamp (25).
    pub fn thread_priority(&self, stamp: Stamp) -> Priority {
        Priority { class: 0, is_miss: !self.is_strict(), rank: 0, stamp }
    }

    /// Called before the decision of a cycle, with the queued reads of the channel.
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

    /// Called when the RD or WR of an access is issued.
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

/// Reads that a new batch marks, and its sources, the best first.
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
