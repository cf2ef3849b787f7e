//! Warnings about the results of a run, with their thresholds.

use dram_spec::{Clock, Cycle};
use rowclone_sim::quantity::{counted, grouped};
use rowclone_sim::{Backlog, Outcome, TraceReport, TraceTally};

use rowclone_config::{Scenario, Variant, Workload};

/// Share of skipped records, in percent, above which a run does not represent its trace.
const SKIPPED_PERCENT_MAX: u64 = host::RESERVED_PERCENT_MAX;

/// Reason why a run skipped too many records to represent its trace; none if it did not.
pub fn too_much_skipped(tally: TraceTally) -> Option<String> {
    let too_much = tally.skipped_records.saturating_mul(100) > tally.records.saturating_mul(SKIPPED_PERCENT_MAX);
    too_much.then(|| format!("{}, more than {SKIPPED_PERCENT_MAX} %", skipped(tally)))
}

/// Help for a run that skipped too many records.
pub const SKIPPED_HELP: &str = "give the system more memory, or play every record with `placement = \"allocator\"`; \
                                `--allow-skipped` accepts the run as it is";

/// `1,234 of 145,129 records of the trace (0.85 %) were left out`.
fn skipped(tally: TraceTally) -> String {
    let TraceTally { records, skipped_records } = tally;
    let percent = tally.skipped_share() * 100.0;
    let percent = if percent < 0.01 { "below 0.01".to_owned() } else { format!("{percent:.2}") };
    format!("{} of {} records of the trace ({percent} %) were left out", grouped(skipped_records), grouped(records))
}

/// Backlog, in percent of the requests of a run, above which the offered load exceeds the service rate.
const BACKLOG_PERCENT_MAX: u64 = 1;
/// Backlog, in requests, that the end of a short run may have without a warning.
const BACKLOG_MAX: u64 = 8;

/// Warning that requests arrived faster than they were served, with the backlog.
fn overload(backlog: Backlog, clock: Clock) -> Option<String> {
    let Backlog { offered, requests, wait } = backlog;
    let exceeds = requests > BACKLOG_MAX && requests.saturating_mul(100) > offered.saturating_mul(BACKLOG_PERCENT_MAX);
    exceeds.then(|| {
        format!(
            "the offered load exceeds the service rate: when the last of {} requests arrived, {} were waiting, and it \
                waited {:.1} ns \
             to be taken; latencies grow with the length of the run",
            grouped(offered),
            grouped(requests),
            clock.ns(wait)
        )
    })
}

/// Warnings about late records of a trace, and about data of a trace that the run does not use.
fn of_trace(trace: &TraceReport) -> Vec<String> {
    let TraceReport { late_records, late_cycles_max, writes_with_data, is_data_used, .. } = *trace;
    let mut warnings = Vec::new();
    if late_records > 0 {
        let (arrive, times) =
            if late_records == 1 { ("arrives", "its time precedes") } else { ("arrive", "their times precede") };
        warnings.push(format!(
            "{} of the trace {arrive} late, at once: {times} that of an earlier record, by up to {}",
            counted(late_records, "record"),
            counted(late_cycles_max, "clock")
        ));
    }
    if writes_with_data > 0 && !is_data_used {
        warnings.push(format!(
            "the data of {} of the trace are ignored: contents are modeled with `--check` only",
            counted(writes_with_data, "write")
        ));
    }
    warnings
}

