//! Configuration of a controller.

use std::sync::Arc;

use dram_core::Background;
#[cfg(feature = "test-api")]
use dram_core::Defect;
use dram_spec::{Cycles, System};
use rowclone::Planner;

use crate::estimate::PriceTable;
use crate::policy::copy::CopyPolicy;
use crate::policy::row::RowPolicy;
use crate::policy::scheduler::{FrFcfs, Scheduler};

/// Queue sizes, and watermarks of the write drain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Entries of a channel's read queue.
    pub read_entries: usize,
    /// Entries of a channel's write queue.
    pub write_entries: usize,
    /// Copies in progress in all channels.
    pub copy_entries: usize,
    /// Accesses that a channel accepts per cycle, and copies that the front end accepts per cycle.
    pub admission_per_cycle: usize,
    /// Queued writes at which a channel starts a write drain.
    pub drain_high: usize,
    /// Queued writes at which a channel ends a write drain; less than `drain_high`.
    pub drain_low: usize,
}

impl Default for Queues {
    /// 64 and 64 entries per channel, as in the paper's table 2; the other values are this
    /// project's choice.
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

/// Scheduling of refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshPolicy {
    /// Number of REFs that a rank may owe while it is used: from 0 (each REF precedes other work)
    /// to 8 (JEDEC's limit).
    pub postpone_max: u64,
    /// Idle time after which a rank with open rows that owes fewer than `postpone_max` REFs closes
    /// the rows for a REF.
    pub idle: Cycles,
}

impl RefreshPolicy {
    /// Default of `idle`; `docs/decisions/0018-refresh-idle-cycles.md` has the measurement.
    pub const IDLE: Cycles = Cycles(50);
}

impl Default for RefreshPolicy {
    fn default() -> RefreshPolicy {
        RefreshPolicy { postpone_max: 0, idle: RefreshPolicy::IDLE }
    }
}

/// Time after the last ACT, PRE or column command to a rank at which it enters power-down or
/// self-refresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerPolicy {
    /// Time until power-down; `None` disables it.
    pub power_down_after: Option<Cycles>,
    /// Time until self-refresh; `None` disables it.
    pub self_refresh_after: Option<Cycles>,
}

/// Configuration of a controller.
#[derive(Clone)]
pub struct Config {
    /// The memory system.
    pub system: System,
    /// Planner of copies, with the address map and the faulty rows.
    pub planner: Arc<Planner>,
    /// Policy that chooses the mechanism of each part of a copy.
    pub copy_policy: &'static dyn CopyPolicy,
    /// Energy of each command; required by the copy policy `least-energy`.
    pub prices: Option<PriceTable>,
    /// Maximum number of lines that a program over the channel reads before it writes them.
    pub staging_lines: usize,
    /// Time for which a thread may hold a bank in which a read is queued; with `None`, until it is
    /// done with the bank.
    pub copy_hold_max: Option<Cycles>,
    /// Queue sizes and watermarks.
    pub queues: Queues,
    /// Order of the accesses of a channel.
    pub scheduler: Box<dyn Scheduler>,
    /// When rows are closed.
    pub row_policy: RowPolicy,
    /// Scheduling of refresh.
    pub refresh: RefreshPolicy,
    /// When idle ranks enter power-down or self-refresh.
    pub power: PowerPolicy,
    /// Length of the warm-up, which statistics exclude.
    pub warm_up: Cycles,
    /// Length of an epoch of the statistics.
    pub epoch: Option<Cycles>,
    /// Memory contents at reset; without them, commands move no data.
    pub contents: Option<Arc<dyn Background>>,
    /// A deliberate defect of the data path, for tests of the memory check.
    #[cfg(feature = "test-api")]
    pub defect: Option<Defect>,
}

impl Config {
    /// Creates a configuration with the defaults: FR-FCFS, open rows, a staging buffer of one row,
    /// no postponed refresh, no power-down, no bound on copies.
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
            row_policy: RowPolicy::Open,
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
