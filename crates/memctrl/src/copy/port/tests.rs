//! The port compared with rules 20 to 22 of `docs/controller.md` and the steps of
//! `docs/planner.md`, on sets and lists.

mod model;

use dram_spec::{
    BankId, BankSet, Channel, Column, Command, Cycle, Cycles, Location, Mechanism, PhysicalAddress, RequestId, Row,
    SourceId, Topology,
};
use proptest::prelude::*;
use proptest::sample::Index;
use rowclone::{CopyStep, CopyThread, FPM, Line, PSM, PSM2, Run, RunWrite};

use super::{ColumnContender, CopyPort, RowStepDone};
use crate::access::Stamp;
use crate::copy::CopyProgram;
use crate::copy::DataGate;
use crate::copy::thread::{PortThread, ThreadPhase};
use model::{Model, World, update};

/// Two ranks of two banks.
const TOPOLOGY: Topology = Topology { channels: 1, ranks: 2, banks_per_rank: 2, banks_per_group: 2 };
const HOLD: Cycles = Cycles(40);
const WRITE_LATENCY: Cycles = Cycles(6);
const READ_LATENCY: Cycles = Cycles(12);

fn run(bank: BankId, row: Row, count: u16) -> Run {
    let location = Location { channel: Channel(0), bank, row, column: Column(3), offset: 0 };
    Run { first: Line { address: PhysicalAddress(4096), location }, count, stride: 64 }
}

/// A program on one or two banks of a rank: rows 1 to 3 are its own.
fn program((kind, rank, swapped): (Mechanism, u8, bool)) -> Vec<CopyStep> {
    let (a, b) = (BankId { rank, bank: u8::from(swapped) }, BankId { rank, bank: u8::from(!swapped) });
    let open = |bank, row| CopyStep::Open { bank, row: Row(row) };
    let (close, column) = (|bank| CopyStep::Close { bank }, Column(5));
    let transfer = |src, dst| CopyStep::Transfer { src, src_column: column, dst, dst_column: Column(9), count: 2 };
    let write = |bank| CopyStep::Write { bank, write: RunWrite { run: run(bank, Row(2), 2), from: 0, to: 64 } };
    if kind == FPM {
        vec![open(a, 1), CopyStep::CopyOpen { bank: a, row: Row(2) }, close(a)]
    } else if kind == PSM {
        vec![open(a, 1), open(b, 2), transfer(a, b), close(a), close(b)]
    } else if kind == PSM2 {
        vec![open(a, 1), open(b, 3), transfer(a, b), close(a), open(a, 2), transfer(b, a), close(a), close(b)]
    } else {
        vec![open(a, 1), CopyStep::Read { bank: a, run: run(a, Row(1), 2) }, close(a), open(b, 2), write(b), close(b)]
    }
}

/// The next column command of a thread, and from when on its data allows it.
fn column_step(thread: &PortThread) -> Option<(Command, Cycle)> {
    Some((thread.next_column()?.command, thread.data_from()?))
}

/// Events before an update, and the number of thread steps executed after it.
#[derive(Clone, Debug)]
struct Turn {
    after: u64,
    dispatched: Option<(Mechanism, u8, bool)>,
    /// By bank: whether a read is queued, its age, and the row opened by accesses.
    accesses: [(bool, u64, Option<u32>); 4],
    unused: [bool; 4],
    urgent: [bool; 2],
    must: [bool; 2],
    executed: Vec<Index>,
}

fn arb_turn() -> impl Strategy<Value = Turn> {
    let mechanism = prop::sample::select(vec![FPM, PSM, PSM2, Mechanism::CHANNEL]);
    let dispatched = prop::option::weighted(0.3, (mechanism, 0..2_u8, any::<bool>()));
    let access = (prop::bool::weighted(0.2), 0..60_u64, prop::option::of(0..3_u32));
    let flags = |likely| prop::array::uniform4(prop::bool::weighted(likely));
    let ranks = |likely| prop::array::uniform2(prop::bool::weighted(likely));
    let executed = prop::collection::vec(any::<Index>(), 0..5);
    (1..30_u64, dispatched, prop::array::uniform4(access), flags(0.1), ranks(0.1), ranks(0.1), executed).prop_map(
        |(after, dispatched, accesses, unused, urgent, must, executed)| Turn {
            after,
            dispatched,
            accesses,
            unused,
            urgent,
            must,
            executed,
        },
    )
}

