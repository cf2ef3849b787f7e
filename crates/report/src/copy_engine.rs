//! The copy engine of Zhao et al. (ICCD 2005): published reductions of execution time beside simulated ones.

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize};

use crate::published::known;
use crate::required::{Comparisons, within};
use crate::table::Align::{Left, Right};
use crate::table::{COLUMNS_MAX, TextColumn, change, fitted, headers, listed, or_dash, whole, wrapped, wrapped_lines};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Payloads, bytes.
pub const PAYLOADS: [u64; 3] = [512, 1024, 1400];
/// Modes of the engine, by the names of their policies without `copy-engine-`.
pub const MODES: [&str; 3] = ["sync-nlb", "sync-wlb", "async"];
/// Cores.
pub const CORES: [&str; 2] = ["in-order", "out-of-order"];
/// Factors of the instructions besides the copies.
pub const WORK_SCALES: [f64; 3] = [1.0, 0.5, 2.0];
/// Bandwidths of figure 7, GB/s.
pub const BANDWIDTHS: [f64; 2] = [3.2, 6.4];
/// Mean latencies of figure 8, ns.
pub const LATENCIES: [u64; 3] = [110, 95, 80];

/// A remainder of more points is marked.
const REMAINDER_MAX: f64 = 1.0;

/// A reduction of the execution time, and its parts; percent of the time of BASE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// The reduction.
    pub overall: f64,
    /// Part of the faster copy.
    pub faster_copy: f64,
    /// Part of the overlap.
    pub overlap: f64,
}

/// Gains by payload, mode and core.
pub type Gains = [[[Option<Gain>; 2]; 3]; 3];

/// The published figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedGains {
    /// Table 2 of the paper, by payload, mode and core; none for a misprinted cell.
    #[serde(deserialize_with = "cells")]
    pub published: Gains,
    /// Figure 8: reductions relative to BASE at 110 ns, percent, of BASE and of the modes at each latency.
    #[serde(skip_serializing)]
    latencies: [[f64; 3]; 4],
    /// Figure 8: points by which the reductions of modes change.
    #[serde(skip_serializing)]
    changes: Vec<(String, f64)>,
    /// Why the parts may exceed the reduction.
    #[serde(skip_serializing)]
    remainder: String,
    /// The orderings.
    #[serde(skip_serializing)]
    orderings: Vec<PublishedOrdering>,
}

/// An ordering of published figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
struct PublishedOrdering {
    name: String,
    /// What is compared: 0 the reduction, 1 the part of the faster copy, 2 that of the overlap.
    part: usize,
    /// What differs between compared figures: 0 the payload, 1 the core, 2 the mode.
    over: usize,
    /// Whether the figures rise in the order of what differs.
    rises: bool,
    /// Why it fails, if it does not hold on the shipped machines.
    cause: String,
}

/// Gains in which a cell is a list of the reduction and its parts, or empty.
fn cells<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Gains, D::Error> {
    let gain = |cell: Vec<f64>| {
        let [overall, faster_copy, overlap] = cell[..] else { return None };
        Some(Gain { overall, faster_copy, overlap })
    };
    let cells = <[[[Vec<f64>; 2]; 3]; 3]>::deserialize(deserializer)?;
    Ok(cells.map(|modes| modes.map(|cores| cores.map(gain))))
}

/// Core cycles per packet of a run with an engine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EngineCycles {
    /// Core cycles per packet.
    pub cycles: f64,
    /// Those from `ecpy` to its completion.
    pub copy: f64,
    /// Those of them in which other instructions advanced.
    pub overlapped: f64,
}

/// Runs of a payload, a core and a factor of the instructions; core cycles per packet.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EngineRuns {
    /// Payload of a packet.
    pub payload_bytes: u64,
    /// Core.
    pub core: &'static str,
    /// Factor of the instructions besides the copies.
    pub work_scale: f64,
    /// Core cycles per packet of BASE.
    pub base: f64,
    /// Those of BASE without the copies.
    pub base_without_copies: f64,
    /// The modes `sync-nlb`, `sync-wlb` and `async`.
    pub modes: [EngineCycles; 3],
}

