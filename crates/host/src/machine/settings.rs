//! Settings of cores, caches and the kernel.

use std::num::NonZeroUsize;

use trace_io::program::InstructionClass;

use super::clock::ClockRatio;
use crate::aged_memory::AllocatorSettings;

dram_spec::named! {
    /// Whether a core dispatches past a load whose data are not there.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Order {
        /// A load blocks the instructions after it until its data are there.
        InOrder = "in-order",
        /// Instructions dispatch until the window is full.
        OutOfOrder = "out-of-order",
    }
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
    /// Core cycles from the start of an instruction without memory access, or from the data of a load, to its
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
    const COUNT: usize = InstructionClass::ALL.len();

    /// A cycle for instructions without memory access, the latency of the caches for loads, and no limit.
    pub const PLAIN: Classes = {
        let mut classes =
            [ClassSettings { latency: 1, interval: 1, units: ClassUnits::Unlimited, is_paired: true }; Classes::COUNT];
        let mut class = 0;
        while class < Classes::COUNT {
            if InstructionClass::ALL[class].accesses_memory() {
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

/// Size, latency and policies of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheShape {
    /// Bytes of data: ways x bytes of a line x a number of sets.
    pub bytes: u64,
    /// Lines per set.
    pub ways: usize,
    /// Core cycles from a load to its data on a hit.
    pub latency: u64,
    /// What a store does whose line the cache does not hold.
    pub store_miss: StoreMiss,
    /// What requests lines before accesses to them.
    pub prefetcher: PrefetcherKind,
}

impl CacheShape {
    /// A cache that allocates lines of stores, without a prefetcher.
    pub const fn new(bytes: u64, ways: usize, latency: u64) -> CacheShape {
        let (store_miss, prefetcher) = (StoreMiss::Allocate, PrefetcherKind::None);
        CacheShape { bytes, ways, latency, store_miss, prefetcher }
    }
}

dram_spec::named! {
    /// What a store does whose line a cache does not hold.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StoreMiss {
        /// The line takes a place in the cache.
        Allocate = "allocate",
        /// The store goes past the cache.
        NoAllocate = "no-allocate",
    }
}

dram_spec::named! {
    /// When the last-level cache writes stores to memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WritePolicy {
        /// When the line is replaced.
        WriteBack = "write-back",
        /// At once.
        WriteThrough = "write-through",
    }
}

dram_spec::named! {
    /// What requests lines of a cache before accesses to them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum PrefetcherKind {
        /// Nothing.
        None = "none",
        /// The lines after that of an access.
        NextLine = "next-line",
        /// The lines that follow at the distance of the last accesses.
        Stride = "stride",
        /// The lines ahead of sequences of lines in either direction.
        Stream = "stream",
    }
}

/// How far, and how many lines at a time, prefetchers request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrefetchSettings {
    /// Lines requested after an access.
    pub degree: u64,
    /// Steps from an access to the first of these lines.
    pub distance: u64,
    /// Lines of a requester that are being prefetched at a time.
    pub mshrs: usize,
}

dram_spec::named! {
    /// Which stores share an entry of the write buffer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WriteMerging {
        /// Those to a line.
        Line = "line",
        /// None.
        None = "none",
    }
}

/// Lines of all caches, and how they go to memory and come from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSettings {
    /// Bytes of a line: 16, 32, 64 or 128.
    pub bytes: u64,
    /// When the last-level cache writes stores to memory.
    pub write: WritePolicy,
    /// Entries of the write buffer of each requester.
    pub write_buffer: usize,
    /// Which stores share an entry.
    pub merging: WriteMerging,
    /// Of all prefetchers.
    pub prefetch: PrefetchSettings,
}

