//! Levels compared with a count of the entries in every cycle.

use dram_spec::Cycle;
use proptest::prelude::*;

use super::{Depth, Levels};

/// An event after some cycles: an entry of a queue is taken or freed, or the depth is read.
#[derive(Clone, Copy, Debug)]
enum Step {
    Enter(usize),
    Leave(usize),
    Take,
}

fn arb_step() -> impl Strategy<Value = (u64, Step)> {
    let step = prop_oneof![
        3 => (0..2_usize).prop_map(Step::Enter),
        3 => (0..2_usize).prop_map(Step::Leave),
        1 => Just(Step::Take),
    ];
    (0..5_u64, step)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_depth_is_the_sum_over_its_cycles(steps in prop::collection::vec(arb_step(), 0..80)) {
        let mut levels = Levels::new(2);
        // Intervals of entries: queue, first cycle, and the cycle after the last.
        let mut spans: Vec<(usize, u64, u64)> = Vec::new();
        let (mut now, mut since, mut most) = (0, 0, 0);
        for (after, step) in steps {
            now += after;
            let open = |spans: &[(usize, u64, u64)], queue| {
                spans.iter().filter(|span| span.0 == queue && span.2 == u64::MAX).count()
            };
            match step {
                Step::Enter(queue) => {
                    levels.enter(queue, Cycle(now));
                    spans.push((queue, now, u64::MAX));
                    most = most.max(open(&spans, queue));
                }
                Step::Leave(queue) => {
                    if let Some(span) = spans.iter_mut().find(|span| span.0 == queue && span.2 == u64::MAX) {
                        // In the cycle of the command; the entry is free in the next cycle.
                        now += 1;
                        span.2 = now;
                        levels.leave(queue, Cycle(now));
                    }
                }
                Step::Take => {
                    let in_cycle = |cycle| spans.iter().filter(|&&(_, from, to)| (from..to).contains(&cycle)).count();
                    let entry_cycles = (since..now).map(in_cycle).sum::<usize>() as u64;
                    prop_assert_eq!(levels.take(Cycle(now)), Depth { entry_cycles, most: most as u64 });
                    since = now;
                    // An entry freed in this cycle is not in use in the new epoch.
                    if let Some(span) = spans.iter_mut().find(|span| span.2 == u64::MAX) {
                        span.2 = now;
                        levels.leave(span.0, Cycle(now));
                    }
                    levels.begin_epoch();
                    most = (0..2).map(|queue| open(&spans, queue)).max().unwrap();
                }
            }
        }
    }
}
