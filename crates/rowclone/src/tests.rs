//! Properties of the planner as a whole, and its results for single operations.

mod arbitrary;
mod boundaries;
mod laws;
mod memory;
mod parts;
mod verdicts;
