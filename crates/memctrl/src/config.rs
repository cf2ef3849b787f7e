//! What a controller is built from.

use std::sync::Arc;

use dram_core::Background;
#[cfg(feature = "test-api")]
use dram_core::Defect;
use dram_spec::{Cycles, System};
use rowclone::Planner;

use crate::copy::estimate::PriceTable;
use crate::policy::copy::CopyPolicy;
use crate::policy::row::{Open, RowPolicy};
use crate::policy::scheduler::{FrFcfs, Scheduler};

/// How much a channel, or the controller, holds at once, and when a channel drains its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Entries of a channel's read queue.
    pub read_entries: usize,
    /// Entries of a channel's write queue.
    pub write_entries: usize,
    /// Copies in progress, over all channels.
    pub copy_entries: usize,
    /// Accesses that a channel accepts per cycle, and copies that the front end accepts per cycle.
    pub admission_per_cycle: usize,
    /// Queued writes at which a channel begins to drain them.
    pub drain_high: usize,
    /// Queued writes at which it serves reads again; less than `drain_high`.
    pub drain_low: usize,
}

impl Default for Queues {
    /// 64 and 64 entries per channel, as in the paper's table 2; the rest is this project's choice.
    fn default() -> Queues {
        Queues {
            read_entries: 64,
            write_entries: 64,
            copy_entries: 32,
            admission_per_cycle: 1,
            drain_high: 48,
            drain_low: 16,
        }
    }
}

/// How refresh is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshPolicy {
    /// How many REF a rank may owe while it is used: 0 (each REF goes before other work) to 8 (JEDEC's limit).
    pub postpone_max: u64,
    /// A rank with open rows that owes fewer than `postpone_max` REF closes them for a REF only after it has been idle for so long.
    pub idle: Cycles,
}

impl RefreshPolicy {
    /// `idle` by default; `docs/decisions/0018-refresh-idle-cycles.md` has the measurement.
    pub const IDLE: Cycles = Cycles(50);
}

impl Default for RefreshPolicy {
    fn default() -> RefreshPolicy {
        RefreshPolicy { postpone_max: 0, idle: RefreshPolicy::IDLE }
    }
}

/// When an idle rank enters power-down or self-refresh: that long after the last ACT, PRE or column command to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerPolicy {
    /// Into power-down; none is never.
    pub power_down_after: Option<Cycles>,
    /// Into self-refresh; none is never.
    pub self_refresh_after: Option<Cycles>,
}

/// What a controller is built from.
#[derive(Clone)]
pub struct Config {
    /// The memory system.
    pub system: System,
    /// Plans the copies: it knows the address map and the faulty rows.
    pub planner: Arc<Planner>,
    /// Chooses the mechanism of each part of a copy.
    pub copy_policy: &'static dyn CopyPolicy,
    /// What commands cost; the copy policy `least-energy` needs it.
    pub prices: Option<PriceTable>,
    /// Lines that a program over the channel reads before it writes them, at most.
    pub staging_lines: usize,
    /// How long a thread may hold a bank in which a read is queued; none is until it is done there.
    pub copy_hold_max: Option<Cycles>,
    /// Sizes and watermarks.
    pub queues: Queues,
    /// Orders the accesses of a channel.
    pub scheduler: Box<dyn Scheduler>,
    /// Decides when rows are closed.
    pub row_policy: Arc<dyn RowPolicy>,
    /// How refresh is scheduled.
    pub refresh: RefreshPolicy,
    /// When idle ranks enter power-down or self-refresh.
    pub power: PowerPolicy,
    /// Statistics leave out the cycles before this one.
    pub warm_up: Cycles,
    /// Length of an epoch of the statistics.
    pub epoch: Option<Cycles>,
    /// What memory holds at reset; without it, commands move no data.
    pub contents: Option<Arc<dyn Background>>,
    /// A deliberate defect of the data path, for tests of the memory check.
    #[cfg(feature = "test-api")]
    pub defect: Option<Defect>,
}

impl Config {
    /// A controller with the defaults: FR-FCFS, open rows, a staging buffer of one row, refresh in time, no power-down, no
    /// bound on copies.
    pub fn new(system: System, planner: Arc<Planner>, copy_policy: &'static dyn CopyPolicy) -> Config {
        Config {
            staging_lines: usize::from(system.geometry.columns()),
            system,
            planner,
            copy_policy,
            prices: None,
            copy_hold_max: None,
            queues: Queues::default(),
            scheduler: Box::new(FrFcfs),
            row_policy: Arc::new(Open),
            refresh: RefreshPolicy::default(),
            power: PowerPolicy::default(),
            warm_up: Cycles(0),
            epoch: None,
            contents: None,
            #[cfg(feature = "test-api")]
            defect: None,
        }
    }
}