impl EngineRuns {
    /// The reduction in a mode, and its parts as they were counted: their sum may differ.
    pub fn gain(&self, mode: usize) -> Gain {
        let run = &self.modes[mode];
        let percent = |cycles: f64| 100.0 * cycles / self.base;
        Gain {
            overall: percent(self.base - run.cycles),
            faster_copy: percent(self.base - self.base_without_copies - run.copy),
            overlap: percent(run.overlapped),
        }
    }
}

impl Gain {
    /// Points of the reduction that its parts do not explain.
    fn remainder(&self) -> f64 {
        self.overall - self.faster_copy - self.overlap
    }

    fn text(&self) -> String {
        format!("{:.1} = {:.1} + {:.1}", self.overall, self.faster_copy, self.overlap)
    }
}

/// Times per packet of BASE and of the modes at a setting of the memory, ns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MemoryRuns {
    /// GB/s, or the mean latency in ns.
    pub setting: f64,
    /// Time per packet of BASE, then of the modes.
    pub packet_ns: [f64; 4],
}

/// An ordering of published figures in the simulated ones of a factor of the instructions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ordering {
    /// The ordering.
    pub ordering: String,
    /// Factor of the instructions besides the copies.
    pub work_scale: f64,
    /// Its comparisons.
    #[serde(flatten)]
    pub result: Comparisons,
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CopyEngineTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine files: with the in-order and the out-of-order core.
    pub machines: [String; 2],
    /// The receive program.
    pub program: String,
    /// What BASE does.
    pub baseline: String,
    /// Packets before the measured ones.
    pub warm_up: u64,
    /// Measured packets.
    pub packets: u64,
    /// Published figures.
    #[serde(flatten)]
    pub published: PublishedGains,
    /// Runs by factor of the instructions, payload and core.
    pub rows: Vec<EngineRuns>,
    /// Orderings, by factor.
    pub orderings: Vec<Ordering>,
    /// Cells of the table whose overall reduction lies within 6 and within 10 points of the published one, and all.
    pub cells_within: [usize; 3],
    /// Figure 7: packets of 1024 bytes on the out-of-order core at other bandwidths.
    pub bandwidths: Vec<MemoryRuns>,
    /// Figure 8: the same at other latencies.
    pub latencies: Vec<MemoryRuns>,
}

impl CopyEngineTable {
    /// The comparison of runs; the fields that follow from them are computed.
    ///
    /// # Panics
    /// If a factor, a core or a payload is missing.
    #[must_use]
    pub fn compared(self) -> CopyEngineTable {
        let known = &self.published.orderings;
        let of_scale = |scale| known.iter().map(move |known| (known, scale));
        let orderings =
            (0..WORK_SCALES.len()).flat_map(of_scale).map(|(known, scale)| self.ordering(known, scale)).collect();
        let distances: Vec<f64> =
            (0..CORES.len()).flat_map(|core| self.cells(core)).filter_map(|cell| cell.distance()).collect();
        let [within_6, within_10] = within(&distances);
        let cells_within = [within_6, within_10, distances.len()];
        CopyEngineTable { orderings, cells_within, ..self }
    }

    /// The row of the places of a payload, a core and a factor.
    fn row(&self, payload: usize, core: usize, scale: usize) -> &EngineRuns {
        &self.rows[(scale * CORES.len() + core) * PAYLOADS.len() + payload]
    }

    /// The cells of a core, by payload and mode.
    fn cells(&self, core: usize) -> Vec<GainCell> {
        let cell = |payload: usize, mode: usize| GainCell {
            payload_bytes: PAYLOADS[payload],
            mode: MODES[mode],
            published: self.published.published[payload][mode][core],
            simulated: self.row(payload, core, 0).gain(mode),
        };
        (0..PAYLOADS.len()).flat_map(|payload| (0..MODES.len()).map(move |mode| cell(payload, mode))).collect()
    }

