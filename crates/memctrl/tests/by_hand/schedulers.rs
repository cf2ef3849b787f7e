//! Order in which the schedulers serve the reads of several sources, by the rules of their papers.
//!
//! Unless a test specifies otherwise, all reads arrive in cycle 0, in the order of their numbers;
//! each is (source, bank, row). A RD that opens no row follows its predecessor by 4 cycles; a row
//! of a bank is closed tRAS 20 after its ACT, and the next one opened 8 later.

use dram_spec::address::MapPreset;
use dram_spec::{Command, Cycle, Cycles, Operation, PhysicalAddress, Refresh, RequestId, SourceId};
use memctrl::policy::scheduler::{Atlas, Bliss, Fcfs, FrFcfs, FrFcfsCap, ParBs, Scheduler};
use memctrl::{Config, QueueSettings, Request};

use crate::drive::{Outcome, run_until};
use crate::source_order::SourceOrder;
use crate::{bank, config, config_of, line, read, system};

/// A read's source, bank and row.
pub type Read = (u16, u64, u64);

pub fn run_at(scheduler: impl Scheduler + 'static, reads: &[(u64, Read)]) -> Outcome {
    let config = config(Refresh::Off);
    let queues = QueueSettings { admission_per_cycle: 64, ..config.queues };
    let config = Config { queues, scheduler: Box::new(scheduler), ..config };
    let request = |(id, &(arrival, (source, bank, row))): (u64, &(u64, Read))| Request {
        id: RequestId(id),
        source: SourceId(source),
        arrival: Some(Cycle(arrival)),
        // Each read has a column of its own.
        operation: read(line(bank, row, id)),
        payload: None,
    };
    run_until(&config, (0..).zip(reads).map(request).collect(), 2000)
}

pub fn run(scheduler: impl Scheduler + 'static, reads: &[Read]) -> Outcome {
    run_at(scheduler, &reads.iter().map(|&read| (0, read)).collect::<Vec<_>>())
}

/// Numbers of the reads in the order of their RDs.
pub fn order(outcome: &Outcome) -> Vec<u64> {
    let reads = outcome.events.iter().filter(|event| matches!(event.command, Command::Read { .. }));
    reads.map(|event| event.cause.request().unwrap().0).collect()
}

/// Two rows of bank 0 alternately, then another bank.
const MIXED: [Read; 4] = [(1, 0, 0), (1, 0, 1), (1, 0, 0), (1, 1, 0)];

#[test]
fn fcfs_serves_one_access_after_the_other() {
    let expected = [
        "0 ACT r0 b0 row 0",
        "8 RD r0 b0 col 0",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 1",
        "36 RD r0 b0 col 1",
        "48 PRE r0 b0",
        "56 ACT r0 b0 row 0",
        "64 RD r0 b0 col 2",
        // Bank 1 could have been opened in cycle 4.
        "65 ACT r0 b1 row 0",
        "73 RD r0 b1 col 3",
    ];
    assert_eq!(run(Fcfs, &MIXED).listing, expected);
}

#[test]
fn fr_fcfs_serves_hits_first_and_banks_at_once() {
    let expected = [
        "0 ACT r0 b0 row 0",
        "4 ACT r0 b1 row 0",
        "8 RD r0 b0 col 0",
        "12 RD r0 b0 col 2",
        "16 RD r0 b1 col 3",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 1",
        "36 RD r0 b0 col 1",
    ];
    assert_eq!(run(FrFcfs, &MIXED).listing, expected);
}

#[test]
fn after_the_cap_an_older_miss_goes_before_a_hit() {
    let expected = [
        "0 ACT r0 b0 row 0",
        "4 ACT r0 b1 row 0",
        "8 RD r0 b0 col 0",
        // The row has served one access: the hit of read 2 is younger than read 1.
        "12 RD r0 b1 col 3",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 1",
        "36 RD r0 b0 col 1",
        "48 PRE r0 b0",
        "56 ACT r0 b0 row 0",
        "64 RD r0 b0 col 2",
    ];
    assert_eq!(run(FrFcfsCap { cap: 1 }, &MIXED).listing, expected);
    let one_miss = [(1, 0, 0), (1, 0, 1), (1, 0, 0), (1, 0, 0)];
    let orders = [1, 2, 3].map(|cap| order(&run(FrFcfsCap { cap }, &one_miss)));
    assert_eq!(orders, [[0, 1, 2, 3], [0, 2, 1, 3], [0, 2, 3, 1]]);
}

