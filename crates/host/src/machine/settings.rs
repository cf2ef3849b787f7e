//! Settings of cores, caches and the kernel.

use trace_io::program::InstructionClass;

use super::clock::ClockRatio;
use crate::allocator_settings::AllocatorSettings;

/// Whether a core dispatches past a load whose data are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A load blocks the instructions after it until its data are there.
    InOrder,
    /// Instructions dispatch until the window is full.
    OutOfOrder,
}

impl Order {
    /// Both orders and their names in configurations.
    pub const NAMES: [(&'static str, Order); 2] = [("in-order", Order::InOrder), ("out-of-order", Order::OutOfOrder)];
}

/// A core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreSettings {
    /// Whether instructions dispatch past a load whose data are not there.
    pub order: Order,
    /// Instructions dispatched, and retired, per cycle.
    pub width: u64,
    /// Instructions between dispatch and retirement; at least two cycles of instructions.
    pub window: u64,
    /// Lines requested from memory at a time.
    pub mshrs: usize,
    /// Stores whose lines are not in the cache, and non-temporal stores that the controller has not
    /// accepted.
    pub store_buffer: usize,
    /// Loads and stores in the window; `None` for no limit.
    pub load_store_queue: Option<usize>,
    /// Latency and units by class of instructions.
    pub classes: Classes,
}

/// Latency and units of each class of instructions, and which classes share a cycle of dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes([ClassSettings; Classes::COUNT]);

/// A class of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassSettings {
    /// Core cycles from the begin of an instruction without memory access, or from the data of a load, to its
    /// result; of a store, from its access to its retirement, of which 0 counts as 1.
    pub latency: u64,
    /// Core cycles for which an instruction occupies a unit, at least 1.
    pub interval: u64,
    /// The units that execute its instructions.
    pub units: ClassUnits,
    /// Whether its instructions dispatch in one cycle with others; otherwise each dispatches alone.
    pub is_paired: bool,
}

/// Units of execution of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassUnits {
    /// No limit.
    Unlimited,
    /// A number of units, at least 1.
    Own(u64),
    /// The units of another class, which has units of its own.
    Of(InstructionClass),
}

impl Classes {
    const COUNT: usize = InstructionClass::NAMES.len();

    /// A cycle for instructions without memory access, the latency of the caches for loads, and no limit.
    pub const PLAIN: Classes = {
        let mut classes =
            [ClassSettings { latency: 1, interval: 1, units: ClassUnits::Unlimited, is_paired: true }; Classes::COUNT];
        let mut class = 0;
        while class < Classes::COUNT {
            if InstructionClass::NAMES[class].1.accesses_memory() {
                classes[class].latency = 0;
            }
            class += 1;
        }
        Classes(classes)
    };

    /// Settings of a class.
    pub const fn of(&self, class: InstructionClass) -> &ClassSettings {
        &self.0[class as usize]
    }

    /// Settings of a class, to change them.
    pub const fn of_mut(&mut self, class: InstructionClass) -> &mut ClassSettings {
        &mut self.0[class as usize]
    }

    /// Whether the instructions of a class have the latency of [`Classes::PLAIN`], need no unit, and all
    /// instructions share cycles of dispatch.
    pub fn is_plain(&self, class: InstructionClass) -> bool {
        self.of(class) == Classes::PLAIN.of(class) && self.0.iter().all(|class| class.is_paired)
    }
}

impl CoreSettings {
    /// The core of the `RowClone` paper (MICRO 2013, table 2): 3-wide, 128 entries, 8 MSHRs. The
    /// paper does not state the store buffer: 32 entries, as Intel's Nehalem of 2008 has.
    pub const PAPER: CoreSettings = CoreSettings {
        order: Order::OutOfOrder,
        width: 3,
        window: 128,
        mshrs: 8,
        store_buffer: 32,
        load_store_queue: None,
        classes: Classes::PLAIN,
    };
}

/// Size and latency of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Bytes of data: ways x 64 x a power of two.
    pub bytes: u64,
    /// Lines per set.
    pub ways: usize,
    /// Core cycles from a load to its data on a hit.
    pub latency: u64,
}

/// Who shares the last-level cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each core has its own.
    Private,
    /// All cores share one.
    Shared,
}

