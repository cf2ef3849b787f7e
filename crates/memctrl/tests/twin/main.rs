//! The controller issues the commands of a plain controller, which visits every cycle and is
//! written from `docs/controller.md`.

#[path = "../plain/mod.rs"]
mod plain;

mod cases;
mod judge;
mod laws;
mod memory;
mod runs;
