//! The queues compared with a plain list of accesses.

use dram_spec::{BankIndex, BankSet, Column, Cycle, PhysicalAddress, RequestId, Row, SourceId, Topology};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{AccessKind, LineAccess, QueuedAccess, Queues, Rows, Stamp};
use crate::access::RowOutcome;
use crate::policy::scheduler::{BankAccesses, Fcfs, FrFcfs, FrFcfsCap, Key, Priority, RowState, Scheduler};

const TOPOLOGY: Topology = Topology { channels: 1, ranks: 1, banks_per_rank: 4, banks_per_group: 4 };
const KINDS: [AccessKind; 2] = [AccessKind::Read, AccessKind::Write];

/// An event at the queues.
#[derive(Clone, Debug)]
enum QueueStep {
    /// An access is queued after some cycles: kind, bank, row, column, source.
    Queue(u64, AccessKind, usize, u32, u16, u16),
    /// One of the accesses is served.
    Serve(Index),
    /// An access that is not queued takes an entry, or frees it.
    Block(AccessKind),
    Unblock(AccessKind),
    /// PRE or ACT is issued for one of the accesses.
    RowCommand(Index, bool),
    /// A copy waits for the newest access of a bank, or for all accesses of a row.
    AwaitNewest(AccessKind, usize),
    AwaitRow(AccessKind, u32),
}

fn arb_step() -> impl Strategy<Value = QueueStep> {
    let kind = || prop::sample::select(&KINDS[..]);
    let any_index = || any::<Index>();
    prop_oneof![
        6 => (0..3_u64, kind(), 0..4_usize, 0..3_u32, 0..3_u16, 0..2_u16)
            .prop_map(|(after, kind, bank, row, column, source)| {
                QueueStep::Queue(after, kind, bank, row, column, source)
            }),
        4 => any_index().prop_map(QueueStep::Serve),
        1 => kind().prop_map(QueueStep::Block),
        1 => kind().prop_map(QueueStep::Unblock),
        2 => (any_index(), any::<bool>()).prop_map(|(index, opens)| QueueStep::RowCommand(index, opens)),
        1 => (kind(), 0..4_usize).prop_map(|(kind, bank)| QueueStep::AwaitNewest(kind, bank)),
        1 => (kind(), 0..3_u32).prop_map(|(kind, row)| QueueStep::AwaitRow(kind, row)),
    ]
}

/// An access of the model.
#[derive(Clone, Debug, PartialEq)]
struct Known {
    id: u64,
    kind: AccessKind,
    bank: BankIndex,
    row: Row,
    column: Column,
    source: SourceId,
    queued: Cycle,
    row_outcome: RowOutcome,
    first_command: Cycle,
    is_awaited: bool,
}

/// All accesses in queueing order, and the entries of accesses that are not queued.
#[derive(Debug, Default)]
struct Model {
    list: Vec<Known>,
    blocked: [usize; 2],
}

impl Model {
    fn of(&self, kind: AccessKind, bank: BankIndex) -> impl DoubleEndedIterator<Item = &Known> + Clone {
        self.list.iter().filter(move |known| (known.kind, known.bank) == (kind, bank))
    }

    fn count(&self, kind: AccessKind) -> usize {
        self.list.iter().filter(|known| known.kind == kind).count()
    }
}

fn known(access: &QueuedAccess) -> Known {
    Known {
        id: access.id().0,
        kind: access.kind(),
        bank: access.bank(),
        row: access.row(),
        column: access.column(),
        source: access.source(),
        queued: access.stamp().cycle(),
        row_outcome: access.row,
        first_command: access.first_command,
        is_awaited: access.is_awaited,
    }
}

fn bank(number: usize) -> BankIndex {
    TOPOLOGY.indices().nth(number).unwrap()
}

/// Place of an access of the model in the pool.
fn place(queues: &Queues, model: &Model, index: usize) -> u16 {
    let Known { id, kind, bank, .. } = model.list[index];
    let mut accesses = queues.in_bank(kind, bank);
    accesses.find(|(_, access)| access.id().0 == id).unwrap().0
}

