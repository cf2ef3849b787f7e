//! Shared types of all crates: units, geometry, addresses, commands, datasheet parameters.
//!
//! No type has state that changes over time: no bank state, no queue, no current cycle. Only the
//! data in [`standard`] are specific to a DRAM standard.

pub mod address;
pub mod command;
pub mod coordinates;
pub mod counts;
pub mod event;
pub mod geometry;
pub mod log;
pub mod mechanism;
mod named;
pub mod operation;
pub mod properties;
pub mod rows;
pub mod standard;
mod subarrays;
pub mod system;
pub mod timing;
pub mod topology;
pub mod units;

pub use address::{AddressMap, Location, PhysicalAddress};
pub use command::{AutoPrecharge, Command, CommandKind, Constructor};
pub use coordinates::{BankId, Channel, Column, Row};
pub use counts::{CommandCounts, PerKind};
pub use event::{ColumnRun, CommandEvent, EventSink, IssueCause, Issued, Queued, RequestId, SourceId};
pub use geometry::{Geometry, GeometryError, LINE_BYTES, RawGeometry, SubarrayId};
pub use log::CommandLog;
pub use mechanism::{Mechanism, MechanismInfo};
pub use operation::Operation;
pub use properties::{Burst, BusTime, ChipEnergy, ChosenEnergy, Effect, Mark, OfferedBy, Operands, RowChange};
pub use rows::OpenRows;
pub use standard::{Chip, Density, PinPowers, RefreshMode, SlowExit, SpeedBin, Standard, Width};
pub use subarrays::RowsPerSubarray;
pub use system::{CopyActivations, Dialect, PrechargePowerDown, ReferenceCycle, Refresh, System};
pub use timing::{Contradiction, TimingParameter};
pub use topology::{BankIndex, BankSet, GroupIndex, PerBank, PerRank, Topology};
pub use units::{Clock, Cycle, Cycles, Min, Picojoule};
