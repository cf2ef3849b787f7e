//! A run of three listed operations, between which the rank enters every power state but slow exit.

use super::by_hand::Expected::{self, Count, Number, Text};

/// Of one channel and one rank.
pub(super) const SYSTEM: &str = r#"[device]
bin = "1066G"
density_gb = 2
width = 8
currents = "2 Gb x8 M-die 1600"
copy_activations = "counted"
precharge_power_down = "fast-exit"
[geometry]
channels = 1
ranks = 1
row_bytes = 4096
rows_per_subarray = 512
[refresh]
enabled = true
t_refi_ps = 7_800_000
postpone_max = 0
[address_map]
preset = "row-interleaved"
[controller]
power_down_after_cycles = 300
self_refresh_after_cycles = 2_000
"#;

pub(super) const SCENARIO: &str = r#"system = "sleep.toml"
policies = ["rowclone"]
seed = 1
[[operation]]
kind = "copy"
src = "other-bank"
dst = 0x0040_0000
bytes = 4096
at_cycle = 100
[[operation]]
kind = "read"
dst = 0x0080_0000
bytes = 256
at_cycle = 1_000
[[operation]]
kind = "write"
dst = 0x0080_0040
bytes = 64
at_cycle = 9_000
"#;

/// The power state of the rank from each clock on: 300 clocks after the last command PDE, with all banks closed and
/// then with one open; at 3,024 = 1,024 + 2,000 PDX, and after PREA SRE. The read and the write wake the rank.
pub(crate) const POWER_STATES: [(u64, i64); 6] = [(682, 2), (1_000, 0), (1_324, 1), (3_024, 0), (3_036, 3), (9_000, 0)];

/// One of each, nJ: V (IDD0 tRC - IDD3N tRAS - IDD2N (tRC - tRAS)) n at 1600K, that is 12 (70 x 39 - 55 x 28 - 43 x 11)
/// 1.25 ps; the bursts 12 (156 - 55) 5 and 12 (145 - 55) 5.
const ACTIVATE: f64 = 12.0 * (70.0 * 39.0 - 55.0 * 28.0 - 43.0 * 11.0) * 1.25 / 1e3;
const READ: f64 = 6.06;
const WRITE: f64 = 5.4;
const TRANSFER: f64 = 0.5 * READ + 0.5 * WRITE;
const READ_IO: f64 = 2.484;
const WRITE_IO: f64 = 12.72;
/// One mA of eight chips for a clock, nJ.
const MA: f64 = 1.5 * 8.0 * 1.875 / 1e3;
/// PSM takes 290 clocks; over the channel, the pair takes 546, and a pair in one bank 558.
const CHANNEL_COPY: f64 = 2.0 * ACTIVATE + 64.0 * (READ + READ_IO + WRITE + WRITE_IO);
const PSM_COPY: f64 = 2.0 * ACTIVATE + 64.0 * TRANSFER;