fn apply(queues: &mut Queues, model: &mut Model, step: &QueueStep, id: u64, now: &mut Cycle) {
    match *step {
        QueueStep::Queue(after, kind, number, row, column, source) => {
            now.0 += after;
            let (bank, row, column, source) = (bank(number), Row(row), Column(column), SourceId(source));
            let access = LineAccess {
                id: RequestId(id),
                arrival: *now,
                address: PhysicalAddress(id * 64),
                slot: id as u32,
                kind,
                source,
                bank,
                row,
                column,
                filter: crate::queues::line_hash(bank, row, column),
            };
            queues.take_entry(kind, *now);
            let place = queues.queue(&access, *now);
            assert_eq!(queues.get(place).access.slot, id as u32);
            let (queued, row_outcome, first_command) = (*now, RowOutcome::Hit, Cycle::NEVER);
            let is_awaited = false;
            model.list.push(Known {
                id,
                kind,
                bank,
                row,
                column,
                source,
                queued,
                row_outcome,
                first_command,
                is_awaited,
            });
        }
        QueueStep::Serve(index) if !model.list.is_empty() => {
            let index = index.index(model.list.len());
            let place = place(queues, model, index);
            let served = model.list.remove(index);
            queues.remove(place, *now);
            assert_eq!(known(queues.get(place)), served, "it stays at its place until another is queued");
        }
        QueueStep::RowCommand(index, opens) if !model.list.is_empty() => {
            let index = index.index(model.list.len());
            let outcome = if opens { RowOutcome::Miss } else { RowOutcome::Conflict };
            queues.note_row_command(place(queues, model, index), *now, outcome);
            let access = &mut model.list[index];
            access.first_command = access.first_command.min(*now);
            if access.row_outcome != RowOutcome::Conflict {
                access.row_outcome = outcome;
            }
        }
        QueueStep::Block(kind) => {
            queues.take_entry(kind, *now);
            model.blocked[kind as usize] += 1;
        }
        QueueStep::Unblock(kind) if model.blocked[kind as usize] > 0 => {
            queues.free_entry(kind, *now);
            model.blocked[kind as usize] -= 1;
        }
        QueueStep::AwaitNewest(kind, number) => {
            let mut accesses = model.list.iter_mut().rev();
            if let Some(newest) = accesses.find(|known| (known.kind, known.bank) == (kind, bank(number))) {
                newest.is_awaited = true;
                queues.await_newest(kind, bank(number));
            }
        }
        QueueStep::AwaitRow(kind, row) => {
            let mut found = 0;
            for known in model.list.iter_mut().filter(|known| known.kind == kind && known.row == Row(row)) {
                known.is_awaited = true;
                found += 1;
            }
            assert_eq!(queues.await_where(kind, |access| access.row() == Row(row)), found);
        }
        QueueStep::Serve(_) | QueueStep::RowCommand(..) | QueueStep::Unblock(_) => {}
    }
}

/// Compares every query of the queues with the model.
fn compare(queues: &Queues, model: &Model) {
    for kind in KINDS {
        let pending: BankSet = model.list.iter().filter(|known| known.kind == kind).map(|known| known.bank).collect();
        assert_eq!(queues.pending(kind), pending);
        assert_eq!(queues.queued(kind), model.count(kind));
        assert_eq!(queues.entries(kind), (model.count(kind) + model.blocked[kind as usize]) as u64);
        let is_awaited = model.list.iter().any(|known| known.kind == kind && known.is_awaited);
        assert_eq!(queues.is_any_awaited(kind), is_awaited);
        let by_bank: Vec<_> = TOPOLOGY.indices().flat_map(|bank| model.of(kind, bank)).cloned().collect();
        assert_eq!(queues.of_kind(kind).map(known).collect::<Vec<_>>(), by_bank);
        for banks in TOPOLOGY.indices().map(BankSet::of).chain([BankSet::ALL, BankSet::EMPTY]) {
            let oldest = model.list.iter().find(|known| banks.contains(known.bank));
            assert_eq!(queues.oldest_in(banks).map(known).as_ref(), oldest);
        }
        for bank in TOPOLOGY.indices() {
            assert_eq!(queues.queued_in(kind, bank), model.of(kind, bank).count());
            assert_eq!(queues.oldest(kind, bank).map(known).as_ref(), model.of(kind, bank).next());
            for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (Row(row), Column(column)))) {
                let newest = model.of(kind, bank).rfind(|known| (known.row, known.column) == (row, column));
                assert_eq!(queues.newest_of_line(kind, bank, row, column).map(known).as_ref(), newest);
                let may_hold = queues.may_hold(kind, crate::queues::line_hash(bank, row, column));
                assert!(may_hold || newest.is_none());
                assert!(!may_hold || model.count(kind) > 0, "an empty queue holds no line");
            }
        }
    }
    for (bank, row) in TOPOLOGY.indices().flat_map(|bank| (0..3).map(move |row| (bank, Row(row)))) {
        let of_row = |known: &&Known| (known.bank, known.row) == (bank, row);
        assert_eq!(queues.has_any(bank, row), model.list.iter().any(|known| of_row(&known)));
        for (index, known) in model.list.iter().enumerate().filter(|(_, known)| known.bank == bank) {
            let others = model.list.iter().filter(of_row).any(|other| other.id != known.id);
            assert_eq!(queues.has_other(bank, place(queues, model, index), row), others);
        }
    }
}

