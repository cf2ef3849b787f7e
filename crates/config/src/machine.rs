//! Machine files: a memory system with cores, caches and a kernel.

use std::path::{Path, PathBuf};

use dram_spec::Min;
use dram_spec::address::FRAME_BYTES;
use host::AllocatorSettings;
use host::machine::{
    BusSettings, ClockRatio, CopyLoop, CoreSettings, DirtySource, DmaCompletion, DmaSettings, EngineSettings,
    InjectionLevel, InjectionPolicy, InjectionSettings, KernelSettings, LineSettings, LoopSettings, MachineSettings,
    NetworkSettings, Order, PrefetchSettings, PrefetcherKind, Sharing, Spread, StoreMiss, StringStores, WithoutBuffer,
    WriteMerging, WritePolicy,
};
use os_alloc_sim::{CopyUnit, FrameMap, Policy};
use rowclone_sim::DeviceSettings;
use trace_io::program::InstructionClass;

use crate::allocator::COPY_UNIT;
use crate::caches::CacheTable;
use crate::classes::check_classes;
use crate::document::Section;
use crate::key::{Holds, Key, key};
use crate::loops::check_loops;
use crate::preset::{self, Preset};
use crate::{Document, Failure, Overrides, Source, SystemConfig, devices, names};

/// A checked machine.
#[derive(Clone, Debug)]
pub struct MachineConfig {
    /// Name in reports: the name of the file without `.toml`.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// The memory system.
    pub system: SystemConfig,
    /// Cores, caches and kernel. The allocator is that of the baseline.
    pub settings: MachineSettings,
    /// Devices that copy under some policies.
    pub devices: DeviceSettings,
}

/// The preset of the `RowClone` paper's machine.
const PAPER: &Preset = &preset::MACHINES[0];

const CYCLES_MAX: u64 = 1 << 30;
/// Longest part of the path to memory, in core cycles: far above that of any machine.
const BUS_LATENCY_MAX: u64 = 10_000;
/// Time of 1,000 bytes on a link of 1 Gb/s.
const GIGABIT_PS_PER_1000_BYTES: u64 = 8_000_000;

