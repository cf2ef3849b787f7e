//! The machine and a reference model that executes each slot of each core cycle.
//!
//! The reference model implements `docs/cores.md`. It shares no code with the engine, only the
//! settings, the counters and the kernel of `os-alloc-sim`, which decides on frames.
//!
//! It has an L1 and an L2 of each core, last levels of one core, of groups and of all cores, lines of 32, 64
//! and 128 bytes, the store policies of each level with the write buffer, and classes of instructions with
//! latency, units, operands, pairing and the load/store queue, prefetchers of each level, and the front-side bus.
//! It has the DMA engine and the network adapter of `docs/copiers.md`, injection into caches and clients
//! included. It does not have `renew`.
//! `determined` of `properties.rs` names what the page leaves open.
//!
//! Restrictions of the random cases: `unmap`, `discard`, `move` and `share` only where a page is a copy unit; with a
//! copy engine, lines and stores have the defaults; `filled` stands at the beginning of a program, before any process
//! exits; the map is `row-interleaved`, the scheduler FR-FCFS, and the memory fresh.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

mod access;
mod bulk;
mod bus;
mod by_hand;
mod cache;
mod cases;
mod core;
mod deferred;
mod devices;
mod dispatch;
mod dma;
mod dma_properties;
mod engine;
mod extensions;
mod kernel;
mod levels;
mod listed;
mod machine;
mod network;
mod network_cases;
mod pipeline;
mod prefetch;
mod processes;
mod programs;
mod properties;
#[allow(dead_code, reason = "its other users select schedulers and read the cells")]
#[path = "../../../memctrl/tests/reference_model/mod.rs"]
mod reference_model;
mod runs;
#[path = "../../../memctrl/tests/model_comparison/sequence.rs"]
mod sequence;
mod traffic;
mod transfer;
mod write_buffer;
