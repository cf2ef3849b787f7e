//! Each row and column of the tables of a run, in JSON's units, by hand.

use rowclone_sim::{
    AllocatorReport, Comparison, CoreRow, CoresReport, Distribution, EpochReport, FiguresReport, MemoryState,
    NetworkCounts, OperationRow, Outcome, PrefetchCounts, QueueDepth, RowOutcomes, TraceReport, TrafficReport,
};

use crate::programs::tests::core;
use crate::published_copies::{CopyTable, PublishedCopies, Simulated};
use crate::run_report::{RunReport, SCHEMA_VERSION};
use crate::zeroing::{ZeroingFigures, ZeroingRow, ZeroingTable};
use crate::{allocator_tables, csv_file, result_tables, run_tables};

fn report(outcome: Outcome) -> RunReport {
    RunReport {
        schema_version: SCHEMA_VERSION,
        placement: None,
        scenario: "scenario".into(),
        system: "system".into(),
        controller: "controller".into(),
        seed: 1,
        currents: Some("set".into()),
        background_rho: None,
        rerun: "command".into(),
        reference: Some("baseline".into()),
        baseline: "over the channel".into(),
        alone_ipc: Vec::new(),
        break_even_bytes: None,
        mix: None,
        outcome: Outcome { policy: "rowclone", ..outcome },
        warnings: Vec::new(),
        brief: "system".into(),
        copies: None,
        row_bytes: 4096,
    }
}

/// A distribution whose mean is `first`, and whose other figures are the next integers.
fn times(first: f64) -> Distribution<f64> {
    let after = |distance: f64| Some(first + distance);
    Distribution { count: 3, mean: after(0.0), p50: after(1.0), p99: after(2.0), max: after(3.0) }
}

/// No two figures are equal.
fn figures() -> FiguresReport {
    let depth = |mean, most| QueueDepth { mean_entries: Some(mean), max_entries: Some(most) };
    let clocks = |count| Distribution { count, mean: None, p50: None, p99: None, max: None };
    let mut figures = FiguresReport {
        requests: 1_234,
        reads: RowOutcomes { row_hits: 11, row_misses: 12, row_conflicts: 13 },
        writes: RowOutcomes { row_hits: 14, row_misses: 15, row_conflicts: 16 },
        forwarded: 17,
        read_latency_ns: times(100.0),
        write_latency_ns: times(200.0),
        copy_latency_ns: times(300.0),
        copy_response_ns: times(400.0),
        copy_response_cycles: clocks(3),
        blocked_by_copies_ns: times(500.0),
        blocked_by_copies_cycles: clocks(18),
        preempted_for_reads: 19,
        preempted_for_refresh: 20,
        write_drains: 21,
        unused_activates: 22,
        channel_bytes: 2_048,
        bandwidth_gb_s: Some(4.25),
        command_bus_share: Some(0.125),
        data_bus_share: Some(0.375),
        read_queue: depth(1.5, 23),
        write_queue: depth(2.5, 24),
        copy_queue: depth(3.5, 25),
        energy_nj: Some(900.25),
        dynamic_energy_nj: Some(600.5),
        io_share_of_dynamic_energy: Some(0.4),
        ..FiguresReport::default()
    };
    figures.commands.insert("RD", 26);
    figures
}

