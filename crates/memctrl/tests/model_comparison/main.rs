//! The controller issues the commands of a reference model, which visits every cycle and is
//! written from `docs/controller.md`.

#[path = "../reference_model/mod.rs"]
mod reference_model;

mod cases;
mod compare;
mod memory;
mod properties;
mod runs;
