//! Durations of programs on an idle memory.

use std::cell::RefCell;
use std::mem::{Discriminant, discriminant};
use std::sync::Arc;

use dram_core::Device;
use dram_spec::{BankId, Cycle, Cycles, LINE_BYTES, Operation, PhysicalAddress, Refresh, RequestId, SourceId, System};
use rowclone::{CopyStep, Planner, Program};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::FrontEnd;
use crate::channel::{Channel, Horizon};
use crate::config::Config;
use crate::policy::copy::BASELINE;
use crate::request::Request;

/// Durations of programs on an idle memory without refresh. The first program of each shape is
/// executed on idle channels. 4 KB at DDR3-1066 8-8-8: FPM 48 cycles, PSM 290, 2 x PSM 562, over
/// the channel 558 within a bank, 546 between two, and 286 to fill.
#[derive(Clone, Debug)]
pub struct Durations {
    system: System,
    planner: Arc<Planner>,
    known: RefCell<FxHashMap<ProgramShape, Cycles>>,
}

/// Properties of a program that determine its duration: the index of the thread, the kind, the banks
/// and the units of each step.
type ProgramShape = SmallVec<[(u8, Discriminant<CopyStep>, (BankId, Option<BankId>), u16); 12]>;

impl Durations {
    /// Durations on the memory of a controller.
    pub fn new(config: &Config) -> Durations {
        let system = System { refresh: Refresh::Off, ..config.system.clone() };
        Durations { system, planner: Arc::clone(&config.planner), known: RefCell::default() }
    }

    /// Duration of a program, from its first command until its last bank is ready.
    pub fn of(&self, program: &Program) -> Cycles {
        *self.known.borrow_mut().entry(shape(program)).or_insert_with(|| self.execute(program))
    }

    /// Executes a program on idle channels.
    fn execute(&self, program: &Program) -> Cycles {
        let config = Config::new(self.system.clone(), Arc::clone(&self.planner), BASELINE);
        let ids = (0..config.system.geometry.channels()).map(dram_spec::Channel);
        let mut channels: Vec<_> = ids.map(|id| Channel::new(id, Device::new(&config.system, None), &config)).collect();
        let mut front = FrontEnd::new(&config, &channels);
        let line = PhysicalAddress(0);
        let operation = Operation::Copy { src: line, dst: line, bytes: LINE_BYTES };
        let (id, source) = (RequestId(0), SourceId(0));
        let slot = front.in_flight.insert(Request { id, source, arrival: None, operation, payload: None });
        front.start_alone(slot, program.clone(), &mut channels);
        while front.completions.next_due() == Cycle::NEVER {
            let first = (0..channels.len()).min_by_key(|&index| channels[index].wakes_at()).unwrap_or(0);
            let horizon = Horizon::until(channels[first].wakes_at() + Cycles(1));
            if let Some((at, outcome)) = channels[first].advance(&horizon, &mut front.recorder.accesses, &mut ()) {
                front.observe(&mut channels, first, at, outcome);
            }
        }
        let done = front.in_flight.get(slot);
        done.done().since(done.first_command().expect("each program has commands"))
    }
}

/// The shape of a program. Each thread numbers its banks and ranks by first use.
fn shape(program: &Program) -> ProgramShape {
    let mut steps = ProgramShape::new();
    for (index, thread) in (0..).zip(&program.threads) {
        let (mut ranks, mut banks) = (SmallVec::<[u8; 4]>::new(), SmallVec::<[BankId; 8]>::new());
        for step in &thread.steps {
            let mut number =
                |bank: BankId| BankId { rank: number(&mut ranks, bank.rank), bank: number(&mut banks, bank) };
            let (first, second) = step.banks();
            let used = (number(first), second.map(number));
            steps.push((index, discriminant(step), used, step.units()));
        }
    }
    steps
}

/// The number of an element, which is added to those known.
fn number<A: smallvec::Array<Item: PartialEq>>(known: &mut SmallVec<A>, element: A::Item) -> u8 {
    let index = known.iter().position(|other| *other == element).unwrap_or_else(|| {
        known.push(element);
        known.len() - 1
    });
    index as u8
}
