//! Schedulers, which determine the order of queued accesses.
//!
//! A scheduler assigns each access of a channel a [`Key`]; of the candidates that the device allows
//! in a cycle, the one with the smallest key is issued, and of equal keys the oldest.
//! `docs/extending.md` has the steps to add a scheduler.

mod atlas;
mod bliss;
mod cpu_first;
mod fcfs;
mod fifo;
mod fr_fcfs;
mod fr_fcfs_cap;
mod key;
mod par_bs;
mod service;

use std::any::Any;
use std::fmt;

use dram_spec::{BankIndex, Cycle, Cycles, SourceId};
use dyn_clone::DynClone;

pub use atlas::Atlas;
pub use bliss::Bliss;
pub use cpu_first::CpuFirst;
pub use fcfs::Fcfs;
pub use fifo::Fifo;
pub use fr_fcfs::FrFcfs;
pub use fr_fcfs_cap::FrFcfsCap;
pub use key::Key;
pub use par_bs::ParBs;
pub use service::{Service, Setting, SettingUnit, bank_time};

pub(crate) use key::Priority;

use crate::access::{AccessKind, QueuedAccess};
use crate::queues::{Queues, Rows};

/// All schedulers, in the order of messages, with the defaults of their settings; of a required one, with an example.
/// The keys of the configuration, their ranges and their descriptions follow from this list.
pub static SCHEDULERS: &[&dyn Scheduler] = &[
    &Fcfs,
    &Fifo,
    &FrFcfs,
    &FrFcfsCap { cap: 4 },
    &Bliss::DEFAULT,
    &ParBs::DEFAULT,
    &Atlas::DEFAULT,
    &CpuFirst::DEFAULT,
];

/// Order of the accesses of one channel. Each channel has its own instance.
///
/// The key of an access must not change while it is queued and its row state is equal, unless the
/// scheduler reports [`Changes::All`]. Of two reads from one source, and of two writes from any
/// sources, to one row, the older must not have the larger key: the order of writes to a line depends
/// on it. A row hit must not make an access worse, and of two accesses with equal row states the
/// order must not depend on these: an access for which a row was closed or opened keeps its
/// precedence in the bank.
pub trait Scheduler: Any + DynClone + fmt::Debug + Send + Sync {
    /// Name in the configuration.
    fn name(&self) -> &'static str;

    /// Name and parameters, for reports.
    fn summary(&self) -> String {
        self.name().to_owned()
    }

    /// Order of accesses in a few words, for the list of keys.
    fn about(&self) -> &'static str {
        ""
    }

    /// Its settings. The builder of a system rejects values out of range.
    fn settings(&self) -> &'static [Setting] {
        &[]
    }

    /// Values of its settings, in their order.
    fn values(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Sets its settings to values in their order, before the first command.
    fn set_values(&mut self, values: &[u64]) {
        let _ = values;
    }

    /// Key of an access to a bank in this state.
    fn key(&self, access: &QueuedAccess, row: RowState) -> Key;

    /// Key of the row commands of a source's copies, which compete with those of accesses: that of
    /// a row miss.
    fn copy_key(&self, source: SourceId) -> Key;

    /// A key that no access to a bank in this state precedes: a search ends with an access that has
    /// it. By default no key precedes it at all; a scheduler whose key has few values saves time by a
    /// key of its own.
    #[inline]
    fn best_key(&self, row: RowState) -> Key {
        let _ = row;
        Key::EQUAL
    }

    /// The access to a bank with the smallest key, the oldest of equals: key and place. The default
    /// is compiled for each scheduler, so that accesses need no virtual call; no scheduler overrides
    /// it.
    fn preferred(&self, accesses: &BankAccesses<'_>) -> Option<(Key, u16)> {
        let Rows { served, only_hits, .. } = accesses.rows;
        let mut best_key = self.best_key(RowState { is_hit: false, served });
        if let Some((place, access)) = accesses.first_hit() {
            let row = RowState { is_hit: true, served };
            let (key, best_hit) = (self.key(access, row), self.best_key(row));
            if key <= best_hit && (key < best_key || only_hits) {
                return Some((key, place));
            }
            best_key = best_key.min(best_hit);
        }
        let mut best: Option<(Key, u16)> = None;
        for (place, access, row) in accesses.iter() {
            let key = self.key(access, row);
            if best.is_none_or(|(least, _)| key < least) {
                best = Some((key, place));
                if key <= best_key {
                    break;
                }
            }
        }
        best
    }

    /// The accesses that have candidates. It does not change.
    fn candidacy(&self) -> Candidacy {
        Candidacy::EachBank
    }

    /// Whether keys change by themselves; if not, the methods below are not called, which saves time.
    fn has_state(&self) -> bool {
        true
    }

    /// Called with each command issued for a source. A scheduler under which not each bank has a
    /// candidate must not change its order by the service of copies, of which runs of columns are reported once.
    fn serve(&mut self, service: &Service<'_>) -> Changes {
        let _ = service;
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

    /// Next cycle at which [`Self::update`] changes keys without other events.
    fn next_update(&self) -> Cycle {
        Cycle::NEVER
    }

    /// Length of a quantum, at least 1; without quanta, [`Self::end_quantum`] is not called.
    fn quantum(&self) -> Option<Cycles> {
        None
    }

    /// Called at the end of each quantum, for the scheduler of the first channel: before the commands
    /// of the next quantum, and after those of this one on all channels. All keys may change.
    fn end_quantum(&mut self, others: Others<'_>) {
        let _ = others;
    }
}

dyn_clone::clone_trait_object!(Scheduler);

/// The schedulers of the channels other than the first.
#[derive(Debug)]
pub struct Others<'a>(pub(crate) Vec<&'a mut dyn Scheduler>);

impl Others<'_> {
    /// The schedulers, by channel. `S` is the type of the scheduler.
    ///
    /// # Panics
    /// If they have another type.
    pub fn iter_mut<S: Scheduler>(&mut self) -> impl Iterator<Item = &mut S> {
        self.0.iter_mut().map(|other| {
            let other: &mut dyn Any = &mut **other;
            other.downcast_mut().expect("all channels have schedulers of one type")
        })
    }
}

/// The accesses of a channel that have candidates: commands that may be issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidacy {
    /// The best access of each bank, of the kind that the write drain serves.
    EachBank,
    /// Of these, only the first.
    First,
    /// Only the oldest access of the channel, read or write: there is no write drain.
    Oldest,
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
    pub(crate) queues: &'a Queues,
    pub(crate) kind: AccessKind,
    pub(crate) bank: BankIndex,
    pub(crate) rows: Rows,
}

impl<'a> BankAccesses<'a> {
    /// The oldest access to the open row, and its place in the pool.
    #[inline]
    fn first_hit(&self) -> Option<(u16, &'a QueuedAccess)> {
        self.queues.first_to_row(self.kind, self.bank, self.rows.open?)
    }

    /// The relevant accesses, oldest first: place, access, and row state.
    #[inline]
    fn iter(&self) -> impl Iterator<Item = (u16, &'a QueuedAccess, RowState)> {
        let Rows { open, served, only_hits } = self.rows;
        let all = self
            .queues
            .in_bank(self.kind, self.bank)
            .map(move |(place, access)| (place, access, RowState { is_hit: open == Some(access.row()), served }));
        all.filter(move |(_, _, row)| row.is_hit || !only_hits)
    }
}

/// The queued reads of a channel.
#[derive(Clone, Copy, Debug)]
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

/// The accesses whose keys an event has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changes {
    /// No queued access.
    None,
    /// Possibly every queued access.
    All,
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
