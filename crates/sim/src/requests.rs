//! Requests of experiments.

use std::io::Read;

use dram_spec::Cycles;
use host::machine::{MachineSettings, Program, Region};
use host::workload::Settings;
use host::{AllocatorSettings, ListedOperation, Timing, UnusableRecords};
use trace_io::trace::Format;

use crate::copy_method::DeviceSettings;

/// Requests of an experiment.
pub enum Requests<'a> {
    /// Operations, sequential or at set cycles.
    Operations(Vec<ListedOperation>),
    /// Requests generated from settings and the seed.
    Made {
        /// Settings of the workload.
        settings: Settings,
        /// Allocator of the pages, for workloads of processes.
        allocator: Option<AllocatorSettings>,
    },
    /// A recorded trace.
    Trace(RecordedTrace<'a>),
    /// Programs on cores.
    Programs(Box<Programs>),
}

/// A recorded trace and its replay settings.
pub struct RecordedTrace<'a> {
    /// Name in reports.
    pub name: String,
    /// Text, plain or compressed.
    pub text: Box<dyn Read + 'a>,
    /// Format; without it, the format that the first record matches.
    pub format: Option<&'static Format>,
    /// Treatment of records that do not fit the memory.
    pub unusable: UnusableRecords,
    /// Arrival of the records.
    pub timing: Timing,
    /// Allocator of the pages; without it, pages keep their recorded addresses.
    pub allocator: Option<AllocatorSettings>,
    /// CPU time of a recorded page fault, apart from its copy or zeroing.
    pub fault: Cycles,
}

/// Programs, each on a core, and the settings of the machine.
#[derive(Debug)]
pub struct Programs {
    /// Cores, caches, kernel, and allocator of the baseline. The copy policy of the experiment
    /// replaces who copies, and the allocator, by its [`CopyMethod`](crate::CopyMethod).
    pub settings: MachineSettings,
    /// Devices that copy under some policies.
    pub devices: DeviceSettings,
    /// The program of each core.
    pub programs: Vec<Box<dyn Program>>,
    /// Warm-up and measured region of each program.
    pub regions: Vec<Region>,
}