impl Default for LineSettings {
    /// Write-back of lines of 64 bytes. The write buffer has 8 entries, in the middle of the 4 to 10
    /// write-combining buffers of Intel's cores since the Pentium III. Prefetchers request the next
    /// line, and up to 4 lines at a time, so that they take at most half as many registers as accesses
    /// have in the machine of the `RowClone` paper.
    fn default() -> LineSettings {
        LineSettings {
            bytes: 64,
            write: WritePolicy::WriteBack,
            write_buffer: 8,
            merging: WriteMerging::Line,
            prefetch: PrefetchSettings { degree: 1, distance: 1, mshrs: 4 },
        }
    }
}

/// Who shares the last-level cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each core has its own.
    Private,
    /// Consecutive cores share one, as many as given; the last ones may be fewer.
    Group(NonZeroUsize),
    /// All cores share one.
    Shared,
}

impl Sharing {
    /// Number of the last-level cache of a core.
    pub const fn cache_of(self, core: usize) -> usize {
        match self {
            Sharing::Private => core,
            Sharing::Group(cores) => core / cores.get(),
            Sharing::Shared => 0,
        }
    }

    /// The choices without a number of cores, and their names in configurations.
    pub const NAMES: [(&'static str, Sharing); 2] = [("private", Sharing::Private), ("shared", Sharing::Shared)];
}

dram_spec::named! {
    /// A loop of the kernel that copies and zeroes through the caches.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CopyLoop {
        /// Its stores fetch and allocate lines in the cache.
        Cached = "cached",
        /// Its stores of whole lines allocate them without reading them.
        NoFetch = "no-fetch",
        /// Its stores bypass the cache.
        NonTemporal = "non-temporal",
        /// `rep movs` of words, and `rep movsb` of the bytes that are left.
        String = "string",
        /// The same where microcode moves longer words from a size on.
        FastString = "fast-string",
        /// `rep movsb` where microcode moves longer words.
        RepMovsb = "rep-movsb",
        /// Unrolled loads and stores of integer registers, which touches the next lines of the source.
        Integer = "integer",
        /// Unrolled loads and stores of floating-point registers, after loads of all lines of a block of the source.
        FloatBlock = "float-block",
        /// The same with SIMD registers.
        SimdBlock = "simd-block",
        /// The same with non-temporal stores.
        NonTemporalBlock = "non-temporal-block",
        /// Unrolled loads and stores of 32-byte registers.
        Avx2 = "avx2",
    }
}

impl CopyLoop {
    /// The loops that differ only in what a store of a whole line does.
    pub const BY_LINES: [CopyLoop; 3] = [CopyLoop::Cached, CopyLoop::NoFetch, CopyLoop::NonTemporal];
}

dram_spec::named! {
    /// What a store of a whole line by a fast string instruction does where the cache lacks the line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum StringStores {
        /// It fetches the line.
        Fetch = "fetch",
        /// It allocates the line without reading it.
        NoFetch = "no-fetch",
    }
}

/// Instructions of the copy loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopSettings {
    /// Core cycles before the first word of a `rep movs`.
    pub string_start_cycles: u16,
    /// Core cycles before the first word of a fast one.
    pub fast_string_start_cycles: u16,
    /// Bytes from which on `rep movs` of [`CopyLoop::FastString`] is a fast one.
    pub fast_string_min_bytes: u32,
    /// Bytes of a word of a fast one, a power of two up to a line.
    pub fast_string_bytes: u8,
    /// Stores of whole lines of a fast one.
    pub fast_string_stores: StringStores,
    /// Bytes of an iteration, a multiple of the words; `None` for that of the loop.
    pub unroll_bytes: Option<u16>,
    /// Distance from the source of an iteration to the first line that it touches; 0 for none, `None` for a line.
    pub touch_bytes: Option<u32>,
    /// Bytes of the source that are loaded before they are copied.
    pub block_bytes: u32,
    /// Bytes of an iteration of these loads.
    pub block_step_bytes: u16,
    /// Bytes of a SIMD register.
    pub simd_bytes: u8,
    /// Smaller copies use the tail alone.
    pub loop_min_bytes: u32,
}