/// The port, its model, and the state of the channel for both.
struct Pair {
    port: CopyPort,
    models: Vec<Model>,
    world: World,
    now: Cycle,
    dispatched: u32,
}

impl Pair {
    fn new(term: Option<Cycles>, now: Cycle) -> Pair {
        let port = CopyPort::new(term);
        Pair { port, models: Vec::new(), world: World::default(), now, dispatched: 0 }
    }

    /// Slot of the thread at a position in the order of dispatch.
    fn slot(&self, place: usize) -> u8 {
        let all = 0..self.port.threads.len() as u8;
        let mut slots: Vec<u8> = all.filter(|slot| !self.port.vacant.contains(slot)).collect();
        slots.sort_by_key(|&slot| self.port.thread(slot).origin.program);
        slots[place]
    }

    /// The thread at a position in the order of dispatch.
    fn thread(&self, place: usize) -> &PortThread {
        self.port.thread(self.slot(place))
    }

    fn look_around(&mut self, turn: &Turn) {
        let Turn { after, accesses, unused, urgent, must, .. } = turn;
        self.now.0 += after;
        let held = self.port.held();
        self.world.unused = BankSet::EMPTY;
        for bank in TOPOLOGY.indices() {
            let (is_read, age, row) = accesses[bank.get()];
            let read = is_read.then(|| Cycle(self.now.0.saturating_sub(age)));
            let before = std::mem::replace(&mut self.world.reads[bank.get()], read);
            let is_issued = before.is_some() && before != read && self.port.remaining().contains(bank);
            self.world.reads_issued += u64::from(is_issued);
            if !held.contains(bank) {
                self.world.open[bank.get()] = row.map(Row);
                self.world.unused.set(bank, unused[bank.get()]);
            }
        }
        let ranks = |flags: [bool; 2]| {
            (0..2)
                .filter(|&rank| flags[usize::from(rank)])
                .map(|rank| TOPOLOGY.rank(rank))
                .fold(BankSet::EMPTY, BankSet::union)
        };
        self.world.must = ranks(*must);
        self.world.urgent = ranks(*urgent).union(self.world.must);
    }

    fn dispatch(&mut self, steps: Vec<CopyStep>) {
        let model = Model::new(&steps, self.now);
        let gate = DataGate::All((model.reads_left == 0).then_some(Cycle::ZERO));
        let number = self.dispatched;
        self.dispatched += 1;
        let origin = CopyProgram {
            request: RequestId(0),
            source: SourceId(0),
            mechanism: FPM,
            program: number.into(),
            slot: number,
            is_alone: true,
        };
        let thread = CopyThread { channel: Channel(0), steps };
        self.port.push(PortThread::new(origin, thread.steps, gate, TOPOLOGY, WRITE_LATENCY, self.now));
        self.models.push(model);
    }