    /// A published ordering under a factor of the instructions.
    fn ordering(&self, known: &PublishedOrdering, scale: usize) -> Ordering {
        // A figure with its name, of a payload, a core and a mode.
        let of = |[payload, core, mode]: [usize; 3]| {
            let gain = self.row(payload, core, scale).gain(mode);
            let parts = [gain.overall, gain.faster_copy, gain.overlap];
            (format!("{}, {} B, {}", CORES[core], PAYLOADS[payload], MODES[mode]), parts[known.part])
        };
        let over = known.over;
        let cores = |payload| (0..CORES.len()).map(move |core| [payload, core]);
        let cells = (0..PAYLOADS.len()).flat_map(cores);
        let mut cells: Vec<[usize; 3]> =
            cells.flat_map(|[payload, core]| (0..MODES.len()).map(move |mode| [payload, core, mode])).collect();
        // Cells that differ in one index alone follow each other.
        cells.sort_by_key(|cell| {
            let mut key = *cell;
            key[over..].rotate_left(1);
            key
        });
        let mut result = Comparisons::default();
        for pair in cells.windows(2).filter(|pair| pair[0][over] < pair[1][over]) {
            let [less, more] = if known.rises { [pair[0], pair[1]] } else { [pair[1], pair[0]] };
            let [(first, less), (second, more)] = [of(less), of(more)];
            result.add(less < more, || format!("{first} {less:.1} and {second} {more:.1}"));
        }
        Ordering { ordering: known.name.clone(), work_scale: WORK_SCALES[scale], result }
    }

    /// The tables for a terminal of 80 columns.
    pub fn to_text(&self) -> String {
        let [in_order, out_of_order] = &self.machines;
        let [within_6, within_10, all] = self.cells_within;
        let head = format!(
            "Copy engine (Zhao et al., ICCD 2005): receive processing of TCP/IP\n\
             machines {in_order} and {out_of_order}; program {}; {} packets after {}; BASE: {}\n\
             reduction of the execution time = part of the faster copy + part of the overlap, %",
            self.program, self.packets, self.warm_up, self.baseline
        );
        let near = format!(
            "overall reductions within 6 points of the published ones: {within_6} of {all}; within 10 points: \
             {within_10} of {all}; without the misprinted cell"
        );
        let mut text = wrapped_lines(&head, COLUMNS_MAX);
        for (place, core) in CORES.iter().enumerate() {
            let _ = write!(text, "\n{core}\n{}", gains(&self.cells(place)));
        }
        let notes = wrapped_lines(&format!("{}\n{near}", self.published.remainder), COLUMNS_MAX);
        let tables = [notes, self.cycles(), self.orderings(), self.figure_7(), self.figure_8()];
        text.extend(tables.map(|table| format!("\n{table}")));
        text
    }

    /// Core cycles per packet.
    fn cycles(&self) -> String {
        let rows = self.rows.iter().take(CORES.len() * PAYLOADS.len());
        let line = |row: &EngineRuns| {
            let modes = row.modes.map(|mode| format!("{} / {}", whole(mode.cycles), whole(mode.copy)));
            let base = [row.payload_bytes.to_string(), whole(row.base), whole(row.base_without_copies)];
            std::iter::once(row.core.to_owned()).chain(base).chain(modes).collect()
        };
        let columns =
            headers("<core cycles\nper packet|\nB|\nBASE|no\ncopies|all / of ecpy:\nsync-nlb|\nsync-wlb|\nasync");
        fitted(&columns, &rows.map(line).collect::<Vec<_>>(), COLUMNS_MAX)
    }

    /// A line per ordering, and the comparisons that fail.
    fn orderings(&self) -> String {
        let published = &self.published.orderings;
        let of = |place: usize| self.orderings.iter().skip(place).step_by(published.len());
        let line = |(place, known): (usize, &PublishedOrdering)| {
            let held: Vec<String> = of(place).map(|ordering| ordering.result.held()).collect();
            [&known.name, &held[1], &held[0], &held[2]].map(String::clone).into()
        };
        let lines: Vec<Vec<String>> = published.iter().enumerate().map(line).collect();
        let mut text = fitted(&headers("<ordering, with other instructions times|0.5|1|2"), &lines, COLUMNS_MAX);
        for (place, PublishedOrdering { name, cause, .. }) in published.iter().enumerate() {
            let failed = of(place)
                .flat_map(|it| it.result.failed.iter().map(|failed| format!("\ntimes {}: {failed}", it.work_scale)));
            let failed: String = failed.collect();
            if !failed.is_empty() {
                text += &wrapped_lines(&(format!("{name}: {cause}").trim_end().to_owned() + &failed), COLUMNS_MAX);
            }
        }
        text
    }