/// The lines of a table, with one blank between words.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_table_of_policies_has_each_figure_in_its_unit() {
    let outcome = Outcome {
        makespan_cycles: 4_000,
        makespan_ns: 7_500.0,
        latency_ns: 90.0,
        speedup: Some(2.5),
        energy_ratio: Some(3.5),
        from_cycle: 1_000,
        figures: figures(),
        ..Outcome::default()
    };
    let text = result_tables::figures(&[report(outcome)], usize::MAX);
    let expected = "\
rowclone
requests 1,234
makespan, clocks 4,000
makespan, ns 7500.00
latency compared, ns 90.00
speedup 2.50x
energy ratio 3.50x
counted from clock 1,000
read latency, mean ns 100.00
read latency, p50 ns 101.00
read latency, p99 ns 102.00
read latency, max ns 103.00
write latency, mean ns 200.00
write latency, p50 ns 201.00
write latency, p99 ns 202.00
write latency, max ns 203.00
reads, row hits 11
reads, row misses 12
reads, row conflicts 13
reads forwarded from writes 17
writes, row hits 14
writes, row misses 15
writes, row conflicts 16
write drains 21
unused ACT 22
bandwidth, GB/s 4.25
data bus in use 37.50 %
command bus in use 12.50 %
read queue, mean entries 1.50
read queue, max entries 23
write queue, mean entries 2.50
write queue, max entries 24
copy latency, mean ns 300.00
copy latency, p50 ns 301.00
copy latency, p99 ns 302.00
copy latency, max ns 303.00
copy response, mean ns 400.00
copy response, p50 ns 401.00
copy response, p99 ns 402.00
copy response, max ns 403.00
copies in progress, mean entries 3.50
copies in progress, max entries 25
reads blocked by copies 18
read blocked by a copy, mean ns 500.00
read blocked by a copy, p50 ns 501.00
read blocked by a copy, p99 ns 502.00
read blocked by a copy, max ns 503.00
threads preempted for reads 19
threads preempted for refresh 20
dynamic energy, nJ 600.5
total energy, nJ 900.2
I/O share of dynamic energy 40.0 %
channel bytes 2,048
RD commands 26";
    assert_eq!(lines(&text).join("\n"), expected);
}

#[test]
fn the_table_of_epochs_has_each_figure_in_its_column() {
    let epoch = EpochReport { from_cycle: 2_000, to_cycle: 3_000, figures: figures() };
    let outcome = Outcome { figures: figures(), epochs: vec![epoch], ..Outcome::default() };
    let found = lines(&result_tables::epochs(&[report(outcome)], usize::MAX));
    assert_eq!(
        found[0],
        "result from clock to clock requests reads mean ns p99 ns writes mean ns copies mean ns GB/s data bus nJ"
    );
    assert_eq!(found[1], "rowclone 2,000 3,000 1,234 3 100.00 102.00 3 200.00 3 300.00 4.25 37.50 % 900.2");
}

/// The cells of the only line of a CSV text under columns.
fn cells(text: &str, columns: &[&str]) -> Vec<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let line = reader.records().next().unwrap().unwrap();
    let of = |column: &&str| {
        let mut places = headers.iter().enumerate().filter(|(_, header)| header == column);
        let (Some((place, _)), None) = (places.next(), places.next()) else { panic!("{column}: {headers:?}") };
        line[place].to_owned()
    };
    columns.iter().map(of).collect()
}

/// A core whose counts of lines begin at a number.
fn core_with_lines(first: u64) -> CoreRow {
    let [requested, useful, late, useless, dropped, injected] = [0, 1, 2, 3, 4, 6].map(|it| first + it);
    let network = NetworkCounts { packets: 1, dropped: 2, interrupts: 3, sent: 4, injected };
    let prefetches = PrefetchCounts { requested, useful, late, useless, dropped };
    CoreRow { prefetches: Some(prefetches), network: Some(network), ..core(0, 8_000, 0.25) }
}

