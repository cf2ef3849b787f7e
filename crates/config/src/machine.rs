//! Machine files: a memory system with cores, caches and a kernel.

use std::path::{Path, PathBuf};

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, Min};
use host::AllocatorSettings;
use host::machine::{
    CacheShape, ClockRatio, CopyLoop, CoreSettings, DirtySource, KernelSettings, MachineSettings, Order, Sharing,
};
use os_alloc_sim::{FrameMap, Policy};

use crate::allocator::{COPY_UNIT, copy_units};
use crate::key::{Holds, Key};
use crate::preset::{self, Preset};
use crate::section::Section;
use crate::{Document, Failure, Overrides, Source, SystemConfig, names};

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
}

/// The preset of the `RowClone` paper's machine.
const PAPER: &Preset = &preset::MACHINES[0];

const CYCLES_MAX: u64 = 1 << 30;

/// Keys of a machine file.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key::new("system", Holds::Path, "\"ddr3-1066-paper.toml\"", "the system: memory and controller (`input.md`)").values("a path, or the name of a preset"),
    Key::new("cores", Holds::Table, "", "each core"),
    Key::new("cores.core_clocks", Holds::Count(1, 1000), "6", "core cycles per `memory_clocks`"),
    Key::new("cores.memory_clocks", Holds::Count(1, 1000), "1", "clocks of the memory per `core_clocks`"),
    Key::new("cores.order", Holds::Name(|| names(&Order::NAMES)), "\"out-of-order\"", "whether instructions dispatch past a load whose data are not there"),
    Key::new("cores.width", Holds::Count(1, 64), "3", "instructions dispatched, and retired, per cycle"),
    Key::new("cores.window", Holds::Count(2, 1 << 16), "128", "instructions between dispatch and retirement; at least twice `width`"),
    Key::new("cores.mshrs", Holds::Count(1, 1024), "8", "lines requested from memory at a time"),
    Key::new("cores.store_buffer", Holds::Count(1, 1024), "32", "stores whose lines are not in the cache"),
    Key::new("caches", Holds::Table, "", "the caches of each core"),
    Key::new("caches.sharing", Holds::Name(|| names(&Sharing::NAMES)), "\"private\"", "who shares the last-level cache"),
    Key::new("caches.last_level_bytes", Holds::Bytes(1024, 1 << 32), "\"1MiB\"", "data of a last-level cache: 64 bytes times `last_level_ways` times a power of two"),
    Key::new("caches.last_level_ways", Holds::Count(1, 64), "16", "lines per set"),
    Key::new("caches.last_level_latency", Holds::Clocks(1, 1000), "15", "core cycles from a load to its data"),
    Key::new("caches.l1_bytes", Holds::Bytes(1024, 1 << 24), "\"32KiB\"", "data of an L1; with `l1_ways` and `l1_latency`").or("no L1"),
    Key::new("caches.l1_ways", Holds::Count(1, 64), "8", "lines per set of the L1").or("no L1"),
    Key::new("caches.l1_latency", Holds::Clocks(1, 1000), "4", "core cycles from a load to its data in the L1").or("no L1"),
    Key::new("kernel", Holds::Table, "", "the kernel: copies, zeroings, and its time"),
    Key::new("kernel.copy_loop", Holds::Name(|| names(&CopyLoop::NAMES)), "\"cached\"", "how the baseline copies and zeroes: with stores that fetch and allocate lines, that allocate whole lines without fetching them, or that bypass the cache"),
    Key::new("kernel.dirty_source", Holds::Name(|| names(&DirtySource::NAMES)), "\"write-back\"", "dirty source lines before a copy in DRAM"),
    Key::new("kernel.coherence_cycles_per_line", Holds::Clocks(0, 1000), "1", "core cycles to look up, write back, invalidate or insert a line"),
    Key::new("kernel.fault_cycles", Holds::Clocks(0, CYCLES_MAX), "1_300", "core cycles of a page fault, apart from its copy or zeroing"),
    Key::new("kernel.page_table_cycles", Holds::Clocks(0, CYCLES_MAX), "80", "core cycles of a fork or an exit per page of the process"),
    Key::new("kernel.page_table_entry_bytes", Holds::OneOfBytes(&[0, 4, 8, 16, 32, 64]), "8", "bytes of a page table entry, which a fork, an exit and a page fault read and write; 0 for no such accesses").or("8"),
    Key::new("kernel.page_descriptor_bytes", Holds::OneOfBytes(&[0, 4, 8, 16, 32, 64]), "64", "bytes of the kernel's descriptor of a page, which these events read and write; 0 for no such accesses").or("64"),
    Key::new("kernel.word_bytes", Holds::OneOfBytes(&[4, 8, 16, 32, 64]), "8", "bytes that an instruction of a copy loop loads or stores"),
    Key::new("kernel.baseline_allocator", Holds::Name(|| Policy::ALL.map(Policy::name).into()), "\"buddy\"", "allocator of page frames where RowClone is not used (`allocator.md`)"),
    Key::new("kernel.copy_unit", Holds::Name(|| names(&copy_units())), "\"row-set\"", COPY_UNIT).or("`page`"),
];

