//! A program on a core, for `cargo xtask instructions`: loads and stores of random lines.
//!
//! ```text
//! cores resident|misses ACCESSES                 the core executes generated steps
//! cores resident|misses ACCESSES FILE            it reads the steps of a program trace
//! cores resident|misses ACCESSES FILE write      writes the program trace
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::address::MapPreset;
use dram_spec::{AddressMap, Density, LINE_BYTES, PhysicalAddress, System, Width};
use host::AllocatorSettings;
use host::machine::{
    CacheShape, ClockRatio, CoreSettings, KernelSettings, LineSettings, Machine, MachineSettings, Program, Region,
    Sharing, Steps,
};
use memctrl::policy::copy::BASELINE;
use memctrl::{Config, Controller};
use os_alloc_sim::{CopyUnit, Generator, Policy};
use rowclone::{FaultyRows, Planner};
use trace_io::program::{ProgramReader, Step};

const START: PhysicalAddress = PhysicalAddress(1 << 32);

/// Bytes of the near lines.
const NEAR_BYTES: u64 = 512 << 10;

/// Maps and fills `bytes`; then loads and stores of random lines, with three other instructions
/// before each. One in `far_every` accesses goes to the whole range, the others to its near
/// lines.
fn random_lines(bytes: u64, far_every: u64, accesses: u64) -> impl Iterator<Item = Step> {
    let begin = [Step::Map { address: START, bytes }, Step::Filled { address: START, bytes }];
    let mut generator = Generator::new(1);
    let uses = (0..2 * accesses).rev().map(move |left| {
        if !left.is_multiple_of(2) {
            return Step::Compute { instructions: 3 };
        }
        let left = left / 2;
        let range = if left.is_multiple_of(far_every) { bytes } else { NEAR_BYTES };
        let line = u64::from(generator.below((range / LINE_BYTES) as u32));
        let address = PhysicalAddress(START.0 + line * LINE_BYTES);
        if left.is_multiple_of(3) { Step::Store { address } } else { Step::Load { address } }
    });
    begin.into_iter().chain(uses)
}

fn settings() -> MachineSettings {
    MachineSettings {
        clock: ClockRatio::new(6, 1),
        core: CoreSettings::PAPER,
        l1: None,
        last_level: CacheShape::new(1 << 20, 16, 15),
        l2: None,
        sharing: Sharing::Private,
        bus: None,
        lines: LineSettings::default(),
        network: None,
        kernel: KernelSettings::default(),
        allocator: AllocatorSettings {
            policy: Policy::Buddy,
            seed: 1,
            utilization: 0.0,
            fragmentation: 0.0,
            copy_unit: CopyUnit::RowSet,
        },
    }
}

/// Writes steps as a program trace.
fn write(file: File, steps: impl Iterator<Item = Step>) -> std::io::Result<()> {
    let mut file = BufWriter::new(file);
    for step in steps {
        match step {
            Step::Map { address, bytes } => writeln!(file, "map {:#x} {bytes}", address.0),
            Step::Filled { address, bytes } => writeln!(file, "filled {:#x} {bytes}", address.0),
            Step::Compute { instructions } => writeln!(file, "compute {instructions}"),
            Step::Load { address } => writeln!(file, "load {:#x}", address.0),
            Step::Store { address } => writeln!(file, "store {:#x}", address.0),
            _ => unreachable!("the program has no such step"),
        }?;
    }
    file.flush()
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let misses = arguments.next().is_some_and(|argument| argument == "misses");
    let accesses = arguments.next().and_then(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    // Four instructions per access: one access in 12 to far lines gives 20 misses per 1000 instructions.
    let (bytes, far_every) = if misses { (64 << 20, 12) } else { (NEAR_BYTES, 1) };
    let steps = random_lines(bytes, far_every, accesses);
    let program: Box<dyn Program> = match (arguments.next(), arguments.next()) {
        (None, _) => Box::new(Steps(steps)),
        (Some(path), None) => {
            let file = File::open(path).expect("the program trace was written");
            Box::new(ProgramReader::new(file).expect("the program trace can be read"))
        }
        (Some(path), Some(_)) => {
            let file = File::create(path).expect("the file can be created");
            return write(file, steps).expect("the file can be written");
        }
    };
    let system = System::paper(2, Density::Gb2, Width::X8);
    let map = AddressMap::preset(system.geometry, MapPreset::RowInterleaved);
    let mut machine =
        Machine::new(settings(), Region::default(), vec![program], &map, None).expect("the settings are sound");
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let mut controller = Controller::new(&Config::new(system, planner, BASELINE));
    controller.run(&mut machine, &mut (), &AtomicBool::new(false)).expect("nothing stops it");
    let core = machine.into_outcome().expect("the program is sound").cores[0];
    assert_eq!(core.counters.instructions, 4 * accesses);
    // The fill of the far lines leaves none of the near lines in the cache.
    let first_uses = if misses { NEAR_BYTES / LINE_BYTES } else { 0 };
    let per_1000 = core.counters.lines[0].misses.saturating_sub(first_uses) * 1000 / core.counters.instructions;
    assert!(if misses { (18..=22).contains(&per_1000) } else { per_1000 <= 2 }, "{per_1000}: too few accesses?");
}