impl Default for LoopSettings {
    /// FreeBSD's loops: the tail below 64 bytes, iterations of 64 bytes, blocks of 1,792 bytes loaded 256 bytes an
    /// iteration. `rep movs` starts in 12 cycles, as on the Pentium (Agner Fog, "How to optimize for the Pentium family
    /// of microprocessors", 2004: 12 + n). A fast one starts in 72, as the 215 micro-operations of the P6 (the same
    /// source) take at 3 per cycle, and from 128 bytes on, as FreeBSD's measurements found; its words have 8 bytes, the
    /// data path of the P6. That its stores do not fetch whole lines is chosen. SIMD registers are those of SSE.
    fn default() -> LoopSettings {
        LoopSettings {
            string_start_cycles: 12,
            fast_string_start_cycles: 72,
            fast_string_min_bytes: 128,
            fast_string_bytes: 8,
            fast_string_stores: StringStores::NoFetch,
            unroll_bytes: None,
            touch_bytes: None,
            block_bytes: 1792,
            block_step_bytes: 256,
            simd_bytes: 16,
            loop_min_bytes: 64,
        }
    }
}

/// Who copies and zeroes pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCopier {
    /// The loop of the kernel.
    Loop,
    /// The memory controller, under its copy policy.
    Controller,
    /// A copy engine in the controller's hub; the loop zeroes, and copies what is smaller than
    /// [`KernelSettings::copier_min_bytes`].
    Engine(EngineSettings),
    /// A DMA engine beside the controller; the loop zeroes, and copies what is smaller than
    /// [`KernelSettings::copier_min_bytes`].
    Dma(DmaSettings),
}

/// How a copy engine and the cores proceed at the same time (Zhao et al., ICCD 2005).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineMode {
    /// The instruction of a copy retires when the copy is complete; engine and cores share a FIFO queue.
    SyncFifo,
    /// As before, but accesses of cores go first.
    SyncCpuFirst,
    /// The instruction retires when all cores have entered the copy in their pending copy tables.
    Async,
}

/// A copy engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EngineSettings {
    /// How engine and cores proceed.
    pub mode: EngineMode,
    /// Whether the controller executes the copies, under its copy policy.
    pub is_in_dram: bool,
    /// Copies in the engine's queue, the one in progress included.
    pub queue: usize,
    /// Lines of the stream buffer; at least two.
    pub buffer_lines: usize,
    /// Copies in the pending copy table of a core.
    pub pending_copies: usize,
    /// Translations that the copy control unit of a core keeps.
    pub tlb_entries: usize,
    /// Core cycles of a translation that it does not keep.
    pub tlb_miss_cycles: u64,
}

impl EngineSettings {
    /// The paper does not publish the sizes. A queue and a table of 8 copies, as there are 8 MSHRs. A buffer
    /// of 16 lines, twice those that 80 ns of latency need at 3.2 GB/s each for reading and writing. A TLB
    /// of 64 entries and a walk of 30 cycles, as of a data TLB of its time (Pentium 4: 64 entries).
    pub const fn new(mode: EngineMode, is_in_dram: bool) -> EngineSettings {
        EngineSettings {
            mode,
            is_in_dram,
            queue: 8,
            buffer_lines: 16,
            pending_copies: 8,
            tlb_entries: 64,
            tlb_miss_cycles: 30,
        }
    }
}

dram_spec::named! {
    /// How a core learns that a DMA engine has completed its copies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DmaCompletion {
        /// It loads its status line until the engine has written it.
        Polling = "polling",
        /// The engine interrupts it.
        Interrupt = "interrupt",
    }
}

