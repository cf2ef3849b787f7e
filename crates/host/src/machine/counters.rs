//! Counts of a core and of its cache accesses.

use derive_more::{AddAssign, Sub};
use dram_spec::LINE_BYTES;
use serde::Serialize;

dram_spec::named! {
    /// On whose behalf a line is accessed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Purpose {
        /// A load or store of the program.
        Program = "program",
        /// A copy of the kernel.
        KernelCopy = "kernel copy",
        /// A zeroing of the kernel.
        KernelZero = "kernel zeroing",
        /// Page table entries and page descriptors.
        KernelData = "kernel data",
        /// A line that a network adapter has injected.
        Network = "network",
    }
}

/// Accesses on behalf of one purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, AddAssign, Sub)]
pub struct LineCounts {
    /// Accesses to lines in the cache, those of an L1 included.
    pub hits: u64,
    /// Hits of the L1, if there is one.
    pub l1_hits: u64,
    /// Hits of the L2, if there is one.
    pub l2_hits: u64,
    /// Accesses that requested their line from memory.
    pub misses: u64,
    /// Accesses to lines that were already requested.
    pub merged: u64,
    /// Stores of whole lines that took a place in the cache without a request.
    pub allocated: u64,
    /// Dirty lines that this purpose had written, written to memory when they were replaced.
    pub write_backs: u64,
    /// Lines written to memory without a place in the cache.
    pub non_temporal: u64,
    /// Stores to lines that no cache holds, which went past the caches into the write buffer.
    pub passed: u64,
    /// Writes of the write buffer.
    pub buffered: u64,
    /// Bursts of 64 bytes that these took on a memory channel.
    pub buffered_bursts: u64,
    /// Bytes of these writes.
    pub buffered_bytes: u64,
}

impl LineCounts {
    /// Bursts of 64 bytes that the accesses took on a memory channel, with lines of some bytes.
    pub const fn bursts(&self, line_bytes: u64) -> u64 {
        let written = self.write_backs + self.non_temporal;
        self.misses * read_bursts(line_bytes) + written * write_bursts(0, line_bytes) + self.buffered_bursts
    }

    /// Bytes that the accesses read and wrote, with lines of some bytes.
    pub const fn bytes(&self, line_bytes: u64) -> u64 {
        (self.misses + self.write_backs + self.non_temporal) * line_bytes + self.buffered_bytes
    }

    /// Counts a hit of an L1 or L2.
    #[inline]
    pub(super) const fn count_hit_of(&mut self, level: u8) {
        if level == 1 {
            self.l1_hits += 1;
        } else {
            self.l2_hits += 1;
        }
    }
}

/// Bursts of a read of aligned bytes, a power of two.
pub const fn read_bursts(bytes: u64) -> u64 {
    bytes.div_ceil(LINE_BYTES)
}

/// Bursts of a write of bytes at an offset of a burst. The controller reads a burst that is written in
/// part, and writes it.
pub const fn write_bursts(offset: u64, bytes: u64) -> u64 {
    let bursts = (offset + bytes).div_ceil(LINE_BYTES);
    if offset == 0 && bytes.is_multiple_of(LINE_BYTES) {
        return bursts;
    }
    let parts =
        if bursts == 1 { 1 } else { (offset != 0) as u64 + !(offset + bytes).is_multiple_of(LINE_BYTES) as u64 };
    bursts + parts
}

/// Lines that a requester's prefetchers have requested from memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, AddAssign, Sub)]
pub struct PrefetchCounts {
    /// Lines requested.
    pub requested: u64,
    /// Lines that an access found in the cache.
    pub useful: u64,
    /// Lines that an access found on their way.
    pub late: u64,
    /// Lines that left the cache without an access.
    pub useless: u64,
    /// Lines that had no place when their data arrived, or had changed in memory.
    pub dropped: u64,
}

/// Steps of coherence for copies and zeroings in DRAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, AddAssign, Sub)]
pub struct CoherenceCounts {
    /// Copies issued to the controller.
    pub copies: u64,
    /// Zeroings issued to the controller.
    pub zeroings: u64,
    /// Lines looked up in caches.
    pub lookups: u64,
    /// Dirty lines written back before the operation.
    pub written_back: u64,
    /// Dirty source lines copied in the cache under the destination's address.
    pub copied_in_cache: u64,
    /// Destination lines invalidated, those that were dirty included.
    pub invalidated: u64,
    /// Clean zero lines inserted.
    pub zero_lines: u64,
}

/// Work of a core for a DMA engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, AddAssign, Sub)]
pub struct DmaCounts {
    /// Descriptors written.
    pub descriptors: u64,
    /// Doorbells written.
    pub doorbells: u64,
    /// Loads of the status line, those of interrupts included.
    pub polls: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Pages pinned.
    pub pinned_pages: u64,
    /// Pages unpinned.
    pub unpinned_pages: u64,
}

/// Packets of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, AddAssign, Sub)]
pub struct NetworkCounts {
    /// Packets received.
    pub packets: u64,
    /// Packets that found no free buffer.
    pub dropped: u64,
    /// Interrupts of the adapter.
    pub interrupts: u64,
    /// Packets sent.
    pub sent: u64,
    /// Lines injected into caches; left out of JSON if there were none.
    #[serde(skip_serializing_if = "is_zero")]
    pub injected: u64,
}

fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}