    fn compare(&self) {
        let world = &self.world;
        let (mut row_steps, mut columns) = (Vec::new(), Vec::new());
        for (place, model) in self.models.iter().enumerate() {
            let thread = self.thread(place);
            assert_eq!(thread.phase(), model.phase, "{model:#?}");
            assert_eq!((thread.held(), thread.remaining()), (model.held, model.remaining()), "{model:#?}");
            assert_eq!(thread.awaits_first_column(), model.is_exempt());
            if model.phase == ThreadPhase::Running {
                assert_eq!(thread.stamp(), if model.is_exempt() { Stamp::OLDEST } else { model.stamp });
                assert_eq!(thread.term_end(), model.term_end);
            }
            let steps = (0..thread.banks()).map(|place| thread.row_step(place));
            let held = steps.filter(|(bank, _)| thread.held().contains(*bank));
            let rows: Vec<Command> = held.filter_map(|(_, step)| step.map(|(command, _)| command)).collect();
            assert_eq!(rows, model.row_steps(world), "{model:#?}");
            row_steps.extend(rows.into_iter().map(|command| (thread.origin.program, thread.stamp(), command)));
            assert_eq!(column_step(thread), model.column_step(world), "{model:#?}");
            if thread.next_column().is_some() {
                let (stamp, program, slot) = (thread.stamp(), thread.origin.program, self.slot(place));
                columns.push(ColumnContender { stamp, program, slot });
            }
        }
        columns.sort_unstable();
        assert_eq!(self.port.columns(), columns);
        let mut found: Vec<_> = self.port.stepping().into_iter().map(|bank| self.port.row_steps[bank]).collect();
        found.sort_by_key(|step| step.tie);
        let found: Vec<_> =
            found.into_iter().map(|step| (step.tie >> u8::BITS, step.stamp, step.next.command)).collect();
        assert_eq!(found, row_steps);
        let union = |of: fn(&Model) -> BankSet| self.models.iter().map(of).fold(BankSet::EMPTY, BankSet::union);
        assert_eq!(self.port.held(), union(|model| model.held));
        assert_eq!(self.port.remaining(), union(Model::remaining));
        assert_eq!(self.port.is_empty(), self.models.is_empty());
    }

