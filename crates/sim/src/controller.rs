//! Settings of a memory controller except the copy policy.

use dram_spec::{Cycles, Geometry};
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::{FrFcfs, Scheduler};
use memctrl::{PowerPolicy, QueueSettings, RefreshPolicy};

/// Settings of a memory controller except the copy policy. `docs/controller.md` explains each.
#[derive(Clone, Debug)]
pub struct ControllerSettings {
    /// Lines that a copy over the channel stages, at least 1.
    pub staging_lines: usize,
    /// Maximum time for which a copy blocks a bank that a read waits for, at least 1 cycle; without
    /// it, the copy completes there first.
    pub copy_hold_max: Option<Cycles>,
    /// Queue sizes, and watermarks of the write queue.
    pub queues: QueueSettings,
    /// Order of the accesses of a channel; none for the default, which is FR-FCFS, or the order that a copy engine
    /// needs.
    pub scheduler: Option<Box<dyn Scheduler>>,
    /// When rows are closed.
    pub row_policy: RowPolicy,
    /// Scheduling of refresh.
    pub refresh: RefreshPolicy,
    /// When idle ranks enter power-down or self-refresh.
    pub power: PowerPolicy,
}

impl ControllerSettings {
    /// Maximum number of entries of a queue: above that of real controllers, and bounded because
    /// the search takes time.
    pub const ENTRIES_MAX: u64 = 4096;
    /// Maximum number of staging lines, 4 MiB: more than any row of all channels.
    pub const STAGING_LINES_MAX: u64 = 65_536;

    /// The defaults of [`memctrl::Config`]: a staging buffer of one row, FR-FCFS, open rows, no
    /// postponed refresh, no power-down.
    pub fn new(geometry: &Geometry) -> ControllerSettings {
        ControllerSettings {
            staging_lines: usize::from(geometry.columns()),
            copy_hold_max: None,
            queues: QueueSettings::default(),
            scheduler: None,
            row_policy: RowPolicy::Open,
            refresh: RefreshPolicy::default(),
            power: PowerPolicy::default(),
        }
    }

    /// The scheduler where none is given, and no device needs another one.
    pub(crate) fn default_scheduler() -> Box<dyn Scheduler> {
        Box::new(FrFcfs)
    }

    /// The scheduler that is given, or the default.
    pub fn scheduler_or_default(&self) -> Box<dyn Scheduler> {
        self.scheduler.clone().unwrap_or_else(ControllerSettings::default_scheduler)
    }

    /// Formats a summary: `fr-fcfs, open rows, 64 + 64 entries per channel`.
    pub fn summary(&self) -> String {
        let scheduler = self.scheduler_or_default().summary();
        let rows = match self.row_policy {
            RowPolicy::Timeout { after } => format!("rows closed after {after} clocks"),
            RowPolicy::Open | RowPolicy::Closed => format!("{} rows", self.row_policy.name()),
        };
        let QueueSettings { read_entries, write_entries, .. } = self.queues;
        let hold = self.copy_hold_max.map_or(String::new(), |most| format!(", copies held to {most} clocks"));
        format!("{scheduler}, {rows}, {read_entries} + {write_entries} entries per channel{hold}")
    }
}
