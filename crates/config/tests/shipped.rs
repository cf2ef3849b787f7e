//! What the crate has from the files of `configs`.

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;

use host::machine::{DmaCompletion, DmaSettings, NetworkSettings, Sharing};
use rowclone_config::key::Key;
use rowclone_config::preset::{self, Preset};
use rowclone_config::{
    Document, MachineConfig, Overrides, ReceiverConfig, Scenario, Source, SystemConfig, currents, machine, receiver,
    system,
};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn every_current_set_of_configs_is_shipped() {
    let paths =
        fs::read_dir(Path::new(REPOSITORY).join("configs/currents")).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for path in paths {
        let set = currents::named_or_read(path.to_str().unwrap()).unwrap();
        assert_eq!(currents::named_or_read(set.name()).as_ref(), Ok(&set));
        count += 1;
    }
    assert_eq!(energy::shipped().count(), count);
}

/// Systems and machines, by name.
fn presets() -> [(&'static [Preset], &'static [Key]); 2] {
    [(preset::SYSTEMS, &system::KEYS), (preset::MACHINES, machine::KEYS)]
}

#[test]
fn every_file_of_configs_is_a_preset() {
    let files = fs::read_dir(Path::new(REPOSITORY).join("configs")).unwrap().map(|entry| entry.unwrap().path());
    let count = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).count();
    assert_eq!(count, presets().map(|(presets, _)| presets.len()).iter().sum::<usize>());
}

/// Neither a file of this name nor the directory `configs` is here.
#[test]
fn every_preset_is_found_by_its_name() {
    for preset in preset::SYSTEMS {
        let found = SystemConfig::read(Path::new(preset.name), &Overrides::default()).unwrap();
        let file = Path::new(REPOSITORY).join(preset.path());
        let read = SystemConfig::read(&file, &Overrides::default()).unwrap();
        assert_eq!(found.name, preset.name);
        assert_eq!(found.memory.system(), read.memory.system());
    }
    for preset in preset::MACHINES {
        let found = MachineConfig::read(Path::new(preset.name), &Overrides::default()).unwrap();
        let file = Path::new(REPOSITORY).join(preset.path());
        let read = MachineConfig::read(&file, &Overrides::default()).unwrap();
        assert_eq!((&found.name[..], found.settings), (preset.name, read.settings));
        assert_eq!(found.system.memory.system(), read.system.memory.system());
    }
}

/// Capacity, banks and rows of the modules that the presets are named after.
#[test]
fn presets_have_the_capacity_of_their_names() {
    let of = |name: &str| {
        let memory = SystemConfig::read(Path::new(name), &Overrides::default()).unwrap().memory;
        let (bin, geometry) = (memory.system().bin, memory.system().geometry);
        (bin.full_name(), bin.latencies(), geometry.bytes() >> 30, geometry.topology().banks(), geometry.row_bytes())
    };
    let (ddr4, ddr5) = (of("ddr4-3200-16gb-dimm"), of("ddr5-4800-32gb-dimm"));
    assert_eq!(ddr4, ("DDR4-3200AA".to_owned(), "22-22-22".to_owned(), 16, 32, 8192));
    assert_eq!(ddr5, ("DDR5-4800B".to_owned(), "40-39-39".to_owned(), 32, 64, 4096));
    assert_eq!(of("ddr2-400"), ("DDR2-400B".to_owned(), "3-3-3".to_owned(), 2, 8, 8192));
}

#[test]
fn the_machine_of_the_paper_has_its_cores() {
    let paper = MachineConfig::paper(&Overrides::default()).unwrap();
    assert_eq!(paper.settings.core, host::machine::CoreSettings::PAPER);
    assert_eq!((paper.name.as_str(), paper.system.name.as_str()), ("paper", "ddr3-1066-paper"));
}