    fn figure_7(&self) -> String {
        let of = |run: usize, at: usize| self.bandwidths[run].packet_ns[at];
        let columns: [TextColumn<'_, usize>; 5] = [
            ("figure 7, 1024 B,\nout-of-order", Left, &|&at| name_of(at)),
            ("3.2 GB/s:\nns per packet", Right, &|&at| whole(of(0, at))),
            ("6.4 GB/s:\nns per packet", Right, &|&at| whole(of(1, at))),
            ("change:\nsimulated", Right, &|&at| change(of(1, at) / of(0, at))),
            ("\npublished", Right, &|_| "shorter".to_owned()),
        ];
        listed(&columns, &[0, 1, 2, 3], COLUMNS_MAX)
    }

    fn figure_8(&self) -> String {
        let base = self.latencies[0].packet_ns[0];
        let reduced = |run: usize, at: usize| 100.0 * (1.0 - self.latencies[run].packet_ns[at] / base);
        let own = |run: usize, at: usize| {
            let times = &self.latencies[run].packet_ns;
            100.0 * (1.0 - times[at] / times[0])
        };
        let line = |at: usize| {
            let published = self.published.latencies[at];
            let published = published.map(|percent| or_dash(known(percent), |percent| format!("{percent:.1}")));
            let simulated = [0, 1, 2].map(|run| reduced(run, at)).into_iter().chain([0, 1, 2].map(|run| own(run, at)));
            let simulated = simulated.map(|percent| format!("{percent:.1}"));
            std::iter::once(name_of(at)).chain(published).chain(simulated).collect()
        };
        let columns = headers(
            "<figure 8, 1024 B,\nout-of-order, %|published:\n110 ns|\n95|\n80|simulated:\n110 ns|\n95|\n80\
             |to BASE at the\nsame: 110 ns|\n95|\n80",
        );
        let moves = self.published.changes.iter().map(|(mode, points)| {
            let at = 1 + MODES.iter().position(|name| name == mode).expect("it is a mode");
            format!("{mode} {points} published, {:.1} simulated", (reduced(2, at) - reduced(0, at)).abs())
        });
        let moves: Vec<String> = moves.collect();
        let moves = format!("reductions relative to BASE at 110 ns; points from 110 to 80 ns: {}", moves.join("; "));
        fitted(&columns, &[0, 1, 2, 3].map(line), COLUMNS_MAX) + &wrapped(&moves, COLUMNS_MAX)
    }
}

/// A cell of table 2.
#[derive(Clone, Copy, Debug)]
struct GainCell {
    payload_bytes: u64,
    mode: &'static str,
    published: Option<Gain>,
    simulated: Gain,
}

impl GainCell {
    /// Points by which the overall reduction exceeds the published one.
    fn distance(&self) -> Option<f64> {
        self.published.map(|published| self.simulated.overall - published.overall)
    }
}

/// The cells of a core.
fn gains(cells: &[GainCell]) -> String {
    let remainder = |cell: &GainCell| {
        let remainder = cell.simulated.remainder();
        if remainder.abs() > REMAINDER_MAX { format!("{remainder:+.1}") } else { String::new() }
    };
    let columns: [TextColumn<'_, GainCell>; 6] = [
        ("\nB", Right, &|cell| cell.payload_bytes.to_string()),
        ("\nmode", Left, &|cell| cell.mode.to_owned()),
        ("\npublished", Right, &|cell| or_dash(cell.published, |gain| gain.text())),
        ("\nsimulated", Right, &|cell| cell.simulated.text()),
        ("\nremainder", Right, &remainder),
        ("overall,\noff by", Right, &|cell| or_dash(cell.distance(), |points| format!("{points:+.1}"))),
    ];
    listed(&columns, cells, COLUMNS_MAX)
}