/// Dispatch slots, or core cycles, in which a core was stalled, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, AddAssign, Sub)]
#[serde(bound(serialize = "T: Serialize + Default + PartialEq"))]
pub struct StallSlots<T = u64> {
    /// The window was full, and the next instruction then dispatched.
    pub window: T,
    /// No MSHR, no line to replace, or a non-temporal store whose line is in flight.
    pub mshr: T,
    /// No entry of the store buffer, or of the write buffer.
    pub store_buffer: T,
    /// No entry of the load/store queue. This cause, the next three and `idle` are left out of JSON where they took no
    /// time.
    #[serde(skip_serializing_if = "is_zero")]
    pub load_store_queue: T,
    /// In-order core: an operand is not there.
    #[serde(skip_serializing_if = "is_zero")]
    pub operand: T,
    /// In-order core: no unit is free, or an instruction dispatches alone.
    #[serde(skip_serializing_if = "is_zero")]
    pub unit: T,
    /// In-order core: the access touches a pending copy.
    #[serde(skip_serializing_if = "is_zero")]
    pub pending_copy: T,
    /// A kernel event, or a piece of a copy or zeroing, waits for its beginning; time of the kernel.
    pub kernel: T,
    /// Time of the lines before and after a copy or a zeroing by the controller.
    pub coherence: T,
    /// Time of the controller or a device.
    pub controller_copy: T,
    /// The program waits for packets.
    #[serde(skip_serializing_if = "is_zero")]
    pub idle: T,
}

impl StallSlots {
    /// The stalls in core cycles, of a core with a number of slots per cycle.
    pub fn cycles(&self, width: u64) -> StallSlots<f64> {
        let cycles = |slots: u64| slots as f64 / width as f64;
        StallSlots {
            window: cycles(self.window),
            mshr: cycles(self.mshr),
            store_buffer: cycles(self.store_buffer),
            load_store_queue: cycles(self.load_store_queue),
            operand: cycles(self.operand),
            unit: cycles(self.unit),
            pending_copy: cycles(self.pending_copy),
            kernel: cycles(self.kernel),
            coherence: cycles(self.coherence),
            controller_copy: cycles(self.controller_copy),
            idle: cycles(self.idle),
        }
    }
}

impl StallSlots<f64> {
    /// Cycles lost in the core: for entries of its queues, operands, units, lines and pending copies.
    pub const fn of_the_core(&self) -> f64 {
        let queues = self.window + self.mshr + self.store_buffer + self.load_store_queue;
        queues + self.operand + self.unit + self.pending_copy
    }
}

/// Counts of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CoreCounters {
    /// Instructions of the program, a `memcopy` or a `meminit` as one.
    pub instructions: u64,
    /// Instructions of the kernel: its loops, and accesses to its data.
    pub kernel_instructions: u64,
    /// Page faults.
    pub faults: u64,
    /// Accesses, by purpose in the order of [`Purpose::ALL`].
    pub lines: [LineCounts; Purpose::ALL.len()],
    /// Steps of coherence.
    pub coherence: CoherenceCounts,
    /// Work for a DMA engine.
    pub dma: DmaCounts,
    /// Packets.
    pub network: NetworkCounts,
    /// Bytes that copies and zeroings of the controller moved over memory channels: each byte of a
    /// copy twice.
    pub controller_copy_bytes: u64,
    /// Prefetches.
    pub prefetches: PrefetchCounts,
    /// Core cycles in which copies of an engine were pending, from the dispatch of their instructions on; each
    /// cycle once.
    pub pending_copy_cycles: u64,
    /// Those of them in which other instructions advanced.
    pub overlapped_copy_cycles: u64,
    /// Slots from the start of copies and zeroings to the first in which the core could go on.
    pub copy_slots: u64,
    /// Misses of the program that are its first accesses to lines since their copies.
    pub misses_after_copies: u64,
    /// Stalls.
    pub stalls: StallSlots,
}

impl CoreCounters {
    /// Accesses of a purpose.
    pub fn of(&mut self, purpose: Purpose) -> &mut LineCounts {
        &mut self.lines[purpose as usize]
    }

    /// Dispatched instructions of the program and the kernel.
    pub(super) const fn dispatched(&self) -> u64 {
        self.instructions + self.kernel_instructions
    }

    /// Counts dispatched instructions.
    #[inline]
    pub(super) const fn count_instructions(&mut self, purpose: Purpose, count: u64) {
        match purpose {
            Purpose::Program => self.instructions += count,
            Purpose::KernelCopy | Purpose::KernelZero | Purpose::KernelData | Purpose::Network => {
                self.kernel_instructions += count;
            }
        }
    }
}

impl std::ops::Sub for CoreCounters {
    type Output = CoreCounters;

    fn sub(self, earlier: CoreCounters) -> CoreCounters {
        CoreCounters {
            instructions: self.instructions - earlier.instructions,
            kernel_instructions: self.kernel_instructions - earlier.kernel_instructions,
            faults: self.faults - earlier.faults,
            lines: std::array::from_fn(|purpose| self.lines[purpose] - earlier.lines[purpose]),
            coherence: self.coherence - earlier.coherence,
            dma: self.dma - earlier.dma,
            network: self.network - earlier.network,
            controller_copy_bytes: self.controller_copy_bytes - earlier.controller_copy_bytes,
            prefetches: self.prefetches - earlier.prefetches,
            // A core may have been ahead of the end of a copy.
            pending_copy_cycles: self.pending_copy_cycles.saturating_sub(earlier.pending_copy_cycles),
            overlapped_copy_cycles: self.overlapped_copy_cycles.saturating_sub(earlier.overlapped_copy_cycles),
            copy_slots: self.copy_slots - earlier.copy_slots,
            misses_after_copies: self.misses_after_copies - earlier.misses_after_copies,
            stalls: self.stalls - earlier.stalls,
        }
    }
}
