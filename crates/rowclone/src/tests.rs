//! Laws of the planner as a whole, and its answers to single operations.

mod arbitrary;
mod boundaries;
mod laws;
mod memory;
mod parts;
mod verdicts;
