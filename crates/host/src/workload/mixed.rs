//! Demand traffic with copies and zeroings of pages among it.

use dram_spec::{Cycles, PhysicalAddress};

/// Reads and writes of random lines of a region, and copies and zeroings of random pages of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixed {
    /// Requests of all kinds.
    pub count: u64,
    /// Where the region begins: a multiple of 64.
    pub start: PhysicalAddress,
    /// How large it is: a multiple of `page_bytes`.
    pub bytes: u64,
    /// The share of the requests that are writes of a line, 0 to 1.
    pub writes: f64,
    /// The share of the requests that are copies of a page, 0 to 1.
    pub copies: f64,
    /// The share of the requests that are zeroings of a page, 0 to 1. What the shares leave are reads of a line.
    pub zeroings: f64,
    /// What a copy or a zeroing is about, in bytes: a multiple of 64.
    pub page_bytes: u64,
    /// Where the source of a copy lies.
    pub pairs: super::Pairs,
    /// Between the arrivals of two requests; 0: each arrives when it can be taken.
    pub gap: Cycles,
}
