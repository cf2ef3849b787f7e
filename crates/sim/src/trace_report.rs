//! Report of a recorded trace.

use host::{PageReport, ReplayOutcome, ReplaySettings, Timing};
use serde::Serialize;
use trace_io::trace::Format;

/// Counts of the records of a trace, played and skipped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceReport {
    /// Path of the trace, as the scenario names it.
    pub file: String,
    /// Format of the trace.
    pub format: &'static str,
    /// Arrival of the records, for example `window of 16 requests in flight`.
    pub timing: String,
    /// Event from which latencies of reads and writes count: `arrival, waiting for the queue included`, `acceptance
    /// into the queue`, or `arrival; of records without a time, from acceptance`.
    pub latency_from: &'static str,
    /// All records.
    pub records: u64,
    /// Records that were skipped, in whole or in part; each counts once.
    pub skipped_records: u64,
    /// `skipped_records` as a share of all records, 0 to 1.
    pub skipped_share: f64,
    /// Records of reads or writes.
    pub accesses: u64,
    /// Lines read by records of reads.
    pub reads: u64,
    /// Lines written by records of writes.
    pub writes: u64,
    /// Lines of victims written back with a read.
    pub writebacks: u64,
    /// Records of copies played.
    pub copies: u64,
    /// Records of zeroings and fills played.
    pub fills: u64,
    /// Page faults, forks and ends of processes. Their copies and zeroings count among `copies` and `fills`.
    pub os_events: u64,
    /// Page faults among `os_events`.
    pub page_faults: u64,
    /// CPU time of these page faults, apart from their copies and zeroings, ns.
    pub page_fault_ns: f64,
    /// Lines of accesses skipped: outside the memory.
    pub accesses_outside: u64,
    /// Skipped lines of accesses in a reserved row between usable ones.
    pub accesses_reserved: u64,
    /// Skipped copies and fills outside the usable memory.
    pub skipped_outside: u64,
    /// Skipped copies and fills in a reserved row between usable ones.
    pub skipped_reserved: u64,
    /// The first five skipped records, by line and reason.
    pub skipped: Vec<String>,
    /// Records whose time precedes that of an earlier record; they arrive at once.
    pub late_records: u64,
    /// Largest distance of a late record to the latest time before it, in clocks.
    pub late_cycles_max: u64,
    /// Writes whose data the trace has.
    pub writes_with_data: u64,
    /// Whether the run writes these data (with `--check`).
    pub is_data_used: bool,
    /// Page counts, if an allocator placed the pages.
    pub pages: Option<Box<PageReport>>,
}

/// Records and skipped records of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceTally {
    /// All records.
    pub records: u64,
    /// Records of which at least a part was skipped.
    pub skipped_records: u64,
}

/// Event from which latencies of reads and writes count.
fn latency_from(timing: Timing, format: &Format) -> &'static str {
    match timing {
        Timing::BackToBack | Timing::Window(_) => "acceptance into the queue",
        Timing::Recorded if format.timing == trace_io::trace::RecordTiming::Times => {
            "arrival; of records without a time, from acceptance"
        }
        Timing::Recorded | Timing::Instructions(_) => "arrival, waiting for the queue included",
    }
}

impl TraceReport {
    /// Creates the report of a replayed trace.
    pub(crate) fn new(
        name: String,
        format: &Format,
        settings: ReplaySettings,
        is_data_used: bool,
        outcome: &ReplayOutcome,
    ) -> TraceReport {
        let ReplayOutcome { counts, pages, wrong: _, has_times: _ } = outcome;
        let tally = TraceTally { records: counts.records, skipped_records: counts.skipped_records };
        TraceReport {
            file: name,
            format: format.name,
            timing: settings.timing.to_string(),
            latency_from: latency_from(settings.timing, format),
            records: tally.records,
            skipped_records: tally.skipped_records,
            skipped_share: tally.skipped_share(),
            accesses: counts.accesses,
            reads: counts.reads,
            writes: counts.writes,
            writebacks: counts.writebacks,
            copies: counts.copies,
            fills: counts.fills,
            os_events: counts.os_events,
            page_faults: counts.page_faults,
            page_fault_ns: counts.page_faults as f64 * settings.clock.ns(settings.fault),
            accesses_outside: counts.accesses_outside,
            accesses_reserved: counts.accesses_reserved,
            skipped_outside: counts.skipped_outside,
            skipped_reserved: counts.skipped_reserved,
            skipped: counts.skipped.iter().map(|skipped| format!("line {}: {}", skipped.line, skipped.why)).collect(),
            late_records: counts.late.records,
            late_cycles_max: counts.late.jump_max.0,
            writes_with_data: counts.writes_with_data,
            is_data_used,
            pages: pages.clone().map(Box::new),
        }
    }

