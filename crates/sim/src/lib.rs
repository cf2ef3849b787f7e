//! The simulator as a library: build a system, run an experiment on it, read the results.
//!
//! [`SystemBuilder`] builds a [`MemorySystem`], by default the system of the `RowClone` paper. An
//! [`Experiment`] executes requests on a system under a copy policy; [`Experiment::run`] returns an
//! [`Outcome`], which serializes with serde. The library opens no files and prints nothing. It
//! returns an error for every setting that cannot be simulated: [`SystemError`] and
//! [`ExperimentError`]. It re-exports the crates of the types in its interface, so that users
//! depend on this crate alone.
//!
//! # A copy
//!
//! ```
//! use rowclone_sim::dram_spec::PhysicalAddress;
//! use rowclone_sim::host::{OperationKind, OperationSpec, Place};
//! use rowclone_sim::{Experiment, SystemBuilder};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let system = SystemBuilder::default().channels(1).build()?;
//! let copy = OperationSpec {
//!     kind: OperationKind::Copy,
//!     src: Some(Place::SameSubarray),
//!     dst: PhysicalAddress(0x0040_0000),
//!     bytes: 4096,
//!     value: 0,
//!     at: None,
//! };
//! let outcome = Experiment::operations(&system, [copy])?.checked().run()?;
//! let row = &outcome.operations[0];
//! // ACT, ACT, PRE: tRAS + tRAS + tRP = 20 + 20 + 8 = 48 clocks of 1.875 ns.
//! assert_eq!((row.mechanism.as_str(), row.latency_cycles, row.latency_ns), ("fpm", 48, 90.0));
//! assert!(outcome.check.is_some_and(|check| check.passed()));
//! # Ok(())
//! # }
//! ```
//!
//! A setting that cannot be simulated is an error that names it:
//!
//! ```
//! use rowclone_sim::memctrl::QueueSettings;
//! use rowclone_sim::SystemBuilder;
//!
//! let queues = QueueSettings { drain_low: 48, ..QueueSettings::default() };
//! let error = SystemBuilder::default().queues(queues).build().unwrap_err();
//! assert_eq!(error.to_string(), "`queues.drain_low` is 48, but must be from 0 to 47");
//! ```
//!
//! # Commands on a device, and their energy
//!
//! ```
//! use rowclone_sim::dram_core::Device;
//! use rowclone_sim::dram_spec::{BankId, Channel, Command, CommandEvent, Cycle, EventSink, Row};
//! use rowclone_sim::energy::{Account, Cause};
//! use rowclone_sim::SystemBuilder;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let system = SystemBuilder::default().channels(1).current_set("2 Gb x8 -25E").build()?;
//! let mut device = Device::new(system.system(), None);
//! let mut account = Account::new(system.system());
//! let bank = BankId { rank: 0, bank: 0 };
//! let mut at = Cycle::ZERO;
//! for command in [
//!     Command::Activate { bank, row: Row(1) },
//!     Command::Activate { bank, row: Row(2) }, // to an open bank: copies row 1 to row 2
//!     Command::Precharge { bank },
//! ] {
//!     at = device.earliest(&command)?.until();
//!     let effect = device.issue(at, &command);
//!     account.command(&CommandEvent::new(at, Channel(0), command, effect));
//! }
//! assert_eq!(at, Cycle(40), "tRAS + tRAS");
//! account.finish(device.ready(bank));
//! let energy = account.report(system.prices().expect("the default system has a current set"))?;
//! // Two activations of eight chips, 3093.75 pJ each.
//! assert_eq!((energy.of(Cause::Activate).0, energy.operation().0), (24_750.0, 49_500.0));
//! # Ok(())
//! # }
//! ```
//!
//! # A user-defined scheduler
//!
//! ```
//! use rowclone_sim::dram_spec::{Cycles, PhysicalAddress, SourceId};
//! use rowclone_sim::host::workload::{Gap, Random, Settings};
//! use rowclone_sim::memctrl::QueuedAccess;
//! use rowclone_sim::memctrl::policy::scheduler::{Changes, Key, Others, RowState, Scheduler, Service};
//! use rowclone_sim::{Experiment, Requests, SystemBuilder};
//!
//! /// Even or odd banks first: those that were busy for less time in the last quantum, over all
//! /// channels. Then row hits, then the oldest access.
//! #[derive(Clone, Debug, Default)]
//! struct LessBusyBanksFirst {
//!     busy: [u64; 2],
//!     first: usize,
//! }
//!
//! impl Scheduler for LessBusyBanksFirst {
//!     fn name(&self) -> &'static str {
//!         "less-busy-banks-first"
//!     }
//!     fn key(&self, access: &QueuedAccess, row: RowState) -> Key {
//!         Key::EQUAL.first_if(access.bank().get() % 2 == self.first).first_if(row.is_hit)
//!     }
//!     fn copy_key(&self, _: SourceId) -> Key {
//!         Key::EQUAL.first_if(false).first_if(false)
//!     }
//!     fn serve(&mut self, service: &Service<'_>) -> Changes {
//!         self.busy[service.bank.get() % 2] += service.bank_time.0;
//!         Changes::None
//!     }
//!     fn quantum(&self) -> Option<Cycles> {
//!         Some(Cycles(1000))
//!     }
//!     fn end_quantum(&mut self, mut others: Others<'_>) {
//!         for other in others.iter_mut::<Self>() {
//!             self.busy = [self.busy[0] + other.busy[0], self.busy[1] + other.busy[1]];
//!             other.busy = [0; 2];
//!         }
//!         self.first = usize::from(self.busy[1] < self.busy[0]);
//!         self.busy = [0; 2];
//!         others.iter_mut::<Self>().for_each(|other| other.first = self.first);
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lines = Random { count: 1000, start: PhysicalAddress(0), bytes: 1 << 20, write_share: 0.0, gap: Gap::ZERO };
//! let makespan = |builder: SystemBuilder| -> Result<u64, Box<dyn std::error::Error>> {
//!     let system = builder.build()?;
//!     let requests = Requests::Made { settings: Settings::new(lines), allocator: None };
//!     let outcome = Experiment::new(&system, requests).run()?;
//!     assert_eq!(outcome.figures.requests, 1000);
//!     Ok(outcome.makespan_cycles)
//! };
//! let (own, fr_fcfs) = (SystemBuilder::default().scheduler(LessBusyBanksFirst::default()), SystemBuilder::default());
//! assert!(makespan(own)? > makespan(fr_fcfs)?);
//! # Ok(())
//! # }
//! ```

