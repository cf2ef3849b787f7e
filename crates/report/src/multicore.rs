//! Mixes of copy-intensive and memory-intensive programs: published figures beside simulated ones.

use std::fmt::{self, Write as _};

use rowclone_sim::{CoresReport, MixMetrics};
use serde::{Deserialize, Serialize, Serializer};

use crate::plot::{Chart, Joined, Point, Series, Spacing, Unit};
use crate::programs::core_table;
use crate::published::{axis, line_chart};
use crate::table::{aligned, change, headers, or_dash};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// The six figures in the order of the paper's table: keys in JSON, and names.
const FIGURES: [(&str, &str); 6] = [
    ("weighted_speedup", "weighted speedup"),
    ("instruction_throughput", "instruction throughput"),
    ("harmonic_speedup", "harmonic speedup"),
    ("maximum_slowdown", "maximum slowdown"),
    ("bytes_per_instruction", "bandwidth per instruction"),
    ("energy_per_instruction_nj", "energy per instruction"),
];
const WEIGHTED_SPEEDUP: usize = 0;
const ENERGY: usize = 5;

/// Distance of the lines' ends from the marks, as a share.
const MARGIN: f64 = 0.02;

/// Name of a series.
fn cores_name(cores: usize) -> String {
    format!("{cores} cores")
}

/// Published changes by RowClone-ZI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedChanges {
    /// Number of cores.
    pub cores: usize,
    /// Ratios to the baseline.
    pub ratios: MixFigures,
}

/// Published figures of `MICRO` 2013, section 7.4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedMixes {
    /// Of RowClone-ZI.
    pub published: Vec<PublishedChanges>,
    /// Weighted speedups of other methods relative to the baseline, on a number of cores.
    #[serde(skip_serializing)]
    others: Vec<(String, usize, f64)>,
}

/// Figures of a mix, or their ratios to the baseline: sum of IPC together / IPC alone; sum of IPC; number of programs /
/// sum of IPC alone / IPC together; greatest IPC alone / IPC together; bytes over the memory channels per instruction;
/// DRAM energy per instruction, with background and refresh, nJ.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct MixFigures([f64; 6]);

/// A map with a key per figure.
impl Serialize for MixFigures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(FIGURES.iter().map(|(key, _)| key).zip(self.0))
    }
}

impl MixFigures {
    /// Arithmetic mean.
    fn mean(all: &[MixFigures]) -> MixFigures {
        let mean = |figure: usize| all.iter().map(|figures| figures.0[figure]).sum::<f64>() / all.len() as f64;
        MixFigures(std::array::from_fn(mean))
    }
}

/// A run of a mix under a method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixRun {
    /// Program of each core.
    pub programs: Vec<String>,
    /// Instructions per cycle of each program alone on the machine under the baseline.
    pub alone_ipc: Vec<f64>,
    /// Metrics.
    pub metrics: MixMetrics,
    /// Report of the cores.
    pub report: CoresReport,
}

impl MixRun {
    fn figures(&self) -> MixFigures {
        let MixMetrics { weighted_speedup, instruction_throughput, harmonic_speedup, maximum_slowdown } = self.metrics;
        let instructions = self.report.instructions as f64;
        let bytes = self.report.channel_bytes as f64 / instructions;
        let energy = self.report.energy_nj.expect("the caller refuses a machine without currents") / instructions;
        MixFigures([weighted_speedup, instruction_throughput, harmonic_speedup, maximum_slowdown, bytes, energy])
    }
}

/// The runs of all mixes under a method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MethodRuns {
    /// Copy method.
    pub method: &'static str,
    /// Mean of the mixes.
    pub mean: MixFigures,
    /// Mean of the ratios to the baseline of each mix.
    pub ratios: MixFigures,
    /// Share of copies and zeroings in the bytes over the channels, 0 to 1; mean of the mixes.
    pub copy_share_of_channel_bytes: f64,
    /// Each mix.
    pub runs: Vec<MixRun>,
}

impl MethodRuns {
    /// Computes the means; the ratios follow in [`MulticoreRow::new`].
    pub fn new(method: &'static str, runs: Vec<MixRun>) -> MethodRuns {
        let figures: Vec<MixFigures> = runs.iter().map(MixRun::figures).collect();
        let shares = runs.iter().map(|run| run.report.copy_share_of_channel_bytes.unwrap_or(0.0));
        MethodRuns {
            method,
            mean: MixFigures::mean(&figures),
            ratios: MixFigures([1.0; 6]),
            copy_share_of_channel_bytes: shares.sum::<f64>() / runs.len() as f64,
            runs,
        }
    }
}