#[test]
fn the_cap_counts_from_each_activation_and_prefers_no_younger_miss() {
    let in_turn = [(1, 0, 0), (1, 0, 1), (1, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0)];
    // Row 0 serves two, then row 1 is opened for read 1: its first access leaves read 4 as a hit
    // with precedence.
    assert_eq!(order(&run(FrFcfsCap { cap: 2 }, &in_turn)), [0, 2, 1, 4, 3, 5]);
    assert_eq!(order(&run(FrFcfsCap { cap: 1 }, &[(1, 0, 0), (1, 0, 0), (1, 0, 1)])), [0, 1, 2]);
}

/// Source 1 with eight hits, and source 2 with the youngest read, of another row.
fn one_against_many() -> Vec<Read> {
    [vec![(1, 0, 0); 8], vec![(2, 0, 1)]].concat()
}

#[test]
fn bliss_blacklists_a_source_when_its_consecutive_reads_exceed_the_threshold() {
    assert_eq!(order(&run(FrFcfs, &one_against_many())), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    let with = |threshold| order(&run(Bliss::new(threshold, Cycles(10_000)), &one_against_many()));
    assert_eq!(order(&run(Bliss::DEFAULT, &one_against_many())), with(4));
    assert_eq!(with(4), [0, 1, 2, 3, 4, 8, 5, 6, 7], "the fifth is the first beyond the threshold");
    assert_eq!(with(2), [0, 1, 2, 8, 3, 4, 5, 6, 7]);
    assert_eq!(with(7), [0, 1, 2, 3, 4, 5, 6, 7, 8], "the eighth is the last");
}

#[test]
fn bliss_opens_a_row_for_another_source_before_it_serves_hits_of_a_blacklisted_one() {
    let listing = run(Bliss::new(2, Cycles(10_000)), &one_against_many()).listing;
    // RD at 8, 12 and 16; read 3 would be a hit in cycle 20.
    let expected = ["16 RD r0 b0 col 2", "20 PRE r0 b0", "28 ACT r0 b0 row 1", "36 RD r0 b0 col 8", "48 PRE r0 b0"];
    assert_eq!(listing[3..8], expected);
}

/// All but the last read are hits of two open rows, and are ordered by age. Four of source 1, one
/// of source 2 from bank 1, then source 1 again.
#[test]
fn bliss_counts_anew_when_the_source_changes() {
    let list = |more| [vec![(1, 0, 0); 4], vec![(2, 1, 0)], vec![(1, 0, 0); more], vec![(2, 0, 1)]].concat();
    let orders = [4, 6].map(|more| order(&run(Bliss::DEFAULT, &list(more))));
    assert_eq!(orders[0], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], "never more than four at a time");
    assert_eq!(orders[1], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 10], "read 9 is the fifth since the change");
}

/// Source 1 is blacklisted by its fifth RD, in cycle 24; its sixth read is the oldest left. Hits of
/// source 2 are served from cycle 28 on, until the blacklist is cleared.
#[test]
fn bliss_clears_the_blacklist_after_each_interval() {
    let list = [vec![(1, 0, 0); 6], vec![(2, 1, 0); 6]].concat();
    let with = |interval| order(&run(Bliss::new(4, Cycles(interval)), &list));
    assert_eq!(with(36), [0, 1, 2, 3, 4, 6, 7, 5, 8, 9, 10, 11], "cleared before the RD of cycle 36");
    assert_eq!(with(37), [0, 1, 2, 3, 4, 6, 7, 8, 5, 9, 10, 11], "cleared before the RD of cycle 40");
    assert_eq!(with(40), with(37));
    // 24: the clearing of that cycle comes before the RD that blacklists source 1; the next is due in 48.
    assert_eq!(with(24), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 5, 11]);
}

