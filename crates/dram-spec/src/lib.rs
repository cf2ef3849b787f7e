//! The words that every other crate speaks.
//!
//! Nothing here changes over time: no bank state, no queue, no `now`. Nothing here says "DDR3" but the data in
//! [`datasheet`].

pub mod address;
pub mod command;
pub mod datasheet;
pub mod geometry;
pub mod sink;
pub mod system;
pub mod units;

pub use address::{AddressMap, Location, PhysicalAddress};
pub use command::{AutoPrecharge, BankId, Channel, Column, Command, Row};
pub use datasheet::{Density, SpeedBin, Width};
pub use geometry::{Geometry, GeometryError, LINE_BYTES, RawGeometry, SubarrayId};
pub use sink::{CommandLog, CommandSink, Issued, Queued};
pub use system::{CopyActivations, Dialect, PrechargePowerDown, Refresh, System};
pub use units::{Clock, Cycle, Cycles, Min, Picojoule};