/// A number of cores under a scheduler.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MulticoreRow {
    /// Cores.
    pub cores: usize,
    /// Scheduler.
    pub scheduler: String,
    /// The methods, the baseline first.
    pub methods: Vec<MethodRuns>,
}

impl MulticoreRow {
    /// Computes the ratios of the methods to the first one.
    pub fn new(cores: usize, scheduler: String, mut methods: Vec<MethodRuns>) -> MulticoreRow {
        let baseline: Vec<MixFigures> = methods[0].runs.iter().map(MixRun::figures).collect();
        for method in &mut methods {
            let ratio = |(run, base): (&MixRun, &MixFigures)| {
                let figures = run.figures();
                MixFigures(std::array::from_fn(|figure| figures.0[figure] / base.0[figure]))
            };
            let ratios: Vec<MixFigures> = method.runs.iter().zip(&baseline).map(ratio).collect();
            method.ratios = MixFigures::mean(&ratios);
        }
        MulticoreRow { cores, scheduler, methods }
    }

    /// The weighted speedup of each mix under a method relative to the baseline, over its copy share under the
    /// baseline.
    fn gains(&self, method: usize) -> Series {
        let point = |(base, run): (&MixRun, &MixRun)| Point {
            x: base.report.copy_share_of_channel_bytes.unwrap_or(0.0),
            values: vec![run.metrics.weighted_speedup / base.metrics.weighted_speedup],
        };
        let mut points: Vec<Point> = self.methods[0].runs.iter().zip(&self.methods[method].runs).map(point).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: cores_name(self.cores), points }
    }
}

/// Length of the regions of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RegionLength {
    /// Equal instructions of each program.
    Instructions {
        /// Instructions of each program before its region.
        warm_up: u64,
        /// Instructions of each region.
        instructions: u64,
    },
    /// Equal times of each program alone under the baseline.
    Cycles {
        /// Core cycles before the region.
        warm_up_cycles: u64,
        /// Core cycles of the region.
        cycles: u64,
    },
}

impl fmt::Display for RegionLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegionLength::Instructions { warm_up, instructions } => {
                write!(f, "regions of {instructions} instructions after a warm-up of {warm_up}")
            }
            RegionLength::Cycles { warm_up_cycles, cycles } => {
                write!(f, "regions that take {cycles} core cycles alone after a warm-up of {warm_up_cycles}")
            }
        }
    }
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MulticoreTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// What the baseline does, to which all ratios refer.
    pub baseline: String,
    /// Seed of the programs.
    pub seed: u64,
    /// Programs of the mixes: `generated` or `recorded`.
    pub programs: &'static str,
    /// Mixes per number of cores.
    pub mixes: u64,
    /// Length of regions.
    #[serde(flatten)]
    pub length: RegionLength,
    /// Files that replace the programs of the first cores.
    pub traces: Vec<String>,
    /// Published figures.
    #[serde(flatten)]
    pub published: PublishedMixes,
    /// Simulated rows, by number of cores and scheduler.
    pub rows: Vec<MulticoreRow>,
}

impl MulticoreTable {
    /// The tables for a terminal; with `details`, a line per core of each run.
    pub fn to_text(&self, details: bool) -> String {
        let mut text = format!(
            "RowClone (MICRO 2013), multi-core: copy-intensive programs on even cores, memory-intensive ones on odd \
                cores\n\
             machine {}; changes refer to the baseline, {}\n\
             means of {} mixes of {} programs; {}\n",
            self.machine, self.baseline, self.mixes, self.programs, self.length
        );
        for (core, trace) in self.traces.iter().enumerate() {
            let _ = writeln!(text, "core {core}: {trace}");
        }
        let _ = write!(text, "\n{}\n{}", self.methods(), self.comparison());
        let methods = self.rows.iter().flat_map(|row| row.methods.iter().map(move |method| (row, method)));
        let runs = methods.flat_map(|(row, method)| method.runs.iter().map(move |run| (row, method, run)));
        for (row, method, run) in runs.filter(|_| details) {
            let (programs, cores) = (run.programs.join(", "), core_table(&run.report.cores));
            let _ = write!(text, "\n{}, {}: {programs}\n{cores}", row.scheduler, method.method);
        }
        text
    }