mod allocator_report;
mod backlog;
mod break_even;
mod buses;
mod check_report;
mod checks;
pub mod compare;
mod controller;
mod copy_method;
mod cores_report;
mod distribution;
mod epoch_report;
mod error;
mod experiment;
mod figures;
mod interval;
mod metered;
mod mix;
mod observer;
mod operations;
mod outcome;
mod page_mode;
mod pricing;
mod progress;
pub mod quantity;
mod range;
mod ratios;
mod requests;
mod served;
mod system;
mod trace_report;
mod tracked;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

pub use {dram_core, dram_spec, energy, host, memctrl, os_alloc_sim, protocol_check, rowclone, trace_io};

pub use allocator_report::{AllocatorReport, MemoryState, TrafficReport};
pub use backlog::Backlog;
pub use break_even::BreakEven;
pub use buses::BusUse;
pub use check_report::CheckReport;
pub use checks::{POSTPONE_MAX, T_REFI_PS, missing_current};
pub use controller::ControllerSettings;
pub use copy_method::{CopyMethod, DeviceSettings};
pub use cores_report::{AccessRow, CoreRow, CoresReport, StallRow};
pub use distribution::Distribution;
pub use epoch_report::EpochReport;
pub use error::{ExperimentError, SystemError};
pub use experiment::{Experiment, dialect};
pub use figures::{FiguresReport, PartRow, QueueDepth, RowOutcomes, cause_key};
pub use host::machine::{DmaCounts, NetworkCounts, PrefetchCounts};
pub use metered::{Measured, Measurements};
pub use mix::MixMetrics;
pub use observer::{Attachments, Observer, SharedObserver};
pub use operations::{Comparison, OperationRow, label, mechanisms};
pub use outcome::Outcome;
pub use pricing::price_table;
pub use progress::RunProgress;
pub use range::{CYCLES_MAX, OutOfRange};
pub use ratios::{REFERENCE_ALLOCATOR, Reference, ratio};
pub use requests::{Programs, RecordedTrace, Requests};
pub use served::{ServedRow, ServedTally};
pub use system::{MemorySystem, SystemBuilder};
pub use trace_report::{TraceReport, TraceTally};