#[test]
fn csv_has_each_figure_in_its_column() {
    let cores = CoresReport {
        core_cycles_per_clock: 6.0,
        interval_ns: 1.0,
        instructions: 2,
        energy_nj: Some(3.0),
        energy_per_instruction_nj: Some(4.5),
        dynamic_energy_nj: None,
        channel_bytes: 5,
        copy_channel_bytes: 6,
        copy_write_back_bytes: 7,
        copy_share_of_channel_bytes: Some(0.75),
        bandwidth_gb_s: Some(8.5),
        copy_share_of_cycles: None,
        misses_after_copies: 0,
        loads_checked: None,
        wrong_load: None,
        cores: vec![core_with_lines(10), CoreRow { network: None, ..core_with_lines(100) }],
    };
    let outcome = Outcome { figures: figures(), cores: Some(cores), ..Outcome::default() };
    let text = csv_file::results(&[report(outcome)]).unwrap();
    for (name, first) in [
        ("read_latency", 100),
        ("write_latency", 200),
        ("copy_latency", 300),
        ("copy_response", 400),
        ("blocked_by_copies", 500),
    ] {
        let columns = ["mean", "p50", "p99", "max"].map(|part| format!("{name}_{part}_ns"));
        let expected: Vec<String> = (first..first + 4).map(|ns| format!("{ns}.0")).collect();
        assert_eq!(cells(&text, &columns.each_ref().map(String::as_str)), expected, "{name}");
    }
    let columns = [
        "reads_row_hits",
        "writes_row_conflicts",
        "bandwidth_gb_s",
        "command_bus_share",
        "data_bus_share",
        "read_queue_mean_entries",
        "write_queue_max_entries",
        "energy_nj",
        "dynamic_energy_nj",
        "commands_RD",
        "energy_per_instruction_nj",
        "copy_share_of_channel_bytes",
    ];
    let expected = ["11", "16", "4.25", "0.125", "0.375", "1.5", "24", "900.25", "600.5", "26", "4.5", "0.75"];
    assert_eq!(cells(&text, &columns), expected);
    let columns = ["requested", "useful", "late", "useless", "dropped"].map(|count| format!("prefetches_{count}"));
    assert_eq!(cells(&text, &columns.each_ref().map(String::as_str)), ["110", "112", "114", "116", "118"]);
    let columns = ["injected_lines"];
    let expected = ["16"];
    assert_eq!(cells(&text, &columns), expected);
}

/// A copy of 90 ns and 20.5 nJ: against the reference 3 and 4 times as good, against a pair of one
/// bank 5 and 6 times.
#[test]
fn an_operation_has_its_ratios_in_their_columns() {
    let comparison = Comparison { latency_cycles: 240, energy_nj: Some(123.0), speedup: 5.0, energy_ratio: Some(6.0) };
    let operation = OperationRow {
        label: "copy".into(),
        mechanism: "fpm".into(),
        latency_cycles: 48,
        latency_ns: 90.0,
        energy_nj: Some(20.5),
        channel_bytes: 8_192,
        speedup: Some(3.0),
        energy_ratio: Some(4.0),
        against_same_bank: Some(comparison),
        ..OperationRow::default()
    };
    let reports = [report(Outcome { operations: vec![operation], ..Outcome::default() })];
    let text = run_tables::text(&reports, usize::MAX);
    assert!(
        lines(&text).contains(&"copy rowclone fpm 48 90.00 3.00x 5.00x 20.5 4.00x 6.00x 8,192".to_owned()),
        "{text}"
    );
    let columns = ["latency_ns", "speedup", "energy_ratio", "speedup_same_bank", "energy_ratio_same_bank"];
    assert_eq!(cells(&csv_file::operations(&reports).unwrap(), &columns), ["90.0", "3.0", "4.0", "5.0", "6.0"]);
}

#[test]
fn the_table_of_a_trace_has_each_count_in_its_row() {
    let trace = TraceReport {
        file: "a.trace".into(),
        format: "native",
        timing: "back-to-back".into(),
        latency_from: "acceptance",
        records: 1_001,
        skipped_records: 2,
        skipped_share: 0.002,
        accesses: 3,
        reads: 4,
        writes: 5,
        writebacks: 6,
        copies: 7,
        fills: 8,
        os_events: 9,
        page_faults: 5,
        page_fault_ns: 2_031.25,
        accesses_outside: 10,
        accesses_reserved: 11,
        skipped_outside: 12,
        skipped_reserved: 13,
        skipped: Vec::new(),
        late_records: 14,
        late_cycles_max: 15,
        writes_with_data: 16,
        is_data_used: false,
        pages: None,
    };
    let text = run_tables::text(&[report(Outcome { trace: Some(trace), ..Outcome::default() })], usize::MAX);
    let found = lines(&text);
    for line in [
        "records 1,001",
        "records left out, in whole or in part 2",
        "records of accesses 3",
        "reads played, lines 4",
        "writes played, lines 5",
        "writebacks played, lines 6",
        "copies played 7",
        "zeroings and fills played 8",
        "left out: accesses outside the memory 10",
        "left out: accesses to reserved rows 11",
        "left out: copies, fills outside 12",
        "left out: copies, fills, reserved rows 13",
    ] {
        assert!(found.iter().any(|found| found == line), "{line}: {text}");
    }
}