    /// The gain of each mix over the copy share of its baseline, with the published means as lines, under the first
    /// scheduler.
    pub fn chart(&self) -> Chart {
        let zi = |row: &MulticoreRow| row.methods.iter().position(|it| it.method == "rowclone-zi");
        let scheduler = self.rows.first().map_or("", |row| &row.scheduler);
        let rows: Vec<&MulticoreRow> = self.rows.iter().filter(|row| row.scheduler == scheduler).collect();
        let series: Vec<Series> = rows.iter().filter_map(|row| Some(row.gains(zi(row)?))).collect();
        let shares = || series.iter().flat_map(|series| &series.points).map(|point| point.x);
        let from = (shares().fold(1.0, f64::min) - MARGIN).max(0.0);
        let to = (shares().fold(0.0, f64::max) + MARGIN).min(1.0);
        let mean = |published: &PublishedChanges| Series {
            name: cores_name(published.cores),
            points: [from, to].map(|x| Point { x, values: vec![published.ratios.0[WEIGHTED_SPEEDUP]] }).into(),
        };
        let is_shown = |published: &&PublishedChanges| rows.iter().any(|row| row.cores == published.cores);
        Chart {
            published: self.published.published.iter().filter(is_shown).map(mean).collect(),
            joined: Joined::Published,
            ..line_chart(
                format!("Gain of mixes over their copy share, {scheduler}"),
                axis("copy share of the baseline's channel bytes", Unit::Share, Spacing::Linear),
                axis("weighted speedup / baseline", Unit::None, Spacing::Linear),
                series,
            )
        }
    }

    /// Numbers of cores, in the order of the rows.
    fn cores(&self) -> Vec<usize> {
        let mut cores: Vec<usize> = self.rows.iter().map(|row| row.cores).collect();
        cores.dedup();
        cores
    }

    /// A line per scheduler and method.
    fn methods(&self) -> String {
        let cores = self.cores();
        let by_cores = cores.iter().map(|cores| format!("{cores} cores")).collect::<Vec<_>>().join("|\n");
        let names = ["weighted speedup", "nJ per instruction", "copy share of bytes"];
        let names = names.map(|name| format!("|{name}:\n{by_cores}")).concat();
        let mut lines = Vec::new();
        for first in self.rows.iter().filter(|row| row.cores == cores[0]) {
            let rows: Vec<_> = self.rows.iter().filter(|row| row.scheduler == first.scheduler).collect();
            for (index, method) in first.methods.iter().enumerate() {
                let cells = |cell: &dyn Fn(&MethodRuns) -> String| -> Vec<String> {
                    rows.iter().map(|row| cell(&row.methods[index])).collect()
                };
                // The baseline has values, and the others their changes.
                let figure = |figure: usize| match index {
                    0 => cells(&|it| format!("{:.2}", it.mean.0[figure])),
                    _ => cells(&|it| change(it.ratios.0[figure])),
                };
                let shares = cells(&|it| format!("{:.0} %", it.copy_share_of_channel_bytes * 100.0));
                let labels = vec![first.scheduler.clone(), method.method.to_owned()];
                lines.push([labels, figure(WEIGHTED_SPEEDUP), figure(ENERGY), shares].concat());
            }
        }
        aligned(&headers(&format!("<scheduler|<method{names}")), &lines)
    }

    /// Published figures beside those under the first scheduler.
    fn comparison(&self) -> String {
        let Some(scheduler) = self.rows.first().map(|row| row.scheduler.as_str()) else { return String::new() };
        let cores = self.cores();
        let by_cores: Vec<String> =
            cores.iter().map(|cores| format!("{cores} cores:\npublished|\nsimulated")).collect();
        let simulated = |method: &str, cores: usize, figure: usize| {
            let row = self.rows.iter().find(|row| row.cores == cores && row.scheduler == scheduler)?;
            Some(row.methods.iter().find(|it| it.method == method)?.ratios.0[figure])
        };
        let line = |method: &str, figure: usize, published: &dyn Fn(usize) -> Option<f64>| {
            let cells = cores.iter().flat_map(|&cores| {
                [published(cores), simulated(method, cores, figure)].map(|ratio| or_dash(ratio, change))
            });
            [method, FIGURES[figure].1].map(str::to_owned).into_iter().chain(cells).collect::<Vec<_>>()
        };
        let PublishedMixes { published, others } = &self.published;
        let zi = |cores: usize, figure: usize| Some(published.iter().find(|it| it.cores == cores)?.ratios.0[figure]);
        let mut lines: Vec<Vec<String>> =
            (0..FIGURES.len()).map(|figure| line("rowclone-zi", figure, &|cores| zi(cores, figure))).collect();
        for (method, at, ratio) in others {
            lines.push(line(method, WEIGHTED_SPEEDUP, &|cores| (cores == *at).then_some(*ratio)));
        }
        lines.push(line("controller-copy", ENERGY, &|_| None));
        aligned(&headers(&format!("<method|<changes under {scheduler}|{}", by_cores.join("|"))), &lines)
    }
}

#[cfg(test)]
mod tests;
