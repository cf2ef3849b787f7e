//! What the sources of commands offer, and what they see when they offer it. Rules 23 to 27 of
//! `docs/controller.md`.

use dram_core::{Device, Floor, KeptKind};
use dram_spec::{BankIndex, BankSet, Cycle, PerRank, Topology};

use crate::access::Stamp;
use crate::queues::Queues;

/// The next command that a source would issue if only time passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Offer {
    /// Earliest cycle.
    pub(crate) at: Cycle,
    pub(crate) tier: Tier,
    /// Order within the tier: for columns the number of the contender, the oldest first; for rows the
    /// key of the scheduler.
    pub(crate) order: u64,
    /// Order of equals: the oldest first.
    pub(crate) age: Stamp,
    /// Order of these.
    pub(crate) tie: u64,
    pub(crate) choice: Choice,
}

/// Order of commands that can be issued in one cycle; the lowest tier is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tier {
    Maintenance,
    Column,
    Row,
    Timeout,
}

/// The next command.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    Nothing,
    /// Maintenance command of a rank.
    Maintenance(u8),
    /// The candidate of a bank.
    Access(BankIndex),
    /// The row step of the thread that holds a bank.
    Row(BankIndex),
    /// The column step of the thread in a slot of the port.
    Column(u8),
    /// PRE by the row policy.
    Timeout(BankIndex),
}

impl Offer {
    pub(crate) const NOTHING: Offer =
        Offer { at: Cycle::NEVER, order: u64::MAX, ..Offer::new(Cycle::NEVER, Tier::Timeout, Choice::Nothing) };

    /// A command whose order is that of its tier.
    pub(crate) const fn new(at: Cycle, tier: Tier, choice: Choice) -> Offer {
        Offer { at, tier, order: 0, age: Stamp::OLDEST, tie: 0, choice }
    }

    /// Whether this command is issued before the other.
    #[inline]
    pub(crate) fn precedes(&self, other: &Offer) -> bool {
        self.at < other.at || (self.at == other.at && self.rank() < other.rank())
    }

    /// Order among the offers of one cycle.
    #[inline]
    fn rank(&self) -> (Tier, u64, Stamp, u64) {
        (self.tier, self.order, self.age, self.tie)
    }

    /// The one of two offers that is issued first.
    #[inline]
    #[must_use]
    pub(crate) fn or(self, other: Offer) -> Offer {
        if other.precedes(&self) { other } else { self }
    }
}

/// The channel as the sources see it when they make an offer.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) device: &'a Device,
    pub(crate) queues: &'a Queues,
    /// First cycle of a command.
    pub(crate) from: Cycle,
    /// Banks of usable ranks that no thread holds.
    pub(crate) free: BankSet,
    /// Banks of ranks that must refresh.
    pub(crate) must: BankSet,
}

impl View<'_> {
    /// Ranks, and banks per rank.
    #[inline]
    pub(crate) fn topology(&self) -> Topology {
        self.device.topology()
    }

    /// When rank, bank group and bus allow a kind of command.
    #[inline]
    pub(crate) fn after(&self, floor: Floor) -> Cycle {
        self.device.floor(floor).max(self.device.bus_free()).max(self.from)
    }
}

/// Cycles until which older contenders for column commands block younger ones.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    /// RD and WR.
    bus: Cycle,
    /// RD, WR and TRANSFER, by rank.
    paths: PerRank<Cycle>,
}

impl Turns {
    /// No contender blocks another.
    pub(crate) fn free() -> Turns {
        Turns { bus: Cycle::ZERO, paths: PerRank::new(Cycle::ZERO) }
    }

    /// Earliest cycle at which a contender can issue a command that the device permits at `ready`.
    #[inline]
    pub(crate) fn turn(&self, kind: KeptKind, rank: u8, ready: Cycle) -> Cycle {
        let path = self.paths[rank].max(ready);
        if kind == KeptKind::Transfer { path } else { path.max(self.bus) }
    }

    /// Blocks younger contenders until `turn`, at which a contender can issue its command.
    #[inline]
    pub(crate) fn block(&mut self, kind: KeptKind, rank: u8, turn: Cycle) {
        self.paths[rank] = turn.max(self.paths[rank]);
        if kind != KeptKind::Transfer {
            self.bus = self.bus.max(turn);
        }
    }

    /// The first cycle in which a younger contender can issue a column command to one of the first
    /// `ranks` ranks.
    #[inline]
    pub(crate) fn first(&self, ranks: u8) -> Cycle {
        (0..ranks).map(|rank| self.paths[rank]).min().unwrap_or(Cycle::ZERO)
    }
}

/// The oldest contender for column commands, which waits for the device alone. While its commands
/// follow each other as the device permits, no younger contender that needs its bus or its path has
/// a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lead {
    /// Slot of the thread.
    pub(crate) slot: u8,
    pub(crate) kind: KeptKind,
    pub(crate) rank: u8,
}

impl Lead {
    /// Whether it keeps a younger contender from its turn.
    #[inline]
    pub(crate) fn blocks(self, kind: KeptKind, rank: u8) -> bool {
        self.rank == rank || (self.kind != KeptKind::Transfer && kind != KeptKind::Transfer)
    }
}

/// What the accesses claim as one contender for column commands.
pub(crate) struct Claim {
    /// Age of the oldest column candidate.
    pub(crate) stamp: Stamp,
    pub(crate) kind: KeptKind,
    /// Ranks with a column candidate, and when the device allows the last of each.
    pub(crate) ready: PerRank<Option<Cycle>>,
}

/// The older contenders, as the accesses see them.
pub(crate) struct Older {
    pub(crate) turns: Turns,
    pub(crate) lead: Option<Lead>,
    /// Their number.
    pub(crate) number: u64,
}
