//! A flat, coherent memory that loads are compared with.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dram_spec::PhysicalAddress;
use os_alloc_sim::Frame;
use rowclone::Operation;

use super::super::cache::{Access, LineSize, LoadOrStore, OnMiss, StoreData, Ticket};
use crate::flat_memory::FlatMemory;
use crate::virtual_memory::{Owner, ProcessMemories};

/// A load that returned wrong data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLoad {
    /// Core.
    pub core: usize,
    /// Physical address.
    pub address: PhysicalAddress,
}

/// An access that was executed on the flat memory, to execute on the data of its line in program order.
#[derive(Clone, Debug)]
pub struct Executed {
    address: PhysicalAddress,
    /// Bytes that a load must return, or that a store writes.
    bytes: Vec<u8>,
    is_store: bool,
}

/// The flat memory, which each store changes when it is executed.
#[derive(derive_more::Debug)]
#[debug("CoherenceCheck {{ loads: {loads}, wrong: {wrong:?} }}")]
pub struct CoherenceCheck {
    flat: FlatMemory,
    line_size: LineSize,
    tags: u64,
    /// Accesses to lines in flight, by core and ticket.
    deferred: BTreeMap<(usize, Ticket), Vec<Executed>>,
    /// Loads compared.
    pub loads: u64,
    /// The first one that returned wrong data.
    pub wrong: Option<WrongLoad>,
    /// What each process reads at its virtual addresses.
    pub memories: ProcessMemories,
    /// Cores of which the end of the run left a copy unfinished.
    pub is_cut: BTreeSet<usize>,
}

impl CoherenceCheck {
    /// A check before any load, of a memory whose caches have lines of this size.
    pub fn new(flat: FlatMemory, line_size: LineSize) -> CoherenceCheck {
        let memories = ProcessMemories::new(flat.contents.clone());
        CoherenceCheck {
            flat,
            line_size,
            tags: 0,
            deferred: BTreeMap::new(),
            loads: 0,
            wrong: None,
            memories,
            is_cut: BTreeSet::new(),
        }
    }

    /// Enters the data of a page that gets them with its frame.
    pub fn find(&mut self, owner: Owner, page: u64, frame: Frame) {
        self.memories.find(owner, page, frame, &self.flat);
    }

    /// Compares a page with its frame.
    pub fn compare_page(&mut self, owner: Owner, page: u64, frame: Frame) {
        self.memories.compare_page(owner, page, frame, &self.flat);
    }

    /// Executes a store past the caches, if it has not been executed; returns the bytes that it writes.
    pub fn store_past(&mut self, access: &Access, executed: Option<Box<Executed>>) -> Arc<[u8]> {
        executed.map_or_else(|| self.execute(access), |executed| *executed).bytes.into()
    }

    /// Executes an access to a line whose data are there, which may have been executed on the flat memory.
    pub fn access(&mut self, core: usize, line: &mut [u8], access: &Access, executed: Option<Box<Executed>>) {
        let access = executed.map_or_else(|| self.execute(access), |executed| *executed);
        self.perform(core, line, &access);
    }

    /// Executes an access to a line in flight, which may have been executed on the flat memory: its data
    /// follow.
    pub fn access_later(&mut self, core: usize, ticket: Ticket, access: &Access, executed: Option<Box<Executed>>) {
        let access = executed.map_or_else(|| self.execute(access), |executed| *executed);
        self.deferred.entry((core, ticket)).or_default().push(access);
    }

    /// Executes the accesses that waited for the data of a line.
    pub fn arrived(&mut self, core: usize, ticket: Ticket, line: &mut [u8]) {
        let deferred = self.deferred.remove(&(core, ticket)).expect("an access requested the line");
        for access in &deferred {
            self.perform(core, line, access);
        }
    }

    /// Executes a store; returns the bytes that it writes.
    fn store(&mut self, address: PhysicalAddress, bytes: u64, data: StoreData) -> Vec<u8> {
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

    /// Executes an access in program order, before it is known where its line is; returns it with the bytes that it
    /// loads or stores: of a store that may go past the caches, the whole line.
    pub fn execute_early(&mut self, access: &Access) -> Executed {
        let executed = self.execute(access);
        if access.on_miss == OnMiss::Allocate || !executed.is_store {
            return executed;
        }
        let Access { address, bytes, .. } = access.whole_line(self.line_size);
        Executed { address, bytes: self.expected(address, bytes), ..executed }
    }

    /// Executes an access on the flat memory; returns it with the bytes that it loads or stores.
    fn execute(&mut self, access: &Access) -> Executed {
        let Access { address, bytes, .. } = *access;
        let (bytes, is_store) = match access.kind {
            LoadOrStore::Load => (self.expected(address, bytes), false),
            LoadOrStore::Store(data) | LoadOrStore::WholeLine(data) | LoadOrStore::NonTemporal(data) => {
                (self.store(address, bytes, data), true)
            }
        };
        Executed { address, bytes, is_store }
    }

    /// Compares bytes that were read for a core with those that a load must return.
    pub fn compare(&mut self, core: usize, address: PhysicalAddress, found: &[u8]) {
        self.loads += 1;
        let is_wrong = self.expected(address, found.len() as u64) != found;
        self.wrong = self.wrong.or(is_wrong.then_some(WrongLoad { core, address }));
    }

    /// Bytes that a load must return.
    pub fn expected(&self, address: PhysicalAddress, bytes: u64) -> Vec<u8> {
        self.flat.read(address, bytes)
    }

    /// Executes a copy or a zeroing.
    pub fn apply(&mut self, operation: &Operation) {
        self.flat.apply(operation, None);
    }

    /// Compares a load with, or writes a store to, a line's data.
    fn perform(&mut self, core: usize, line: &mut [u8], access: &Executed) {
        let at = self.line_size.offset(access.address) as usize;
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