/// A path is preferred to the preset of the same name; a scenario and a machine name either.
#[test]
fn files_name_systems_and_machines_by_path_or_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let scenario = |key: &str, name: &str| {
        let workload = "[[operation]]\nkind = \"zero\"\ndst = 0\nbytes = 4096\n";
        let text = format!("{key} = \"{name}\"\npolicies = [\"baseline\"]\nseed = 1\n{workload}");
        fs::write(at("scenario.toml"), text).unwrap();
        Scenario::read(&at("scenario.toml"), &[])
    };
    let standard = |scenario: Scenario| scenario.system.memory.system().standard().name();
    assert_eq!(standard(scenario("system", "ddr4-3200-16gb-dimm").unwrap()), "DDR4");
    fs::write(at("ddr4-3200-16gb-dimm"), preset::SYSTEMS[0].text).unwrap();
    assert_eq!(standard(scenario("system", "ddr4-3200-16gb-dimm").unwrap()), "DDR3");
    let error = scenario("system", "ddr4-3200").unwrap_err();
    assert!(error.message.ends_with("`system` is \"ddr4-3200\", which is neither a file nor a preset"), "{error}");
    let help = error.help.unwrap();
    assert!(preset::names(preset::SYSTEMS).iter().all(|name| help.contains(&format!("`{name}`"))), "{help}");
    let error = scenario("system", "configs/ddr2-400.toml").unwrap_err();
    assert!(error.message.ends_with("cannot be read: no such file"), "{error}");
    let error = scenario("machine", "desktop").unwrap_err();
    let help = error.help.unwrap();
    assert_eq!(
        help,
        "the presets are `paper`, `ddr4-desktop`, `zhao-2005-in-order`, `zhao-2005-out-of-order`, `ioat-2006`, \
            `power5-like`, `pentium-133`, \
         `pentium-100`, `p6-200`, `i486-100`; or give the path of a file"
    );
}

/// What a standard does not have is an error with what it has.
#[test]
fn values_of_another_standard_are_refused() {
    let refused = |name: &str, sets: &[&str], message: &str, help: &str| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let error = SystemConfig::read(Path::new(name), &Overrides::parse(&sets).unwrap()).unwrap_err();
        assert!(error.message.ends_with(message), "{sets:?}: {}", error.message);
        assert_eq!(error.help.as_deref(), Some(help), "{sets:?}");
    };
    refused(
        "ddr2-400",
        &["device.density_gb=16"],
        "DDR2 has no 16 Gb x8 chip",
        "DDR2 chips have 256 Mb, 512 Mb, 1 Gb, 2 Gb, 4 Gb, each x4, x8 and x16",
    );
    refused(
        "ddr2-400",
        &["device.density_gb=3"],
        "`device.density_gb` is 3, but must be 0.25, 0.5, 1, 2, 4, 8, 16 or 32",
        "try `density_gb = 2`",
    );
    refused(
        "ddr5-4800-32gb-dimm",
        &["geometry.ranks=4"],
        "`geometry.ranks` is 4, but a channel has at most 64 banks, and a rank of DDR5 up to 32",
        "try `ranks = 2`",
    );
    refused(
        "ddr4-3200-16gb-dimm",
        &["refresh.mode=2x", "refresh.postpone_max=17"],
        "`refresh.postpone_max` is 17, but the refresh mode `2x` of DDR4 allows at most 16",
        "try `postpone_max = 16`",
    );
    refused(
        "ddr3-1600-8gb-dimm",
        &["refresh.mode=same-bank"],
        "`refresh.mode` is \"same-bank\", which DDR3 does not have",
        "its modes are `1x`",
    );
    refused(
        "ddr4-3200-16gb-dimm",
        &["device.precharge_power_down=slow-exit"],
        "`device.precharge_power_down` is \"slow-exit\", but DDR4 has no slow exit",
        "write `precharge_power_down = \"fast-exit\"`",
    );
    refused(
        "ddr3-1600-8gb-dimm",
        &["device.reference_cycle=first"],
        "`device.reference_cycle` is given, but DDR3 has no commands of two cycles",
        "leave it out",
    );
}

/// DDR2 has chips below 1 Gb. Without `t_refi_ps`, tREFI is that of the standard.
#[test]
fn small_chips_and_the_refresh_interval_are_those_of_the_standard() {
    let system = |name: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        let config = SystemConfig::read(Path::new(name), &Overrides::parse(&sets).unwrap()).unwrap();
        config.memory.system().clone()
    };
    for (value, mebibytes) in [("256Mb", 256), ("0.25", 256), ("0.5Gb", 512), ("512Mbit", 512), ("1", 1024)] {
        let set = format!("device.density_gb={value}");
        assert_eq!(system("ddr2-400", &[&set]).geometry.bytes() >> 20, mebibytes, "{value}");
    }
    let without = |name: &str| {
        let preset = preset::named(preset::SYSTEMS, name).unwrap();
        let lines = preset.text.lines().filter(|line| !line.starts_with("t_refi_ps"));
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), lines.collect::<Vec<_>>().join("\n")).unwrap();
        SystemConfig::read(file.path(), &Overrides::default()).unwrap().memory.system().t_refi_ps()
    };
    assert_eq!([without("ddr3-1066-paper"), without("ddr5-4800-32gb-dimm")], [7_800_000, 3_900_000]);
}

