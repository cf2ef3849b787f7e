//! The write drain compared with rules 12 and 13 of `docs/controller.md`.

use dram_spec::{BankIndex, BankSet, Column, Cycle, PhysicalAddress, RequestId, Row, SourceId, Topology};
use proptest::prelude::*;

use super::WriteDrain;
use crate::access::AccessKind;
use crate::channel::LineAccess;
use crate::policy::scheduler::{BankAccesses, Fcfs, Scheduler};
use crate::queues::{Queues, Rows};

const TOPOLOGY: Topology = Topology { channels: 1, ranks: 1, banks_per_rank: 3, banks_per_group: 3 };
const HIGH: usize = 4;
const LOW: usize = 2;

/// One cycle: accesses queued and served, writes that a copy waits for, and free banks.
#[derive(Clone, Debug)]
struct Turn {
    queued: Vec<(AccessKind, usize)>,
    served: Vec<(AccessKind, usize)>,
    is_awaited: Option<usize>,
    free: [bool; 3],
}

fn arb_turn() -> impl Strategy<Value = Turn> {
    let access = || (prop::sample::select(vec![AccessKind::Read, AccessKind::Write]), 0..3_usize);
    let (queued, served) = (prop::collection::vec(access(), 0..3), prop::collection::vec(access(), 0..3));
    let is_awaited = prop::option::weighted(0.1, 0..3_usize);
    (queued, served, is_awaited, prop::array::uniform3(prop::bool::weighted(0.8)))
        .prop_map(|(queued, served, is_awaited, free)| Turn { queued, served, is_awaited, free })
}

/// By bank: reads queued, writes queued, and how many of the oldest writes a copy waits for.
type Banks = [(usize, usize, usize); 3];

/// Mode after a cycle.
fn next_mode(mode: AccessKind, banks: &Banks, free: [bool; 3]) -> AccessKind {
    let in_free = |count: fn(&(usize, usize, usize)) -> usize| {
        banks.iter().zip(free).any(|(bank, is_free)| is_free && count(bank) > 0)
    };
    let (reads_free, writes_free) = (in_free(|bank| bank.0), in_free(|bank| bank.1));
    let writes: usize = banks.iter().map(|bank| bank.1).sum();
    let copy_waits = banks.iter().any(|bank| bank.2 > 0);
    match mode {
        AccessKind::Read if writes_free && (writes >= HIGH || !reads_free || copy_waits) => AccessKind::Write,
        AccessKind::Write if !writes_free => AccessKind::Read,
        AccessKind::Write if writes <= LOW && reads_free && !copy_waits => AccessKind::Read,
        other => other,
    }
}

const ROWS: Rows = Rows { open: None, served: 0, only_hits: false };

fn bank(number: usize) -> BankIndex {
    TOPOLOGY.indices().nth(number).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_mode_follows_the_rules(turns in prop::collection::vec(arb_turn(), 1..60)) {
        let (mut drain, mut queues) = (WriteDrain::new(HIGH, LOW), Queues::new());
        let (mut banks, mut mode, mut drains) = (Banks::default(), AccessKind::Read, 0);
        for (now, Turn { queued, served, is_awaited, free }) in (0..).zip(turns) {
            for (kind, number) in queued {
                let (id, source, row, column) = (RequestId(0), SourceId(0), Row(0), Column(0));
                queues.take_entry(kind, Cycle(now));
                let (arrival, address) = (Cycle(now), PhysicalAddress(0));
                let bank = bank(number);
                let access = LineAccess { id, arrival, address, slot: 0, kind, source, bank, row, column, filter: 0 };
                queues.queue(&access, Cycle(now));
                *if kind == AccessKind::Read { &mut banks[number].0 } else { &mut banks[number].1 } += 1;
            }
            if let Some(number) = is_awaited && banks[number].1 > 0 {
                queues.await_where(AccessKind::Write, |access| access.bank() == bank(number));
                banks[number].2 = banks[number].1;
            }
            for (kind, number) in served {
                let count = if kind == AccessKind::Read { &mut banks[number].0 } else { &mut banks[number].1 };
                if *count > 0 {
                    *count -= 1;
                    let accesses = BankAccesses { queues: &queues, kind, bank: bank(number), rows: ROWS };
                    let (_, oldest) = Fcfs.preferred(&accesses).unwrap();
                    queues.remove(oldest, Cycle(now));
                    if kind == AccessKind::Write {
                        banks[number].2 = banks[number].2.saturating_sub(1);
                    }
                }
            }
            let expected = next_mode(mode, &banks, free);
            let free: BankSet = (0..3).filter(|&number| free[number]).map(bank).collect();
            prop_assert_eq!(drain.is_due(&queues, free), expected != mode);
            prop_assert_eq!(drain.update(&queues, free), expected != mode);
            drains += u64::from(mode == AccessKind::Read && expected == AccessKind::Write);
            mode = expected;
            prop_assert_eq!(drain.mode(), mode);
        }
        prop_assert_eq!(drain.take_drains(), drains);
        prop_assert_eq!(drain.take_drains(), 0);
    }
}