/// 1 of 4 frames is in use before and 3 of 4 after.
#[test]
fn the_table_of_the_memory_has_each_share_in_its_column() {
    let none = || TrafficReport {
        operations: 0,
        frames: 0,
        frames_by_mechanism: [].into(),
        share_by_mechanism: [].into(),
        fallbacks: [].into(),
        frames_by_cause: [].into(),
    };
    let state = |utilization, unusable_index| MemoryState {
        utilization,
        unusable_index,
        free_frames: 0,
        free_frames_by_order: vec![0; 11],
    };
    let allocator = AllocatorReport {
        policy: "buddy",
        sharing: "row-set",
        unit_frames: 2,
        frames: 4,
        reserved_row_bytes: 0,
        reserved_frames: 0,
        lost_frames: 0,
        lost_bytes: 8_192,
        huge_pages_wanted: 9,
        huge_pages_served: 7,
        copies: none(),
        zeroings: none(),
        before: state(0.25, 0.5),
        after: state(0.75, 0.125),
    };
    let found = lines(&allocator_tables::text(&[&allocator], usize::MAX));
    for line in
        ["buddy before 25.0 % 50.0 % 8 KiB 2 row-set 7 of 9", "buddy after 75.0 % 12.5 % 8 KiB 2 row-set 7 of 9"]
    {
        assert!(found.iter().any(|found| found == line), "{line}: {found:#?}");
    }
}

/// Two pages: 2,000, 300 and 400 core cycles are 1,000, 150 and 200 per page. 25 and 10 nJ of 50 are
/// 50 and 80 % less.
#[test]
fn the_table_of_zeroings_is_per_page_and_relative_to_the_baseline() {
    let method =
        |method, zero_cycles, use_cycles, energy_nj| ZeroingFigures { method, zero_cycles, use_cycles, energy_nj };
    let methods = [
        method("baseline", 2_000, 1_200, 50.0),
        method("rowclone", 300, 1_600, 25.0),
        method("rowclone-zi", 400, 600, 10.0),
    ];
    let table = ZeroingTable {
        schema_version: 1,
        machine: "paper".into(),
        baseline: "a loop".into(),
        rows: vec![ZeroingRow { pages: 2, methods: methods.into() }],
    };
    let found = lines(&table.to_text());
    assert_eq!(found.last().unwrap(), "2 1000 150 200 600 800 300 -50.0 % -80.0 %");
}

/// Of a channel copy of 1,046 ns and 3,600 nJ as published, 1,150.6 ns are 10 % more and 1,800 nJ are
/// 50 % less.
#[test]
fn the_table_of_the_paper_has_latency_and_energy_with_their_deviations() {
    let simulated = [Simulated { latency_ns: 1_150.6, latency_cycles: 614, energy_nj: 1_800.0 }; 6];
    let table = CopyTable::new(PublishedCopies::table3(), "set".into(), simulated, (1, 0.35));
    let found = lines(&table.to_text());
    let line = "copy/channel 1046 1150.60 614 +10.0 % 3600.0 1800.0 -50.0 %";
    assert!(found.iter().any(|found| found == line), "{found:#?}");
    assert!(found.iter().any(|found| found.contains("35.0 % simulated, about 40 % published")), "{found:#?}");
}