/// Source 1 is the only source until cycle 38, and blacklisted by its fifth RD, in cycle 24; the
/// blacklist is cleared in cycle 37. It has been served three times since cycle 24, so the RD of
/// cycle 44 is the fifth.
#[test]
fn bliss_counts_anew_when_it_has_blacklisted_a_source() {
    let mut list = vec![(0, (1, 0, 0)); 12];
    list.push((38, (2, 0, 1)));
    let outcome = run_at(Bliss::new(4, Cycles(37)), &list);
    assert_eq!(order(&outcome), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 10, 11]);
    assert!(outcome.listing.contains(&"64 RD r0 b0 col 12".to_string()), "44 + tRTP + tRP + tRCD");
}

/// Each source has three reads of its own row. With equal loads source 1 has the better rank.
#[test]
fn par_bs_marks_up_to_its_cap_per_source_and_bank() {
    let list = [vec![(1, 0, 0); 3], vec![(2, 0, 1); 3]].concat();
    let with = |cap| order(&run(ParBs::new(cap), &list));
    // Batches {0, 3}, {1, 4} and {2, 5}: each of the last two begins with the row that is open.
    assert_eq!(with(1), [0, 3, 4, 1, 2, 5]);
    // Batches {0, 1, 3, 4} and {2, 5}: read 2 is a hit, but not marked, when 0 and 1 are done.
    assert_eq!(with(2), [0, 1, 3, 4, 5, 2]);
    assert_eq!(with(3), [0, 1, 2, 3, 4, 5]);
    // The paper's cap of 5: the sixth read of source 1 is in the second batch.
    let list = [vec![(1, 0, 0); 6], vec![(2, 0, 1); 6]].concat();
    assert_eq!(order(&run(ParBs::DEFAULT, &list)), [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 5]);
}

/// The cap is per bank: both sources have two marked reads, and source 1 the better rank by its
/// number, so that its read of bank 1 is marked and served first there.
#[test]
fn par_bs_marks_in_each_bank() {
    let outcome = run(ParBs::new(1), &[(1, 0, 0), (1, 1, 0), (2, 1, 1), (2, 2, 0)]);
    assert_eq!(outcome.listing[..2], ["0 ACT r0 b0 row 0", "4 ACT r0 b1 row 0"]);
    assert_eq!(order(&outcome), [0, 1, 3, 2]);
}

/// Source 1 has two reads in bank 0, source 2 one in each of three banks.
#[test]
fn par_bs_ranks_by_the_largest_load_of_a_bank_before_the_total() {
    let expected = [
        "0 ACT r0 b0 row 2",
        "4 ACT r0 b1 row 0",
        "8 RD r0 b0 col 2",
        "9 ACT r0 b2 row 0",
        "12 RD r0 b1 col 3",
        "17 RD r0 b2 col 4",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 0",
        "36 RD r0 b0 col 0",
        "48 PRE r0 b0",
        "56 ACT r0 b0 row 1",
        "64 RD r0 b0 col 1",
    ];
    assert_eq!(run(ParBs::DEFAULT, &[(1, 0, 0), (1, 0, 1), (2, 0, 2), (2, 1, 0), (2, 2, 0)]).listing, expected);
}

/// No source has more than one read in a bank.
#[test]
fn par_bs_ranks_by_the_total_where_the_largest_loads_are_equal_then_by_number() {
    let totals = run(ParBs::DEFAULT, &[(1, 0, 0), (1, 1, 0), (2, 0, 1)]);
    assert_eq!(totals.listing[0], "0 ACT r0 b0 row 1");
    assert_eq!(order(&totals), [2, 1, 0]);
    let equal = run(ParBs::DEFAULT, &[(2, 0, 1), (1, 0, 0)]);
    assert_eq!(order(&equal), [1, 0], "source 1 before source 2, although its read is younger");
}