/// Classes and ranks that are independent of the age.
#[derive(Clone, Debug)]
struct BySource;

impl Scheduler for BySource {
    fn name(&self) -> &'static str {
        "by-source"
    }

    fn has_state(&self) -> bool {
        false
    }

    fn key(&self, access: &QueuedAccess, row: RowState) -> Key {
        let source = u64::from(access.source().0);
        Key::EQUAL.rank(1 - source, 4).first_if(row.is_hit).rank(source, 7)
    }

    fn copy_key(&self, _: SourceId) -> Key {
        Key::EQUAL
    }
}

/// The access that a scheduler prefers is the one of least priority.
fn compare_preferred(queues: &Queues, model: &Model, open: Option<Row>, served: u32) {
    let schedulers: [&dyn Scheduler; 4] = [&Fcfs, &FrFcfs, &FrFcfsCap { cap: 2 }, &BySource];
    for scheduler in schedulers {
        for (kind, bank) in KINDS.into_iter().flat_map(|kind| TOPOLOGY.indices().map(move |bank| (kind, bank))) {
            for only_hits in [false, true] {
                let rows = Rows { open, served, only_hits };
                let found = scheduler.preferred(&BankAccesses { queues, kind, bank, rows }).map(|(key, place)| {
                    let access = queues.get(place);
                    (Priority { key, stamp: access.stamp() }, known(access))
                });
                let priority = |access: &QueuedAccess| {
                    let row = RowState { is_hit: open == Some(access.row()), served };
                    Priority { key: scheduler.key(access, row), stamp: access.stamp() }
                };
                let may = |access: &&QueuedAccess| !only_hits || open == Some(access.row());
                let all = queues.of_kind(kind).filter(|access| access.bank() == bank).filter(may);
                let least = all.min_by_key(|access| priority(access)).map(|access| (priority(access), known(access)));
                assert_eq!(found, least, "{} {kind:?} {bank:?} {only_hits}", scheduler.name());
            }
        }
    }
    assert_eq!(model.list.len(), queues.queued(AccessKind::Read) + queues.queued(AccessKind::Write));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_queues_answer_as_a_list_of_all_accesses_does(
        steps in prop::collection::vec(arb_step(), 1..60),
        open in prop::option::of((0..3_u32).prop_map(Row)),
        served in 0..4_u32,
    ) {
        let (mut queues, mut model, mut now) = (Queues::new(), Model::default(), Cycle(7));
        for (id, step) in (0..).zip(&steps) {
            apply(&mut queues, &mut model, step, id, &mut now);
            compare(&queues, &model);
            compare_preferred(&queues, &model, open, served);
        }
        let all = KINDS.into_iter().flat_map(|kind| queues.of_kind(kind));
        let mut stamps: Vec<(u64, Stamp)> = all.map(|access| (access.id().0, access.stamp())).collect();
        stamps.sort_unstable();
        prop_assert!(stamps.windows(2).all(|pair| pair[0].1 < pair[1].1), "stamps follow the order of queueing");
    }
}

#[test]
fn a_thread_is_younger_than_the_accesses_of_its_cycle_and_older_than_those_of_the_next() {
    let (first, last) = (Stamp::of_access(Cycle(9), 0), Stamp::of_access(Cycle(9), 4093));
    assert!(Stamp::OLDEST < Stamp::of_access(Cycle(0), 0));
    assert!(first < last && last < Stamp::of_thread(Cycle(9)));
    assert!(Stamp::of_thread(Cycle(9)) < Stamp::of_access(Cycle(10), 0));
    assert_eq!([first, last, Stamp::of_thread(Cycle(9))].map(Stamp::cycle), [Cycle(9); 3]);
}

#[test]
#[should_panic(expected = "fewer than 4095 accesses")]
fn a_cycle_with_more_accesses_than_stamps_is_a_bug() {
    let _ = Stamp::of_access(Cycle(9), 4094);
}
