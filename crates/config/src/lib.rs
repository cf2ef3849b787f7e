//! Reader of input files: systems, machines, scenarios and current sets.
//!
//! Each key is described once, by a [`Key`](key::Key): type, range, default, example and help. A [`Document`] is a
//! parsed file with the line of each value, and with the `--set` of the command line applied. [`Document::check`]
//! compares it with the description of its keys and converts sizes and times; readers get the values by key and compare
//! them with each other. Every error is one [`Failure`] with the file, the line, the key, what was found, and what
//! would work.

pub mod allocator;
mod atomic_file;
mod caches;
mod canonical;
mod check;
mod classes;
mod controller;
pub mod cores;
pub mod currents;
mod devices;
pub mod document;
pub mod error;
pub mod file;
pub mod key;
pub mod library;
mod loops;
pub mod machine;
mod operations;
pub mod overrides;
mod page_mode;
pub mod preset;
pub mod programs;
pub mod quantity;
pub mod receive;
pub mod receiver;
pub mod scenario;
pub mod scenario_keys;
pub mod suggestion;
pub mod system;
mod trace_workload;
mod value;
mod variant;
pub mod workload;

pub use allocator::{AllocatorConfig, larger_copy_unit};
pub use atomic_file::{AtomicFile, Existing, create_directory, remove_temporary_files};
pub use cores::{CorePrograms, CoreWorkload};
pub use document::Document;
pub use error::Failure;
pub use library::{Library, Resolved, ResolvedSystem};
pub use machine::MachineConfig;
pub use overrides::Overrides;
pub use preset::Source;
pub use receiver::ReceiverConfig;
pub use scenario::{ResolvedScenario, Scenario};
pub use system::SystemConfig;
pub use trace_workload::TraceWorkload;
pub use variant::{Placement, Variant};
pub use workload::Workload;

/// The names of a table of names.
fn names<T>(known: &[(&'static str, T)]) -> Vec<&'static str> {
    known.iter().map(|(name, _)| *name).collect()
}
