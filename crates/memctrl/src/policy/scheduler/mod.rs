//! Schedulers, which determine the order of queued accesses.
//!
//! A scheduler assigns each access of a channel a [`Priority`]; of the candidates that the device allows in the same
//! cycle, the one with the smallest priority is issued. `docs/extending.md`
//! has the steps to add one.

mod bliss;
mod fcfs;
mod fr_fcfs;
mod fr_fcfs_cap;
mod par_bs;

use std::fmt;

use dram_spec::{BankIndex, Cycle, SourceId};

pub use bliss::Bliss;
pub use fcfs::Fcfs;
pub use fr_fcfs::FrFcfs;
pub use fr_fcfs_cap::FrFcfsCap;
pub use par_bs::ParBs;

use crate::access::{AccessKind, QueuedAccess, Stamp};
use crate::queues::{Queues, Rows, chain};

/// All schedulers, in the order of messages. The configuration replaces their parameters.
pub static SCHEDULERS: [&dyn Scheduler; 5] = [
    &Fcfs,
    &FrFcfs,
    &FrFcfsCap { cap: 1 },
    &Bliss::new(Bliss::THRESHOLD, Bliss::CLEARING_INTERVAL),
    &ParBs::new(ParBs::MARKING_CAP),
];

/// Order of the accesses of one channel. Each channel has its own instance.
///
/// The priority of an access must not decrease while it is queued, unless the scheduler reports
/// [`Changes::All`]. Of two accesses to one row from one source, the older must have the smaller
/// priority: the order of writes to a line depends on it. A row hit must not make an access worse, and
/// of two accesses with equal row states the order must not depend on these: an access for which a row
/// was closed or opened keeps its precedence in the bank.
pub trait Scheduler: fmt::Debug + Send + Sync {
    /// Name in the configuration.
    fn name(&self) -> &'static str;

    /// Name and parameters, for reports.
    fn summary(&self) -> String {
        self.name().to_owned()
    }

    /// Parameters of the scheduler. The builder of a system rejects values out of range.
    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    /// A copy for another channel.
    fn clone_box(&self) -> Box<dyn Scheduler>;

    /// Priority of an access to a bank in this state.
    fn priority(&self, access: &QueuedAccess, row: RowState) -> Priority;

    /// The access to a bank with the smallest priority, and its place; the largest possible priority
    /// if there is none. The default is compiled for each scheduler, so that accesses need no
    /// virtual call; no scheduler overrides it.
    fn preferred(&self, accesses: BankAccesses<'_>) -> (Priority, u16) {
        let mut best = (Priority::LAST, 0);
        for (place, access, row) in accesses.iter() {
            let priority = self.priority(access, row);
            if priority < best.0 {
                best = (priority, place);
                if priority.is_best(accesses.rows.open.is_some()) {
                    break;
                }
            }
        }
        best
    }

    /// Whether only the access with the smallest priority of the whole channel has a candidate.
    fn is_strict(&self) -> bool {
        false
    }

    /// Whether priorities depend on accesses served or queued before; if not, the methods below are
    /// not called, which saves time.
    fn has_state(&self) -> bool {
        true
    }

    /// Called when the RD or WR of an access is issued at `now`.
    fn served(&mut self, access: &QueuedAccess, now: Cycle) -> Changes {
        let _ = (access, now);
        Changes::None
    }

    /// Called before each decision, at `now`, with the queued reads of the channel.
    fn update(&mut self, now: Cycle, reads: Reads<'_>) -> Changes {
        let _ = (now, reads);
        Changes::None
    }

    /// Whether a read queued now changes the result of [`Self::update`].
    fn awaits_reads(&self) -> bool {
        false
    }

    /// Next cycle at which [`Self::update`] changes priorities without other events.
    fn next_update(&self) -> Cycle {
        Cycle::NEVER
    }
}

/// A parameter of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Key in the configuration.
    pub name: &'static str,
    /// Value.
    pub value: u64,
    /// Least valid value.
    pub least: u64,
    /// Largest valid value.
    pub most: u64,
}

impl Clone for Box<dyn Scheduler> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// State of a bank's row with respect to an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowState {
    /// Whether the row of the access is open.
    pub is_hit: bool,
    /// Number of accesses served by the open row since its ACT.
    pub served: u32,
}

/// The accesses of a kind to a bank.
#[derive(Clone, Copy)]
pub struct BankAccesses<'a> {
    /// Place in the pool of the oldest.
    pub(crate) first: u16,
    pub(crate) pool: &'a [QueuedAccess],
    pub(crate) rows: Rows,
}