/// Values of the keys of `dma` other than their defaults.
const DMA: [&str; 14] = [
    "channels=1",
    "ring=64",
    "buffer_lines=32",
    "setup_cycles=300",
    "descriptor_cycles=30",
    "doorbell_cycles=300",
    "doorbell_descriptors=4",
    "completion=interrupt",
    "poll_cycles=200",
    "interrupt_cycles=3000",
    "pinned_pages=512",
    "pin_cycles=400",
    "unpin_cycles=200",
    "timeout_cycles=1000000",
];

/// Values of the keys of `network` other than their defaults.
const NETWORK: [&str; 15] = [
    "cycles_per_1000_bytes=20000",
    "frame_bytes=20",
    "header_bytes=54",
    "payload_bytes=512",
    "packets=100",
    "connections=20",
    "burst=1",
    "queues=2",
    "spread=connections",
    "ring=64",
    "send_ring=64",
    "coalesced_packets=16",
    "coalesced_cycles=1000",
    "interrupt_cycles=3000",
    "clients=8",
];

/// A gigabit link in core cycles, the machine of 2006, and pages that a DMA engine pins at a time.
#[test]
fn devices_have_the_units_of_their_machine() {
    let machine = |name: &str, sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        MachineConfig::read(Path::new(name), &Overrides::parse(&sets).unwrap())
    };
    // A core cycle of the paper's machine takes 312.5 ps: 8 us are 25,600, of which 15,625 bytes take 15.625 times as
    // many.
    let paper = machine("paper", &["network.ports=2", "network.queues=2"]).unwrap().settings.network.unwrap();
    assert_eq!(paper, NetworkSettings::gigabit(2, 2, 25_600));
    assert_eq!(paper.coalesced_cycles, 400_000);
    let server = machine("ioat-2006", &[]).unwrap();
    assert_eq!(server.settings.network, Some(NetworkSettings::gigabit(6, 4, 27_680)));
    let dma = DmaSettings { doorbell_descriptors: 4, ..DmaSettings::new(DmaCompletion::Polling, false) };
    assert_eq!(server.devices.dma, dma);
    assert_eq!(server.settings.sharing, Sharing::Group(NonZeroUsize::new(2).unwrap()));
    assert_eq!(server.system.memory.system().geometry.bytes() >> 30, 4);
    // Two rows of 4 KiB in two channels are a unit, of which source and destination need four pages.
    let row_set = ["kernel.copy_unit=row-set", "system.address_map.preset=line-interleaved", "dma.pinned_pages=3"];
    let error = machine("paper", &row_set).unwrap_err().to_string();
    assert!(error.contains("`dma.pinned_pages` is 3, but must be from 4"), "{error}");
}

/// Settings that change a machine.
const CHANGING: &[&[&str]] = &[
    &["cores.core_clocks=5"],
    &["cores.memory_clocks=2"],
    &["cores.order=in-order"],
    &["cores.width=4"],
    &["cores.window=64"],
    &["cores.mshrs=16"],
    &["cores.store_buffer=16"],
    &["cores.load_store_queue=64"],
    &["cores.order=in-order", "cores.pairing=[\"integer\"]"],
    &["cores.classes=[{class=\"multiply\", latency=3, units=1}]"],
    &["caches.sharing=shared"],
    &["caches.last_level_bytes=2MiB"],
    &["caches.last_level_ways=8"],
    &["caches.last_level_latency=20"],
    &["caches.l1_bytes=32KiB", "caches.l1_ways=8", "caches.l1_latency=4"],
    &["caches.line_bytes=128"],
    &["caches.sharing=shared", "caches.sharing_cores=2"],
    &["caches.last_level_store_miss=no-allocate"],
    &["caches.last_level_prefetcher=stride"],
    &["caches.l2_bytes=256KiB", "caches.l2_ways=8", "caches.l2_latency=9"],
    &["caches.write=write-through"],
    &["kernel.copy_loop=non-temporal"],
    &["kernel.copy_loop=no-fetch"],
    &["kernel.copy_loop=integer"],
    &["kernel.string_start_cycles=30"],
    &["kernel.fast_string_start_cycles=35"],
    &["kernel.fast_string_min_bytes=256"],
    &["kernel.fast_string_bytes=32"],
    &["kernel.fast_string_stores=fetch"],
    &["kernel.unroll_bytes=256"],
    &["kernel.touch_bytes=128"],
    &["kernel.block_bytes=4KiB"],
    &["kernel.block_step_bytes=128"],
    &["kernel.simd_bytes=32"],
    &["kernel.loop_min_bytes=256"],
    &["kernel.dirty_source=copy-in-cache"],
    &["kernel.coherence_cycles_per_line=2"],
    &["kernel.fault_cycles=0"],
    &["kernel.page_table_cycles=0"],
    &["kernel.page_table_entry_bytes=0"],
    &["kernel.page_descriptor_bytes=32B"],
    &["kernel.word_bytes=16"],
    &["kernel.baseline_allocator=random"],
    &["kernel.copier_min_bytes=1KiB"],
    &["interconnect={clock=15,bytes_per_clock=32}"],
];

