//! A requester that advances the controller itself observes the results of [`Controller::run`],
//! independent of the steps.

use std::sync::atomic::AtomicBool;

use dram_spec::{Cycle, Cycles, Operation, Refresh, RequestId, SourceId};
use memctrl::policy::copy::ROWCLONE;
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::{FrFcfs, ParBs, Scheduler};
use memctrl::{Completion, Config, Controller, PowerPolicy, QueueSettings, RefreshPolicy, Request, RequestSource};
use proptest::prelude::*;

use crate::drive::{Listing, run_in_steps, run_until};
use crate::{config, line, read, requests, write};

/// A requester with a window of reads in flight: a core with that number of outstanding misses, and
/// no time between them.
struct ClosedLoop {
    window: u64,
    count: u64,
    taken: u64,
    delivered: u64,
    /// Completion of the last read, at which the next one arrives.
    ready: Cycle,
}

impl ClosedLoop {
    const fn new(window: u64, count: u64) -> ClosedLoop {
        ClosedLoop { window, count, taken: 0, delivered: 0, ready: Cycle::ZERO }
    }

    fn is_done(&self) -> bool {
        self.delivered == self.count
    }
}

impl RequestSource for ClosedLoop {
    fn next_arrival(&self) -> Option<Cycle> {
        let has_room = self.taken < self.count && self.taken - self.delivered < self.window;
        has_room.then_some(self.ready)
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let arrival = self.next_arrival().filter(|&at| at <= now)?;
        // Some hits, some conflicts, over all banks.
        let (id, number) = (RequestId(self.taken), self.taken * 7);
        self.taken += 1;
        let operation = Operation::Read { address: line(number % 8, number / 24, number % 64), bytes: 64 };
        Some(Request { id, source: SourceId(0), arrival: Some(arrival), operation, payload: None })
    }

    fn complete(&mut self, completion: Completion) {
        self.delivered += 1;
        self.ready = completion.done;
    }
}

/// Two read entries, so that larger windows fill the queue.
fn narrow() -> Config {
    let config = config(Refresh::NORMAL);
    Config { queues: QueueSettings { read_entries: 2, ..config.queues }, ..config }
}

/// Advances a controller by at most `step` cycles at a time.
fn by_hand(config: &Config, mut requester: ClosedLoop, step: u64) -> (Vec<String>, Cycle) {
    let mut controller = Controller::new(config);
    let mut listing = Listing::new(config);
    let mut refused = None;
    loop {
        controller.completions().for_each(|completion| requester.complete(completion));
        if requester.is_done() {
            break;
        }
        while let Some(request) = refused.take().or_else(|| requester.take(controller.now())) {
            if let Err(request) = controller.try_enqueue(request) {
                refused = Some(request);
                break;
            }
        }
        let limit = Cycle(controller.now().0 + step);
        assert!(controller.advance_to(limit, &mut listing) <= limit);
    }
    let stats = controller.finish(&mut listing);
    (listing.lines, stats.end)
}

#[test]
fn a_requester_that_steps_the_controller_gets_the_commands_of_run() {
    for window in [1, 2, 3, 8] {
        let config = narrow();
        let (mut listing, mut source) = (Listing::new(&config), ClosedLoop::new(window, 200));
        let stats = Controller::new(&config).run(&mut source, &mut listing, &AtomicBool::new(false)).unwrap();
        assert!(source.is_done() && stats.whole.requests == 200);
        assert!(listing.lines.len() > 200, "at least a RD for each");
        for step in [1, 5, 1_000_000] {
            let (lines, end) = by_hand(&config, ClosedLoop::new(window, 200), step);
            assert_eq!(lines, listing.lines, "window {window}, steps of {step}");
            assert_eq!(end, stats.end);
        }
    }
}

/// A requester misses no event before `next_event`: advances from event to event are never cut
/// short, and give the commands of a run.
#[test]
fn no_completion_comes_before_the_next_event() {
    let config = narrow();
    let (mut controller, mut requester) = (Controller::new(&config), ClosedLoop::new(3, 100));
    let mut listing = Listing::new(&config);
    while !requester.is_done() {
        while controller.has_room()
            && let Some(request) = requester.take(controller.now())
        {
            controller.try_enqueue(request).unwrap();
        }
        let event = controller.next_event();
        assert!(event > controller.now());
        assert_eq!(controller.advance_to(event, &mut listing), event);
        controller.completions().for_each(|completion| {
            assert!(completion.done >= event);
            requester.complete(completion);
        });
    }
    let (expected, _) = by_hand(&config, ClosedLoop::new(3, 100), 1_000_000);
    assert_eq!(listing.lines, expected);
}

