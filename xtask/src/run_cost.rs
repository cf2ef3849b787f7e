//! Instructions of `rowclone-sim run` per line, copy and record of a trace.

use std::fmt::Write as _;
use std::path::Path;

use super::instructions::{Cost, build, directory, per_unit};
use super::scenario::{DDR3_1600, PAPER, Scenario, instructions, per_unit_of};

/// A stream of requests whose instructions are measured on several systems.
struct Stream {
    scenario: Scenario<'static>,
    /// Counted unit: `instructions per line`.
    unit: &'static str,
    /// `workload.count` of the shorter of two runs. The longer run has twice the count.
    count: u64,
    /// Counted units per request or copy.
    units: u64,
    /// Numbers of channels, and the maximum instructions per unit on each of these systems.
    limits: &'static [(u64, i64)],
    map: &'static str,
    /// The record of a request, by its number, for streams that are also read from a trace.
    record: Option<fn(u64) -> String>,
}

/// Lines of the shorter of two runs: enough to fill the queues and the buckets of distributions in
/// both runs.
const LINES: u64 = 16_000;
const PAGE_LINES: u64 = 64;
/// Maximum instructions of a trace record in addition to its request.
const MOST_PER_RECORD: i64 = 300;

/// The same limit on 1 to 8 channels, or on 1 and 2.
macro_rules! flat {
    ($most:expr) => {
        &[(1, $most), (2, $most), (4, $most), (8, $most)]
    };
    (two $most:expr) => {
        &[(1, $most), (2, $most)]
    };
}

/// Settings under which a random line takes at most some percent of its instructions under the
/// defaults: name, settings, and percent.
const RATIOS: [(&str, &[&str], i64); 2] = [
    (
        "random, queues of 1,024 entries beside 64",
        &["system.controller.read_entries=1024", "system.controller.write_entries=1024"],
        130,
    ),
    ("random, 4 ranks beside 1", &["system.geometry.ranks=4"], 110),
];

const fn access(
    name: &'static str,
    limits: &'static [(u64, i64)],
    workload: &'static str,
    record: Option<fn(u64) -> String>,
) -> Stream {
    let scenario = Scenario { name, system: DDR3_1600, policy: "baseline", workload };
    Stream { scenario, unit: "instructions per line", count: LINES, units: 1, limits, map: "line-interleaved", record }
}

/// A stream of pages read and written over the channel: both lines of a pair are counted.
const fn by_page(stream: Stream) -> Stream {
    Stream { count: LINES / PAGE_LINES / 2, units: 2 * PAGE_LINES, ..stream }
}

const fn copy(
    name: &'static str,
    policy: &'static str,
    limits: &'static [(u64, i64)],
    workload: &'static str,
) -> Stream {
    let scenario = Scenario { name, system: PAPER, policy, workload };
    let (unit, map) = ("instructions per copy of 4 KB", "row-interleaved");
    Stream { scenario, unit, count: 500, units: 1, limits, map, record: None }
}