/// A DMA engine with descriptor rings in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DmaSettings {
    /// Whether the controller executes the copies, under its copy policy.
    pub is_in_dram: bool,
    /// Channels; a core uses the one with its number modulo the channels.
    pub channels: usize,
    /// Descriptors of the ring of a channel.
    pub ring: usize,
    /// Lines of the buffer of a channel; at least two.
    pub buffer_lines: usize,
    /// Core cycles to set up a copy, its first descriptor included.
    pub setup_cycles: u64,
    /// Core cycles to set up each further descriptor of the copy.
    pub descriptor_cycles: u64,
    /// Core cycles of the doorbell, an uncached write.
    pub doorbell_cycles: u64,
    /// Descriptors after which a core writes the doorbell at the end of a copy for which it does not wait, at least
    /// one; before it waits it writes the doorbell in any case.
    pub doorbell_descriptors: usize,
    /// How a core learns of the end.
    pub completion: DmaCompletion,
    /// Core cycles between two loads of the status line.
    pub poll_cycles: u64,
    /// Core cycles of an interrupt.
    pub interrupt_cycles: u64,
    /// Pages that are pinned at a time: at least those of a copy unit of the source and of the destination.
    pub pinned_pages: usize,
    /// Core cycles to pin a page.
    pub pin_cycles: u64,
    /// Core cycles to unpin a page.
    pub unpin_cycles: u64,
    /// Core cycles after which a wait for a copy fails: the copy is incomplete, and the run ends with an error.
    pub timeout_cycles: u64,
}

impl DmaSettings {
    /// Set-up of 400 cycles, as Zhao et al. (ICCD 2005) give 300 to 500, and a doorbell of 500 (there, too). Four
    /// channels, as the engine of Intel's chipset 5000 has, with 128 descriptors each, as the driver of Linux 2.6
    /// allocates. The others are not published: a further descriptor takes 60 cycles, as its four stores follow
    /// one address translation each for source and destination; a buffer of 16 lines, as the copy engine has; a
    /// load of the status line each 100 cycles; an interrupt of 2,000 cycles, half of it exception and return
    /// (1,050 by Torvalds' measurement, as for page faults) and half of it two uncached accesses; 200 cycles to
    /// pin a page and 100 to unpin one, more than the 80 cycles per page of a fork, as each page is looked up by
    /// itself; 1,024 pinned pages of 4 KiB, twice a cache of 2 MB; a timeout of 2^30 cycles, far above the time
    /// of any ring of copies.
    pub const fn new(completion: DmaCompletion, is_in_dram: bool) -> DmaSettings {
        DmaSettings {
            is_in_dram,
            channels: 4,
            ring: 128,
            buffer_lines: 16,
            setup_cycles: 400,
            descriptor_cycles: 60,
            doorbell_cycles: 500,
            doorbell_descriptors: 1,
            completion,
            poll_cycles: 100,
            interrupt_cycles: 2_000,
            pinned_pages: 1_024,
            pin_cycles: 200,
            unpin_cycles: 100,
            timeout_cycles: 1 << 30,
        }
    }
}

/// A front-side bus between the last-level caches and the controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BusSettings {
    /// Core cycles of a clock of the bus.
    pub clock: u64,
    /// Data of a clock.
    pub bytes_per_clock: u64,
    /// Clocks of an address.
    pub address_clocks: u64,
    /// Core cycles from the bus to the controller.
    pub request_latency: u64,
    /// Core cycles from the end of a request in the controller to the bus.
    pub response_latency: u64,
    /// Core cycles from the address of a snoop to the answers of all caches.
    pub snoop_latency: u64,
}

dram_spec::named! {
    /// How packets are spread over receive queues.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Spread {
        /// Port `p` uses queue `p` modulo their number: each port interrupts a core.
        Ports = "ports",
        /// Connection `c`, counted over all ports, uses queue `c` modulo their number.
        Connections = "connections",
    }
}

dram_spec::named! {
    /// What becomes of a packet for whose queue no buffer is posted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WithoutBuffer {
        /// It is dropped, as on Ethernet.
        Drop = "drop",
        /// It waits at its port, and those behind it, until a buffer is posted, as on a link with flow control.
        Wait = "wait",
    }
}

