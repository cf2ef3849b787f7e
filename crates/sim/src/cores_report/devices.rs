//! Counts of a core's work with devices, in results.

use host::machine::{DmaCounts, NetworkCounts};
use serde::Serialize;

use super::is_zero;

/// Work of a core for a DMA engine, in its region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DmaRow {
    /// Descriptors written.
    pub descriptors: u64,
    /// Doorbells written.
    pub doorbells: u64,
    /// Loads of the status line, those of interrupts included.
    pub polls: u64,
    /// Interrupts of the engine.
    pub interrupts: u64,
    /// Pages pinned.
    pub pinned_pages: u64,
    /// Pages unpinned.
    pub unpinned_pages: u64,
}

impl DmaRow {
    /// The counts; none if all are 0.
    pub(super) fn of(counts: DmaCounts) -> Option<DmaRow> {
        let DmaCounts { descriptors, doorbells, polls, interrupts, pinned_pages, unpinned_pages } = counts;
        (counts != DmaCounts::default()).then_some(DmaRow {
            descriptors,
            doorbells,
            polls,
            interrupts,
            pinned_pages,
            unpinned_pages,
        })
    }
}

/// Packets of a core, in its region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NetworkRow {
    /// Packets received.
    pub packets: u64,
    /// Packets that found no free buffer.
    pub dropped: u64,
    /// Interrupts of the adapter.
    pub interrupts: u64,
    /// Packets sent.
    pub sent: u64,
    /// Lines injected into caches; left out if there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub injected: u64,
}

impl NetworkRow {
    /// The counts; none if all are 0.
    pub(super) fn of(counts: NetworkCounts) -> Option<NetworkRow> {
        let NetworkCounts { packets, dropped, interrupts, sent, injected } = counts;
        (counts != NetworkCounts::default()).then_some(NetworkRow { packets, dropped, interrupts, sent, injected })
    }
}
