//! Values of keys as settings, worked out by hand.

use std::fs;
use std::path::{Path, PathBuf};

use dram_spec::{Clock, Cycle, PhysicalAddress};
use host::Timing;
use host::machine::ClassUnits;
use host::workload::{Gap, Mixed, Pairs, Settings};
use rowclone_config::{Failure, MachineConfig, Overrides, Scenario, SystemConfig, Workload};
use trace_io::program::InstructionClass;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn owned(sets: &[&str]) -> Vec<String> {
    sets.iter().map(|&set| set.to_owned()).collect()
}

fn overrides(sets: &[&str]) -> Overrides {
    Overrides::parse(&owned(sets)).expect("the keys are well formed")
}

fn machine(sets: &[&str]) -> Result<MachineConfig, Failure> {
    MachineConfig::paper(&overrides(sets))
}

fn shipped(name: &str, sets: &[&str]) -> Result<Scenario, Failure> {
    Scenario::read(&Path::new(REPOSITORY).join("traces").join(name), &owned(sets))
}

/// No two values are equal, so that no key can set another field.
#[test]
fn each_key_of_a_machine_sets_its_field() {
    let found = machine(&[
        "cores.core_clocks=5",
        "cores.memory_clocks=2",
        "cores.width=4",
        "cores.window=64",
        "cores.mshrs=16",
        "cores.store_buffer=17",
        "cores.load_store_queue=19",
        "cores.classes=[{class=\"float\", latency=20, units=21, interval=22}, {class=\"load\", units_of=\"float\"}]",
        "caches.last_level_latency=18",
        "kernel.coherence_cycles_per_line=3",
        "kernel.fault_cycles=101",
        "kernel.page_table_cycles=102",
        "kernel.page_table_entry_bytes=16",
        "kernel.page_descriptor_bytes=32",
        "kernel.word_bytes=4",
    ]);
    let settings = found.unwrap().settings;
    assert!((settings.clock.per_clock() - 2.5).abs() < 1e-12);
    let core = settings.core;
    assert_eq!((core.width, core.window, core.mshrs, core.store_buffer), (4, 64, 16, 17));
    assert_eq!(core.load_store_queue, Some(19));
    let float = core.classes.of(InstructionClass::Float);
    assert_eq!((float.latency, float.units, float.interval), (20, ClassUnits::Own(21), 22));
    let load = core.classes.of(InstructionClass::Load);
    assert_eq!((load.latency, load.units, load.is_paired), (0, ClassUnits::Of(InstructionClass::Float), true));
    assert_eq!((settings.last_level.bytes, settings.last_level.ways, settings.last_level.latency), (1 << 20, 16, 18));
    let kernel = settings.kernel;
    assert_eq!((kernel.coherence_cycles_per_line, kernel.fault_cycles, kernel.page_table_cycles), (3, 101, 102));
    assert_eq!((kernel.page_table_entry_bytes, kernel.page_descriptor_bytes, kernel.word_bytes), (16, 32, 4));
}

/// With 5 core clocks in 2 clocks of 1.875 ns, 100 ns are 133.3 core cycles. With 6 in 1, 320.
#[test]
fn a_time_of_the_kernel_is_rounded_up_to_core_cycles() {
    let cycles = |sets: &[&str]| machine(sets).unwrap().settings.kernel.fault_cycles;
    assert_eq!(cycles(&["kernel.fault_cycles=100ns"]), 320);
    assert_eq!(cycles(&["kernel.fault_cycles=101ns"]), 324);
    assert_eq!(cycles(&["kernel.fault_cycles=100ns", "cores.core_clocks=5", "cores.memory_clocks=2"]), 134);
}

/// In an in-order core, instructions of the classes that are not named dispatch alone.
#[test]
fn pairing_names_the_classes_that_share_a_cycle() {
    let found = machine(&["cores.order=in-order", "cores.pairing=[\"integer\", \"float-load\"]"]).unwrap();
    let is_paired = |class| found.settings.core.classes.of(class).is_paired;
    let expected = [true, false, false, false, false, true, false, false, false];
    assert_eq!(InstructionClass::ALL.map(is_paired), expected);
}

/// The window holds the instructions of two cycles at least.
#[test]
fn limits_and_help_of_a_machine_are_exact() {
    assert_eq!(machine(&["cores.width=4", "cores.window=8"]).unwrap().settings.core.window, 8);
    let refused = machine(&["cores.width=4", "cores.window=7"]).unwrap_err();
    assert!(refused.message.contains("must be from 8 to 65536"), "{}", refused.message);
    // 100 x 1,024 bytes are 100 sets of 16 ways, and a byte more needs another set.
    let of = |bytes: u64| machine(&[&format!("caches.last_level_bytes={bytes}")]);
    assert_eq!(of(102_400).unwrap().settings.last_level.bytes, 102_400);
    assert_eq!(of(102_401).unwrap_err().help.as_deref(), Some("try `last_level_bytes = 103424`"));
}

