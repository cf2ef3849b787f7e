//! The settings of a memory controller besides the copy policy.

use std::sync::Arc;

use dram_spec::{Cycles, Geometry};
use memctrl::policy::row::{Open, RowPolicy};
use memctrl::policy::scheduler::{FrFcfs, Scheduler};
use memctrl::{PowerPolicy, Queues, RefreshPolicy};

/// The settings of a memory controller besides the copy policy. `docs/controller.md` explains each.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// Lines that a copy over the channel stages, at least 1.
    pub staging_lines: usize,
    /// How long a copy may hold a bank for which a read waits, at least 1 cycle; without it, until the copy is done there.
    pub copy_hold_max: Option<Cycles>,
    /// Sizes of the queues and watermarks of the write queue.
    pub queues: Queues,
    /// Orders the accesses of a channel.
    pub scheduler: Box<dyn Scheduler>,
    /// Decides when rows are closed.
    pub row_policy: Arc<dyn RowPolicy>,
    /// How refresh is scheduled.
    pub refresh: RefreshPolicy,
    /// When idle ranks enter power-down or self-refresh.
    pub power: PowerPolicy,
}

impl ControllerSettings {
    /// The most entries of a queue: more than any controller has, and a wider search would be a slow one.
    pub const ENTRIES_MAX: u64 = 4096;
    /// The most staging lines, 4 MiB: more than any row of all channels.
    pub const STAGING_LINES_MAX: u64 = 65_536;

    /// The defaults of [`memctrl::Config`]: a staging buffer of one row, FR-FCFS, open rows, refresh in time, no power-down.
    pub fn new(geometry: &Geometry) -> ControllerSettings {
        ControllerSettings {
            staging_lines: usize::from(geometry.columns()),
            copy_hold_max: None,
            queues: Queues::default(),
            scheduler: Box::new(FrFcfs),
            row_policy: Arc::new(Open),
            refresh: RefreshPolicy::default(),
            power: PowerPolicy::default(),
        }
    }

    /// In half a line: `fr-fcfs, open rows, 64 + 64 entries a channel`.
    pub fn summary(&self) -> String {
        let scheduler = self.scheduler.summary();
        let rows = match self.row_policy.closes_after() {
            Some(after) => format!("rows closed after {after} clocks"),
            None => format!("{} rows", self.row_policy.name()),
        };
        let Queues { read_entries, write_entries, .. } = self.queues;
        let hold = self.copy_hold_max.map_or(String::new(), |most| format!(", copies held to {most} clocks"));
        format!("{scheduler}, {rows}, {read_entries} + {write_entries} entries a channel{hold}")
    }
}
