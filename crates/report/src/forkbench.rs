//! The forkbench of the `RowClone` paper: published figures beside simulated ones.

use serde::{Deserialize, Serialize};

use crate::table::{COLUMNS_MAX, aligned, change, headers, or_dash, percent, times, wrapped_lines};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 2;

/// Simulated figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunFigures {
    /// The loop of a baseline, else the copy method.
    pub method: &'static str,
    /// Instructions of the program per core cycle.
    pub ipc: f64,
    /// DRAM energy of the run, including background and refresh, nJ.
    pub energy_nj: f64,
    /// Bytes over the memory channels.
    pub channel_bytes: u64,
    /// Bytes of copies and zeroings among them.
    pub copy_bytes: u64,
    /// Those without the write-backs of lines that copies and zeroings had written.
    pub copy_bytes_without_write_backs: u64,
    /// Bytes of zeroings among `copy_bytes`, 0 where the controller zeroes.
    pub zeroing_bytes: u64,
}

impl RunFigures {
    /// Share of copies, without zeroings, in the bytes over the channels, 0 to 1.
    fn copy_share(&self) -> f64 {
        (self.copy_bytes - self.zeroing_bytes) as f64 / self.channel_bytes as f64
    }

    /// IPC, energy or bytes over the channels relative to another run of the same instructions.
    fn ratio(&self, figure: FigureOf, baseline: &RunFigures) -> f64 {
        figure(self) / figure(baseline)
    }
}

/// Reads a figure of a run.
type FigureOf = fn(&RunFigures) -> f64;
const IPC: FigureOf = |run| run.ipc;
const ENERGY: FigureOf = |run| run.energy_nj;
const BYTES: FigureOf = |run| run.channel_bytes as f64;

/// The point of the paper's table of applications, 64 MB and 1,024 updates: the runs that its figures
/// compare.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Application {
    /// From the fork to the exit: the baseline, `RowClone` and RowClone-ZI.
    pub from_fork: [RunFigures; 3],
    /// With the initialization by the parent.
    pub with_initialization: [RunFigures; 3],
}

/// Size of the table of applications, bytes, and number of its updates.
pub const APPLICATION: (u64, u64) = (64 << 20, 1024);

/// A size and a number of updates.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkRow {
    /// Memory of the parent, bytes (the paper's S).
    pub bytes: u64,
    /// Updates of the child (the paper's N).
    pub updates: u64,
    /// The baseline with each loop, that of the machine first.
    pub baselines: Vec<RunFigures>,
    /// FPM.
    pub fpm: RunFigures,
    /// PSM.
    pub psm: RunFigures,
    /// The baseline with the loop of the machine, with the initialization by the parent.
    pub with_initialization: RunFigures,
    /// Runs of the paper's table of applications, at its point.
    pub application: Option<Application>,
}

/// Published figures of `MICRO` 2013, sections 7.2 and 7.3.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedForkbench {
    /// Share of copies in channel traffic, the least and the greatest.
    pub copy_share: [f64; 2],
    /// IPC of FPM relative to the baseline, at N = 16k.
    pub fpm_ipc_ratio_max: f64,
    /// Energy of FPM relative to the baseline, least.
    pub fpm_energy_ratio_min: f64,
    /// Energy of PSM relative to the baseline, least.
    pub psm_energy_ratio_min: f64,
    /// The table of applications, relative to the baseline.
    pub application: PublishedRatios,
}

/// The row of forkbench, with 64 MB and 1k updates, of the paper's table of applications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedRatios {
    /// IPC of RowClone-ZI.
    pub zi_ipc_ratio: f64,
    /// Energy of `RowClone` and RowClone-ZI.
    pub energy_ratio: [f64; 2],
    /// Bandwidth of `RowClone` and RowClone-ZI.
    pub bandwidth_ratio: [f64; 2],
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ForkbenchTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// What the baseline does.
    pub baseline: String,
    /// Published figures.
    pub published: PublishedForkbench,
    /// Simulated rows.
    pub rows: Vec<ForkRow>,
}

impl ForkbenchTable {
    /// The tables for a terminal.
    pub fn to_text(&self) -> String {
        let introduction = format!(
            "RowClone (MICRO 2013), forkbench: S bytes fork, the child updates a line of N random pages\n\
             machine {}; ratios refer to the baseline, {}\n\
             energy of the DRAM, with background and refresh; \"from fork\" lasts from the fork to the exit, \
             \"with init\" begins with the stores of the parent",
            self.machine, self.baseline
        );
        let mut parts =
            vec![wrapped_lines(&introduction, COLUMNS_MAX), self.traffic(), self.gains(), self.comparison()];
        parts.extend(self.rows.iter().find_map(|row| Some(application(&self.published, row.application.as_ref()?))));
        parts.join("\n")
    }