#[test]
fn each_share_of_a_workload_sets_its_field() {
    let sets = ["workload.write_share=0.25", "workload.copy_share=0.125", "workload.zero_share=0.0625"];
    let Workload::Made(found) = shipped("mixed.toml", &sets).unwrap().workload else { panic!("it is made") };
    let expected = Settings::new(Mixed {
        count: 20_000,
        start: PhysicalAddress(0),
        bytes: 0x1000_0000,
        write_share: 0.25,
        copy_share: 0.125,
        zero_share: 0.0625,
        page_bytes: 4096,
        pairs: Pairs::Random,
        gap: Gap::from(dram_spec::Cycles(20)),
    });
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
}

/// 37.5 ns are 20 clocks of 1.875 ns.
#[test]
fn a_gap_in_ns_is_that_of_its_clocks() {
    let made = |set: &str| format!("{:?}", shipped("random.toml", &[set]).unwrap().workload);
    assert_eq!(made("workload.gap_ns=37.5"), made("workload.gap_cycles=20"));
    let gap = Gap::of_ps(37_500, Clock::DDR3_1066);
    assert!(made("workload.gap_ns=37.5").contains(&format!("gap: {gap:?}")));
    assert_ne!(made("workload.gap_ns=37.5"), made("workload.gap_ns=37.6"));
}

/// A trace with instructions is played at 4 per clock, and a window holds 16 requests, unless the keys
/// say otherwise.
#[test]
fn a_trace_has_the_documented_timing() {
    let trace = Path::new(REPOSITORY).join("traces/samples/forkset-rc.gz");
    let timing =
        |sets: &[&str]| match Scenario::of_trace(&trace, None, Some("allocator"), &owned(sets)).unwrap().workload {
            Workload::Trace(trace) => trace.timing,
            other => panic!("{other:?}"),
        };
    let window = |entries: u32| Timing::Window(entries.try_into().unwrap());
    assert_eq!(timing(&[]), Timing::Instructions(4.0));
    assert_eq!(timing(&["workload.instructions_per_clock=12.5"]), Timing::Instructions(12.5));
    assert_eq!(timing(&["workload.timing=window"]), window(16));
    assert_eq!(timing(&["workload.timing=window", "workload.window=3"]), window(3));
    assert_eq!(timing(&["workload.timing=back-to-back"]), Timing::BackToBack);
}

/// A scenario with two operations that arrive at these cycles.
fn arrivals(name: &str, [first, second]: [u64; 2]) -> Result<Vec<Option<Cycle>>, Failure> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let operation = |at| format!("[[operation]]\nkind = \"zero\"\ndst = 0x400000\nbytes = 4096\nat_cycle = {at}\n");
    let system = Path::new(REPOSITORY).join("configs/ddr3-1066-paper.toml").display().to_string();
    let head = format!("system = {system:?}\npolicies = [\"rowclone\"]\nseed = 1\n");
    fs::write(&path, head + &operation(first) + &operation(second)).expect("the directory is there");
    match Scenario::read(&path, &[])?.workload {
        Workload::Operations(operations) => Ok(operations.iter().map(|listed| listed.spec().at).collect()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn operations_may_arrive_at_once_but_not_backwards() {
    assert_eq!(arrivals("equal.toml", [7, 7]).unwrap(), [Some(Cycle(7)), Some(Cycle(7))]);
    let refused = arrivals("backwards.toml", [7, 6]).unwrap_err();
    assert!(refused.message.contains("is 6, before operation 0 at cycle 7"), "{}", refused.message);
}

/// A rank has banks 0 to 7. The same bank and row of two ranks are two rows.
#[test]
fn faulty_rows_are_within_the_memory_and_each_once() {
    let system = |rows: &str| SystemConfig::paper(&overrides(&["geometry.ranks=2", &format!("faulty_rows={rows}")]));
    let row = |rank: u8, bank: u8| format!("{{channel=0,rank={rank},bank={bank},row=17}}");
    assert!(system(&format!("[{},{}]", row(0, 7), row(1, 7))).is_ok());
    let refused = system(&format!("[{},{}]", row(1, 7), row(1, 7))).unwrap_err();
    assert!(refused.message.contains("`faulty_rows.1` is the same row as `faulty_rows.0`"), "{}", refused.message);
    for (row, limit) in [
        (row(0, 8), "`faulty_rows.0.bank` is 8, but must be from 0 to 7"),
        (row(2, 0), "`faulty_rows.0.rank` is 2, but must be from 0 to 1"),
    ] {
        let refused = system(&format!("[{row}]")).unwrap_err();
        assert!(refused.message.contains(limit), "{}", refused.message);
    }
}

#[test]
fn self_refresh_comes_after_power_down() {
    let system = |deep: u64| {
        let deep = format!("controller.self_refresh_after_cycles={deep}");
        SystemConfig::paper(&overrides(&["controller.power_down_after_cycles=100", &deep]))
    };
    for deep in [99, 100] {
        let refused = system(deep).unwrap_err();
        let message = format!("is {deep}, but must be more than `power_down_after_cycles`, 100");
        assert!(refused.message.contains(&message), "{}", refused.message);
    }
    let refused = system(101).map(|_| ()).map_err(|refused| refused.message);
    assert!(refused.as_ref().err().is_none_or(|message| !message.contains("must be more than")), "{refused:?}");
}