/// Keys of a machine file.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key::new("system", Holds::Path, "\"ddr3-1066-paper.toml\"", "the system: memory and controller (`input.md`)").values("a path, or the name of a preset"),
    Key::new("cores", Holds::Table, "", "each core"),
    Key::new("cores.core_clocks", Holds::Count(1, 1000), "6", "core cycles per `memory_clocks`"),
    Key::new("cores.memory_clocks", Holds::Count(1, 1000), "1", "clocks of the memory per `core_clocks`"),
    key!(CoreSettings, cores.order, Holds::Name(|| Order::NAMES.into()), "\"out-of-order\"", "whether instructions dispatch past a load whose data are not there"),
    key!(CoreSettings, cores.width, Holds::Count(1, 64), "3", "instructions dispatched, and retired, per cycle"),
    key!(CoreSettings, cores.window, Holds::Count(2, 1 << 16), "128", "instructions between dispatch and retirement; at least twice `width`"),
    key!(CoreSettings, cores.mshrs, Holds::Count(1, 1024), "8", "lines requested from memory at a time"),
    key!(CoreSettings, cores.store_buffer, Holds::Count(1, 1024), "32", "stores whose lines are not in the cache"),
    key!(CoreSettings, cores.load_store_queue, Holds::Count(1, 1 << 16), "64", "loads and stores in the window; at most `window`").or("`window`"),
    Key::new("cores.pairing", Holds::Names(|| InstructionClass::NAMES.into()), "[\"integer\", \"load\", \"store\"]", "in-order cores: classes whose instructions dispatch in one cycle with others; each other instruction dispatches alone").or("all classes"),
    Key::new("cores.classes", Holds::Tables, "", "latency and units of a class of instructions, where they differ from the defaults").or("none"),
    Key::new("cores.classes.class", Holds::Name(|| InstructionClass::NAMES.into()), "\"multiply\"", "the class, in one table at most"),
    Key::new("cores.classes.latency", Holds::Clocks(0, 1000), "3", "core cycles from the start of an instruction to its result, at least 1; of a load, from its data to its result").or("1; of loads and stores 0"),
    Key::new("cores.classes.units", Holds::Count(1, 64), "1", "units that execute instructions of the class").or("no limit"),
    Key::new("cores.classes.units_of", Holds::Name(|| InstructionClass::NAMES.into()), "\"integer\"", "class whose `units` also execute instructions of this class").or("units of its own"),
    Key::new("cores.classes.interval", Holds::Clocks(1, 1000), "1", "core cycles for which an instruction occupies a unit").or("1"),
    Key::new("caches", Holds::Table, "", "the caches of each core"),
    key!(LineSettings, caches.line_bytes => bytes, Holds::OneOfBytes(&[16, 32, 64, 128]), "64", "bytes of a line of all caches: that of a request to memory").or("64"),
    Key::new("caches.sharing", Holds::Name(|| names(&Sharing::NAMES)), "\"private\"", "who shares the last-level cache"),
    Key::new("caches.sharing_cores", Holds::Count(2, 16), "2", "consecutive cores that share a last-level cache, with `sharing = \"shared\"`").or("all cores"),
    Key::new("caches.last_level_bytes", Holds::Bytes(1024, 1 << 32), "\"1MiB\"", "data of a last-level cache: `line_bytes` times `last_level_ways` times a number of sets"),
    Key::new("caches.last_level_ways", Holds::Count(1, 64), "16", "lines per set"),
    Key::new("caches.last_level_latency", Holds::Clocks(1, 1000), "15", "core cycles from a load to its data"),
    Key::new("caches.last_level_store_miss", Holds::Name(|| StoreMiss::NAMES.into()), "\"no-allocate\"", "whether a store whose line the last-level cache lacks brings it there, or goes to memory through the write buffer").or("`allocate`"),
    Key::new("caches.last_level_prefetcher", Holds::Name(|| PrefetcherKind::NAMES.into()), "\"stride\"", "what requests lines for the last-level cache before accesses to them").or("`none`"),
    Key::new("caches.l1_bytes", Holds::Bytes(1024, 1 << 24), "\"32KiB\"", "data of an L1; with `l1_ways` and `l1_latency`").or("no L1"),
    Key::new("caches.l1_ways", Holds::Count(1, 64), "8", "lines per set of the L1").or("no L1"),
    Key::new("caches.l1_latency", Holds::Clocks(1, 1000), "4", "core cycles from a load to its data in the L1").or("no L1"),
    Key::new("caches.l1_store_miss", Holds::Name(|| StoreMiss::NAMES.into()), "\"no-allocate\"", "whether a store whose line the L1 lacks brings it there").or("`allocate`"),
    Key::new("caches.l1_prefetcher", Holds::Name(|| PrefetcherKind::NAMES.into()), "\"next-line\"", "what requests lines for the L1 and the levels behind it before accesses to them").or("`none`"),
    Key::new("caches.l2_bytes", Holds::Bytes(1024, 1 << 28), "\"256KiB\"", "data of an L2 of each core between L1 and last level; with `l2_ways` and `l2_latency`").or("no L2"),
    Key::new("caches.l2_ways", Holds::Count(1, 64), "8", "lines per set of the L2").or("no L2"),
    Key::new("caches.l2_latency", Holds::Clocks(1, 1000), "12", "core cycles from a load to its data in the L2").or("no L2"),
    Key::new("caches.l2_store_miss", Holds::Name(|| StoreMiss::NAMES.into()), "\"no-allocate\"", "whether a store whose line the L2 lacks brings it there").or("`allocate`"),
    Key::new("caches.l2_prefetcher", Holds::Name(|| PrefetcherKind::NAMES.into()), "\"next-line\"", "what requests lines for the L2 and the last level before accesses to them").or("`none`"),
    key!(LineSettings, caches.write, Holds::Name(|| WritePolicy::NAMES.into()), "\"write-through\"", "when stores to lines of the last-level cache go to memory: with the replaced line, or at once").or("`write-back`"),
    key!(LineSettings, caches.write_buffer, Holds::Count(1, 64), "4", "entries of the write buffer of each core, a line each; 8 are in the middle of the 4 to 10 write-combining buffers of Intel's cores since the Pentium III").or("8"),
    key!(LineSettings, caches.write_merging => merging, Holds::Name(|| WriteMerging::NAMES.into()), "\"none\"", "which stores share an entry of the write buffer: those to a line, or none, so that each leaves at once").or("`line`"),
    key!(PrefetchSettings, caches.prefetch_degree => degree, Holds::Count(1, 16), "2", "lines requested after an access, by all prefetchers; 1 is the least").or("1"),
    key!(PrefetchSettings, caches.prefetch_distance => distance, Holds::Count(1, 32), "4", "steps from an access to the first of these lines; 1 is the least").or("1"),
    key!(PrefetchSettings, caches.prefetch_mshrs => mshrs, Holds::Count(1, 64), "8", "lines of a core being prefetched at a time; 4 are half of the misses that the core of the paper has").or("4"),
    Key::new("interconnect", Holds::Table, "", "a front-side bus between the last-level caches and the controller").or("no bus, and no time"),
    key!(BusSettings, interconnect.clock, Holds::Clocks(1, 1000), "\"5ns\"", "core cycles of a clock of the bus"),
    key!(BusSettings, interconnect.bytes_per_clock, Holds::OneOfBytes(&[4, 8, 16, 32, 64, 128]), "32", "data that the bus moves in a clock"),
    key!(BusSettings, interconnect.address_clocks, Holds::Count(1, 16), "1", "clocks of the bus for an address; 1 is the least").or("1"),
    key!(BusSettings, interconnect.request_latency, Holds::Clocks(0, BUS_LATENCY_MAX), "18", "core cycles from the bus to the controller").or("0"),
    key!(BusSettings, interconnect.response_latency, Holds::Clocks(0, BUS_LATENCY_MAX), "18", "core cycles from the data in the controller to the bus").or("0"),
    key!(BusSettings, interconnect.snoop_latency, Holds::Clocks(0, BUS_LATENCY_MAX), "60", "core cycles from the address of a device's snoop to the answers of all caches").or("0"),
    Key::new("copy_engine", Holds::Table, "", "the copy engine of the policies `copy-engine-...`; its paper publishes none of these numbers").or("that of the defaults"),
    key!(EngineSettings, copy_engine.queue, Holds::Count(1, 1024), "4", "copies in the engine's queue, with the one in progress; 8, as the core has 8 MSHRs").or("8"),
    key!(EngineSettings, copy_engine.buffer_lines, Holds::Count(2, 1024), "32", "lines of the stream buffer; 16 are twice those that 80 ns of latency need at 3.2 GB/s each for reading and writing").or("16"),
    key!(EngineSettings, copy_engine.pending_copies, Holds::Count(1, 1024), "4", "copies in the pending copy table of each core; 8, as the queue").or("8"),
    key!(EngineSettings, copy_engine.tlb_entries, Holds::Count(1, 4096), "128", "translations that the copy control unit of a core keeps; 64, as the data TLB of a Pentium 4").or("64"),
    key!(EngineSettings, copy_engine.tlb_miss_cycles, Holds::Clocks(0, 100_000), "50", "core cycles of a translation that the copy control unit does not keep; 30 are chosen: a walk of two levels that hits the L2").or("30"),
    key!(DeviceSettings, copy_engine.share, Holds::Count(0, 100), "10", "percent of the contested RDs that the engine is guaranteed under the scheduler `cpu-first`, where the policy sets it; 25 is that of `controller.cpu_first_share`").or("25"),
    Key::new("dma", Holds::Table, "", "the DMA engine of the policies `dma` and `dma-rowclone` (`copiers.md`)").or("that of the defaults"),
    key!(DmaSettings, dma.channels, Holds::Count(1, 64), "1", "channels; core `c` uses channel `c` modulo their number; 4, as in the engine of Intel's chipset 5000").or("4"),
    key!(DmaSettings, dma.ring, Holds::Count(1, 4096), "64", "descriptors of the ring of a channel; 128, as the driver of Linux 2.6 allocates").or("128"),
    key!(DmaSettings, dma.buffer_lines, Holds::Count(2, 1024), "32", "lines of the buffer of a channel; 16, as the copy engine").or("16"),
    key!(DmaSettings, dma.setup_cycles, Holds::Clocks(0, CYCLES_MAX), "300", "core cycles to set up a copy, its first descriptor included; 400 of 300 to 500 by Zhao et al. (ICCD 2005)").or("400"),
    key!(DmaSettings, dma.descriptor_cycles, Holds::Clocks(0, CYCLES_MAX), "30", "core cycles of each further descriptor of a doorbell; 60 are chosen: two address translations and a few instructions").or("60"),
    key!(DmaSettings, dma.doorbell_cycles, Holds::Clocks(0, CYCLES_MAX), "300", "core cycles of the doorbell, an uncached write; about 500 by Zhao et al.").or("500"),
    key!(DmaSettings, dma.doorbell_descriptors, Holds::Count(1, 4096), "4", "descriptors after which a core writes the doorbell for a copy that a program begins; with 1 each copy starts at once, 4 in the driver of Linux 2.6").or("1"),
    key!(DmaSettings, dma.completion, Holds::Name(|| DmaCompletion::NAMES.into()), "\"interrupt\"", "how a core learns of the end of its copies: by loads of its status line, as Linux 2.6 does for network packets, or by an interrupt").or("`polling`"),
    key!(DmaSettings, dma.poll_cycles, Holds::Clocks(1, CYCLES_MAX), "200", "core cycles between two loads of the status line; 100 are chosen: finer than the time of any copy").or("100"),
    key!(DmaSettings, dma.interrupt_cycles, Holds::Clocks(0, CYCLES_MAX), "3_000", "core cycles of an interrupt; 2,000 are chosen: exception and return (1,050, as of page faults), and two uncached accesses").or("2,000"),
    key!(DmaSettings, dma.pinned_pages, Holds::Count(2, 1 << 20), "512", "pages that are pinned at a time, at least two of `kernel.copy_unit`; 1,024 are chosen: 4 MiB, twice a cache of 2 MB").or("1,024"),
    key!(DmaSettings, dma.pin_cycles, Holds::Clocks(0, CYCLES_MAX), "400", "core cycles to pin a page; 200 are chosen: more than the 80 per page of a fork, as each page is looked up by itself").or("200"),
    key!(DmaSettings, dma.unpin_cycles, Holds::Clocks(0, CYCLES_MAX), "200", "core cycles to unpin a page; 100 are chosen: half of the above, without a lookup").or("100"),
    key!(DmaSettings, dma.timeout_cycles, Holds::Clocks(1, 1 << 40), "1_000_000_000", "core cycles after which a core that polls gives up a copy, which ends the run with an error; 2^30 is far above the time of a full ring").or("2^30"),
    Key::new("network", Holds::Table, "", "a network adapter, its links, and the packets that arrive (`copiers.md`), for programs with `await`").or("no adapter"),
    Key::new("network.ports", Holds::Count(1, 64), "6", "ports, each with a link in both directions; 1 is the least").or("1"),
    Key::new("network.cycles_per_1000_bytes", Holds::Clocks(1, 1 << 24), "\"0.8us\"", "core cycles of 1,000 bytes on a link").or("those of 8 us: 1 Gb/s"),
    key!(NetworkSettings, network.frame_bytes, Holds::Bytes(0, 4096), "24", "bytes of a packet on the link beside header and payload; 24 of Ethernet: preamble 8, checksum 4, gap 12").or("24"),
    key!(NetworkSettings, network.header_bytes, Holds::Bytes(0, FRAME_BYTES), "54", "bytes of the header of a packet, which lies in one page; 0 if the adapter keeps it; 66: Ethernet 14, IP 20, TCP with time stamps 32").or("66"),
    key!(NetworkSettings, network.payload_bytes, Holds::Bytes(1, FRAME_BYTES), "512", "bytes of the payload of a packet, which lies in one page; 1,448 of Ethernet's 1,500").or("1,448"),
    key!(NetworkSettings, network.packets, Holds::Count(1, 1 << 24), "100", "packets that arrive at each port; 1,000 are chosen: 12 ms at 1 Gb/s").or("1,000"),
    key!(NetworkSettings, network.connections, Holds::Count(1, 1 << 16), "20", "connections of each port; 1 is the least").or("1"),
    key!(NetworkSettings, network.burst, Holds::Count(1, 1 << 16), "1", "packets of a connection that arrive one after another; 8 are chosen").or("8"),
    Key::new("network.queues", Holds::Count(1, 16), "4", "receive queues, of the cores with their numbers, all of which must await packets; 1 is the least, and 16 are as many as cores can be").or("1"),
    key!(NetworkSettings, network.spread, Holds::Name(|| Spread::NAMES.into()), "\"connections\"", "what determines the queue of a packet: its port or its connection, modulo `queues`; without receive-side scaling each port has a queue").or("`ports`"),
    key!(NetworkSettings, network.ring, Holds::Count(1, 1 << 16), "64", "receive buffers of a queue; 256, as the driver `e1000` of Linux 2.6 allocates").or("256"),
    key!(NetworkSettings, network.send_ring, Holds::Count(1, 1 << 16), "64", "packets of a port that wait to be sent; 256, as the driver `e1000` of Linux 2.6 allocates").or("256"),
    key!(NetworkSettings, network.coalesced_packets, Holds::Count(1, 1 << 16), "16", "packets of a queue after which the adapter interrupts its core; 64, as `e1000` handles at a time").or("64"),
    key!(NetworkSettings, network.coalesced_cycles, Holds::Clocks(0, CYCLES_MAX), "\"125us\"", "core cycles from the first packet of a queue to the interrupt of its core; at 1 Gb/s those of 125 us, as `e1000` allows 8,000 interrupts per second").or("those of 15,625 bytes on a link"),
    key!(NetworkSettings, network.interrupt_cycles, Holds::Clocks(0, CYCLES_MAX), "3_000", "core cycles of an interrupt; 2,000 are chosen, as of `dma`").or("2,000"),
    key!(NetworkSettings, network.without_buffer, Holds::Name(|| WithoutBuffer::NAMES.into()), "\"wait\"", "a packet for whose queue no buffer is posted: it is dropped, as on Ethernet, or waits at its port, as on links with flow control").or("`drop`"),
    key!(InjectionSettings, network.inject => policy, Holds::Name(|| InjectionPolicy::NAMES.into()), "\"always\"", "which packets the adapter injects into a cache instead of writing them to memory (`copiers.md`)").or("`never`"),
    key!(InjectionSettings, network.inject_level => level, Holds::Name(|| InjectionLevel::NAMES.into()), "\"l2\"", "the level that injected lines enter, and those behind it; the last level is the one of the published measurement").or("`last-level`"),
    key!(InjectionSettings, network.inject_core => core, Holds::Count(0, 63), "1", "the core whose caches take the lines; its last-level cache is that of each core with a queue").or("that of the queue"),
    key!(InjectionSettings, network.inject_max_bytes => max_bytes, Holds::Bytes(0, 2 * FRAME_BYTES), "\"2KiB\"", "`by-size`: bytes of the longest range that is injected; 256 are chosen: headers and control messages").or("256"),
    key!(InjectionSettings, network.inject_share => share, Holds::Count(1, 100), "25", "`bounded-ways`: percent of the ways of a level that take injected lines, rounded down and at least one way; 10, as Intel's Data Direct I/O takes two of 20 ways").or("10"),
    key!(InjectionSettings, network.inject_near_packets => near_packets, Holds::Count(1, 1 << 16), "16", "`when-expected`: packets of a queue in use, from which on a packet is not injected; 64, as `e1000` handles at a time").or("64"),
    key!(NetworkSettings, network.clients, Holds::Count(0, 1 << 16), "16", "clients of each port, each of which sends a request of `burst` packets, awaits the answer, and sends the next one; 0 for packets without gap").or("0"),
    key!(NetworkSettings, network.client_cycles, Holds::Clocks(0, CYCLES_MAX), "\"150us\"", "core cycles from the end of an answer to the next request of a client; 0 is the least").or("0"),
    key!(NetworkSettings, network.answer_packets, Holds::Count(1, 1 << 16), "6", "packets that a port sends per answer; 1 is the least").or("1"),
    Key::new("kernel", Holds::Table, "", "the kernel: copies, zeroings, and its time"),
    key!(KernelSettings, kernel.copy_loop, Holds::Name(|| CopyLoop::NAMES.into()), "\"cached\"", "how the baseline copies and zeroes: by lines with stores that fetch and allocate them, that allocate whole lines without fetching them, or that bypass the cache; or by the instructions of a copy loop (`copiers.md`)"),
    key!(KernelSettings, kernel.dirty_source, Holds::Name(|| DirtySource::NAMES.into()), "\"write-back\"", "dirty source lines before a copy in DRAM"),
    key!(KernelSettings, kernel.coherence_cycles_per_line, Holds::Clocks(0, 1000), "1", "core cycles to look up, write back, invalidate or insert a line"),
    key!(KernelSettings, kernel.fault_cycles, Holds::Clocks(0, CYCLES_MAX), "1_300", "core cycles of a page fault, apart from its copy or zeroing"),
    key!(KernelSettings, kernel.page_table_cycles, Holds::Clocks(0, CYCLES_MAX), "80", "core cycles of a fork or an exit per page of the process"),
    key!(KernelSettings, kernel.page_table_entry_bytes, Holds::OneOfBytes(&[0, 4, 8, 16, 32, 64]), "8", "bytes of a page table entry, which a fork, an exit and a page fault read and write; 0 for no such accesses").or("8"),
    key!(KernelSettings, kernel.page_descriptor_bytes, Holds::OneOfBytes(&[0, 4, 8, 16, 32, 64]), "64", "bytes of the kernel's descriptor of a page, which these events read and write; 0 for no such accesses").or("64"),
    key!(KernelSettings, kernel.word_bytes, Holds::OneOfBytes(&[4, 8, 16, 32, 64]), "8", "bytes that an instruction of a copy loop loads or stores"),
    key!(LoopSettings, kernel.string_start_cycles, Holds::Clocks(0, 10_000), "30", "core cycles before the first word of a `rep movs` of a copy loop; 12 on the Pentium (Agner Fog, 2004: 12 + n)").or("12"),
    key!(LoopSettings, kernel.fast_string_start_cycles, Holds::Clocks(0, 10_000), "35", "core cycles before the first word of a fast `rep movs`; 72 are 215 micro-operations at 3 per cycle, as on the P6 (Agner Fog, 2004)").or("72"),
    key!(LoopSettings, kernel.fast_string_min_bytes, Holds::Bytes(0, 1 << 30), "256", "loop `fast-string`: bytes from which on `rep movs` is a fast one; 128 as measured on the P6 (FreeBSD)").or("128"),
    key!(LoopSettings, kernel.fast_string_bytes, Holds::OneOfBytes(&[4, 8, 16, 32, 64]), "32", "bytes of a word of a fast `rep movs`; 8 are the data path of the P6").or("8"),
    key!(LoopSettings, kernel.fast_string_stores, Holds::Name(|| StringStores::NAMES.into()), "\"fetch\"", "whether a store of a whole line by a fast `rep movs` fetches a line that the cache lacks; it does not: Intel SDM (253668-032, 8.2.4)").or("`no-fetch`"),
    key!(LoopSettings, kernel.unroll_bytes, Holds::OneOfBytes(&[16, 32, 64, 128, 256, 512, 1024]), "256", "bytes of an iteration of the loops `integer`, `float-block`, `simd-block`, `non-temporal-block` and `avx2`").or("64 as FreeBSD, 128 of `avx2` as the C library of GNU"),
    key!(LoopSettings, kernel.touch_bytes, Holds::Bytes(0, 1 << 16), "128", "loop `integer`: distance from the source of an iteration to the first line of which it loads a byte; 0 for no such loads").or("a line"),
    key!(LoopSettings, kernel.block_bytes, Holds::Bytes(0, 1 << 20), "\"4KiB\"", "loops with blocks: bytes of the source whose lines are loaded before they are copied; a multiple of `unroll_bytes`; 1,792 of FreeBSD, 0 for none").or("1,792"),
    key!(LoopSettings, kernel.block_step_bytes, Holds::OneOfBytes(&[64, 128, 256, 512, 1024]), "128", "bytes of an iteration of these loads; 256 of FreeBSD").or("256"),
    key!(LoopSettings, kernel.simd_bytes, Holds::OneOfBytes(&[8, 16, 32, 64]), "32", "loops `simd-block` and `non-temporal-block`: bytes of a register; 16 of SSE").or("16"),
    key!(LoopSettings, kernel.loop_min_bytes, Holds::Bytes(0, 1 << 30), "256", "copies of fewer bytes use the tail of their loop alone; 64 of FreeBSD").or("64"),
    key!(KernelSettings, kernel.copier_min_bytes, Holds::Bytes(0, 1 << 30), "\"1KiB\"", "where the controller or a device copies: the loop makes smaller copies; with 0 the copier makes copies of all sizes; the break-even size in the output is a suitable value").or("0; with a recording 4096, because most copies of system calls are shorter than a line"),
    key!(AllocatorSettings, kernel.baseline_allocator => policy, Holds::Name(|| Policy::NAMES.into()), "\"buddy\"", "allocator of page frames where RowClone is not used (`allocator.md`)"),
    key!(AllocatorSettings, kernel.copy_unit, Holds::Name(|| CopyUnit::NAMES.into()), "\"row-set\"", COPY_UNIT).or("`page`"),
];