/// Settings that are refused, and a part of the message.
const REFUSED: &[(&str, &str)] = &[
    ("cores.window=5", "`cores.window` is 5, but must be from 6 to 65536"),
    ("caches.last_level_bytes=1500", "`caches.last_level_bytes` is 1500, which is not 64 x 16 x a number of sets"),
    ("caches.l1_ways=8", "`caches.l1_ways` is given, and `caches.l1_bytes` is not"),
    ("caches.l2_prefetcher=stride", "`caches.l2_prefetcher` is given, and `caches.l2_bytes` is not"),
    ("caches.line_bytes=48", "`caches.line_bytes`"),
    ("caches.sharing_cores=2", "`caches.sharing_cores` is given, and `caches.sharing` is `private`"),
    ("caches.write_buffer=2", "`caches.write_buffer` is given, and no store uses it"),
    ("caches.prefetch_mshrs=2", "`caches.prefetch_mshrs` is given, and no cache has a prefetcher"),
    ("cores.cores=2", "`cores.cores`"),
    ("interconnect={clock=15}", "`interconnect.bytes_per_clock` is missing"),
    ("interconnect={clock=0,bytes_per_clock=8}", "`interconnect.clock` is 0, but must be from 1 to 1000"),
    (
        "interconnect={clock=15,bytes_per_clock=24}",
        "`interconnect.bytes_per_clock` is 24, but must be 4, 8, 16, 32, 64",
    ),
    ("copy_engine.queue=0", "`copy_engine.queue` is 0, but must be from 1 to 1024"),
    ("copy_engine.buffer_lines=1", "`copy_engine.buffer_lines` is 1, but must be from 2 to 1024"),
    ("copy_engine.pending_copies=0", "`copy_engine.pending_copies` is 0"),
    ("copy_engine.tlb_entries=0", "`copy_engine.tlb_entries` is 0"),
    ("copy_engine.share=101", "`copy_engine.share` is 101, but must be from 0 to 100"),
    ("dma.channels=0", "`dma.channels` is 0, but must be from 1 to 64"),
    ("dma.ring=0", "`dma.ring` is 0, but must be from 1 to 4096"),
    ("dma.buffer_lines=1", "`dma.buffer_lines` is 1, but must be from 2 to 1024"),
    ("dma.doorbell_descriptors=0", "`dma.doorbell_descriptors` is 0, but must be from 1"),
    ("dma.completion=poll", "`dma.completion` is \"poll\""),
    ("dma.poll_cycles=0", "`dma.poll_cycles` is 0, but must be from 1"),
    ("dma.pinned_pages=1", "`dma.pinned_pages` is 1, but must be from 2"),
    ("dma.timeout_cycles=0", "`dma.timeout_cycles` is 0, but must be from 1"),
    ("network={inject_core=0}", "`network.inject_core` is given, and `network.inject` is `never`"),
    ("network={inject='always',inject_share=5}", "`network.inject_share` is given, and `network.inject` is `always`"),
    ("network={inject='always',inject_level='l2'}", "`network.inject_level` names an L2, and `caches` has none"),
    ("network={inject='always',inject_core=1}", "`network.inject_core` is 1, whose last-level cache is not that of"),
    ("network={inject='sometimes'}", "`network.inject` is \"sometimes\""),
    ("network={inject='bounded-ways',inject_share=0}", "`network.inject_share` is 0, but must be from 1 to 100"),
    ("network={inject='by-size',inject_max_bytes=10_000}", "`network.inject_max_bytes` is 10000, but must be from 0"),
    (
        "network={inject='when-expected',inject_near_packets=0}",
        "`network.inject_near_packets` is 0, but must be from 1",
    ),
    ("network={without_buffer='lose'}", "`network.without_buffer` is \"lose\""),
    ("network.ports=0", "`network.ports` is 0, but must be from 1 to 64"),
    ("network.cycles_per_1000_bytes=0", "`network.cycles_per_1000_bytes` is 0, but must be from 1"),
    ("network.header_bytes=5000", "`network.header_bytes` is 5000, but must be from 0 to 4096"),
    ("network.payload_bytes=8KiB", "`network.payload_bytes` is 8192, but must be from 1 to 4096"),
    ("network.queues=17", "`network.queues` is 17, but must be from 1 to 16"),
    ("network.client_cycles=9", "`network.client_cycles` is given, and the adapter has no `clients`"),
    ("network.answer_packets=2", "`network.answer_packets` is given, and the adapter has no `clients`"),
    ("network={clients=1,answer_packets=0}", "`network.answer_packets` is 0, but must be from 1"),
    ("network.spread=hash", "`network.spread` is \"hash\""),
    ("network.coalesced_packets=0", "`network.coalesced_packets` is 0, but must be from 1"),
    ("kernel.copier_min_bytes=2GiB", "`kernel.copier_min_bytes` is 2147483648, but must be from 0"),
    ("cores.load_store_queue=129", "`cores.load_store_queue` is 129, but must be from 1 to 128"),
    ("cores.pairing=[\"load\"]", "`cores.pairing` is given, but the cores are out-of-order"),
    ("cores.classes=[{class=\"float\", latency=0}]", "`cores.classes.0.latency` is 0, but must be from 1 to 1000"),
    (
        "cores.classes=[{class=\"float\", interval=2}]",
        "`cores.classes.0.interval` is given, but the class has no units",
    ),
    (
        "cores.classes=[{class=\"load\"}, {class=\"load\"}]",
        "`cores.classes.1` and `cores.classes.0` both have the class `load`",
    ),
    (
        "cores.classes=[{class=\"store\", units_of=\"store\"}]",
        "`cores.classes.0.units_of` is \"store\", a class without `units`",
    ),
    (
        "cores.classes=[{class=\"load\", units=1, units_of=\"store\"}]",
        "`cores.classes.0` has both `units` and `units_of`",
    ),
];