/// Read 2 arrives in cycle 5, to the open row: the batch of cycle 0 is served first.
#[test]
fn par_bs_serves_no_later_read_before_the_batch_is_done() {
    let list = [(0, (1, 0, 0)), (0, (1, 0, 1)), (5, (2, 0, 0))];
    assert_eq!(order(&run_at(ParBs::DEFAULT, &list)), [0, 1, 2]);
    assert_eq!(order(&run_at(FrFcfs, &list)), [0, 2, 1]);
    // A batch of one read ends with its RD in cycle 8: the next has all that are queued by then.
    let list = [(0, (1, 0, 0)), (5, (1, 0, 1)), (6, (2, 0, 0))];
    assert_eq!(order(&run_at(ParBs::DEFAULT, &list)), [0, 2, 1]);
}

/// The batch of cycle 9 has two hits of source 1 and one read of source 2, which ranks first.
#[test]
fn par_bs_serves_hits_of_a_batch_before_better_ranks() {
    let list = [(0, (3, 0, 0)), (3, (1, 0, 0)), (3, (1, 0, 0)), (3, (2, 0, 1))];
    assert_eq!(order(&run_at(ParBs::DEFAULT, &list)), [0, 1, 2, 3]);
}

/// Twelve reads of source 1 of one row, and one of source 2 of another; RDs from cycle 8 on.
fn twelve_against_one() -> Vec<Read> {
    [vec![(1, 0, 0); 12], vec![(2, 0, 1)]].concat()
}

fn atlas(quantum: u64, threshold: u64, bias: u64) -> Atlas {
    Atlas::new(Cycles(quantum), Cycles(threshold), bias)
}

/// In the first quantum no source has a total. Then source 1 has attained service, and source 2 none.
#[test]
fn atlas_serves_the_source_with_the_least_service_of_past_quanta_before_row_hits() {
    let with = |quantum| run(atlas(quantum, 10_000, 875), &twelve_against_one());
    assert_eq!(order(&run(Atlas::DEFAULT, &twelve_against_one())), order(&run(FrFcfs, &twelve_against_one())));
    // The RD of cycle 36 is the eighth; the first quantum ends before cycle 40.
    assert_eq!(order(&with(40)), [0, 1, 2, 3, 4, 5, 6, 7, 12, 8, 9, 10, 11]);
    assert_eq!(order(&with(41)), [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 9, 10, 11]);
    let expected = ["36 RD r0 b0 col 7", "40 PRE r0 b0", "48 ACT r0 b0 row 1", "56 RD r0 b0 col 12"];
    assert_eq!(with(40).listing[8..12], expected);
}

/// The reads of cycle 0 have waited for 40 cycles in cycle 40, and for 41 in cycle 41.
#[test]
fn atlas_serves_reads_that_waited_longer_than_the_threshold_first() {
    let mut list: Vec<(u64, Read)> = vec![(0, (1, 0, 0)); 12];
    list.push((30, (2, 0, 1)));
    let with = |threshold| run_at(atlas(40, threshold, 875), &list);
    assert_eq!(order(&with(39)), (0..=12).collect::<Vec<_>>());
    assert_eq!(with(39).listing[9], "40 RD r0 b0 col 8");
    // A row is closed for source 2 in cycle 40; in cycle 41 the reads of source 1 go first.
    assert_eq!(with(40).listing[9..11], ["40 PRE r0 b0", "48 ACT r0 b0 row 0"]);
    // Below the threshold, only the service counts.
    assert_eq!(order(&with(1000)), [0, 1, 2, 3, 4, 5, 6, 7, 12, 8, 9, 10, 11]);
}

/// Source 1 attains 8 + 8 x 4 = 40 cycles before cycle 40, source 2 none. A total of 1 is enough; with a
/// total of 0 the order is that of FR-FCFS.
#[test]
fn atlas_rounds_totals_down_to_a_cycle() {
    let with = |bias| order(&run(atlas(40, 10_000, bias), &twelve_against_one()));
    let fr_fcfs = order(&run(FrFcfs, &twelve_against_one()));
    assert_eq!(with(975)[8], 12, "40 x 25 / 1000 = 1");
    assert_eq!(with(976)[8], 8, "40 x 24 / 1000 = 0");
    assert_eq!(with(1000), fr_fcfs);
}

