//! The controller of `docs/controller.md`, written from that page alone and as plainly as can be: it visits every cycle, keeps lists, and
//! looks through all of them. It shares the planner, the device, the estimates and `yield_from` with `memctrl`, and nothing else.

mod accesses;
mod figures;
mod plain;
mod ranks;
mod segments;
mod turns;

pub use plain::Plain;