/// Each key of a machine changes its settings, and a value that does not fit is an error with its key.
#[test]
fn every_key_of_a_machine_is_used() {
    let machine = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        MachineConfig::paper(&Overrides::parse(&sets).unwrap())
    };
    let paper = machine(&[]).unwrap();
    for sets in CHANGING {
        assert_ne!(machine(sets).unwrap().settings, paper.settings, "{sets:?}");
    }
    for set in ["queue=4", "buffer_lines=2", "pending_copies=1", "tlb_entries=1", "tlb_miss_cycles=0", "share=0"] {
        let changed = machine(&[&format!("copy_engine.{set}")]).unwrap();
        assert_eq!(changed.settings, paper.settings, "{set}");
        assert_ne!(changed.devices, paper.devices, "{set}");
    }
    for set in DMA {
        let changed = machine(&[&format!("dma.{set}")]).unwrap();
        assert_eq!(changed.settings, paper.settings, "{set}");
        assert_ne!(changed.devices, paper.devices, "{set}");
    }
    let with_network = machine(&["network.ports=2"]).unwrap().settings;
    for set in NETWORK {
        assert_ne!(machine(&["network.ports=2", &format!("network.{set}")]).unwrap().settings, with_network, "{set}");
    }
    let clients = "network={clients=8}";
    let with_clients = machine(&[clients]).unwrap().settings;
    for set in ["client_cycles=1000", "answer_packets=6"] {
        assert_ne!(machine(&[clients, &format!("network.{set}")]).unwrap().settings, with_clients, "{set}");
    }
    let bus = "interconnect={clock=15,bytes_per_clock=32}";
    let with_bus = machine(&[bus]).unwrap().settings;
    for set in ["address_clocks=2", "request_latency=1", "response_latency=1", "snoop_latency=1"] {
        assert_ne!(machine(&[bus, &format!("interconnect.{set}")]).unwrap().settings, with_bus, "{set}");
    }
    // Each has another effect than those that it needs.
    let l1 = ["caches.l1_bytes=32KiB", "caches.l1_ways=8", "caches.l1_latency=4"];
    let l2 = ["caches.l2_bytes=32KiB", "caches.l2_ways=8", "caches.l2_latency=4"];
    let stride = ["caches.last_level_prefetcher=next-line"];
    for (needed, set) in [
        (&l1[..], "caches.l1_store_miss=no-allocate"),
        (&l1, "caches.l1_prefetcher=stride"),
        (&l2, "caches.l2_store_miss=no-allocate"),
        (&l2, "caches.l2_prefetcher=stride"),
        (&["caches.write=write-through"], "caches.write_buffer=4"),
        (&["caches.write=write-through"], "caches.write_merging=none"),
        (&["caches.sharing=shared"], "caches.sharing_cores=2"),
        (&stride, "caches.prefetch_degree=2"),
        (&stride, "caches.prefetch_distance=2"),
        (&stride, "caches.prefetch_mshrs=2"),
    ] {
        let with = machine(&[needed, &[set]].concat()).unwrap();
        assert_ne!(with.settings, machine(needed).unwrap().settings, "{set}");
    }
    // 5 ns are 2.67 clocks of 1.875 ns, or 16 core cycles.
    for (with_unit, plain) in [
        ("kernel.fault_cycles=5ns", "kernel.fault_cycles=16"),
        ("kernel.page_table_cycles=5.1ns", "kernel.page_table_cycles=17"),
        ("kernel.word_bytes=16B", "kernel.word_bytes=16"),
    ] {
        assert_eq!(machine(&[with_unit]).unwrap().settings, machine(&[plain]).unwrap().settings, "{with_unit}");
    }
    let ranks = machine(&["system.geometry.ranks=2"]).unwrap();
    assert_eq!(ranks.system.memory.system().geometry.ranks(), 2);
    for (set, message) in REFUSED {
        let error = machine(&[set]).unwrap_err().to_string();
        assert!(error.contains(message), "{set}: {error}");
    }
    for (copy_loop, set, message) in [
        ("integer", "caches.line_bytes=16", "`kernel.word_bytes` is 32, more than a line of 16 bytes"),
        (
            "simd-block",
            "kernel.simd_bytes=32",
            "`kernel.unroll_bytes` is 16, but an iteration of `simd-block` has at least 32",
        ),
        ("float-block", "kernel.block_bytes=1000", "`kernel.block_bytes` is 1000, but must be a multiple of 16"),
        ("rep-movsb", "kernel.fast_string_bytes=64", "`kernel.fast_string_bytes` is 64, more than a line of 32 bytes"),
    ] {
        let copy_loop = format!("kernel.copy_loop={copy_loop}");
        let sets = [&copy_loop, "kernel.unroll_bytes=16", "kernel.word_bytes=32", "caches.line_bytes=32", set];
        let error = machine(&sets).unwrap_err().to_string();
        assert!(error.contains(message), "{set}: {error}");
    }
    let error = machine(&["copy_engine.share=10", "system.controller.scheduler=fcfs"]).unwrap_err();
    assert!(error.to_string().contains("`copy_engine.share` is given, but `controller.scheduler`"), "{error}");
    assert!(error.help.unwrap().contains("leave `controller.scheduler` out"));
}

