//! The table of requests in flight compared with a map, and their bytes with an image of the
//! memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use dram_spec::{Cycle, Operation, PhysicalAddress, RequestId, SourceId};
use proptest::prelude::*;
use proptest::sample::Index;

use super::InFlightTable;
use crate::request::Request;

fn request(id: u64, operation: Operation, payload: Option<Arc<[u8]>>) -> Request {
    Request { id: RequestId(id), source: SourceId(id as u16 % 3), arrival: Some(Cycle(10 * id)), operation, payload }
}

/// The byte at an address of the image.
fn byte(at: u64) -> u8 {
    (at * 7 + at / 64) as u8
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn requests_keep_their_slots_until_they_are_removed(
        steps in prop::collection::vec(prop::option::of(any::<Index>()), 1..80),
    ) {
        let (mut table, mut model) = (InFlightTable::default(), BTreeMap::<u32, u64>::new());
        let read = Operation::Read { address: PhysicalAddress(64), bytes: 64 };
        for (number, step) in (0..).zip(steps) {
            match step {
                None => {
                    let slot = table.insert(request(number, read, None));
                    prop_assert!(model.insert(slot, number).is_none(), "a slot is used once at a time");
                    table.get_mut(slot).commanded(Cycle(1000 + number));
                    table.get_mut(slot).commanded(Cycle(1001 + number));
                    table.get_mut(slot).lasts_until(Cycle(3000 + number));
                    table.get_mut(slot).lasts_until(Cycle(2000 + number));
                }
                Some(index) if !model.is_empty() => {
                    let slot = *index.get(&model.keys().copied().collect::<Vec<_>>());
                    let id = model.remove(&slot).unwrap();
                    let done = table.remove(slot);
                    prop_assert_eq!((done.id, done.source), (RequestId(id), SourceId(id as u16 % 3)));
                    prop_assert_eq!((done.operation, done.arrival), (read, Cycle(10 * id)));
                    prop_assert_eq!((done.first_command, done.done), (Some(Cycle(1000 + id)), Cycle(3000 + id)));
                    prop_assert!(done.served == crate::stats::PartTally::default() && done.data.is_none());
                }
                Some(_) => {}
            }
            prop_assert_eq!(table.is_empty(), model.is_empty());
            let order: BTreeMap<u64, u64> = model.iter().map(|(&slot, &id)| (table.get(slot).accepted, id)).collect();
            prop_assert_eq!(order.len(), model.len(), "each has a number of its own");
            prop_assert!(order.values().is_sorted(), "numbers follow the order of acceptance");
            prop_assert!(model.iter().all(|(&slot, &id)| table.get(slot).id == RequestId(id)));
        }
    }

    /// A read stores the bytes of its range in any order of lines; a write returns those of each
    /// line.
    #[test]
    fn bytes_go_between_ranges_and_lines(first in 0..200_u64, bytes in 1..300_u64, reversed in any::<bool>()) {
        let mut table = InFlightTable::default();
        let address = PhysicalAddress(first);
        let range: Vec<u8> = (first..first + bytes).map(byte).collect();
        let read = table.insert(request(0, Operation::Read { address, bytes }, None));
        let write = table.insert(request(1, Operation::Write { address, bytes }, Some(Arc::from(&range[..]))));
        table.get_mut(read).keep_data();
        let lines = (first + bytes).div_ceil(64) - first / 64;
        for number in 0..lines {
            let number = if reversed { lines - 1 - number } else { number };
            let line = PhysicalAddress((first / 64 + number) * 64);
            let contents: [u8; 64] = std::array::from_fn(|offset| byte(line.0 + offset as u64));
            table.get_mut(read).line_read(line, &contents);
            let (payload, from) = table.get(write).bytes_of_line(line).unwrap();
            let to = from + payload.len();
            prop_assert_eq!(payload, &contents[from..to]);
            prop_assert_eq!(line.0 + from as u64, line.0.max(first));
            prop_assert_eq!(line.0 + to as u64, (line.0 + 64).min(first + bytes));
        }
        prop_assert_eq!(table.get(write).payload(), Some(&range[..]));
        prop_assert_eq!(table.remove(read).data, Some(range));
    }
}

#[test]
fn a_request_without_commands_has_no_first_one() {
    let mut table = InFlightTable::default();
    let slot = table.insert(request(5, Operation::Read { address: PhysicalAddress(0), bytes: 64 }, None));
    table.get_mut(slot).lasts_until(Cycle(51));
    let done = table.remove(slot);
    assert_eq!((done.first_command, done.done, done.data), (None, Cycle(51), None));
}