/// Warnings of a run of a scenario, the most general first.
pub fn of_run(scenario: &Scenario, variant: Variant, run: &Outcome) -> Vec<String> {
    let (currents, geometry) = (scenario.system.memory.currents(), scenario.system.memory.system().geometry);
    let mut warnings = Vec::new();
    if let Some(replaced) = scenario.system.memory.system().bin.replaced() {
        warnings.push(format!("`device.timings` replaces timings of the speed bin, in clocks: {replaced}"));
    }
    if let Some(currents) = currents.filter(|currents| currents.density() != geometry.density()) {
        warnings.push(format!(
            "the currents `{}` are of {} chips, and the system has {} chips: its energies are those of another part",
            currents.name(),
            currents.density(),
            geometry.density()
        ));
    }
    if run.stats.whole.requests == 0 && run.stats.end < Cycle::ZERO + scenario.warm_up {
        warnings.push("nothing was counted: the run ended before its warm-up".to_string());
    } else if run.stats.whole.requests == 0 && run.cores.is_none() {
        warnings.push("no record was played: no record of the trace fits this memory".to_string());
    }
    if matches!(scenario.workload, Workload::Trace(_)) {
        let text = "no last-level cache is modeled: every recorded access, copy and zeroing goes to memory";
        warnings.push(text.to_owned());
    }
    if variant.placement.allocator().is_some() {
        warnings.push(match run.trace.as_ref().filter(|trace| trace.page_faults > 0) {
            None => {
                "no cores are modeled: page faults, system calls and page tables of the kernel take no time".to_owned()
            }
            Some(trace) => format!(
                "no cores are modeled: of the kernel, {} took {:.1} µs of CPU time (`workload.fault_time`) beside \
                 their copies and zeroings; system calls and page tables take no time",
                counted(trace.page_faults, "page fault"),
                trace.page_fault_ns / 1e3
            ),
        });
    }
    if let Some(tally) = run.trace.as_ref().map(TraceReport::tally).filter(|tally| tally.skipped_records > 0) {
        let placement = variant.placement.name().unwrap_or_default();
        let what = "in whole or in part, because they lie outside the memory or on reserved rows";
        warnings.push(format!("{placement}: {}, {what}", skipped(tally)));
    }
    warnings.extend(run.trace.iter().flat_map(of_trace));
    let label = variant.label("/");
    let overload = overload(run.backlog, scenario.system.memory.system().clock());
    warnings.extend(overload.map(|text| format!("{label}: {text}")));
    if run.dropped_activations > 0 {
        warnings.push(format!("{label}: {} copy activations were dropped by the chips", run.dropped_activations));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use dram_spec::Cycles;

    use super::*;

    /// 5 of 100 are 5 %, which is not more than 5 %; 501 of 10,000 are.
    #[test]
    fn more_than_five_percent_of_skipped_records_are_too_many() {
        let of = |skipped_records, records| too_much_skipped(TraceTally { records, skipped_records });
        assert_eq!([of(0, 0), of(5, 100), of(500, 10_000)], [None, None, None]);
        let text = "501 of 10,000 records of the trace (5.01 %) were left out, more than 5 %";
        assert_eq!(of(501, 10_000).as_deref(), Some(text));
        assert!(skipped(TraceTally { records: 100_000, skipped_records: 9 }).contains("(below 0.01 %)"));
    }

    /// Two records are late by up to 1,500 clocks; the data of 3 writes are used or not.
    #[test]
    fn late_records_and_ignored_data_are_warnings() {
        let trace = |late_records, late_cycles_max, is_data_used| TraceReport {
            file: "a.trace".to_owned(),
            format: "stl",
            timing: "recorded".to_owned(),
            latency_from: "arrival",
            records: 10,
            skipped_records: 0,
            skipped_share: 0.0,
            accesses: 10,
            reads: 7,
            writes: 3,
            writebacks: 0,
            copies: 0,
            fills: 0,
            os_events: 0,
            page_faults: 0,
            page_fault_ns: 0.0,
            accesses_outside: 0,
            accesses_reserved: 0,
            skipped_outside: 0,
            skipped_reserved: 0,
            skipped: Vec::new(),
            late_records,
            late_cycles_max,
            writes_with_data: 3,
            is_data_used,
            pages: None,
        };
        assert_eq!(of_trace(&trace(0, 0, true)), [] as [String; 0]);
        let late = "2 records of the trace arrive late, at once: their times precede that of an earlier record, by up \
            to \
                    1,500 clocks";
        assert_eq!(of_trace(&trace(2, 1_500, true)), [late]);
        let late = "1 record of the trace arrives late, at once: its time precedes that of an earlier record, by up to \
                    1 clock";
        assert_eq!(of_trace(&trace(1, 1, true)), [late]);
        let ignored = "the data of 3 writes of the trace are ignored: contents are modeled with `--check` only";
        assert_eq!(of_trace(&trace(0, 0, false)), [ignored]);
    }

    /// 9 requests are more than 8, and 11 of 1,000 are more than 1 %. 4 clocks of DDR3-1066 are 7.5 ns.
    #[test]
    fn a_backlog_of_more_than_a_percent_and_eight_requests_is_an_overload() {
        let of = |offered, requests| overload(Backlog { offered, requests, wait: Cycles(4) }, Clock::DDR3_1066);
        for (offered, requests) in [(20, 8), (900, 9), (1_000, 10), (1_000_000, 10_000)] {
            assert_eq!(of(offered, requests), None, "{requests} of {offered}");
        }
        for (offered, requests) in [(20, 9), (899, 9), (1_000, 11)] {
            assert!(of(offered, requests).is_some(), "{requests} of {offered}");
        }
        let text = of(2_000, 1_500).unwrap();
        assert!(
            text.contains("the last of 2,000 requests arrived, 1,500 were waiting, and it waited 7.5 ns"),
            "{text}"
        );
    }
}