#[test]
fn each_standard_has_a_preset() {
    for standard in dram_spec::Standard::ALL {
        let of_standard = |preset: &Preset| {
            let config = SystemConfig::of(
                &Source::Preset(preset::named(preset::SYSTEMS, preset.name).unwrap()),
                &Overrides::default(),
            );
            config.unwrap().memory.system().standard() == standard
        };
        assert!(preset::SYSTEMS.iter().any(of_standard), "{}", standard.name());
    }
}

/// The receiver of the server of 2006; errors name file, line and key.
#[test]
fn the_shipped_receiver_is_read() {
    let path = Path::new(REPOSITORY).join("configs/programs/ioat-2006.toml");
    let found = ReceiverConfig::read(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let parsed = |text: &str| ReceiverConfig::of(Document::parse(&path, text, receiver::KEYS)?);
    assert_eq!(parsed(&text), Ok(found));
    let shipped = ReceiverConfig::shipped();
    assert_eq!(shipped, Ok(found));
    let refused = |from: &str, to: &str| parsed(&text.replace(from, to)).unwrap_err().message;
    let message = refused("message_buffers = 1", "message_buffers = 0");
    assert!(message.contains("ioat-2006.toml:") && message.contains("`message_buffers` is 0"), "{message}");
    let message = refused("read_stride", "stride");
    assert!(message.contains("stride"), "{message}");
}