impl MachineConfig {
    /// Bytes of a copy unit of the kernel.
    pub fn unit_bytes(&self) -> u64 {
        let map = FrameMap::new(self.system.memory.map().clone());
        u64::from(self.settings.allocator.copy_unit.frames(&map)) * FRAME_BYTES
    }

    /// Reads and checks a machine file, or if there is no such file, the preset of this name. Overrides of `system.`
    /// change the system file.
    ///
    /// # Errors
    /// There is neither; the file cannot be read, or has an error.
    pub fn read(argument: &Path, overrides: &Overrides) -> Result<MachineConfig, Failure> {
        MachineConfig::of(&Source::of_argument(argument, preset::MACHINES)?, overrides)
    }

    /// The `RowClone` paper's machine. Neither its file nor that of its system need exist.
    ///
    /// # Errors
    /// An override is not possible.
    pub fn paper(overrides: &Overrides) -> Result<MachineConfig, Failure> {
        MachineConfig::of(&Source::Preset(PAPER), overrides)
    }

    /// The machine of a file or a preset, and of its system.
    fn of(source: &Source, overrides: &Overrides) -> Result<MachineConfig, Failure> {
        let mut document = Document::of_source(source, KEYS)?;
        let mut own = overrides.clone();
        let of_system = own.take_prefix("system");
        document.apply(&own)?;
        document.check()?;
        let system = SystemConfig::of(&system_of(&document, source)?, &of_system)?;
        MachineConfig::check(&mut document, system)
    }