    /// Traffic of the baseline.
    fn traffic(&self) -> String {
        let mebibytes = |bytes: u64| format!("{:.1}", bytes as f64 / f64::from(1 << 20));
        let line = |row: &ForkRow| {
            let (base, init) = (&row.baselines[0], &row.with_initialization);
            let from_fork = [base.channel_bytes, base.copy_bytes, base.copy_bytes_without_write_backs].map(mebibytes);
            let with_init = [init.channel_bytes, init.zeroing_bytes].map(mebibytes);
            let [share, init_share] = [base, init].map(|run| percent(run.copy_share()));
            let point = [(row.bytes >> 20).to_string(), row.updates.to_string()];
            [&point[..], &from_fork, &[share], &with_init, &[init_share]].concat()
        };
        let columns = headers(
            "\nS, MiB|\nN|from fork:\nall, MiB|\ncopies|no write-\nbacks|copy\nshare|with init:\nall, MiB|\nzeroings\
             |copy\nshare",
        );
        aligned(&columns, &self.rows.iter().map(line).collect::<Vec<_>>())
    }

    /// Gains from the fork to the exit.
    fn gains(&self) -> String {
        let line = |row: &ForkRow| {
            let base = &row.baselines[0];
            let ratios = |figure: FigureOf| [&row.fpm, &row.psm].map(|run| run.ratio(figure, base));
            let point = [(row.bytes >> 20).to_string(), row.updates.to_string(), format!("{:.3}", base.ipc * 1000.0)];
            [&point[..], &ratios(IPC).map(times), &ratios(ENERGY).map(change)].concat()
        };
        let columns = headers("S, MiB|N|baseline IPC x 1000|FPM IPC|PSM IPC|FPM energy|PSM energy");
        aligned(&columns, &self.rows.iter().map(line).collect::<Vec<_>>())
    }

    /// Published figures beside those against the baseline with each loop.
    fn comparison(&self) -> String {
        let known = &self.published;
        let loops: Vec<&str> =
            self.rows.first().into_iter().flat_map(|row| &row.baselines).map(|base| base.method).collect();
        let least = |of: &dyn Fn(&ForkRow) -> f64| self.rows.iter().map(of).fold(f64::INFINITY, f64::min);
        let greatest = |of: &dyn Fn(&ForkRow) -> f64| self.rows.iter().map(of).fold(0.0, f64::max);
        let mut lines = Vec::new();
        let mut line = |figure: &str, published: String, of: &dyn Fn(usize) -> String| {
            lines.push([figure.to_owned(), published].into_iter().chain((0..loops.len()).map(of)).collect::<Vec<_>>());
        };
        // The machine runs the initialization with its own loop only.
        let with_init = |at: usize, share: &dyn Fn() -> f64| or_dash((at == 0).then(share), percent);
        let [low, high] = known.copy_share.map(|share| format!("{:.0} %", share * 100.0));
        let copy_share = |at: usize| move |row: &ForkRow| row.baselines[at].copy_share();
        let init_share = |row: &ForkRow| row.with_initialization.copy_share();
        let fpm = |figure: FigureOf, at: usize| move |row: &ForkRow| row.fpm.ratio(figure, &row.baselines[at]);
        let psm = |figure: FigureOf, at: usize| move |row: &ForkRow| row.psm.ratio(figure, &row.baselines[at]);
        line("copy share, least", low.clone(), &|at| percent(least(&copy_share(at))));
        line("copy share, greatest", high.clone(), &|at| percent(greatest(&copy_share(at))));
        line("copy share with init, least", low, &|at| with_init(at, &|| least(&init_share)));
        line("copy share with init, greatest", high, &|at| with_init(at, &|| greatest(&init_share)));
        let fpm_ipc = format!("{:.1}x", known.fpm_ipc_ratio_max);
        line("FPM IPC, greatest", fpm_ipc, &|at| times(greatest(&fpm(IPC, at))));
        line("PSM IPC, greatest", "-".to_owned(), &|at| times(greatest(&psm(IPC, at))));
        line("FPM energy, least", change(known.fpm_energy_ratio_min), &|at| change(least(&fpm(ENERGY, at))));
        line("PSM energy, least", change(known.psm_energy_ratio_min), &|at| change(least(&psm(ENERGY, at))));
        aligned(&headers(&format!("<\nfigure|\npublished|copy loop:\n{}", loops.join("|\n"))), &lines)
    }
}

/// The row of the paper's table of applications.
fn application(known: &PublishedForkbench, found: &Application) -> String {
    let known = &known.application;
    let lines = [
        ("IPC, RowClone", None, IPC, 1),
        ("IPC, RowClone-ZI", Some(known.zi_ipc_ratio), IPC, 2),
        ("energy, RowClone", Some(known.energy_ratio[0]), ENERGY, 1),
        ("energy, RowClone-ZI", Some(known.energy_ratio[1]), ENERGY, 2),
        ("bytes over the channels, RowClone", Some(known.bandwidth_ratio[0]), BYTES, 1),
        ("bytes over the channels, RowClone-ZI", Some(known.bandwidth_ratio[1]), BYTES, 2),
    ];
    let lines = lines.map(|(figure, published, of, method)| {
        let simulated = [&found.from_fork, &found.with_initialization].map(|runs| runs[method].ratio(of, &runs[0]));
        [vec![figure.to_owned(), or_dash(published, change)], simulated.map(change).to_vec()].concat()
    });
    aligned(&headers("<table of applications, 64 MB, 1k|published|from fork|with init"), &lines)
}
