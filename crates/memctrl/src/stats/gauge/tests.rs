//! A gauge compared with a count of the entries in every cycle.

use dram_spec::Cycle;
use proptest::prelude::*;

use super::{Depth, Gauge};

/// An event after some cycles: an entry is taken or freed, or the depth is read.
#[derive(Clone, Copy, Debug)]
enum GaugeStep {
    Enter,
    Leave,
    Take,
}

fn arb_step() -> impl Strategy<Value = (u64, GaugeStep)> {
    (0..5_u64, prop_oneof![3 => Just(GaugeStep::Enter), 3 => Just(GaugeStep::Leave), 1 => Just(GaugeStep::Take)])
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_depth_is_the_sum_over_its_cycles(steps in prop::collection::vec(arb_step(), 0..80)) {
        let mut gauge = Gauge::default();
        // Intervals of entries: first cycle, and the cycle after the last.
        let mut spans: Vec<(u64, u64)> = Vec::new();
        let (mut now, mut since, mut most) = (0, 0, 0);
        for (after, step) in steps {
            now += after;
            let open = |spans: &[(u64, u64)]| spans.iter().filter(|span| span.1 == u64::MAX).count();
            match step {
                GaugeStep::Enter => {
                    gauge.enter(Cycle(now));
                    spans.push((now, u64::MAX));
                    most = most.max(open(&spans));
                }
                GaugeStep::Leave => {
                    if let Some(span) = spans.iter_mut().find(|span| span.1 == u64::MAX) {
                        // In the cycle of the command; the entry is free in the next cycle.
                        now += 1;
                        span.1 = now;
                        gauge.leave(Cycle(now));
                    }
                }
                GaugeStep::Take => {
                    let in_cycle = |cycle| spans.iter().filter(|&&(from, to)| (from..to).contains(&cycle)).count();
                    let entry_cycles = (since..now).map(in_cycle).sum::<usize>() as u64;
                    prop_assert_eq!(gauge.take(Cycle(now)), Depth { entry_cycles, most: most as u64 });
                    since = now;
                    // An entry freed in this cycle is not in use in the new epoch.
                    if let Some(span) = spans.iter_mut().find(|span| span.1 == u64::MAX) {
                        span.1 = now;
                        gauge.leave(Cycle(now));
                    }
                    gauge.begin_epoch();
                    most = open(&spans);
                }
            }
            prop_assert_eq!(gauge.level(), open(&spans) as u64);
        }
    }
}