    /// Records and skipped records.
    pub const fn tally(&self) -> TraceTally {
        TraceTally { records: self.records, skipped_records: self.skipped_records }
    }
}

impl TraceTally {
    /// Share of the records that were skipped, 0 to 1.
    pub fn skipped_share(self) -> f64 {
        self.skipped_records as f64 / self.records.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{Clock, Cycles};
    use host::{LateRecords, TraceCounts};

    use super::*;

    /// No two counts are equal.
    fn counts() -> TraceCounts {
        TraceCounts {
            records: 400,
            skipped_records: 5,
            accesses: 101,
            reads: 102,
            writes: 103,
            writebacks: 104,
            copies: 105,
            fills: 106,
            os_events: 107,
            page_faults: 115,
            accesses_outside: 108,
            accesses_reserved: 109,
            skipped_outside: 110,
            skipped_reserved: 111,
            skipped: Vec::new(),
            late: LateRecords { records: 112, jump_max: Cycles(113) },
            writes_with_data: 114,
        }
    }

    fn pages() -> PageReport {
        PageReport {
            settings: host::AllocatorSettings {
                policy: os_alloc_sim::Policy::Buddy,
                seed: 1,
                utilization: 0.0,
                fragmentation: 0.0,
                copy_unit: os_alloc_sim::CopyUnit::Page,
            },
            utilization_before: 0.0,
            fragmentation_before: 0.0,
            appeared: 1,
            copied: 2,
            filled: 3,
            freed: 4,
            copies_in_part: 5,
            fills_in_part: 6,
            fills_of_other_values: 7,
            allocator: crate::allocator_report::no_counts(),
        }
    }

    /// 5 of 400 records are 1.25 %.
    #[test]
    fn every_count_of_a_trace_is_its_own() {
        let format = Format::named("native").unwrap();
        let outcome = ReplayOutcome { has_times: true, counts: counts(), pages: Some(pages()), wrong: None };
        let settings = ReplaySettings {
            unusable: host::UnusableRecords::Skip,
            clock: Clock::DDR3_1066,
            timing: Timing::BackToBack,
            copier: host::ReplayCopier::Cpu,
            allocator: None,
            fault: Cycles(100),
        };
        let report = TraceReport::new("a.trace".to_owned(), format, settings, true, &outcome);
        let expected = TraceReport {
            file: "a.trace".to_owned(),
            format: "native",
            timing: Timing::BackToBack.to_string(),
            latency_from: "acceptance into the queue",
            records: 400,
            skipped_records: 5,
            skipped_share: 0.0125,
            accesses: 101,
            reads: 102,
            writes: 103,
            writebacks: 104,
            copies: 105,
            fills: 106,
            os_events: 107,
            page_faults: 115,
            page_fault_ns: 115.0 * 187.5,
            accesses_outside: 108,
            accesses_reserved: 109,
            skipped_outside: 110,
            skipped_reserved: 111,
            skipped: Vec::new(),
            late_records: 112,
            late_cycles_max: 113,
            writes_with_data: 114,
            is_data_used: true,
            pages: Some(Box::new(pages())),
        };
        assert_eq!(report, expected);
        assert_eq!(report.tally(), TraceTally { records: 400, skipped_records: 5 });
        assert!(TraceTally { records: 0, skipped_records: 0 }.skipped_share() == 0.0, "no record, no share");
    }
}
