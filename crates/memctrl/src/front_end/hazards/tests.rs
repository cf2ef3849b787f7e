//! The hazards compared with byte ranges, and with the set of copies that each access waits for.

use std::collections::BTreeSet;

use dram_spec::{BankIndex, Channel, Column, Cycle, Operation, PhysicalAddress, RequestId, Row, SourceId};
use proptest::prelude::*;
use proptest::sample::Index;

use super::{CopyLines, Hazards, is_whole_lines, whole_lines};
use crate::access::{AccessKind, LineAccess};

/// An event, within eight lines.
#[derive(Clone, Debug)]
enum HazardStep {
    /// An access of a line is accepted.
    Access(AccessKind, u64),
    /// A copy, initialization or partial write is accepted.
    Copy(Operation),
    /// One of the copies is delivered.
    Deliver(Index),
}

fn arb_step() -> impl Strategy<Value = HazardStep> {
    let byte = || (0..448_u64).prop_map(PhysicalAddress);
    let operation = prop_oneof![
        (byte(), byte(), 1..64_u64).prop_map(|(src, dst, bytes)| Operation::Copy { src, dst, bytes }),
        (byte(), 1..64_u64).prop_map(|(dst, bytes)| Operation::Init { dst, bytes, value: 0 }),
        (byte(), 1..64_u64).prop_map(|(address, bytes)| Operation::Write { address, bytes }),
    ];
    let kind = prop::sample::select(vec![AccessKind::Read, AccessKind::Write]);
    prop_oneof![
        3 => (kind, 0..8_u64).prop_map(|(kind, line)| HazardStep::Access(kind, 64 * line)),
        2 => operation.prop_map(HazardStep::Copy),
        1 => any::<Index>().prop_map(HazardStep::Deliver),
    ]
}

/// Whether an access of the line at `line` must not pass a copy, byte by byte.
fn conflicts(operation: &Operation, kind: AccessKind, line: u64) -> bool {
    let in_line = |first: PhysicalAddress| (0..operation.bytes()).any(|byte| (first.0 + byte) / 64 * 64 == line);
    in_line(operation.target()) || (kind == AccessKind::Write && operation.src().is_some_and(in_line))
}

/// A blocked access: position in the order of acceptance, kind, line, and slots of the copies it
/// waits for.
#[derive(Debug)]
struct Waiting {
    accepted: u64,
    kind: AccessKind,
    line: u64,
    copies: Vec<u32>,
}

fn access(kind: AccessKind, accepted: u64, address: PhysicalAddress) -> LineAccess {
    let (bank, row, column) = (BankIndex::default(), Row(0), Column(0));
    LineAccess {
        id: RequestId(accepted),
        arrival: Cycle(0),
        address,
        slot: 0,
        kind,
        source: SourceId(0),
        bank,
        row,
        column,
        filter: crate::queues::line_hash(bank, row, column),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accesses_wait_for_the_conflicting_copies_before_them(steps in prop::collection::vec(arb_step(), 1..60)) {
        let mut hazards = Hazards::default();
        let (mut copies, mut waiting) = (Vec::<(u32, Operation)>::new(), Vec::<Waiting>::new());
        for (number, step) in (0..).zip(steps) {
            match step {
                HazardStep::Access(kind, line) => {
                    let before: Vec<u32> =
                        copies.iter().filter(|(_, copy)| conflicts(copy, kind, line)).map(|&(slot, _)| slot).collect();
                    prop_assert_eq!(hazards.conflicts(kind, PhysicalAddress(line)) as usize, before.len());
                    if !before.is_empty() {
                        let (at, count) = (PhysicalAddress(line), before.len() as u32);
                        hazards.block(Channel(0), access(kind, number, at), number, count);
                        waiting.push(Waiting { accepted: number, kind, line, copies: before });
                    }
                }
                HazardStep::Copy(operation) => {
                    let slot = number as u32 + 100;
                    let found = waiting.iter().filter(|access| conflicts(&operation, access.kind, access.line)).count();
                    prop_assert_eq!(hazards.copy_accepted(slot, number, CopyLines::new(&operation)) as usize, found);
                    copies.push((slot, operation));
                }
                HazardStep::Deliver(index) if !copies.is_empty() => {
                    let (slot, _) = copies.remove(index.index(copies.len()));
                    for access in &mut waiting {
                        access.copies.retain(|&other| other != slot);
                    }
                    let free: Vec<_> = waiting.extract_if(.., |access| access.copies.is_empty()).collect();
                    let found: Vec<_> = hazards.copy_delivered(slot).iter()
                        .map(|blocked| (blocked.access.id.0, blocked.access.kind, blocked.access.address.0)).collect();
                    let free: Vec<_> = free.iter().map(|access| (access.accepted, access.kind, access.line)).collect();
                    prop_assert_eq!(found, free, "in the order of acceptance");
                }
                HazardStep::Deliver(_) => {}
            }
            prop_assert_eq!(hazards.copies(), copies.len());
            prop_assert_eq!(hazards.is_any_blocked(), !waiting.is_empty());
            let kinds = [AccessKind::Read, AccessKind::Write].into_iter();
            for (kind, line) in kinds.flat_map(|kind| (0..8).map(move |line| (kind, 64 * line))) {
                let newest = hazards.newest_blocked(kind, PhysicalAddress(line)).map(|blocked| blocked.access.id.0);
                let mut same = waiting.iter().rev().filter(|access| (access.kind, access.line) == (kind, line));
                prop_assert_eq!(newest, same.next().map(|access| access.accepted));
                let waits: BTreeSet<u32> = hazards.waiting_for(kind, PhysicalAddress(line)).collect();
                let expected: BTreeSet<u32> =
                    copies.iter().filter(|(_, copy)| conflicts(copy, kind, line)).map(|&(slot, _)| slot).collect();
                prop_assert_eq!(waits, expected);
            }
        }
    }

    #[test]
    fn ranges_are_widened_to_whole_lines(first in 0..1000_u64, bytes in 1..1000_u64) {
        let lines = whole_lines(PhysicalAddress(first), bytes);
        prop_assert!(lines.start.is_multiple_of(64) && lines.start <= first && first - lines.start < 64);
        prop_assert!(lines.end.is_multiple_of(64) && lines.end >= first + bytes && lines.end - (first + bytes) < 64);
        prop_assert_eq!(is_whole_lines(PhysicalAddress(first), bytes), lines == (first..first + bytes));
    }
}