dram_spec::named! {
    /// Which packets a network adapter injects into a cache; it writes the others to memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InjectionPolicy {
        /// None.
        Never = "never",
        /// All.
        Always = "always",
        /// Ranges of at most [`InjectionSettings::max_bytes`].
        BySize = "by-size",
        /// All, each line to one of the first ways of its set: [`InjectionSettings::share`].
        BoundedWays = "bounded-ways",
        /// Those that find fewer than [`InjectionSettings::near_packets`] packets of their queue in use.
        WhenExpected = "when-expected",
    }
}

dram_spec::named! {
    /// The level into which a line is injected; it also enters the levels behind.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum InjectionLevel {
        /// The L1 of a core.
        L1 = "l1",
        /// Its L2.
        L2 = "l2",
        /// Its last-level cache.
        LastLevel = "last-level",
    }
}

/// How a network adapter injects packets into caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InjectionSettings {
    /// Which packets.
    pub policy: InjectionPolicy,
    /// Into which level.
    pub level: InjectionLevel,
    /// The core whose caches take them, with the last-level cache of the core of the queue; `None` for that core.
    pub core: Option<usize>,
    /// Bytes of the longest range that is injected by size: a header, a payload, or both if they follow each other.
    pub max_bytes: u64,
    /// Percent of the ways of a level that take injected lines, at least one way, where they are bounded.
    pub share: u64,
    /// Packets of a queue in use, from which on a packet is not expected.
    pub near_packets: usize,
}

impl InjectionSettings {
    /// No injection. Otherwise into the last level of the queue's core. By size, 256 bytes: headers and control
    /// messages. Of the ways 10 %, as Intel's Data Direct I/O takes two of 20. A packet is expected with fewer than 64
    /// in use, as many as the driver `e1000` of Linux 2.6 handles at a time.
    pub const NEVER: InjectionSettings = InjectionSettings {
        policy: InjectionPolicy::Never,
        level: InjectionLevel::LastLevel,
        core: None,
        max_bytes: 256,
        share: 10,
        near_packets: 64,
    };

    /// Ways of a level that injected lines can take, of a number of ways.
    pub const fn ways(&self, ways: usize) -> usize {
        let share = ways * self.share as usize / 100;
        match self.policy {
            InjectionPolicy::BoundedWays => {
                if share == 0 {
                    1
                } else {
                    share
                }
            }
            _ => ways,
        }
    }
}

/// A network adapter, its links, and the packets that arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetworkSettings {
    /// Ports, each with a link in both directions.
    pub ports: usize,
    /// Core cycles of 1,000 bytes on a link.
    pub cycles_per_1000_bytes: u64,
    /// Bytes of a packet on the link beside header and payload: preamble, checksum and gap.
    pub frame_bytes: u64,
    /// Bytes of the header of a packet that reach memory; 0 if the adapter keeps the header.
    pub header_bytes: u64,
    /// Bytes of the payload of a packet.
    pub payload_bytes: u64,
    /// Packets that arrive at each port.
    pub packets: u64,
    /// Connections of each port.
    pub connections: u64,
    /// Packets of a connection that arrive one after another.
    pub burst: u64,
    /// Receive queues, at most as many as cores: queue `q` is that of core `q`.
    pub queues: usize,
    /// What determines the queue of a packet.
    pub spread: Spread,
    /// Receive buffers of a queue.
    pub ring: usize,
    /// Packets of a port that wait to be sent.
    pub send_ring: usize,
    /// Packets of a queue after which the adapter interrupts the core.
    pub coalesced_packets: usize,
    /// Core cycles after the first packet of a queue after which it does so.
    pub coalesced_cycles: u64,
    /// Core cycles of an interrupt.
    pub interrupt_cycles: u64,
    /// What becomes of a packet without a buffer.
    pub without_buffer: WithoutBuffer,
    /// Which packets are injected into a cache.
    pub injection: InjectionSettings,
    /// Clients of each port, which send a request of `burst` packets and await the answer; 0 for packets without gap.
    pub clients: u64,
    /// Core cycles from the end of an answer to the next request of the client.
    pub client_cycles: u64,
    /// Packets of an answer.
    pub answer_packets: u64,
}

