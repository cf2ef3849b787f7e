//! The schedulers, by their definitions (`memctrl::policy::scheduler`).

use std::collections::BTreeMap;

use dram_core::{P, Timings};
use dram_spec::{BankId, Command, Effect, SourceId};

use super::access::{Access, Kind, Stamp};

/// A scheduler with its parameters and its state.
#[derive(Clone, Debug)]
pub enum Scheduler {
    /// The oldest access of the kind that the channel serves.
    Fcfs,
    /// The oldest access of the channel, of either kind.
    Fifo,
    /// Row hits first.
    FrFcfs,
    /// Row hits first, up to a number of accesses to an open row.
    FrFcfsCap(u32),
    /// Sources with more consecutive reads than the threshold have the lowest class until the next
    /// clearing.
    Bliss { threshold: u32, interval: u64, last: Option<SourceId>, consecutive: u32, blacklist: Vec<SourceId> },
    /// Reads are served in batches; within a batch by source.
    ParBs { cap: usize, marked: Vec<Stamp>, ranking: Vec<SourceId> },
    /// Reads of cores before those of devices, which have a share in percent. Credit in hundredths of
    /// a RD.
    CpuFirst { share: u64, credit: u64 },
    /// Sources with less service in past quanta first. Service and totals in cycles; bias in
    /// thousandths.
    Atlas {
        quantum: u64,
        threshold: u64,
        bias: u64,
        now: u64,
        service: BTreeMap<SourceId, u64>,
        totals: BTreeMap<SourceId, u64>,
    },
}

/// Priority, the smallest first: class, total service of the source, whether a row command is needed
/// first, rank of the source, age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority {
    pub class: u8,
    pub total: u64,
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

    /// Starts without service.
    pub fn atlas(quantum: u64, threshold: u64, bias: u64) -> Scheduler {
        let (service, totals) = (BTreeMap::new(), BTreeMap::new());
        Scheduler::Atlas { quantum, threshold, bias, now: 0, service, totals }
    }

    /// Whether only the candidate of least priority may be issued.
    pub fn is_strict(&self) -> bool {
        matches!(self, Scheduler::Fcfs | Scheduler::Fifo)
    }

    /// Whether reads and writes form one queue.
    pub fn is_fifo(&self) -> bool {
        matches!(self, Scheduler::Fifo)
    }

    /// Under `cpu-first`, the class of a source: 0 goes first.
    fn class_of(&self, source: SourceId) -> u8 {
        let Scheduler::CpuFirst { share, credit } = *self else { return 0 };
        let are_devices_first = credit + share >= 100;
        u8::from((source.0 >= 0x8000) != are_devices_first)
    }

    /// Priority of an access, by whether its row is open and the number of accesses that the open
    /// row has served.
    pub fn priority(&self, access: &Access, is_hit: bool, served: u32) -> Priority {
        let stamp = access.stamp.expect("it is queued");
        let base = Priority { class: 0, total: 0, is_miss: !is_hit, rank: 0, stamp };
        match self {
            Scheduler::Fcfs | Scheduler::Fifo => Priority { is_miss: false, ..base },
            Scheduler::FrFcfs => base,
            Scheduler::FrFcfsCap(cap) => Priority { is_miss: !(is_hit && served < *cap), ..base },
            Scheduler::Bliss { .. } | Scheduler::ParBs { .. } | Scheduler::CpuFirst { .. }
                if access.kind == Kind::Write =>
            {
                base
            }
            Scheduler::CpuFirst { .. } => Priority { class: self.class_of(access.source), ..base },
            Scheduler::Atlas { .. } if access.kind == Kind::Write => Priority { class: 1, ..base },
            Scheduler::Atlas { threshold, now, .. } => {
                let class = u8::from(now - stamp.cycle <= *threshold);
                Priority { class, total: self.total(access.source), ..base }
            }
            Scheduler::Bliss { blacklist, .. } => {
                Priority { class: u8::from(blacklist.contains(&access.source)), ..base }
            }
            Scheduler::ParBs { marked, ranking, .. } => {
                let rank = ranking.iter().position(|source| *source == access.source).unwrap_or(usize::MAX);
                Priority { class: u8::from(!marked.contains(&stamp)), rank, ..base }
            }
        }
    }

    /// Priority of the row command of a source's thread: that of a row miss with its stamp (25).
    pub fn thread_priority(&self, source: SourceId, stamp: Stamp) -> Priority {
        let class = if matches!(self, Scheduler::Atlas { .. }) { 1 } else { self.class_of(source) };
        let (total, is_miss) = (self.total(source), !self.is_strict());
        Priority { class, total, is_miss, rank: 0, stamp }
    }

    /// Under ATLAS, the total service of a source.
    fn total(&self, source: SourceId) -> u64 {
        let Scheduler::Atlas { totals, .. } = self else { return 0 };
        totals.get(&source).copied().unwrap_or(0)
    }

    /// Called before the decision of a cycle, with the queued reads of the channel.
    pub fn update(&mut self, now: u64, reads: &[(BankId, SourceId, Stamp)]) {
        match self {
            Scheduler::Bliss { interval, blacklist, .. } if now > 0 && now.is_multiple_of(*interval) => {
                blacklist.clear();
            }
            Scheduler::Atlas { now: present, .. } => *present = now,
            Scheduler::ParBs { cap, marked, ranking } if marked.is_empty() && !reads.is_empty() => {
                (*marked, *ranking) = batch(reads, *cap);
            }
            _ => {}
        }
    }

    /// Called when the RD or WR of an access is issued. `left` are the sources of the reads that are
    /// still queued.
    pub fn served(&mut self, access: &Access, left: &[SourceId]) {
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
            Scheduler::CpuFirst { share, credit } => {
                let is_device = |source: SourceId| source.0 >= 0x8000;
                let is_contested = left.iter().any(|other| is_device(*other) != is_device(access.source));
                match (is_contested, is_device(access.source)) {
                    (true, false) => *credit = 1000.min(*credit + *share),
                    (true, true) => *credit = (*credit + *share).max(100) - 100,
                    (false, _) => {}
                }
            }
            _ => {}
        }
    }
}

