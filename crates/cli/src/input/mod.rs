//! Files that users write: TOML becomes `Raw…` types, and those become checked ones.
//!
//! A [`Document`] is a parsed file that knows the line of each key, with the `--set` of the command line put in their
//! places. `Raw…` types are what serde makes of it; everything that is wrong, in the file or in its meaning, is one
//! [`CliError`](crate::CliError) with the file, the line, the key, what was found, and what would work.

pub mod allocator;
mod canonical;
pub mod controller;
pub mod currents;
mod decode;
pub mod document;
pub mod file;
pub mod library;
pub mod number;
mod operations;
pub mod overrides;
pub mod plot;
pub mod scenario;
mod suggestion;
pub mod system;
pub mod workload;

pub use allocator::AllocatorConfig;
pub use document::Document;
pub use library::{Library, ResolvedSystem};
pub use overrides::Overrides;
pub use scenario::{Placement, ResolvedScenario, Scenario, Variant, Workload};
pub use system::SystemConfig;
pub use workload::TraceWorkload;