impl MachineConfig {
    /// Bytes of a copy unit of the kernel.
    pub fn unit_bytes(&self) -> u64 {
        let map = FrameMap::new(self.system.memory.map().clone());
        u64::from(self.settings.allocator.copy_unit.frames(&map)) * FRAME_BYTES
    }

    /// Reads and checks a machine file, or if there is no such file, the preset of this name. Overrides of `system.` change
    /// the system file.
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
        let mut document = source.document(KEYS)?;
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
        let defaults = KernelSettings::default();
        let (width, window) = (cores.of("width"), cores.of("window"));
        cores.within("window", window, 2 * width, 1 << 16)?;
        let settings = MachineSettings {
            clock: ClockRatio::new(per, memory),
            core: CoreSettings {
                order: cores.choice("order", &Order::NAMES).expect("it is required"),
                width,
                window,
                mshrs: cores.of::<u64>("mshrs") as usize,
                store_buffer: cores.of::<u64>("store_buffer") as usize,
            },
            l1: l1(&caches)?,
            last_level: shape(&caches, ["last_level_bytes", "last_level_ways", "last_level_latency"])?,
            sharing: caches.choice("sharing", &Sharing::NAMES).expect("it is required"),
            bus: None,
            network: None,
            kernel: KernelSettings {
                copy_loop: kernel.choice("copy_loop", &CopyLoop::NAMES).expect("it is required"),
                dirty_source: kernel.choice("dirty_source", &DirtySource::NAMES).expect("it is required"),
                coherence_cycles_per_line: kernel.of("coherence_cycles_per_line"),
                fault_cycles: kernel.of("fault_cycles"),
                page_table_cycles: kernel.of("page_table_cycles"),
                page_table_entry_bytes: kernel.get("page_table_entry_bytes").unwrap_or(defaults.page_table_entry_bytes),
                page_descriptor_bytes: kernel.get("page_descriptor_bytes").unwrap_or(defaults.page_descriptor_bytes),
                word_bytes: kernel.of("word_bytes"),
                ..defaults
            },
            allocator: AllocatorSettings {
                policy: Policy::from_name(kernel.of("baseline_allocator")).expect("it was checked"),
                seed: 1,
                utilization: 0.0,
                fragmentation: 0.0,
                copy_unit: kernel.choice("copy_unit", &copy_units()).unwrap_or_default(),
            },
        };
        Ok(MachineConfig { name: document.name(), path: document.path().to_owned(), system, settings })
    }
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

/// The L1, which has three keys or none.
fn l1(caches: &Section<'_>) -> Result<Option<CacheShape>, Failure> {
    let keys = ["l1_bytes", "l1_ways", "l1_latency"];
    match keys.map(|key| caches.has(key)) {
        [false, false, false] => Ok(None),
        [true, true, true] => shape(caches, keys).map(Some),
        given => {
            let of =
                |wanted: bool| keys.iter().zip(given).find(|(_, is_given)| *is_given == wanted).map(|(key, _)| *key);
            let (there, missing) = (of(true).unwrap_or_default(), of(false).unwrap_or_default());
            let message = format!("`caches.{there}` is given, and `caches.{missing}` is not");
            Err(caches.fault(there, message).with_help("an L1 has `l1_bytes`, `l1_ways` and `l1_latency`"))
        }
    }
}

/// A cache whose sets are a power of two.
fn shape(caches: &Section<'_>, [bytes, ways, latency]: [&str; 3]) -> Result<CacheShape, Failure> {
    let shape =
        CacheShape { bytes: caches.of(bytes), ways: caches.of::<u64>(ways) as usize, latency: caches.of(latency) };
    let set = LINE_BYTES * shape.ways as u64;
    if !shape.bytes.is_multiple_of(set) || !(shape.bytes / set).is_power_of_two() {
        let message =
            format!("`caches.{bytes}` is {}, which is not {LINE_BYTES} x {} x a power of two", shape.bytes, shape.ways);
        let fitting = set * (shape.bytes / set).max(1).next_power_of_two();
        return Err(caches.fault(bytes, message).with_help(format!("try `{bytes} = {fitting}`")));
    }
    Ok(shape)
}
