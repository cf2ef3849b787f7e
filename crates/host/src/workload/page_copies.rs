//! Copies of pages.

use dram_spec::{Cycles, PhysicalAddress};

use crate::placement::Place;

/// Which pages are copied to which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// Page 2i to page 2i + 1.
    Neighbours,
    /// From a page that lies so to the destination.
    Placed(Place),
    /// Any page to any other.
    Random,
}

/// How a page is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyBy {
    /// By one request, which the controller's policy serves.
    Operation,
    /// By reads of all its lines, and writes of all lines of the destination. They wait for nothing, and the writes carry data of
    /// their own.
    Lines,
}

/// Copies of the pages of a region, from its first to its last and again from the first; those with a part in a reserved row are
/// left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCopies {
    /// Copies.
    pub count: u64,
    /// Where the region begins: a multiple of 64.
    pub start: PhysicalAddress,
    /// How large it is: a multiple of `page_bytes`.
    pub bytes: u64,
    /// A page, in bytes: a multiple of 64.
    pub page_bytes: u64,
    /// Which are copied to which.
    pub pairs: Pairs,
    /// How.
    pub by: CopyBy,
    /// Between the arrivals of two requests; 0: each arrives when it can be taken.
    pub gap: Cycles,
}