const STREAMS: [Stream; 8] = [
    access("sequential", flat!(1050), r#"kind = "stream""#, Some(sequential)),
    by_page(access(
        "64-reads-64-writes",
        flat!(1100),
        r#"kind = "page-copies", bytes = 65_536_000, by = "lines""#,
        Some(reads_then_writes),
    )),
    access("random", flat!(2150), r#"kind = "random", bytes = 0x4000_0000, write_share = 0.3"#, Some(random)),
    access(
        "random-50-cycles",
        flat!(1700),
        r#"kind = "random", bytes = 0x4000_0000, write_share = 0.3, gap_cycles = 50"#,
        None,
    ),
    by_page(access(
        "page-copies",
        &[(1, 250), (2, 400), (4, 800), (8, 1000)],
        r#"kind = "page-copies", bytes = 65_536_000"#,
        None,
    )),
    copy("psm", "psm-only", flat!(two 22_000), r#"kind = "page-copies", bytes = 0x4000_0000, pairs = "other-bank""#),
    copy("2-x-psm", "psm-only", flat!(two 30_000), r#"kind = "page-copies", bytes = 0x4000_0000, pairs = "same-bank""#),
    copy("fpm", "fpm-only", flat!(two 5500), r#"kind = "page-copies", bytes = 0x4000_0000, pairs = "same-subarray""#),
];

/// Measures all streams.
///
/// # Errors
///
/// A run that fails, a file that cannot be written, or no valgrind.
pub fn measure() -> Result<Vec<Cost>, String> {
    let program = build(&["-p", "rowclone-cli"], "rowclone-sim")?;
    let directory = directory()?;
    let mut costs = Vec::new();
    let mut row = |name: String, channels: u64, unit: &'static str, value: i64, limit: i64| {
        let name = format!("{name}; channels: {channels}");
        costs.push(Cost { name, unit, value: value as f64, limit: Some(limit as f64) });
    };
    for stream in &STREAMS {
        let (name, path) = (stream.scenario.name, stream.scenario.write(&directory)?);
        for &(channels, most) in stream.limits {
            let channels_set = format!("system.geometry.channels={channels}");
            let map = format!("system.address_map.preset={}", stream.map);
            let options = ["--set", &channels_set, "--set", &map];
            let generated = per_unit_of(&program, &path, &options, (stream.count, stream.units))?.cast_signed();
            row(name.to_string(), channels, stream.unit, generated, most);
            for (ratio, settings, most) in RATIOS.iter().filter(|_| name == "random" && channels == 1) {
                let settings = settings.iter().flat_map(|setting| ["--set", setting]);
                let options: Vec<&str> = options.into_iter().chain(settings).collect();
                let with = per_unit_of(&program, &path, &options, (stream.count, stream.units))?.cast_signed();
                row((*ratio).to_string(), channels, "percent", 100 * with / generated, *most);
            }
            if let Some(record) = stream.record {
                let run = |scenario: &Path| instructions(&program, scenario, &options);
                let traced = traced(&directory, name, run, record)?.cast_signed();
                let unit = "additional instructions per record";
                row(format!("{name} from a trace"), channels, unit, traced - generated, MOST_PER_RECORD);
            }
        }
    }
    Ok(costs)
}

/// Instructions per record of the runs of two text traces in the format `native`.
fn traced(
    directory: &Path,
    name: &str,
    run: impl Fn(&Path) -> Result<u64, String>,
    record: impl Fn(u64) -> String,
) -> Result<u64, String> {
    per_unit(LINES, 1, |records| {
        let trace = format!("{name}-{records}");
        let mut text = String::new();
        (0..records).for_each(|number| writeln!(text, "{}", record(number)).expect("a string takes all text"));
        let path = directory.join(format!("{trace}.trace"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        let workload = format!("kind = \"trace\", file = \"{trace}.trace\"");
        run(&Scenario { name: &trace, system: DDR3_1600, policy: "baseline", workload: &workload }.write(directory)?)
    })
}

fn line(number: u64) -> u64 {
    number * 64
}

fn sequential(number: u64) -> String {
    format!("R {:#x}", line(number))
}

/// Page 2i is read, then page 2i + 1 is written, at consecutive lines.
fn reads_then_writes(number: u64) -> String {
    let letter = if (number / PAGE_LINES).is_multiple_of(2) { 'R' } else { 'W' };
    format!("{letter} {:#x}", line(number))
}

/// Random lines in 1 GiB; three in ten are writes.
fn random(number: u64) -> String {
    let drawn = mix(number);
    let address = line(drawn % (1 << 30) / 64);
    let letter = if (drawn >> 32) % 10 < 3 { 'W' } else { 'R' };
    format!("{letter} {address:#x}")
}

/// Mixes a 64-bit number (`SplitMix64`).
const fn mix(number: u64) -> u64 {
    let value = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}