    /// The machine of a document with all overrides applied; its times become core cycles.
    pub(crate) fn check(document: &mut Document, system: SystemConfig) -> Result<MachineConfig, Failure> {
        let cores = document.root().table("cores").expect("it is required");
        let (per, memory): (u64, u64) = (cores.of("core_clocks"), cores.of("memory_clocks"));
        let clock = system.memory.system().clock();
        // The quotient of the rounded number of clocks is rounded up exactly as that of the time itself.
        let core_cycles =
            |ps: u64| ps.checked_mul(per).map_or(u64::MAX, |ps| clock.at_least(Min::ps(ps)).0.div_ceil(memory));
        document.resolve_times(&core_cycles)?;
        let root = document.root();
        let [cores, caches, kernel] =
            ["cores", "caches", "kernel"].map(|name| root.table(name).expect("it is required"));
        let mut core = cores.over(CoreSettings::PAPER);
        cores.within("window", core.window, 2 * core.width, 1 << 16)?;
        let CacheTable { l1, l2, last_level, sharing, lines } = CacheTable::check(&caches)?;
        check_word(&kernel, lines.bytes)?;
        let network =
            devices::network(&root, core_cycles(GIGABIT_PS_PER_1000_BYTES), [l1, l2].map(|it| it.is_some()), sharing)?;
        cores.within("load_store_queue", core.load_store_queue.unwrap_or(1) as u64, 1, core.window)?;
        core.classes = check_classes(&cores, core.order)?;
        let allocator = AllocatorSettings {
            policy: Policy::Buddy,
            seed: 1,
            utilization: 0.0,
            fragmentation: 0.0,
            copy_unit: CopyUnit::default(),
        };
        let settings = MachineSettings {
            clock: ClockRatio::new(per, memory),
            core,
            l1,
            l2,
            last_level,
            sharing,
            lines,
            bus: devices::bus(&root),
            network,
            kernel: KernelSettings {
                loops: check_loops(&kernel, lines.bytes)?,
                ..kernel.over(KernelSettings::default())
            },
            allocator: kernel.over(allocator),
        };
        let copy_unit = settings.allocator.copy_unit.frames(&FrameMap::new(system.memory.map().clone()));
        let devices = devices::devices(&root, system.memory.controller().scheduler.is_some(), copy_unit.into())?;
        Ok(MachineConfig { name: document.name(), path: document.path().to_owned(), system, settings, devices })
    }
}

/// Checks that an instruction of a copy loop accesses one line.
fn check_word(kernel: &Section<'_>, line: u64) -> Result<(), Failure> {
    let word = kernel.of::<u64>("word_bytes");
    if word > line {
        let message = format!("`kernel.word_bytes` is {word}, more than a line of {line} bytes");
        return Err(kernel.fault("word_bytes", message).with_help(format!("try `word_bytes = {line}`")));
    }
    Ok(())
}

/// The system that a machine names. That of a preset is a preset, too, as both have files in one directory.
pub(crate) fn system_of(document: &Document, machine: &Source) -> Result<Source, Failure> {
    let root = document.root();
    let of_preset = match machine {
        Source::Preset(_) => root.text("system").and_then(|file| file.strip_suffix(".toml")),
        Source::File(_) => None,
    };
    match of_preset.and_then(|name| preset::named(preset::SYSTEMS, name)) {
        Some(preset) => Ok(Source::Preset(preset)),
        None => root.linked_or_preset("system", preset::SYSTEMS),
    }
}