impl Sharing {
    /// Both choices and their names in configurations.
    pub const NAMES: [(&'static str, Sharing); 2] = [("private", Sharing::Private), ("shared", Sharing::Shared)];
}

/// Who copies and zeroes pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copier {
    /// A loop of the kernel whose stores allocate lines in the cache.
    CachedLoop,
    /// A loop of the kernel whose stores of whole lines allocate them without reading them.
    NoFetchLoop,
    /// A loop of the kernel whose stores bypass the cache.
    NonTemporalLoop,
    /// The memory controller, under its copy policy.
    Controller,
}

impl Copier {
    /// The loops and their names in configurations.
    pub const LOOPS: [(&'static str, Copier); 3] =
        [("cached", Copier::CachedLoop), ("no-fetch", Copier::NoFetchLoop), ("non-temporal", Copier::NonTemporalLoop)];

    /// Name of a loop; none of the controller.
    pub fn loop_name(self) -> Option<&'static str> {
        Copier::LOOPS.into_iter().find(|(_, copier)| *copier == self).map(|(name, _)| name)
    }
}

/// Treatment of dirty source lines before a copy in DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirtySource {
    /// They are written back.
    WriteBack,
    /// They are copied in the cache under the destination's address, and stay dirty in both places.
    CopyInCache,
}

impl DirtySource {
    /// Both choices and their names in configurations.
    pub const NAMES: [(&'static str, DirtySource); 2] =
        [("write-back", DirtySource::WriteBack), ("copy-in-cache", DirtySource::CopyInCache)];
}

/// Copies and zeroings of pages, and the time of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSettings {
    /// Who copies and zeroes.
    pub copier: Copier,
    /// Treatment of dirty source lines before a copy in DRAM.
    pub dirty_source: DirtySource,
    /// Whether clean zero lines are inserted after a zeroing by the controller (RowClone-ZI).
    pub inserts_zero_lines: bool,
    /// Core cycles to look up, write back, invalidate or insert a line for coherence.
    pub coherence_cycles_per_line: u64,
    /// Core cycles of a page fault, apart from its copy or zeroing.
    pub fault_cycles: u64,
    /// Core cycles of a fork or an exit per page of the process.
    pub page_table_cycles: u64,
    /// Bytes of a page table entry, a power of two up to 64; 0 for no accesses to page tables.
    pub page_table_entry_bytes: u64,
    /// Bytes of a page descriptor, a power of two up to 64; 0 for no accesses to descriptors.
    pub page_descriptor_bytes: u64,
    /// Bytes that an instruction of a copy loop loads or stores.
    pub word_bytes: u64,
}

impl Default for KernelSettings {
    /// A cached loop of 8-byte loads and stores.
    ///
    /// A page fault takes 1,300 cycles: Torvalds (Google+, 30 April 2014) measured 1,050 cycles for
    /// the exception and the return on Haswell, 80.7 % of the time per fault. A fork takes 80
    /// cycles per page: Zhao et al., "On-Demand-Fork" (`EuroSys` 2021), measured 6.5 ms for 1 GB,
    /// 25 ns per page, at 3.2 GHz. Entries and descriptors are those of Linux on x86-64: 8 bytes, and
    /// the 64 bytes of `struct page`.
    fn default() -> KernelSettings {
        KernelSettings {
            copier: Copier::CachedLoop,
            dirty_source: DirtySource::WriteBack,
            inserts_zero_lines: false,
            coherence_cycles_per_line: 1,
            fault_cycles: 1_300,
            page_table_cycles: 80,
            page_table_entry_bytes: 8,
            page_descriptor_bytes: 64,
            word_bytes: 8,
        }
    }
}

/// Cores, caches, kernel and allocator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSettings {
    /// Core cycles per memory clock.
    pub clock: ClockRatio,
    /// Each core.
    pub core: CoreSettings,
    /// L1 of each core, if there is one. The last-level cache holds all of its lines.
    pub l1: Option<CacheShape>,
    /// Last-level cache.
    pub last_level: CacheShape,
    /// Who shares the last-level cache.
    pub sharing: Sharing,
    /// Copies, zeroings and the time of the kernel.
    pub kernel: KernelSettings,
    /// Allocator of page frames.
    pub allocator: AllocatorSettings,
}

/// Measured part of each program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// Instructions of each program before its region.
    pub warm_up: u64,
    /// Instructions of each region; `None` for the rest of the program.
    pub instructions: Option<u64>,
}
