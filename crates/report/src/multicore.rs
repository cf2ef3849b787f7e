//! Mixes of copy-intensive and memory-intensive programs: published figures beside simulated ones.

use std::fmt::Write as _;

use rowclone_sim::{CoresReport, MixMetrics};
use serde::Serialize;

use crate::programs::core_table;
use crate::table::Align::{Left, Right};
use crate::table::{Header, aligned};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Names of the six figures in the order of the paper's table.
const FIGURES: [&str; 6] = [
    "weighted speedup",
    "instruction throughput",
    "harmonic speedup",
    "maximum slowdown",
    "bandwidth per instruction",
    "energy per instruction",
];

/// Published changes by RowClone-ZI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedChanges {
    /// Number of cores.
    pub cores: usize,
    /// Ratios to the baseline.
    pub ratios: MixFigures,
}

const fn published(
    cores: usize,
    [weighted, throughput, harmonic, slowdown, bandwidth, energy]: [f64; 6],
) -> PublishedChanges {
    let ratios = MixFigures {
        weighted_speedup: weighted,
        instruction_throughput: throughput,
        harmonic_speedup: harmonic,
        maximum_slowdown: slowdown,
        bytes_per_instruction: bandwidth,
        energy_per_instruction_nj: energy,
    };
    PublishedChanges { cores, ratios }
}

/// `MICRO` 2013, section 7.4: RowClone-ZI.
pub const PUBLISHED: [PublishedChanges; 3] = [
    published(2, [1.15, 1.14, 1.13, 0.94, 0.71, 0.81]),
    published(4, [1.20, 1.15, 1.16, 0.88, 0.73, 0.83]),
    published(8, [1.27, 1.25, 1.29, 0.77, 0.72, 0.83]),
];

/// Published weighted speedups relative to the baseline: plain `RowClone` at 4 cores, and a copy
/// engine in the controller.
const PUBLISHED_OTHERS: [(&str, usize, f64); 2] = [("rowclone", 4, 1.10), ("controller-copy", 4, 0.98)];

/// Figures of a mix, or their ratios to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MixFigures {
    /// Sum of IPC together / IPC alone.
    pub weighted_speedup: f64,
    /// Sum of IPC.
    pub instruction_throughput: f64,
    /// Number of programs / sum of IPC alone / IPC together.
    pub harmonic_speedup: f64,
    /// Greatest IPC alone / IPC together.
    pub maximum_slowdown: f64,
    /// Bytes over the memory channels per instruction.
    pub bytes_per_instruction: f64,
    /// DRAM energy per instruction, with background and refresh, nJ.
    pub energy_per_instruction_nj: f64,
}

impl MixFigures {
    const fn list(&self) -> [f64; 6] {
        [
            self.weighted_speedup,
            self.instruction_throughput,
            self.harmonic_speedup,
            self.maximum_slowdown,
            self.bytes_per_instruction,
            self.energy_per_instruction_nj,
        ]
    }

    const fn of_list([weighted, throughput, harmonic, slowdown, bytes, energy]: [f64; 6]) -> MixFigures {
        MixFigures {
            weighted_speedup: weighted,
            instruction_throughput: throughput,
            harmonic_speedup: harmonic,
            maximum_slowdown: slowdown,
            bytes_per_instruction: bytes,
            energy_per_instruction_nj: energy,
        }
    }

    /// Arithmetic mean.
    fn mean(all: &[MixFigures]) -> MixFigures {
        let mean = |figure: usize| all.iter().map(|figures| figures.list()[figure]).sum::<f64>() / all.len() as f64;
        MixFigures::of_list(std::array::from_fn(mean))
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
        MixFigures {
            weighted_speedup,
            instruction_throughput,
            harmonic_speedup,
            maximum_slowdown,
            bytes_per_instruction: self.report.channel_bytes as f64 / self.report.instructions as f64,
            energy_per_instruction_nj: self.report.energy_nj / self.report.instructions as f64,
        }
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
            ratios: MixFigures::of_list([1.0; 6]),
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
        let baseline: Vec<[f64; 6]> = methods[0].runs.iter().map(|run| run.figures().list()).collect();
        for method in &mut methods {
            let ratio = |(run, base): (&MixRun, &[f64; 6])| {
                let figures = run.figures().list();
                MixFigures::of_list(std::array::from_fn(|figure| figures[figure] / base[figure]))
            };
            let ratios: Vec<MixFigures> = method.runs.iter().zip(&baseline).map(ratio).collect();
            method.ratios = MixFigures::mean(&ratios);
        }
        MulticoreRow { cores, scheduler, methods }
    }

