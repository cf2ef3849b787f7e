//! What a controller is built from.

use std::sync::Arc;

use dram_core::{Background, Defect};
use dram_spec::{Cycles, System};
use rowclone::Planner;

use crate::policy::Policy;
use crate::prices::PriceTable;
use crate::refresh::RefreshPolicy;

/// Which access goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheduler {
    /// The oldest, and nothing before it.
    Fcfs,
    /// Those to open rows first, then the oldest.
    #[default]
    FrFcfs,
    /// The same, but after so many accesses to one open row an older one to another row goes first.
    FrFcfsCap(u32),
}

/// When an open row is closed that no access waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowPolicy {
    /// When another row is wanted.
    #[default]
    Open,
    /// With the last access to it that is queued, by auto-precharge.
    Closed,
    /// So long after the last command to its bank.
    Timeout(Cycles),
}

/// How much a channel, or the controller, holds at once, and when a channel turns to its writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Entries of a channel's read queue.
    pub read_entries: usize,
    /// Entries of a channel's write queue.
    pub write_entries: usize,
    /// Copies and initialisations in progress, over all channels.
    pub copy_entries: usize,
    /// So many queued writes make a channel turn to them.
    pub drain_high: usize,
    /// With so few left it turns back to its reads; less than `drain_high`.
    pub drain_low: usize,
}

impl Default for Queues {
    /// 64 and 64 entries a channel, as in the paper's table 2; the rest is this project's choice.
    fn default() -> Queues {
        Queues { read_entries: 64, write_entries: 64, copy_entries: 32, drain_high: 48, drain_low: 16 }
    }
}

/// When a rank that nobody waits for is put to sleep: so long after the last command of an access or a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerPolicy {
    /// Into power-down; never where it is not given.
    pub power_down_after: Option<Cycles>,
    /// Into self-refresh; never where it is not given.
    pub self_refresh_after: Option<Cycles>,
}

/// What a controller is built from.
#[derive(Clone)]
pub struct Config {
    /// The memory system.
    pub system: System,
    /// Plans the copies: it knows the address map and the faulty rows.
    pub planner: Arc<Planner>,
    /// Which mechanism a part of a copy is given.
    pub policy: Policy,
    /// What commands cost, for the policy `least-energy`, which must have it.
    pub prices: Option<PriceTable>,
    /// How many lines the controller can hold on their way from read to write.
    pub staging_lines: usize,
    /// How long a copy may hold a bank that a read waits for; without it, until it is done there.
    pub copy_hold_max: Option<Cycles>,
    /// Sizes and watermarks.
    pub queues: Queues,
    /// Which access goes first.
    pub scheduler: Scheduler,
    /// When rows are closed.
    pub row_policy: RowPolicy,
    /// How refresh is scheduled.
    pub refresh: RefreshPolicy,
    /// When ranks are put to sleep.
    pub power: PowerPolicy,
    /// Statistics leave out what happens before this instant.
    pub warm_up: Cycles,
    /// Statistics are also given for each stretch of so many cycles.
    pub epoch: Option<Cycles>,
    /// What memory holds at reset; without it, commands move no data.
    pub contents: Option<Arc<dyn Background>>,
    /// A deliberate defect of the data path; for tests of the memory check.
    pub defect: Option<Defect>,
}

impl Config {
    /// A controller with the defaults: FR-FCFS, open rows, a staging buffer of one row, refresh in time, ranks awake, no bound on copies.
    pub fn new(system: System, planner: Arc<Planner>, policy: Policy) -> Config {
        Config {
            staging_lines: usize::from(system.geometry.columns()),
            system,
            planner,
            policy,
            prices: None,
            copy_hold_max: None,
            queues: Queues::default(),
            scheduler: Scheduler::default(),
            row_policy: RowPolicy::default(),
            refresh: RefreshPolicy { postpone_max: 0 },
            power: PowerPolicy::default(),
            warm_up: Cycles(0),
            epoch: None,
            contents: None,
            defect: None,
        }
    }
}
