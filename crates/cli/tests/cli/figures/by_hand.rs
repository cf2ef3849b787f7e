//! What the figures of the run are, each with how it comes about.
//!
//! DDR3-1066G, in clocks of 1.875 ns: CL 8, CWL 6, a burst 4, tRCD 8, tRP 8, tRAS 20, tWR 8, tRFC 86. Read hits take
//! 12 (8 and 4), write hits 10 (6 and 4); a miss takes 8 more, a conflict 16. Figures begin at 1,000 and end at 20,520:
//! 19,520 clocks, 36,600 ns, of two channels.

/// A value of a field.
#[derive(Debug)]
pub(super) enum Expected {
    Count(u64),
    Number(f64),
    Text(&'static str),
    True,
    False,
    Null,
    Empty,
}

use Expected::{Count, Empty, False, Null, Number, Text, True};

pub(super) const SCENARIO: &str = r#"system = "system.toml"
policies = ["rowclone"]
seed = 77
warm_up_cycles = 1_000
epoch_cycles = 12_345
[workload]
kind = "trace"
file = "native.trace"
"#;

/// The clock in ns.
const CK: f64 = 1.875;

/// 195 + 1 + 1 + 1 + 1 reads of 12, 16, 20 and 24 clocks are hits; two misses; the reads behind FPM (56) and PSM (78 -
/// 9 i); 11 conflicts; nine that were answered the clock after they arrived.
const READS: f64 = 195.0 * 12.0
    + (12.0 + 16.0 + 20.0 + 24.0)
    + 2.0 * 20.0
    + 56.0
    + (78.0 + 69.0 + 60.0 + 51.0 + 42.0)
    + 11.0 * 28.0
    + 9.0;
/// 7 and then 10, 14, .. 42; a miss; 14 conflicts.
const WRITES: f64 = 7.0 * 10.0 + 9.0 * (10.0 + 42.0) / 2.0 + 18.0 + 14.0 * 26.0;
/// FPM takes 20 + 20 + 8, the first zeroing 8 more to close the row of the read. PSM stops at 200, is idle until 222,
/// and ends at 326 + 8. Copies over the channel end 292, 450, 544 and 606 after they arrive: in the bank of the
/// destination, each takes 292, 158, 94 and 62 from ACT to ACT.
const COPIES: f64 = 10.0 * 48.0 + 8.0 + 5.0 * 334.0 + (292.0 + 450.0 + 544.0 + 606.0 - WAITS);
/// From 17,000 on, each copy over the channel opens its source 8 clocks after the PRE of the source before: at 272, 416
/// and 496.
const WAITS: f64 = 272.0 + 416.0 + 496.0;
/// Both channels, clocks.
const BOTH: f64 = 2.0 * 19_520.0;

#[rustfmt::skip] // One field a line.
pub(super) const FIGURES: &[(&str, Expected)] = &[
    ("schema_version", Count(9)),
    ("policy", Text("rowclone")),
    ("placement", Text("as-recorded")),
    ("scenario", Text("scenario")),
    ("controller", Text("fr-fcfs, open rows, 64 + 64 entries per channel, copies held to 200 clocks")),
    ("seed", Count(77)),
    ("currents", Text("2 Gb x8 -25E")),
    ("makespan_cycles", Count(20_520)),
    ("makespan_ns", Number(20_520.0 * CK)),
    ("latency_cycles", Count(20_520)),
    ("latency_ns", Number(20_520.0 * CK)),
    ("reference", Null),
    ("baseline", Text("copies over the memory channel")),
    ("fixed_arrivals", True),
    ("speedup", Null),
    ("read_latency_ratio", Null),
    ("write_latency_ratio", Null),
    ("copy_latency_ratio", Null),
    ("energy_ratio", Null),
    ("from_cycle", Count(1_000)),
    ("backlog_requests", Count(0)),
    ("backlog_wait_cycles", Count(0)),
    ("backlog_wait_ns", Number(0.0)),
    ("requests", Count(227 + 31 + 19)),
    ("reads.row_hits", Count(199)),
    ("reads.row_misses", Count(1 + 1 + 5 + 1)),
    ("reads.row_conflicts", Count(11)),
    ("writes.row_hits", Count(16)),
    ("writes.row_misses", Count(1)),
    ("writes.row_conflicts", Count(14)),
    ("forwarded", Count(9)),
    ("read_latency_cycles.count", Count(199 + 8 + 11 + 9)),
    ("read_latency_cycles.mean", Number(READS / 227.0)),
    ("read_latency_cycles.p50", Count(12)),
    ("read_latency_cycles.p99", Count(60)), // The 225th of 227: two are longer.
    ("read_latency_cycles.max", Count(78)),
    ("read_latency_ns.count", Count(227)),
    ("read_latency_ns.mean", Number(READS / 227.0 * CK)),
    ("read_latency_ns.p50", Number(12.0 * CK)),
    ("read_latency_ns.p99", Number(60.0 * CK)),
    ("read_latency_ns.max", Number(78.0 * CK)),
    ("write_latency_cycles.count", Count(16 + 1 + 14)),
    ("write_latency_cycles.mean", Number(WRITES / 31.0)),
    ("write_latency_cycles.p50", Count(26)),
    ("write_latency_cycles.p99", Count(42)),
    ("write_latency_cycles.max", Count(42)),
    ("write_latency_ns.count", Count(31)),
    ("write_latency_ns.mean", Number(WRITES / 31.0 * CK)),
    ("write_latency_ns.p50", Number(26.0 * CK)),
    ("write_latency_ns.p99", Number(42.0 * CK)),
    ("write_latency_ns.max", Number(42.0 * CK)),
    ("copy_latency_cycles.count", Count(10 + 5 + 4)),
    ("copy_latency_cycles.mean", Number(COPIES / 19.0)),
    ("copy_latency_cycles.p50", Count(56)), // Nine of 19 are shorter.
    ("copy_latency_cycles.p99", Count(334)),
    ("copy_latency_cycles.max", Count(334)),
    ("copy_latency_ns.count", Count(19)),
    ("copy_latency_ns.mean", Number(COPIES / 19.0 * CK)),
    ("copy_latency_ns.p50", Number(56.0 * CK)),
    ("copy_latency_ns.p99", Number(334.0 * CK)),
    ("copy_latency_ns.max", Number(334.0 * CK)),
    ("copy_response_cycles.count", Count(19)),
    ("copy_response_cycles.mean", Number((COPIES + WAITS) / 19.0)),
    ("copy_response_cycles.p50", Count(56)),
    ("copy_response_cycles.p99", Count(496 + 110)),
    ("copy_response_cycles.max", Count(496 + 110)),
    ("copy_response_ns.count", Count(19)),
    ("copy_response_ns.mean", Number((COPIES + WAITS) / 19.0 * CK)),
    ("copy_response_ns.p50", Number(56.0 * CK)),
    ("copy_response_ns.p99", Number(606.0 * CK)),
    ("copy_response_ns.max", Number(606.0 * CK)),
    // From the read's arrival until the bank can take an ACT: 208 after PSM began, 48 after FPM did.
    ("blocked_by_copies_cycles.count", Count(5 + 1)),
    ("blocked_by_copies_cycles.mean", Number((58.0 + 49.0 + 40.0 + 31.0 + 22.0 + 36.0) / 6.0)),
    ("blocked_by_copies_cycles.p50", Count(36)),
    ("blocked_by_copies_cycles.p99", Count(58)),
    ("blocked_by_copies_cycles.max", Count(58)),
    ("blocked_by_copies_ns.count", Count(6)),
    ("blocked_by_copies_ns.mean", Number(236.0 / 6.0 * CK)),
    ("blocked_by_copies_ns.p50", Number(36.0 * CK)),
    ("blocked_by_copies_ns.p99", Number(58.0 * CK)),
    ("blocked_by_copies_ns.max", Number(58.0 * CK)),
    ("preempted_for_reads", Count(5)),
    ("preempted_for_refresh", Count(0)),
    ("write_drains", Count(7 + 1 + 1 + 14)),
    ("unused_activates", Count(0)),
    ("channel_bytes", Count(64 * (338 + 151))),
    ("bandwidth_gb_s", Number(64.0 * 489.0 / 36_600.0)),
    ("command_bus_share", Number((72.0 + 10.0 + 70.0 + 338.0 + 151.0 + 2.0 + 2.0 * 320.0) / BOTH)),
    ("data_bus_share", Number(4.0 * 489.0 / BOTH)),
    // Each access from its arrival to the clock after its RD or WR: its latency without the 11 or 9 that follow it in a hit. Of accesses
    // that arrive at once, one is admitted per clock: four reads wait 0 to 3 clocks outside, nine writes 0 to 8, four copies 0 to 3.
    ("read_queue.mean_entries", Number((READS - 9.0 - 11.0 * 218.0 - 6.0) / BOTH)),
    ("read_queue.max_entries", Count(3)), // The fourth is admitted when the first is served.
    ("write_queue.mean_entries", Number((WRITES - 9.0 * 31.0 - 36.0) / BOTH)),
    ("write_queue.max_entries", Count(7)), // The ninth is admitted when two are served, and the third is.
    ("copy_queue.mean_entries", Number((COPIES + WAITS - 6.0) / 19_520.0)),
    ("copy_queue.max_entries", Count(4)),
    // Misses and conflicts; one per FPM; four per PSM that is preempted once; two per copy over the channel.
    ("commands.ACT", Count(8 + 11 + 1 + 14 + 10 + 5 * 4 + 4 * 2)),
    ("commands.ACT copy", Count(10)),
    ("commands.ACT dropped", Count(0)),
    ("commands.PDE", Count(0)),
    ("commands.PDX or SRX", Count(0)),
    // Conflicts; one per FPM, and before the first zeroing; four per PSM, and of the read's row; two per copy; before a REF.
    ("commands.PRE", Count(11 + 14 + 10 + 1 + 5 * 5 + 4 * 2 + 1)),
    ("commands.RD", Count(199 + 8 + 11 + 64 + 32 + 16 + 8)),
    ("commands.REF", Count(2)),
    ("commands.SRE", Count(0)),
    ("commands.TRANSFER", Count(5 * 64)),
    ("commands.WR", Count(31 + 64 + 32 + 16 + 8)),
    ("parts.0.mechanism", Text("fpm")),
    ("parts.0.reason", Null),
    ("parts.0.count", Count(10)),
    ("parts.0.bytes", Count(10 * 4096)),
    ("parts.1.mechanism", Text("psm")),
    ("parts.1.reason", Text("other-bank")),
    ("parts.1.count", Count(5)),
    ("parts.1.bytes", Count(5 * 4096)),
    ("parts.2.mechanism", Text("channel")),
    ("parts.2.reason", Text("other-channel")),
    ("parts.2.count", Count(1)),
    ("parts.2.bytes", Count(4096)),
    ("parts.3.mechanism", Text("channel")),
    ("parts.3.reason", Text("partial-row")),
    ("parts.3.count", Count(3)),
    ("parts.3.bytes", Count(2048 + 1024 + 512)),
    ("served.0.operation", Text("copy")),
    ("served.0.mechanism", Text("fpm")),
    ("served.0.reason", Null),
    ("served.0.count", Count(1)),
    ("served.0.bytes", Count(4096)),
    ("served.0.share_of_bytes", Number(4096.0 / 32_256.0)),
    ("served.1.operation", Text("copy")),
    ("served.1.mechanism", Text("psm")),
    ("served.1.reason", Text("other-bank")),
    ("served.1.count", Count(5)),
    ("served.1.bytes", Count(20_480)),
    ("served.1.share_of_bytes", Number(20_480.0 / 32_256.0)),
    ("served.2.operation", Text("copy")),
    ("served.2.mechanism", Text("channel")),
    ("served.2.reason", Text("other-channel")),
    ("served.2.count", Count(1)),
    ("served.2.bytes", Count(4096)),
    ("served.2.share_of_bytes", Number(4096.0 / 32_256.0)),
    ("served.3.operation", Text("copy")),
    ("served.3.mechanism", Text("channel")),
    ("served.3.reason", Text("partial-row")),
    ("served.3.count", Count(3)),
    ("served.3.bytes", Count(3584)),
    ("served.3.share_of_bytes", Number(3584.0 / 32_256.0)),
    ("served.4.operation", Text("init")),
    ("served.4.mechanism", Text("fpm")),
    ("served.4.reason", Null),
    ("served.4.count", Count(9)),
    ("served.4.bytes", Count(9 * 4096)),
    ("served.4.share_of_bytes", Number(1.0)),
    ("dropped_activations", Count(0)),
    ("operations", Empty),
    ("allocator", Null),
    ("trace.format", Text("native")),
    ("trace.timing", Text("as recorded")),
    ("trace.os_events", Count(0)),
    ("trace.page_faults", Count(0)),
    ("trace.page_fault_ns", Number(0.0)),
    ("trace.records", Count(228 + 32 + 10 + 9)),
    ("trace.skipped_records", Count(0)),
    ("trace.skipped_share", Number(0.0)),
    ("trace.accesses", Count(228 + 32)),
    ("trace.reads", Count(228)),
    ("trace.writes", Count(32)),
    ("trace.writebacks", Count(0)),
    ("trace.copies", Count(10)),
    ("trace.fills", Count(9)),
    ("trace.accesses_outside", Count(0)),
    ("trace.accesses_reserved", Count(0)),
    ("trace.skipped_outside", Count(0)),
    ("trace.skipped_reserved", Count(0)),
    ("trace.skipped", Empty),
    ("trace.latency_from", Text("arrival; of records without a time, from acceptance")),
    ("trace.late_records", Count(0)),
    ("trace.late_cycles_max", Count(0)),
    ("trace.writes_with_data", Count(0)),
    ("trace.is_data_used", False),
    ("trace.pages", Null),
    ("check.dialect", Text("rowclone")),
    ("check.violations", Count(0)),
    ("check.first_violations", Empty),
    ("check.memory_equal", True),
    ("check.memory_mismatch", Null),
    ("warnings.0", Text("no last-level cache is modeled: every recorded access, copy and zeroing goes to memory")),
];

/// One of each cause, nJ, with `2 Gb x8 -25E` (docs/energy.md): ACT 24.75, RD 15.6, WR 19.8, REF 403.2; I/O 2.484 and
/// 12.72.
const ACTIVATE: f64 = 72.0 * 24.75;
const COPY_ACTIVATION: f64 = 10.0 * 24.75;
const READ: f64 = 338.0 * 15.6;
const WRITE: f64 = 151.0 * 19.8;
const TRANSFER: f64 = 320.0 * (15.6 + 19.8) / 2.0;
const READ_IO: f64 = 338.0 * 2.484;
const WRITE_IO: f64 = 151.0 * 12.72;
const REFRESH: f64 = 2.0 * 403.2;
const OPERATION: f64 = ACTIVATE + COPY_ACTIVATION + READ + WRITE + TRANSFER + READ_IO + WRITE_IO;
/// Clocks of a rank with a bank open, or in a REF. Bank 0 of channel 0 is open up to 20,000 and from 20,500 on; in
/// channel 1, each copy opens its source from ACT to PRE.
const ACTIVE: f64 = (19_000.0 + 86.0 + 20.0) + (264.0 + 136.0 + 72.0 + 40.0) + 86.0;
/// 1.5 V x 8 chips x 65 mA, or 50 mA, x 1.875 ns.
const ACTIVE_STANDBY: f64 = ACTIVE * 1.4625;
const PRECHARGED_STANDBY: f64 = (BOTH - ACTIVE) * 1.125;

pub(super) const ENERGIES: &[(&str, Expected)] = &[
    ("energy_nj", Number(OPERATION + REFRESH + ACTIVE_STANDBY + PRECHARGED_STANDBY)),
    ("dynamic_energy_nj", Number(OPERATION)),
    ("energy_by_cause_nj.activate", Number(ACTIVATE)),
    ("energy_by_cause_nj.copy_activation", Number(COPY_ACTIVATION)),
    ("energy_by_cause_nj.read", Number(READ)),
    ("energy_by_cause_nj.write", Number(WRITE)),
    ("energy_by_cause_nj.transfer", Number(TRANSFER)),
    ("energy_by_cause_nj.read_io", Number(READ_IO)),
    ("energy_by_cause_nj.write_io", Number(WRITE_IO)),
    ("energy_by_cause_nj.refresh", Number(REFRESH)),
    ("energy_by_cause_nj.active_standby", Number(ACTIVE_STANDBY)),
    ("energy_by_cause_nj.precharged_standby", Number(PRECHARGED_STANDBY)),
    ("io_share_of_dynamic_energy", Number((READ_IO + WRITE_IO) / OPERATION)),
];

/// The last zeroing arrives at 13,300 and is done at 13,348: it counts in the second epoch, of 7,175 clocks. There the
/// six last reads and the copies of PSM and over the channel are, too.
#[rustfmt::skip] // One field a line.
pub(super) const EPOCHS: &[(&str, Expected)] = &[
    ("epochs.0.from_cycle", Count(1_000)),
    ("epochs.0.to_cycle", Count(13_345)),
    ("epochs.0.requests", Count(221 + 31 + 9)),
    ("epochs.0.read_latency_cycles.mean", Number((READS - 320.0) / 221.0)),
    ("epochs.0.copy_latency_cycles.mean", Number((9.0 * 48.0 + 8.0) / 9.0)),
    ("epochs.0.channel_bytes", Count(64 * (212 + 31))),
    ("epochs.0.commands.PRE", Count(11 + 14 + 10 + 1)),
    ("epochs.1.from_cycle", Count(13_345)),
    ("epochs.1.to_cycle", Count(20_520)),
    ("epochs.1.requests", Count(6 + 10)),
    ("epochs.1.read_latency_cycles.mean", Number((300.0 + 20.0) / 6.0)),
    ("epochs.1.copy_latency_cycles.mean", Number((COPIES - 9.0 * 48.0 - 8.0) / 10.0)),
    ("epochs.1.channel_bytes", Count(64 * (126 + 120))),
    ("epochs.1.bandwidth_gb_s", Number(64.0 * 246.0 / (7_175.0 * CK))),
    ("epochs.1.data_bus_share", Number(4.0 * 246.0 / (2.0 * 7_175.0))),
    ("epochs.1.copy_queue.mean_entries", Number((COPIES + WAITS - 6.0 - 9.0 * 48.0 - 8.0 - 45.0) / 7_175.0)),
    ("epochs.1.commands.PRE", Count(5 * 5 + 4 * 2 + 1)),
];

/// Columns of a sweep alone.
#[rustfmt::skip] // One field a line.
pub(super) const SWEEP: &[(&str, Expected)] = &[
    ("copies_by_channel_share", Number((4096.0 + 3584.0) / 32_256.0)),
    ("copies_by_psm_share", Number(20_480.0 / 32_256.0)),
    ("copies_by_psm2_share", Number(0.0)),
    ("copies_by_fpm_share", Number(4096.0 / 32_256.0)),
    ("inits_by_channel_share", Number(0.0)),
    ("inits_by_psm_share", Number(0.0)),
    ("inits_by_psm2_share", Number(0.0)),
    ("inits_by_fpm_share", Number(1.0)),
    ("decisions", Text("copy fpm - 1 4096; copy psm other-bank 5 20480; copy channel other-channel 1 4096; copy channel partial-row 3 3584; init fpm - 9 36864")),
    ("reserved_rows_share", Number(129.0 / 65_536.0)),
];

/// The first three sections of the table, with single spaces.
pub(super) const TABLE: &[&str] = &[
    "rowclone/as-recorded",
    "requests 277",
    "makespan, clocks 20,520",
    "makespan, ns 38475.00",
    "latency compared, ns 38475.00",
    "speedup -",
    "energy ratio -",
    "counted from clock 1,000",
    "read latency, mean ns 25.81",
    "read latency, p50 ns 22.50",
    "read latency, p99 ns 112.50",
    "read latency, max ns 146.25",
    "write latency, mean ns 41.49",
    "write latency, p50 ns 48.75",
    "write latency, p99 ns 78.75",
    "write latency, max ns 78.75",
    "reads, row hits 199",
    "reads, row misses 8",
    "reads, row conflicts 11",
    "reads forwarded from writes 9",
    "writes, row hits 16",
    "writes, row misses 1",
    "writes, row conflicts 14",
    "write drains 23",
    "bandwidth, GB/s 0.86",
    "data bus in use 5.01 %",
    "command bus in use 3.29 %",
    "read queue, mean entries 0.02",
    "read queue, max entries 3",
    "write queue, mean entries 0.01",
    "write queue, max entries 7",
    "copy latency, mean ns 282.83",
    "copy latency, p50 ns 105.00",
    "copy latency, p99 ns 626.25",
    "copy latency, max ns 626.25",
    "copy response, mean ns 399.67",
    "copy response, p50 ns 105.00",
    "copy response, p99 ns 1136.25",
    "copy response, max ns 1136.25",
    "copies in progress, mean entries 0.21",
    "copies in progress, max entries 4",
    "reads blocked by copies 6",
    "read blocked by a copy, mean ns 73.75",
    "read blocked by a copy, p50 ns 67.50",
    "read blocked by a copy, p99 ns 108.75",
    "read blocked by a copy, max ns 108.75",
    "threads preempted for reads 5",
    "dynamic energy, nJ 18716.4",
    "total energy, nJ 70092.9",
    "I/O share of dynamic energy 14.7 %",
    "channel bytes 31,296",
    "ACT commands 72",
    "ACT copy commands 10",
    "PRE commands 70",
    "RD commands 338",
    "REF commands 2",
    "TRANSFER commands 320",
    "WR commands 151",
    "Energy by cause, nJ",
    "rowclone/as-recorded",
    "activate 1782.0",
    "copy activation 247.5",
    "read 5272.8",
    "write 2989.8",
    "transfer 5664.0",
    "read I/O 839.6",
    "write I/O 1920.7",
    "refresh 806.4",
    "active standby 28817.1",
    "precharged standby 21753.0",
    "Parts by mechanism and reason",
    "policy of mechanism reason parts bytes share",
    "rowclone/as-recorded copy fpm - 1 4 KiB 12.7 %",
    "rowclone/as-recorded copy psm other-bank 5 20 KiB 63.5 %",
    "rowclone/as-recorded copy channel other-channel 1 4 KiB 12.7 %",
    "rowclone/as-recorded copy channel partial-row 3 3,584 B 11.1 %",
    "rowclone/as-recorded init fpm - 9 36 KiB 100.0 %",
];