    fn method(&self, name: &str) -> Option<&MethodRuns> {
        self.methods.iter().find(|method| method.method == name)
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
    /// Mixes per number of cores.
    pub mixes: u64,
    /// Instructions of each program before its region.
    pub warm_up: u64,
    /// Instructions of each region.
    pub instructions: u64,
    /// Files that replace the programs of the first cores.
    pub traces: Vec<String>,
    /// Published figures of RowClone-ZI.
    pub published: [PublishedChanges; 3],
    /// Simulated rows, by number of cores and scheduler.
    pub rows: Vec<MulticoreRow>,
}

fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

impl MulticoreTable {
    /// The tables for a terminal; with `details`, a line per core of each run.
    pub fn to_text(&self, details: bool) -> String {
        let mut text = format!(
            "RowClone (MICRO 2013), multi-core: copy-intensive programs on even cores, memory-intensive ones on odd cores\n\
             machine {}; changes refer to the baseline, {}\n\
             means of {} mixes; regions of {} instructions after a warm-up of {}\n",
            self.machine, self.baseline, self.mixes, self.instructions, self.warm_up
        );
        for (core, trace) in self.traces.iter().enumerate() {
            let _ = writeln!(text, "core {core}: {trace}");
        }
        let _ = write!(text, "\n{}\n{}", self.methods(), self.comparison());
        if details {
            for row in &self.rows {
                for (method, run) in
                    row.methods.iter().flat_map(|method| method.runs.iter().map(move |run| (method, run)))
                {
                    let programs = run.programs.join(", ");
                    let cores = core_table(&run.report.cores);
                    let _ = write!(text, "\n{}, {}: {programs}\n{cores}", row.scheduler, method.method);
                }
            }
        }
        text
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
        let titles = ["weighted speedup:\n", "nJ per instruction:\n", "copy share of bytes:\n"];
        let headers: Vec<String> = titles
            .iter()
            .flat_map(|title| cores.iter().enumerate().map(move |(at, cores)| (title, at, cores)))
            .map(|(title, at, cores)| format!("{}{cores} cores", if at == 0 { title } else { "\n" }))
            .collect();
        let mut columns: Vec<Header<'_>> = vec![("scheduler", Left), ("method", Left)];
        columns.extend(headers.iter().map(|header| (header.as_str(), Right)));
        let mut lines = Vec::new();
        for first in self.rows.iter().filter(|row| row.cores == cores[0]) {
            for (index, method) in first.methods.iter().enumerate() {
                let of_cores: Vec<&MethodRuns> = self
                    .rows
                    .iter()
                    .filter(|row| row.scheduler == first.scheduler)
                    .map(|row| &row.methods[index])
                    .collect();
                // The baseline has values, and the others their changes.
                let cell = |value: f64, ratio: f64| if index == 0 { format!("{value:.2}") } else { percent(ratio) };
                let mut line = vec![first.scheduler.clone(), method.method.to_owned()];
                line.extend(of_cores.iter().map(|it| cell(it.mean.weighted_speedup, it.ratios.weighted_speedup)));
                line.extend(
                    of_cores
                        .iter()
                        .map(|it| cell(it.mean.energy_per_instruction_nj, it.ratios.energy_per_instruction_nj)),
                );
                line.extend(of_cores.iter().map(|it| format!("{:.0} %", it.copy_share_of_channel_bytes * 100.0)));
                lines.push(line);
            }
        }
        aligned(&columns, &lines)
    }

    /// Published figures beside those under the first scheduler.
    fn comparison(&self) -> String {
        let Some(scheduler) = self.rows.first().map(|row| row.scheduler.as_str()) else { return String::new() };
        let cores = self.cores();
        let headers: Vec<String> =
            cores.iter().flat_map(|cores| [format!("{cores} cores:\npublished"), "\nsimulated".to_owned()]).collect();
        let title = format!("changes under {scheduler}");
        let mut columns: Vec<Header<'_>> = vec![("method", Left), (&title, Left)];
        columns.extend(headers.iter().map(|header| (header.as_str(), Right)));
        let simulated = |method: &str, cores: usize, figure: usize| {
            let row = self.rows.iter().find(|row| row.cores == cores && row.scheduler == scheduler);
            row.and_then(|row| row.method(method))
                .map_or_else(|| "-".to_owned(), |it| percent(it.ratios.list()[figure]))
        };
        let line = |method: &str, figure: usize, known: &dyn Fn(usize) -> Option<f64>| {
            let cells = cores.iter().flat_map(|&cores| {
                [known(cores).map_or_else(|| "-".to_owned(), percent), simulated(method, cores, figure)]
            });
            [method.to_owned(), FIGURES[figure].to_owned()].into_iter().chain(cells).collect::<Vec<_>>()
        };
        let zi = |cores: usize, figure: usize| {
            PUBLISHED.iter().find(|it| it.cores == cores).map(|it| it.ratios.list()[figure])
        };
        let mut lines: Vec<Vec<String>> =
            (0..FIGURES.len()).map(|figure| line("rowclone-zi", figure, &|cores| zi(cores, figure))).collect();
        for (method, at, ratio) in PUBLISHED_OTHERS {
            lines.push(line(method, 0, &|cores| (cores == at).then_some(ratio)));
        }
        lines.push(line("controller-copy", 5, &|_| None));
        aligned(&columns, &lines)
    }
}
