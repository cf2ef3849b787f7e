//! A flat, coherent memory that loads are compared with.

use std::collections::BTreeSet;

use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Frame;
use rowclone::Operation;

use super::core::{Access, AccessKind};
use crate::flat_memory::FlatMemory;
use crate::virtual_memory::{Owner, ProcessMemories};

/// Data of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StoreData {
    /// A number that no other store writes.
    Tag,
    /// The bytes at another address.
    CopyOf(PhysicalAddress),
    /// Zeros.
    Zero,
}

/// A load that returned wrong data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLoad {
    /// Core.
    pub core: usize,
    /// Physical address.
    pub address: PhysicalAddress,
}

/// An access to execute on the data of its line, in program order.
#[derive(Clone, Debug)]
pub(super) struct Deferred {
    pub(super) address: PhysicalAddress,
    /// Bytes that a load must return, or that a store writes.
    pub(super) bytes: Vec<u8>,
    pub(super) is_store: bool,
}

/// The flat memory, which each store changes when it is executed.
pub(super) struct CoherenceCheck {
    flat: FlatMemory,
    tags: u64,
    pub(super) loads: u64,
    pub(super) wrong: Option<WrongLoad>,
    /// What each process reads at its virtual addresses.
    pub(super) memories: ProcessMemories,
    /// Cores of which the end of the run left a copy unfinished.
    pub(super) is_cut: BTreeSet<usize>,
}

impl CoherenceCheck {
    pub(super) fn new(flat: FlatMemory) -> CoherenceCheck {
        let memories = ProcessMemories::new(flat.contents.clone());
        CoherenceCheck { flat, tags: 0, loads: 0, wrong: None, memories, is_cut: BTreeSet::new() }
    }

    /// Enters the data of a page that gets them with its frame.
    pub(super) fn find(&mut self, owner: Owner, page: u64, frame: Frame) {
        self.memories.find(owner, page, frame, &self.flat);
    }

    /// Compares a page with its frame.
    pub(super) fn compare_page(&mut self, owner: Owner, page: u64, frame: Frame) {
        self.memories.compare_page(owner, page, frame, &self.flat);
    }

    /// Executes a store; returns the bytes that it writes.
    pub(super) fn store(&mut self, address: PhysicalAddress, bytes: u64, data: StoreData) -> Vec<u8> {
        match data {
            StoreData::Tag => {
                self.tags += 1;
                let tag = self.tags.to_le_bytes();
                self.flat.write(address, &tag[..bytes.min(8) as usize]);
            }
            StoreData::CopyOf(src) => self.apply(&Operation::Copy { src, dst: address, bytes }),
            StoreData::Zero => self.apply(&Operation::Init { dst: address, bytes, value: 0 }),
        }
        self.flat.read(address, bytes)
    }

    /// Executes an access; returns it with the bytes that it loads or stores.
    pub(super) fn execute(&mut self, access: &Access) -> Deferred {
        let Access { address, bytes, .. } = *access;
        let (bytes, is_store) = match access.kind {
            AccessKind::Load => (self.expected(address, bytes), false),
            AccessKind::Store(data) | AccessKind::WholeLine(data) | AccessKind::NonTemporal(data) => {
                (self.store(address, bytes, data), true)
            }
        };
        Deferred { address, bytes, is_store }
    }

    /// Bytes that a load must return.
    pub(super) fn expected(&self, address: PhysicalAddress, bytes: u64) -> Vec<u8> {
        self.flat.read(address, bytes)
    }

    /// Executes a copy or a zeroing.
    pub(super) fn apply(&mut self, operation: &Operation) {
        self.flat.apply(operation, None);
    }

    /// Compares a load with, or writes a store to, a line's data.
    pub(super) fn access(&mut self, core: usize, line: &mut [u8; LINE_BYTES as usize], access: &Deferred) {
        let at = (access.address.0 % LINE_BYTES) as usize;
        let part = &mut line[at..at + access.bytes.len()];
        if access.is_store {
            part.copy_from_slice(&access.bytes);
        } else {
            self.loads += 1;
            let wrong = (part != access.bytes).then_some(WrongLoad { core, address: access.address });
            self.wrong = self.wrong.or(wrong);
        }
    }
}

impl std::fmt::Debug for CoherenceCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CoherenceCheck").field("loads", &self.loads).field("wrong", &self.wrong).finish_non_exhaustive()
    }
}