#[rustfmt::skip] // One field a line.
pub(super) const FIGURES: &[(&str, Expected)] = &[
    ("makespan_cycles", Count(9_522)),
    ("commands.ACT", Count(4)),
    ("commands.PRE", Count(3)),
    ("commands.PDE", Count(2)),
    ("commands.SRE", Count(1)),
    ("commands.PDX or SRX", Count(3)),
    // The refresh on entry, 86 clocks, counts as active power-down.
    ("energy_by_cause_nj.active_power_down", Number((3_024.0 - 1_324.0 + 86.0) * 50.0 * MA)),
    ("energy_by_cause_nj.precharge_power_down_fast_exit", Number((1_000.0 - 682.0) * 37.0 * MA)),
    ("energy_by_cause_nj.self_refresh", Number((9_000.0 - 3_036.0 - 86.0) * 12.0 * MA)),
    // A bank is open from 100 to 382, from 1,004 to 1,324, for four clocks before PREA, and from 9,091 on.
    ("energy_by_cause_nj.active_standby", Number((282.0 + 320.0 + 4.0 + 431.0) * 55.0 * MA)),
    ("energy_by_cause_nj.precharged_standby", Number((100.0 + 300.0 + 4.0 + 8.0 + 91.0) * 43.0 * MA)),
    ("operations.0.label", Text("copy 4 KiB, other-bank")),
    ("operations.0.mechanism", Text("psm")),
    ("operations.0.reasons.0", Text("psm: source and destination lie in different banks")),
    ("operations.0.fix.0", Text("source and destination lie in different banks: let the allocator take the destination from the source's subarray")),
    ("operations.0.arrival_cycle", Count(100)),
    ("operations.0.latency_cycles", Count(290)),
    ("operations.0.latency_ns", Number(290.0 * 1.875)),
    ("operations.0.energy_nj", Number(PSM_COPY)),
    ("operations.0.energy_by_cause_nj.activate", Number(2.0 * ACTIVATE)),
    ("operations.0.energy_by_cause_nj.transfer", Number(64.0 * TRANSFER)),
    ("operations.0.channel_bytes", Count(0)),
    // The copies before the read and the write differ, and neither waits for them.
    ("operations.0.speedup", Number(546.0 / 290.0)),
    ("operations.0.energy_ratio", Number(CHANNEL_COPY / PSM_COPY)),
    ("operations.1.speedup", Number(1.0)),
    ("operations.1.energy_ratio", Number(1.0)),
    ("operations.2.speedup", Number(1.0)),
    ("operations.2.energy_ratio", Number(1.0)),
    ("operations.0.against_same_bank.latency_cycles", Count(558)),
    ("operations.0.against_same_bank.energy_nj", Number(CHANNEL_COPY)),
    ("operations.0.against_same_bank.speedup", Number(558.0 / 290.0)),
    ("operations.0.against_same_bank.energy_ratio", Number(CHANNEL_COPY / PSM_COPY)),
    // tXP 4, tRCD 8, four RD 4 apart, CL 8, a burst 4.
    ("operations.1.label", Text("read 256 B")),
    ("operations.1.arrival_cycle", Count(1_000)),
    ("operations.1.latency_cycles", Count(4 + 8 + 3 * 4 + 8 + 4)),
    ("operations.1.latency_ns", Number(36.0 * 1.875)),
    ("operations.1.energy_nj", Number(ACTIVATE + 4.0 * (READ + READ_IO))),
    ("operations.1.energy_by_cause_nj.activate", Number(ACTIVATE)),
    ("operations.1.energy_by_cause_nj.read", Number(4.0 * READ)),
    ("operations.1.energy_by_cause_nj.read_io", Number(4.0 * READ_IO)),
    ("operations.1.channel_bytes", Count(256)),
    // tDLLK 512 from SRX to WR, CWL 6, a burst 4.
    ("operations.2.label", Text("write 64 B")),
    ("operations.2.arrival_cycle", Count(9_000)),
    ("operations.2.latency_cycles", Count(512 + 6 + 4)),
    ("operations.2.latency_ns", Number(522.0 * 1.875)),
    ("operations.2.energy_nj", Number(ACTIVATE + WRITE + WRITE_IO)),
    ("operations.2.energy_by_cause_nj.activate", Number(ACTIVATE)),
    ("operations.2.energy_by_cause_nj.write", Number(WRITE)),
    ("operations.2.energy_by_cause_nj.write_io", Number(WRITE_IO)),
    ("operations.2.channel_bytes", Count(64)),
];

/// `operations.csv`, by its columns.
#[rustfmt::skip] // One column a line.
pub(super) const OPERATIONS: &[(&str, [&str; 3])] = &[
    ("policy", ["rowclone", "rowclone", "rowclone"]),
    ("operation", ["copy 4 KiB, other-bank", "read 256 B", "write 64 B"]),
    ("mechanism", ["psm", "", ""]),
    ("reasons", ["psm: source and destination lie in different banks", "", ""]),
    ("arrival_cycle", ["100", "1000", "9000"]),
    ("latency_cycles", ["290", "36", "522"]),
    ("latency_ns", ["543.75", "67.5", "978.75"]),
    ("energy_nj", ["388.23", "44.931", "28.875"]),
    ("channel_bytes", ["0", "256", "64"]),
    ("speedup", ["1.8827586206896552", "1.0", "1.0"]),
    ("energy_ratio", ["4.450985240707828", "1.0", "1.0"]),
    ("speedup_same_bank", ["1.9241379310344828", "", ""]),
    ("energy_ratio_same_bank", ["4.450985240707828", "", ""]),
];