/// BASE or a mode.
fn name_of(at: usize) -> String {
    if at == 0 { "BASE".to_owned() } else { MODES[at - 1].to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BASE takes 1000 cycles of 400 without copies. The modes gain 40, 50 and 60 %, in each payload 1 % more in the
    /// faster copy and 2 % less in the overlap, and 10 % less out of order. An overlap counts 2 % more than it gains.
    fn runs(payload: usize, core: usize, work_scale: f64) -> EngineRuns {
        let step = payload as f64 * 10.0;
        let mode = |mode: usize| EngineCycles {
            cycles: 600.0 - 100.0 * mode as f64 + 100.0 * core as f64 + step,
            copy: 250.0 - step + 100.0 * core as f64,
            overlapped: 70.0 + 100.0 * mode as f64 - 2.0 * step,
        };
        EngineRuns {
            payload_bytes: PAYLOADS[payload],
            core: CORES[core],
            work_scale,
            base: 1000.0,
            base_without_copies: 400.0,
            modes: [mode(0), mode(1), mode(2)],
        }
    }

    fn table() -> CopyEngineTable {
        let all = WORK_SCALES.iter().flat_map(|&scale| {
            (0..CORES.len()).flat_map(move |core| (0..PAYLOADS.len()).map(move |payload| runs(payload, core, scale)))
        });
        let memory = |setting: f64, packet_ns: [f64; 4]| MemoryRuns { setting, packet_ns };
        CopyEngineTable {
            schema_version: SCHEMA_VERSION,
            machines: ["zhao-2005-in-order", "zhao-2005-out-of-order"].map(str::to_owned),
            program: "tcp-receive".to_owned(),
            baseline: "a cached copy loop of 4-byte words, frames of `buddy`".to_owned(),
            warm_up: 1_200,
            packets: 2_000,
            published: crate::published::published("copyengine"),
            rows: all.collect(),
            orderings: Vec::new(),
            cells_within: [0; 3],
            bandwidths: vec![memory(3.2, [2000.0, 1500.0, 1200.0, 800.0]), memory(6.4, [1000.0, 900.0, 1100.0, 700.0])],
            latencies: vec![
                memory(110.0, [1000.0, 660.0, 500.0, 400.0]),
                memory(95.0, [900.0, 650.0, 495.0, 399.0]),
                memory(80.0, [800.0, 640.0, 490.0, 398.0]),
            ],
        }
    }

    #[test]
    fn parts_are_counted_and_the_rest_is_a_remainder() {
        let found = runs(0, 0, 1.0).gain(1);
        assert_eq!(found, Gain { overall: 50.0, faster_copy: 35.0, overlap: 17.0 });
        assert!((found.remainder() + 2.0).abs() < 1e-9);
    }

    /// 17 published cells. In order, `sync-nlb` is 2.5, 13.5 and 18.3 points off, `sync-wlb` 0.5, 9.9 and 13.2, and
    /// `async` 9.2 and 14.1; out of order it is 15.4, 7.1 and 4.2, 12.9, 8.9 and 2.3, and 1.5, 1.0 and 4.1.
    #[test]
    fn cells_are_counted_by_their_distance() {
        assert_eq!(table().compared().cells_within, [7, 11, 17]);
    }

    #[test]
    fn orderings_are_compared_under_each_factor() {
        let table = table().compared();
        let counts: Vec<(usize, usize)> =
            table.orderings.iter().map(|it| (it.result.comparisons, it.result.failed.len())).collect();
        assert_eq!(counts, [(12, 0), (9, 0), (12, 0), (12, 0)].repeat(3));
        let mut other = table;
        // The reduction falls from 50 to 30 %.
        other.rows[1].modes[1].cycles = 700.0;
        let other = other.compared();
        assert_eq!(
            other.orderings[0].result.failed,
            ["in-order, 1024 B, sync-nlb 39.0 and in-order, 1024 B, sync-wlb 30.0"],
            "and of async it is more"
        );
        assert_eq!(
            other.orderings[1].result.failed,
            ["out-of-order, 1024 B, sync-wlb 39.0 and in-order, 1024 B, sync-wlb 30.0"]
        );
    }

    #[test]
    fn the_tables_fit_80_columns_and_mark_remainders() {
        let text = table().compared().to_text();
        for line in text.lines() {
            assert!(line.chars().count() <= COLUMNS_MAX, "{line}");
        }
        let row = |start: &str| {
            let line = text.lines().find(|line| line.trim_start().starts_with(start)).unwrap();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(row("512  sync-nlb"), "512 sync-nlb 42.5 = 40.7 + 1.8 40.0 = 35.0 + 7.0 -2.0 -2.5");
        assert_eq!(row("512  async"), "512 async - 60.0 = 35.0 + 27.0 -2.0 -");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("within 6 points of the published ones: 7 of 17; within 10 points: 11 of 17"), "{text}");
        assert!(text.contains("sync-wlb 1 published, 1.0 simulated; async 0.2 published, 0.2 simulated"), "{text}");
    }
}
