//! What the crate has from the files of `configs`.

use std::fs;
use std::path::Path;

use energy::Currents;
use rowclone_config::{MachineConfig, Overrides, currents, machine, system};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

#[test]
fn the_shipped_files_hold_the_sets_of_the_library() {
    let mut paths: Vec<_> = fs::read_dir(Path::new(REPOSITORY).join("configs/currents"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let files: Vec<Currents> =
        paths.iter().map(|path| currents::named_or_read(path.to_str().unwrap()).unwrap()).collect();
    let mut shipped: Vec<Currents> = energy::shipped().collect();
    // The library has them by standard.
    shipped.sort_by_key(|set| files.iter().position(|file| file.name() == set.name()));
    assert!(files == shipped, "the files and the constants differ");
    for set in &files {
        assert_eq!(currents::named_or_read(set.name()).as_ref(), Ok(set));
    }
}

#[test]
fn the_system_of_the_paper_is_that_of_its_file() {
    let (path, text) = system::PAPER;
    let copy = "crates/config/src/ddr3-1066-paper.toml";
    assert!(text == fs::read_to_string(Path::new(REPOSITORY).join(path)).unwrap(), "copy `{path}` to `{copy}`");
}

#[test]
fn the_machine_of_the_paper_is_that_of_its_file() {
    let (path, text) = machine::PAPER;
    let copy = "crates/config/src/paper.toml";
    let file = Path::new(REPOSITORY).join(path);
    assert!(text == fs::read_to_string(&file).unwrap(), "copy `{path}` to `{copy}`");
    let read = MachineConfig::read(&file, &Overrides::default()).unwrap();
    let paper = MachineConfig::paper(&Overrides::default()).unwrap();
    assert_eq!(read.settings, paper.settings);
    assert_eq!(read.system.memory.system(), paper.system.memory.system());
    assert_eq!(paper.settings.core, host::machine::CoreSettings::PAPER);
}

/// Each key of a machine changes its settings, and a value that does not fit is an error with its key.
#[test]
fn every_key_of_a_machine_is_used() {
    let machine = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        MachineConfig::paper(&Overrides::parse(&sets).unwrap())
    };
    let paper = machine(&[]).unwrap();
    for sets in [
        &["cores.core_clocks=5"][..],
        &["cores.memory_clocks=2"],
        &["cores.order=in-order"],
        &["cores.width=4"],
        &["cores.window=64"],
        &["cores.mshrs=16"],
        &["cores.store_buffer=16"],
        &["caches.sharing=shared"],
        &["caches.last_level_bytes=2MiB"],
        &["caches.last_level_ways=8"],
        &["caches.last_level_latency=20"],
        &["caches.l1_bytes=32KiB", "caches.l1_ways=8", "caches.l1_latency=4"],
        &["kernel.copy_loop=non-temporal"],
        &["kernel.copy_loop=no-fetch"],
        &["kernel.dirty_source=copy-in-cache"],
        &["kernel.coherence_cycles_per_line=2"],
        &["kernel.fault_cycles=0"],
        &["kernel.page_table_cycles=0"],
        &["kernel.page_table_entry_bytes=0"],
        &["kernel.page_descriptor_bytes=32B"],
        &["kernel.word_bytes=16"],
        &["kernel.baseline_allocator=random"],
    ] {
        assert_ne!(machine(sets).unwrap().settings, paper.settings, "{sets:?}");
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
    for (set, message) in [
        ("cores.window=5", "`cores.window` is 5, but must be from 6 to 65536"),
        ("caches.last_level_bytes=3MiB", "`caches.last_level_bytes` is 3145728, which is not 64 x 16 x a power of two"),
        ("caches.l1_ways=8", "`caches.l1_ways` is given, and `caches.l1_bytes` is not"),
        ("cores.cores=2", "`cores.cores`"),
    ] {
        let error = machine(&[set]).unwrap_err().to_string();
        assert!(error.contains(message), "{set}: {error}");
    }
}