    /// Executes one of the possible next steps of threads, as the channel does.
    fn execute(&mut self, index: Index) {
        self.now.0 += 1;
        let steps: Vec<(usize, Command)> = (0..self.models.len())
            .flat_map(|place| {
                let column = self.models[place].column_step(&self.world).map(|step| step.0);
                self.models[place].row_steps(&self.world).into_iter().chain(column).map(move |command| (place, command))
            })
            .collect();
        if steps.is_empty() {
            return;
        }
        let (place, command) = *index.get(&steps);
        let slot = self.slot(place);
        let model = &mut self.models[place];
        let (Command::Activate { bank, .. } | Command::Precharge { bank }) = command else {
            let at = model.steps.iter().position(|(step, left)| *left > 0 && step.lines().is_some()).unwrap();
            (model.steps[at].1, model.has_moved) = (model.steps[at].1 - 1, true);
            let program = self.port.columns_issued(slot, 1, self.now).program;
            if let Command::Read { .. } = command {
                (model.reads_left, model.arrived) = (model.reads_left - 1, self.now + READ_LATENCY);
                if model.reads_left == 0 {
                    self.port.data_arrives((slot, program), model.arrived);
                }
            }
            return;
        };
        let index = TOPOLOGY.index(bank);
        let open = if let Command::Activate { row, .. } = command { Some(row) } else { None };
        self.world.open[index.get()] = open;
        if let Some(next) = model.next(bank)
            && let CopyStep::CopyOpen { row, .. } = model.steps[next].0
            && open == Some(row)
        {
            model.steps[next].1 = 0;
        }
        model.skip(bank, open);
        let is_released = model.next(bank).is_none() || (model.phase == ThreadPhase::Preempted && open.is_none());
        let begun = model.begun;
        if is_released {
            model.release(BankSet::of(index));
            self.world.released[index.get()] = Some(self.now);
            assert_eq!(self.port.released(index, self.now), begun);
        }
        let (is_left, is_done) = (model.next(bank).is_none(), model.remaining().is_empty());
        let program = self.thread(place).origin.slot;
        let expected = RowStepDone { program, slot, is_released, is_left, is_done };
        assert_eq!(self.port.row_issued(index, open), expected);
        if is_done {
            self.models.remove(place);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn threads_begin_run_and_give_way_by_the_rules(turns in prop::collection::vec(arb_turn(), 1..60)) {
        let mut pair = Pair::new(Some(HOLD), Cycle(100));
        for turn in turns {
            pair.look_around(&turn);
            if let Some(drawn) = turn.dispatched.filter(|_| pair.port.has_room()) {
                pair.dispatch(program(drawn));
            }
            let found = pair.port.update(pair.now, pair.world.situation(), &pair.world);
            let (released, preempted) = update(&mut pair.models, pair.now, &pair.world);
            prop_assert_eq!(found, released.iter().map(|&(bank, _)| bank).collect());
            for &(bank, since) in &released {
                pair.world.released[bank.get()] = Some(pair.now);
                prop_assert_eq!(pair.port.released(bank, pair.now), since);
            }
            prop_assert_eq!(pair.port.take_preempted(), preempted);
            let running = pair.models.iter().filter(|model| model.phase == ThreadPhase::Running);
            let next = running.map(|model| model.term_end).filter(|&end| end > pair.now).min().unwrap_or(Cycle::NEVER);
            prop_assert!((pair.now.0 + 1..=next.0).contains(&pair.port.next_term_end().0));
            pair.compare();
            for index in turn.executed {
                pair.execute(index);
                pair.compare();
            }
        }
    }
}

#[test]
fn a_port_has_room_for_32_threads() {
    let mut pair = Pair::new(None, Cycle(0));
    for _ in 0..32 {
        assert!(pair.port.has_room());
        pair.dispatch(program((FPM, 0, false)));
    }
    assert!(!pair.port.has_room());
    pair.port.update(Cycle(0), pair.world.situation(), &pair.world);
    for open in [Some(Row(1)), Some(Row(2)), None] {
        assert!(!pair.port.has_room());
        pair.port.row_issued(TOPOLOGY.index(BankId { rank: 0, bank: 0 }), open);
    }
    assert!(pair.port.has_room());
}

/// Without a bound a thread has no term, and keeps its banks while reads are queued.
#[test]
fn without_a_bound_no_thread_is_preempted_for_reads() {
    let mut pair = Pair::new(None, Cycle(0));
    pair.dispatch(program((PSM, 0, false)));
    pair.port.update(Cycle(0), pair.world.situation(), &pair.world);
    assert_eq!(pair.port.next_term_end(), Cycle::NEVER);
    pair.world.reads = [Some(Cycle(1)); 4];
    pair.port.update(Cycle(1_000_000), pair.world.situation(), &pair.world);
    assert_eq!(pair.thread(0).phase(), ThreadPhase::Running);
    assert_eq!(pair.port.take_preempted(), (0, 0));
}

/// Another channel reads the lines: each is written once its data has arrived, write latency 6
/// after its WR.
#[test]
fn each_line_of_a_pipelined_program_waits_for_its_own_data() {
    let bank = BankId { rank: 0, bank: 0 };
    let write = CopyStep::Write { bank, write: RunWrite { run: run(bank, Row(2), 2), from: 0, to: 64 } };
    let steps = vec![CopyStep::Open { bank, row: Row(2) }, write, CopyStep::Close { bank }];
    let origin = CopyProgram {
        request: RequestId(0),
        source: SourceId(0),
        mechanism: Mechanism::CHANNEL,
        program: 0,
        slot: 0,
        is_alone: true,
    };
    let gate = DataGate::Each(std::collections::VecDeque::new());
    let thread = CopyThread { channel: Channel(0), steps };
    let mut thread = PortThread::new(origin, thread.steps, gate, TOPOLOGY, WRITE_LATENCY, Cycle(0));
    thread.begin(Cycle(0), None, |_| Some(Row(2)));
    let data_from = |thread: &PortThread| column_step(thread).map(|(_, data_from)| data_from);
    assert_eq!(data_from(&thread), None, "no line has been read");
    thread.data_arrives(Cycle(50));
    thread.data_arrives(Cycle(54));
    assert_eq!(data_from(&thread), Some(Cycle(44)));
    thread.columns_issued(1);
    assert_eq!(data_from(&thread), Some(Cycle(48)));
    thread.columns_issued(1);
    assert_eq!(data_from(&thread), None, "both lines are written");
}