/// Records a command for a source's access or copy, which keeps banks busy; `movement` is the time of
/// hops.
pub fn attain(
    scheduler: &mut Scheduler,
    source: SourceId,
    command: &Command,
    (effect, movement): (Effect, impl Fn(u16) -> u64),
    timings: &Timings,
) {
    let Scheduler::Atlas { service, .. } = scheduler else { return };
    let n = |parameter| timings.get(parameter).0;
    let closing = |auto: dram_spec::AutoPrecharge| if auto == dram_spec::AutoPrecharge::Yes { n(P::Rp) } else { 0 };
    *service.entry(source).or_default() += match *command {
        Command::Activate { .. } if matches!(effect, Effect::Copied { .. }) => n(P::Ras) - n(P::Rcd) + n(P::Ras),
        Command::Activate { .. } => n(P::Rcd),
        Command::Precharge { .. } => n(P::Rp),
        Command::Read { auto_precharge, .. } | Command::Write { auto_precharge, .. } => {
            n(P::Ccd) + closing(auto_precharge)
        }
        Command::Transfer { .. } => 2 * n(P::Ccd),
        Command::MoveRowBuffer { .. } => match effect {
            Effect::Moved { hops, .. } => movement(hops),
            other => unreachable!("{other:?}"),
        },
        ref other => unreachable!("{other:?} is for no source"),
    };
}

/// Ends a quantum at its last cycle: the schedulers of all channels share their service.
pub fn end_quanta(now: u64, all: &mut [&mut Scheduler]) {
    let Scheduler::Atlas { quantum, bias, totals, .. } = &*all[0] else { return };
    if now == 0 || !now.is_multiple_of(*quantum) {
        return;
    }
    let (bias, mut totals) = (*bias, totals.clone());
    let mut sum: BTreeMap<SourceId, u64> = totals.keys().map(|source| (*source, 0)).collect();
    for scheduler in all.iter_mut() {
        let Scheduler::Atlas { service, .. } = &mut **scheduler else { unreachable!("all are of one kind") };
        for (source, cycles) in std::mem::take(service) {
            *sum.entry(source).or_default() += cycles;
        }
    }
    for (source, service) in sum {
        let total = totals.entry(source).or_default();
        *total = (bias * *total + (1000 - bias) * service) / 1000;
    }
    for scheduler in all {
        let Scheduler::Atlas { totals: shared, .. } = &mut **scheduler else { unreachable!("all are of one kind") };
        shared.clone_from(&totals);
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