impl<'a> BankAccesses<'a> {
    /// The accesses of a kind in a bank.
    #[inline]
    pub(crate) fn new(queues: &'a Queues, kind: AccessKind, bank: BankIndex, rows: Rows) -> BankAccesses<'a> {
        // Without a row hit, the first access may be known to be the best one.
        let open = rows.open.filter(|&row| queues.may_hold_row(kind, bank, row));
        BankAccesses { first: queues.first(kind, bank), pool: queues.pool(), rows: Rows { open, ..rows } }
    }

    /// The relevant accesses, oldest first: place, access, and row state.
    #[inline]
    fn iter(self) -> impl Iterator<Item = (u16, &'a QueuedAccess, RowState)> {
        let Rows { open, served, only_hits } = self.rows;
        let all = chain(self.pool, self.first, QueuedAccess::after)
            .map(move |(place, access)| (place, access, RowState { is_hit: open == Some(access.row()), served }));
        all.filter(move |(_, _, row)| row.is_hit || !only_hits)
    }
}

/// The queued reads of a channel.
#[derive(Clone, Copy)]
pub struct Reads<'a>(pub(crate) &'a Queues);

impl<'a> Reads<'a> {
    /// All reads, by bank; the oldest of a bank first.
    pub fn iter(self) -> impl Iterator<Item = &'a QueuedAccess> {
        self.0.of_kind(AccessKind::Read)
    }

    /// Whether there is no read.
    pub fn is_empty(self) -> bool {
        self.0.queued(AccessKind::Read) == 0
    }
}

/// The accesses whose priorities an event has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// No queued access.
    None,
    /// Possibly every queued access.
    All,
}

/// Priority of an access; the smallest is served first.
///
/// From the highest bit: a class, whether a row command is needed first, a rank, and the age. Class
/// therefore precedes row hit, row hit precedes rank, and rank precedes age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u64);

impl Priority {
    /// Largest class, and largest rank: greater values are reduced to these.
    pub const CLASS_MAX: u8 = 15;
    /// See [`Self::CLASS_MAX`].
    pub const RANK_MAX: u8 = 127;

    /// Lower priority than all others.
    pub(crate) const LAST: Priority = Priority(u64::MAX);
    const MISS_BIT: u32 = 59;

    /// Class 0, rank 0: row hits first, then the oldest.
    #[inline]
    pub const fn new(is_hit: bool, stamp: Stamp) -> Priority {
        Priority((!is_hit as u64) << Self::MISS_BIT | stamp.0)
    }

    /// Replaces the class.
    #[must_use]
    pub fn with_class(self, class: u8) -> Priority {
        Priority(self.0 | u64::from(class.min(Self::CLASS_MAX)) << (Self::MISS_BIT + 1))
    }

    /// Replaces the rank.
    #[must_use]
    pub fn with_rank(self, rank: u8) -> Priority {
        Priority(self.0 | u64::from(rank.min(Self::RANK_MAX)) << Stamp::BITS)
    }

    /// Whether no younger access to a bank in this state can have a smaller priority.
    #[inline]
    pub(crate) const fn is_best(self, bank_is_open: bool) -> bool {
        let best = if bank_is_open { 0 } else { 1 << (Self::MISS_BIT - Stamp::BITS) };
        self.0 >> Stamp::BITS <= best
    }

    /// The priority as an integer with equal order.
    #[inline]
    pub(crate) const fn order(self) -> u64 {
        self.0
    }
}

/// Priority of a write: FR-FCFS order, as sources are distinguished for reads only.
fn write_order(access: &QueuedAccess, row: RowState) -> Option<Priority> {
    (access.kind() == AccessKind::Write).then(|| Priority::new(row.is_hit, access.stamp()))
}

/// A value for each source.
#[derive(Clone, Debug)]
struct BySource<T>(Vec<(SourceId, T)>);

impl<T: Default> BySource<T> {
    const fn new() -> BySource<T> {
        BySource(Vec::new())
    }

    fn entry(&mut self, source: SourceId) -> &mut T {
        let at = self.0.iter().position(|(other, _)| *other == source).unwrap_or_else(|| {
            self.0.push((source, T::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    fn get(&self, source: SourceId) -> Option<&T> {
        self.0.iter().find(|(other, _)| *other == source).map(|(_, value)| value)
    }
}
