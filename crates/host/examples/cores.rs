//! A program on a core, for `cargo xtask instructions`: loads and stores of random lines.
//!
//! ```text
//! cores resident|misses ACCESSES
//! ```

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_spec::address::Preset;
use dram_spec::{AddressMap, Density, LINE_BYTES, PhysicalAddress, System, Width};
use host::AllocatorSettings;
use host::machine::{
    CacheShape, ClockRatio, CoreSettings, KernelSettings, Machine, MachineSettings, Program, Region, Sharing,
};
use memctrl::policy::copy::BASELINE;
use memctrl::{Config, Controller};
use os_alloc_sim::{Generator, Policy, Units};
use rowclone::{FaultyRows, Planner};
use trace_io::program::{ProgramError, Step};

const START: PhysicalAddress = PhysicalAddress(1 << 32);

/// Loads and stores of random lines, with three other instructions before each.
#[derive(Debug)]
struct RandomLines {
    begin: Vec<Step>,
    /// One in this number of accesses goes to the whole range, the others to its first 512 KiB.
    far_every: u64,
    bytes: u64,
    left: u64,
    access: Option<Step>,
    generator: Generator,
}

impl Program for RandomLines {
    fn next_step(&mut self) -> Result<Option<Step>, ProgramError> {
        if let Some(step) = self.begin.pop().or_else(|| self.access.take()) {
            return Ok(Some(step));
        }
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let range = if self.left.is_multiple_of(self.far_every) { self.bytes } else { 512 << 10 };
        let line = u64::from(self.generator.below((range / LINE_BYTES) as u32));
        let address = PhysicalAddress(START.0 + line * LINE_BYTES);
        let is_store = self.left.is_multiple_of(3);
        self.access = Some(if is_store { Step::Store { address } } else { Step::Load { address } });
        Ok(Some(Step::Compute { instructions: 3 }))
    }
}

fn settings() -> MachineSettings {
    MachineSettings {
        clock: ClockRatio::new(6, 1),
        core: CoreSettings::PAPER,
        l1: None,
        last_level: CacheShape { bytes: 1 << 20, ways: 16, latency: 15 },
        sharing: Sharing::Private,
        kernel: KernelSettings::default(),
        allocator: AllocatorSettings {
            policy: Policy::Buddy,
            seed: 1,
            utilisation: 0.0,
            fragmentation: 0.0,
            units: Units::Together,
        },
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let misses = arguments.next().is_some_and(|argument| argument == "misses");
    let accesses = arguments.next().and_then(|argument| argument.parse().ok()).unwrap_or(1_000_000);
    // Four instructions per access: one access in 12 to far lines gives 20 misses per 1000 instructions.
    let (bytes, far_every) = if misses { (64 << 20, 12) } else { (512 << 10, 1) };
    let begin = vec![Step::Filled { address: START, bytes }, Step::Map { address: START, bytes }];
    let generator = Generator::new(1);
    let program = RandomLines { begin, far_every, bytes, left: accesses, access: None, generator };
    let system = System::paper(2, Density::Gb2, Width::X8);
    let map = AddressMap::preset(system.geometry, Preset::RowInterleaved);
    let mut machine = Machine::new(settings(), Region::default(), vec![Box::new(program)], &map, None)
        .expect("the settings are sound");
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let mut controller = Controller::new(&Config::new(system, planner, BASELINE));
    controller.run(&mut machine, &mut (), &AtomicBool::new(false)).expect("nothing stops it");
    let core = machine.into_outcome().expect("the program is sound").cores[0];
    assert_eq!(core.counters.instructions, 4 * accesses);
    let per_1000 = core.counters.lines[0].misses * 1000 / core.counters.instructions;
    assert!(if misses { (18..=22).contains(&per_1000) } else { per_1000 <= 2 }, "{per_1000}");
}