/// A read completes CL 8 + BL/2 4 after its RD in cycle 8; then no event is left.
#[test]
fn once_all_commands_are_issued_the_next_event_is_the_delivery() {
    let mut controller = Controller::new(&config(Refresh::Off));
    controller.try_enqueue(requests(&[(0, read(line(0, 0, 0)))]).remove(0)).unwrap();
    let mut events = Vec::new();
    while controller.now() < Cycle(20) {
        events.push(controller.next_event().0);
        controller.advance_to(controller.next_event(), &mut ());
    }
    assert!(events.is_sorted() && events.len() < 10, "{events:?}");
    assert_eq!(*events.last().unwrap(), 20);
    assert!(!controller.is_idle(), "the completion is not taken");
    assert_eq!(controller.completions().count(), 1);
    assert!(controller.is_idle());
}

/// Requests of all kinds within three rows of three banks, up to 200 cycles apart.
pub fn arb_requests() -> impl Strategy<Value = Vec<Request>> {
    let place = || (0..3_u64, 0..3_u64, 0..64_u64).prop_map(|(bank, row, column)| line(bank, row, column));
    let operation = prop_oneof![
        4 => (place(), 1..300_u64).prop_map(|(address, bytes)| Operation::Read { address, bytes }),
        2 => place().prop_map(|address| Operation::Write { address, bytes: 64 }),
        1 => (place(), 1..200_u64).prop_map(|(address, bytes)| Operation::Write { address, bytes }),
        1 => (place(), place(), 1..5000_u64).prop_map(|(src, dst, bytes)| Operation::Copy { src, dst, bytes }),
        1 => (place(), 1..5000_u64).prop_map(|(dst, bytes)| Operation::Init { dst, bytes, value: 0 }),
    ];
    prop::collection::vec((0..200_u64, operation), 1..40).prop_map(|list| {
        let mut arrival = 0;
        let list: Vec<_> = list
            .into_iter()
            .map(|(gap, operation)| {
                arrival += gap;
                (arrival, operation)
            })
            .collect();
        requests(&list)
    })
}

/// A requester that queries the next event, and then sends more requests in that cycle, gets the
/// commands of one that does not query.
#[test]
fn asking_for_the_next_event_changes_nothing() {
    for scheduler in [Box::new(FrFcfs) as Box<dyn Scheduler>, Box::new(ParBs::new(1))] {
        let config = Config { scheduler, ..config(Refresh::NORMAL) };
        let config = Config { queues: QueueSettings { admission_per_cycle: 4, ..config.queues }, ..config };
        let run = |asks: bool| {
            let mut controller = Controller::new(&config);
            let mut listing = Listing::new(&config);
            for round in 0..200_u64 {
                for number in 0..4 {
                    if asks {
                        controller.next_event();
                    }
                    let address = line((round + number * 3) % 8, (round * 5 + number) % 7, number);
                    let is_write = (round * 4 + number) % 3 == 0;
                    let operation = if is_write { write(address) } else { read(address) };
                    let source = SourceId(number as u16 % 2);
                    let request = Request { source, ..requests(&[(controller.now().0, operation)]).remove(0) };
                    if controller.has_room() {
                        controller.try_enqueue(request).unwrap();
                    }
                }
                let limit = controller.now().0 + 11 + 30 * (round % 3);
                while controller.now() < Cycle(limit) {
                    controller.advance_to(Cycle(limit), &mut listing);
                }
            }
            let stats = controller.finish(&mut listing);
            (listing.lines, stats)
        };
        assert_eq!(run(true), run(false));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_size_of_the_steps_changes_nothing(
        list in arb_requests(),
        steps in prop::collection::vec(1..60_u64, 1..20),
        is_small in any::<bool>(),
        is_narrow in any::<bool>(),
    ) {
        // In narrow queues requests wait for entries, and for the delivery of copies.
        let narrow = QueueSettings {
            read_entries: 2,
            write_entries: 2,
            copy_entries: 1,
            drain_high: 2,
            drain_low: 1,
            ..QueueSettings::default()
        };
        let config = Config {
            queues: if is_narrow { narrow } else { QueueSettings::default() },
            copy_policy: ROWCLONE,
            copy_hold_max: Some(Cycles(200)),
            row_policy: RowPolicy::Timeout { after: Cycles(40) },
            refresh: RefreshPolicy { postpone_max: 2, ..RefreshPolicy::default() },
            power: PowerPolicy { power_down_after: Some(Cycles(70)), self_refresh_after: Some(Cycles(2000)) },
            epoch: Some(Cycles(333)),
            ..config(Refresh::NORMAL)
        };
        let large = run_until(&config, list.clone(), 20_000);
        let mut steps = steps.into_iter().cycle();
        let small = run_in_steps(&config, list, 20_000, || if is_small { 1 } else { steps.next().unwrap() });
        prop_assert_eq!(small.listing, large.listing);
        prop_assert_eq!(small.events, large.events);
        prop_assert_eq!(format!("{:?}", small.completions), format!("{:?}", large.completions));
        prop_assert_eq!(small.stats, large.stats);
    }
}