/// One line copied in the first quantum counts as service of its source. The read of source 1 is the
/// older one.
#[test]
fn atlas_counts_the_steps_of_copies() {
    let with = |scheduler: Box<dyn Scheduler>, source_of_copy| {
        let config = config(Refresh::Off);
        let config = Config { scheduler, ..config };
        let operations = [
            (0, source_of_copy, Operation::Copy { src: line(0, 0, 0), dst: line(1, 0, 0), bytes: 64 }),
            (5000, 3, read(line(5, 0, 0))),
            (5001, 1, read(line(5, 1, 0))),
            (5002, 2, read(line(5, 2, 0))),
        ];
        let request = |(id, (arrival, source, operation)): (u64, (u64, u16, Operation))| Request {
            id: RequestId(id),
            source: SourceId(source),
            arrival: Some(Cycle(arrival)),
            operation,
            payload: None,
        };
        let done = run_until(&config, (0..).zip(operations).map(request).collect(), 10_000).done();
        done.into_iter().map(|(id, _)| id).collect::<Vec<_>>()
    };
    assert_eq!(with(Box::new(FrFcfs), 1), [0, 1, 2, 3]);
    assert_eq!(with(Box::new(atlas(4000, 10_000, 875)), 1), [0, 1, 3, 2]);
    assert_eq!(with(Box::new(atlas(4000, 10_000, 875)), 2), [0, 1, 2, 3]);
}

/// Reads of source 1 on channel 0 in the first quantum give it a worse rank on channel 1.
#[test]
fn atlas_sums_the_service_over_channels() {
    let config = config_of(system(2, Refresh::Off), MapPreset::RowInterleaved);
    let channel = |address: PhysicalAddress| config.planner.map().locate(address).unwrap().channel.0;
    let on = |of: u8, row: u64| {
        let rows = (0..1 << 20).map(|at| PhysicalAddress(at * 4096));
        let location = |address: &PhysicalAddress| config.planner.map().locate(*address).unwrap();
        let mut found = rows.filter(|address| channel(*address) == of && location(address).bank == bank(0));
        found.nth(row as usize).unwrap()
    };
    let list = [(0, 1, on(0, 0)), (5000, 3, on(1, 0)), (5001, 1, on(1, 1)), (5002, 2, on(1, 2)), (5003, 1, on(1, 1))];
    let request = |(id, &(arrival, source, address)): (u64, &(u64, u16, PhysicalAddress))| Request {
        id: RequestId(id),
        source: SourceId(source),
        arrival: Some(Cycle(arrival)),
        operation: read(address),
        payload: None,
    };
    let with = |scheduler: Box<dyn Scheduler>| {
        let config = Config { scheduler, ..config.clone() };
        order(&run_until(&config, (0..).zip(&list).map(request).collect(), 10_000))
    };
    assert_eq!(with(Box::new(FrFcfs)), [0, 1, 2, 4, 3]);
    assert_eq!(with(Box::new(atlas(4000, 10_000, 875))), [0, 1, 3, 2, 4]);
}

/// `docs/extending.md` quotes the code that this crate compiles and tests.
#[test]
fn the_scheduler_of_the_page_on_extensions_is_the_one_tested() {
    let page = include_str!("../../../../docs/extending.md");
    let code = include_str!("source_order.rs");
    let (_, scheduler) = code.split_once("\n\n").unwrap();
    let indented = scheduler.lines().map(|line| if line.is_empty() { String::new() } else { format!("   {line}") });
    assert!(page.contains(&indented.collect::<Vec<_>>().join("\n")), "docs/extending.md must quote source_order.rs");
}

#[test]
fn source_order_serves_the_smaller_source_first() {
    // Three rows of a bank, the oldest read from the largest source; then a hit for source 2 after
    // them.
    let reads = [(2, 0, 0), (1, 0, 1), (0, 0, 2), (2, 0, 0)];
    assert_eq!(order(&run(FrFcfs, &reads)), [0, 3, 1, 2]);
    assert_eq!(order(&run(SourceOrder, &reads)), [2, 1, 0, 3]);
}
