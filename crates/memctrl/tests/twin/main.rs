//! The controller and a plain one, tick by tick and written from `docs/controller.md`, issue the same commands.

#[path = "../plain/mod.rs"]
mod plain;

mod cases;
mod judge;
mod laws;
mod memory;
mod runs;
