//! Latencies of requests without an arrival, which count from their acceptance.

use std::sync::atomic::AtomicBool;

use dram_spec::address::MapPreset;
use dram_spec::{Cycle, Operation, PhysicalAddress, Refresh, RequestId, SourceId};
use memctrl::stats::{Depth, Histogram};
use memctrl::{Completion, Config, Controller, QueueSettings, Request, RequestSource};

use crate::{config, config_of, line, read, system, write};

/// Requests that the controller takes as fast as it can: all arrive in cycle 0, or when accepted.
struct Fast {
    operations: Vec<Operation>,
    arrival: Option<Cycle>,
    taken: usize,
    /// Completion and latency, by request.
    done: Vec<(u64, u64)>,
}

impl RequestSource for Fast {
    fn next_arrival(&self) -> Option<Cycle> {
        (self.taken < self.operations.len()).then_some(Cycle::ZERO)
    }

    fn take(&mut self, _: Cycle) -> Option<Request> {
        let operation = *self.operations.get(self.taken)?;
        let id = RequestId(self.taken as u64);
        self.taken += 1;
        Some(Request { id, source: SourceId(0), arrival: self.arrival, operation, payload: None })
    }

    fn complete(&mut self, completion: Completion) {
        self.done[completion.id.0 as usize] = (completion.done.0, completion.response().0);
    }
}

fn play(config: &Config, operations: Vec<Operation>, arrival: Option<Cycle>) -> (Fast, memctrl::stats::Stats) {
    let done = vec![(0, 0); operations.len()];
    let mut source = Fast { operations, arrival, taken: 0, done };
    let stats = Controller::new(config).run(&mut source, &mut (), &AtomicBool::new(false)).unwrap();
    (source, stats)
}

fn two_entries() -> Config {
    let config = config(Refresh::Off);
    Config { queues: QueueSettings { read_entries: 2, admission_per_cycle: 2, ..config.queues }, ..config }
}

/// Six reads of one row, two accepted per cycle, and a queue of two entries. ACT in cycle 0, RD in
/// 8, 12, 16 and so on, each 12 cycles (CL + BL/2) before its end. A read is accepted in the cycle
/// after each RD: in 9, 13, 17 and 21.
#[test]
fn latency_counts_from_acceptance_without_an_arrival_and_else_from_the_arrival() {
    let reads: Vec<_> = (0..6).map(|column| read(line(0, 0, column))).collect();
    let ends = [20, 24, 28, 32, 36, 40];
    let (accepted, _) = play(&two_entries(), reads.clone(), None);
    assert_eq!(accepted.done, [20, 24, 19, 19, 19, 19].into_iter().zip(ends).map(|(l, e)| (e, l)).collect::<Vec<_>>());
    let (arrived, _) = play(&two_entries(), reads, Some(Cycle::ZERO));
    assert_eq!(arrived.done, ends.map(|end| (end, end)), "waiting for the queue included");
}

/// A read of four lines counts from the acceptance of its first, in cycle 9: its RDs are issued in
/// 16, 20, 24 and 28.
#[test]
fn a_request_of_several_lines_counts_from_the_acceptance_of_its_first() {
    let first = (0..2).map(|column| read(line(0, 0, column)));
    let last = Operation::Read { address: line(0, 0, 2), bytes: 256 };
    let (played, _) = play(&two_entries(), first.chain([last]).collect(), None);
    assert_eq!(played.done, [(20, 20), (24, 24), (40, 31)]);
}

/// Two entries for copies: the third is accepted when the first is delivered.
#[test]
fn the_response_of_a_copy_counts_from_its_acceptance() {
    let copy = |bank| Operation::Copy { src: line(bank, 0, 0), dst: line(bank, 1, 0), bytes: 64 };
    let config = config(Refresh::Off);
    let queues = QueueSettings { copy_entries: 1, ..config.queues };
    let (played, stats) = play(&Config { queues, ..config }, vec![copy(0), copy(1)], None);
    let [(first, response), (second, after)] = played.done[..] else { panic!("two copies") };
    assert_eq!((first, second), (response, first + after), "the second is accepted when the first is delivered");
    assert_eq!(stats.whole.copy_response.mean(), Some((response + after) as f64 / 2.0));
}

/// Little's law: entries of the queue over time are the sum of the latencies, where an access
/// leaves its entry with its RD or WR, `rest` cycles before its end. Exact, in cycles.
fn check_little(latency: &Histogram, forwarded: u64, queue: &Depth, rest: u64) {
    let queued = latency.count() - forwarded;
    #[expect(clippy::cast_sign_loss, reason = "latencies are not negative")]
    let sum = (latency.mean().unwrap() * latency.count() as f64).round() as u64;
    assert!(queued > 1000);
    assert_eq!(queue.entry_cycles, sum - forwarded - queued * rest);
}

/// Random reads and writes of two channels; every access waits for an entry of its queue. A read
/// leaves its entry in the cycle after its RD, CL + BL/2 - 1 = 11 cycles before its end, and a
/// write CWL + BL/2 - 1 = 9 cycles.
#[test]
fn mean_occupancy_is_throughput_times_mean_latency() {
    for (channels, entries) in [(1, 8), (2, 8), (1, 32)] {
        let config = config_of(system(channels, Refresh::NORMAL), MapPreset::LineInterleaved);
        let queues =
            QueueSettings { read_entries: entries, write_entries: 12, drain_high: 9, drain_low: 3, ..config.queues };
        let mut state = 1_u64;
        let mut number = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut access = |_| {
            let address = PhysicalAddress(number(1 << 16) * 64);
            if number(3) == 0 { write(address) } else { read(address) }
        };
        let (_, stats) = play(&Config { queues, ..config }, (0..20_000).map(&mut access).collect(), None);
        let figures = &stats.whole;
        check_little(&figures.read_latency, figures.forwarded, &figures.read_queue, 11);
        check_little(&figures.write_latency, 0, &figures.write_queue, 9);
    }
}
