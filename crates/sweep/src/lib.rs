//! Sweeps: runs of a scenario at all combinations of values of its keys.
//!
//! A [`SweepFile`] names the axes, [`Points`] are their combinations, and a [`Sweep`] runs the points. Journals keep
//! the finished runs, and a later run of the sweep continues from them. `docs/sweeps.md` describes the files.

mod axis;
mod axis_values;
mod digest;
pub mod directory;
mod exclude;
mod file;
mod journal;
mod points;
mod progress;
mod record;
mod rerun;
mod run;
mod series;
mod shard;
pub mod slurm;
mod tables;
mod traces;
mod value;

pub use axis::{Axis, AxisColumn, AxisStep};
pub use digest::{Digest, MODEL_VERSION, of_operations as digest_of_operations};
pub use exclude::Exclude;
pub use file::{KEYS, SweepFile};
pub use points::{Point, Points};
pub use progress::Tally;
pub use rerun::command as command_line;
pub use run::Sweep;
pub use shard::Shard;
pub use tables::{RESULTS, Tables};
