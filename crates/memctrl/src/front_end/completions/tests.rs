//! The completions compared with a sorted list.

use std::collections::VecDeque;

use dram_spec::Cycle;
use proptest::prelude::*;

use super::Completions;

#[test]
fn slots_come_out_when_due_and_in_the_order_of_acceptance() {
    let mut completions = Completions::default();
    for (slot, (at, accepted)) in (0..).zip([(9, 4), (5, 3), (9, 1), (7, 2), (5, 0)]) {
        completions.push(Cycle(at), accepted, slot);
    }
    assert_eq!(completions.next_due(), Cycle(5));
    let mut out = Vec::new();
    for now in [4, 5, 8, 9] {
        while let Some(slot) = completions.deliver(Cycle(now)) {
            out.push((now, slot));
        }
    }
    assert_eq!(out, [(5, 4), (5, 1), (8, 3), (9, 2), (9, 0)]);
    assert_eq!(completions.next_due(), Cycle::NEVER);
    assert_eq!([0; 6].map(|_| completions.take()), [Some(4), Some(1), Some(3), Some(2), Some(0), None]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// `Some(at)` adds a request due at `at`; `None` takes a delivered request, and delivers those due
    /// some cycles later.
    #[test]
    fn they_come_out_as_from_a_sorted_list(
        steps in prop::collection::vec((prop::option::of(0..20_u64), 0..20_u64), 0..80),
    ) {
        let (mut completions, mut list) = (Completions::default(), Vec::<(u64, u64, u32)>::new());
        let (mut delivered, mut now) = (VecDeque::new(), 0);
        for (number, (due, after)) in (0..).zip(steps) {
            if let Some(due) = due {
                // Slots decrease as acceptance increases, so the order of slots is not that of
                // acceptance.
                let at = now + 1 + due;
                completions.push(Cycle(at), number, 1000 - number as u32);
                list.push((at, number, 1000 - number as u32));
            } else {
                prop_assert_eq!(completions.take(), delivered.pop_front());
                now += after;
                list.sort_unstable();
                while let Some(slot) = completions.deliver(Cycle(now)) {
                    let (at, _, expected) = list.remove(0);
                    prop_assert_eq!((slot, at <= now), (expected, true));
                    delivered.push_back(slot);
                }
                prop_assert!(list.first().is_none_or(|&(at, ..)| at > now));
            }
            let next = list.iter().map(|&(at, ..)| Cycle(at)).min().unwrap_or(Cycle::NEVER);
            prop_assert_eq!(completions.next_due(), next);
        }
    }
}