impl NetworkSettings {
    /// Ports of 1 Gb/s, each of which interrupts a core; a core cycle takes 8,000,000 / `cycles_per_1000_bytes` ps.
    ///
    /// Packets of Ethernet with 1,500 bytes: preamble, checksum and gap of 24 bytes, headers of 14 (Ethernet), 20 (IP)
    /// and 32 bytes (TCP with time stamps). Rings of 256, as the driver `e1000` of Linux 2.6 allocates; it limits
    /// interrupts to 8,000 per second by default, 125 us in which 15,625 bytes arrive, and handles up to 64 packets
    /// at a time. The cost of an interrupt is that of [`DmaSettings::new`]. A connection per port, of which 8 packets
    /// follow each other, and 1,000 packets per port are chosen.
    pub const fn gigabit(ports: usize, queues: usize, cycles_per_1000_bytes: u64) -> NetworkSettings {
        NetworkSettings {
            ports,
            cycles_per_1000_bytes,
            frame_bytes: 24,
            header_bytes: 66,
            payload_bytes: 1_448,
            packets: 1_000,
            connections: 1,
            burst: 8,
            queues,
            spread: Spread::Ports,
            ring: 256,
            send_ring: 256,
            coalesced_packets: 64,
            coalesced_cycles: cycles_per_1000_bytes * 15_625 / 1_000,
            interrupt_cycles: 2_000,
            without_buffer: WithoutBuffer::Drop,
            injection: InjectionSettings::NEVER,
            clients: 0,
            client_cycles: 0,
            answer_packets: 1,
        }
    }

    /// Core cycles for which a packet of header and payload occupies a link.
    pub const fn link_cycles(&self, packets: u64, bytes: u64) -> u64 {
        (packets * (self.frame_bytes + bytes) * self.cycles_per_1000_bytes).div_ceil(1000)
    }
}

dram_spec::named! {
    /// Treatment of dirty source lines before a copy in DRAM.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum DirtySource {
        /// They are written back.
        WriteBack = "write-back",
        /// They are copied in the cache under the destination's address, and stay dirty in both places.
        CopyInCache = "copy-in-cache",
    }
}

/// Copies and zeroings of pages, and the time of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelSettings {
    /// Who copies and zeroes.
    pub copier: PageCopier,
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
    /// Smaller copies are left to the loop, where the controller or a device copies. `None` is the largest
    /// [`Program::copier_min_bytes`](super::Program::copier_min_bytes) of the programs.
    pub copier_min_bytes: Option<u64>,
    /// The loop, where the loop copies and zeroes.
    pub copy_loop: CopyLoop,
    /// Its instructions.
    pub loops: LoopSettings,
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
            copier: PageCopier::Loop,
            dirty_source: DirtySource::WriteBack,
            inserts_zero_lines: false,
            coherence_cycles_per_line: 1,
            fault_cycles: 1_300,
            page_table_cycles: 80,
            page_table_entry_bytes: 8,
            page_descriptor_bytes: 64,
            word_bytes: 8,
            copier_min_bytes: None,
            copy_loop: CopyLoop::Cached,
            loops: LoopSettings::default(),
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
    /// L2 of each core between the L1 and the last-level cache, which holds all of its lines, too.
    pub l2: Option<CacheShape>,
    /// Last-level cache.
    pub last_level: CacheShape,
    /// Who shares the last-level cache.
    pub sharing: Sharing,
    /// The bus between the last-level caches and the controller, if there is one.
    pub bus: Option<BusSettings>,
    /// Lines of all caches.
    pub lines: LineSettings,
    /// The network adapter, if there is one.
    pub network: Option<NetworkSettings>,
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
