//! Applications: the published figures of six beside those of recorded programs.

use std::fmt::Write as _;

use serde::Serialize;

use crate::table::Align::{Left, Right};
use crate::table::{Column, change, listed, or_dash, percent};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Published ratios of an application to its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PublishedApplication {
    /// Its name in the paper.
    pub name: &'static str,
    /// IPC under `RowClone`-ZI.
    pub zi_ipc: f64,
    /// DRAM energy and channel bytes under `RowClone`.
    pub plain: EnergyAndBytes,
    /// DRAM energy and channel bytes under `RowClone`-ZI.
    pub zi: EnergyAndBytes,
    /// The recording of `traces/recorded` that is compared with it.
    #[serde(skip)]
    pub recording: &'static str,
}

/// Ratios to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EnergyAndBytes {
    /// DRAM energy.
    pub energy: f64,
    /// Bytes over the channels.
    pub bytes: f64,
}

const fn published(name: &'static str, recording: &'static str, ratios: [f64; 5]) -> PublishedApplication {
    let [zi_ipc, energy, bytes, zi_energy, zi_bytes] = ratios;
    let [plain, zi] = [EnergyAndBytes { energy, bytes }, EnergyAndBytes { energy: zi_energy, bytes: zi_bytes }];
    PublishedApplication { name, zi_ipc, plain, zi, recording }
}

/// `MICRO` 2013, section 7.3: IPC under RowClone-ZI, energy and bytes under `RowClone`, and under RowClone-ZI.
pub const PUBLISHED: [PublishedApplication; 6] = [
    published("bootup", "boot", [1.15, 0.61, 0.51, 0.60, 0.48]),
    published("compile", "compiler", [1.09, 1.02, 0.98, 0.68, 0.53]),
    published("forkbench", "fork-benchmark", [1.66, 0.31, 0.40, 0.31, 0.40]),
    published("mcached", "memcached", [1.04, 1.00, 1.00, 0.85, 0.84]),
    published("mysql", "mariadb", [1.04, 1.01, 1.00, 0.83, 0.79]),
    published("shell", "shell", [1.40, 0.32, 0.19, 0.33, 0.19]),
];

/// Recordings in which zeroing with insertion must use no more energy and bytes than plain `RowClone`.
const REQUIRED: [&str; 5] = ["compiler", "memcached", "redis", "mariadb", "sqlite"];

/// A run of a recording under a copy method.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApplicationRun {
    /// Copy method.
    pub method: &'static str,
    /// Instructions of the program per core cycle.
    pub ipc: f64,
    /// DRAM energy with background and refresh, nJ.
    pub energy_nj: f64,
    /// Bytes over the channels.
    pub channel_bytes: u64,
    /// Bytes over the channels, per time, GB/s.
    pub bandwidth_gb_s: f64,
    /// Share of copies and zeroings in the bytes over the channels, 0 to 1.
    pub copy_share_of_channel_bytes: f64,
}

/// The runs of a recording with a size of the last-level cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApplicationRow {
    /// Name of the recording.
    pub program: String,
    /// Size of the last-level cache.
    pub last_level_bytes: u64,
    /// Runs under the baseline, `rowclone` and `rowclone-zi`.
    pub runs: [ApplicationRun; 3],
}

impl ApplicationRow {
    fn ipc(&self, method: usize) -> f64 {
        self.runs[method].ipc / self.runs[0].ipc
    }

    fn ratios(&self, method: usize) -> EnergyAndBytes {
        let [base, run] = [&self.runs[0], &self.runs[method]];
        // A program whose lines all stay in the cache may move no byte.
        let bytes = if base.channel_bytes == 0 { 1.0 } else { run.channel_bytes as f64 / base.channel_bytes as f64 };
        EnergyAndBytes { energy: run.energy_nj / base.energy_nj, bytes }
    }

    fn published(&self) -> Option<&'static PublishedApplication> {
        PUBLISHED.iter().find(|published| published.recording == self.program)
    }

    /// Whether zeroing with insertion uses no more energy and bytes than plain `RowClone`, where this is required.
    fn required(&self) -> Option<bool> {
        let [_, plain, zi] = &self.runs;
        let holds = zi.energy_nj <= plain.energy_nj && zi.channel_bytes <= plain.channel_bytes;
        REQUIRED.contains(&&*self.program).then_some(holds)
    }
}

const PLAIN: usize = 1;
const ZI: usize = 2;

/// Comparison of recorded programs with the published applications.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApplicationTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// Description of the baseline, to which all ratios refer.
    pub baseline: String,
    /// Bytes of the smallest copy that a copy method executes; the loop executes others.
    pub min_bytes: u64,
    /// Copies that a copy method executes: `kernel`, `library` or `all`.
    pub copies: &'static str,
    /// Published ratios.
    pub published: [PublishedApplication; 6],
    /// Rows by recording, and then by size of the cache, that of the machine first.
    pub rows: Vec<ApplicationRow>,
}

impl ApplicationTable {
    /// The tables for a terminal.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "RowClone (MICRO 2013), applications on one core: recorded programs beside the published ones\n\
             machine {}; copies of {} of at least {} B; changes refer to the baseline, {}\n\
             The paper's traces are not public: these are other programs, on another kernel.\n\n",
            self.machine,
            if self.copies == "all" { "kernel and library" } else { self.copies },
            self.min_bytes,
            self.baseline
        );
        let own: Vec<&ApplicationRow> = self.by_program().filter_map(<[_]>::first).collect();
        text += &comparison(&own);
        text += "\npublished changes in parentheses; bytes: over the memory channels\n\nRequired\n";
        let mut checked = own.iter().filter_map(|row| Some((row, row.required()?))).peekable();
        if checked.peek().is_none() {
            text += "-              no recording of a compiler, a key-value store or a database was given\n";
        }
        for (row, holds) in checked {
            let _ = writeln!(
                text,
                "{:<15}{}: rowclone-zi uses no more energy and bytes than rowclone",
                if holds { "holds:" } else { "fails:" },
                row.program
            );
        }
        let mut gains = own.clone();
        gains.sort_by(|a, b| b.ipc(ZI).total_cmp(&a.ipc(ZI)));
        let gains: Vec<String> = gains.iter().map(|row| format!("{} {}", row.program, change(row.ipc(ZI)))).collect();
        let _ = writeln!(text, "\nIPC under rowclone-zi, greatest gain first: {}", gains.join(", "));
        if self.by_program().any(|rows| rows.len() > 1) {
            let _ = write!(text, "\nBy size of the last-level cache\n{}", self.sizes());
        }
        text
    }

    /// The rows of each recording.
    fn by_program(&self) -> impl Iterator<Item = &[ApplicationRow]> {
        self.rows.chunk_by(|a, b| a.program == b.program)
    }

    /// A line per recording and size, in the order of sizes.
    fn sizes(&self) -> String {
        let mut rows: Vec<&ApplicationRow> = self.rows.iter().collect();
        for rows in rows.chunk_by_mut(|a, b| a.program == b.program) {
            rows.sort_by_key(|row| row.last_level_bytes);
        }
        let columns: [Column<'_, &ApplicationRow>; 8] = [
            ("program", Left, &|row| row.program.clone()),
            ("cache", Right, &|row| format!("{} KiB", row.last_level_bytes >> 10)),
            ("copy share\nof bytes", Right, &|row| percent(row.runs[0].copy_share_of_channel_bytes)),
            ("IPC:\nZI", Right, &|row| change(row.ipc(ZI))),
            ("energy:\nRowClone", Right, &|row| change(row.ratios(PLAIN).energy)),
            ("\nZI", Right, &|row| change(row.ratios(ZI).energy)),
            ("bytes:\nRowClone", Right, &|row| change(row.ratios(PLAIN).bytes)),
            ("\nZI", Right, &|row| change(row.ratios(ZI).bytes)),
        ];
        listed(&columns, &rows, usize::MAX)
    }
}

/// A line per recording, with published changes in parentheses.
fn comparison(rows: &[&ApplicationRow]) -> String {
    let cell = |row: &ApplicationRow, ratio: f64, of: fn(&PublishedApplication) -> f64| {
        let published = row.published().map(|it| format!(" ({:+.0})", (of(it) - 1.0) * 100.0));
        change(ratio) + &published.unwrap_or_default()
    };
    let columns: [Column<'_, &ApplicationRow>; 9] = [
        ("program", Left, &|row| row.program.clone()),
        ("published as", Left, &|row| or_dash(row.published(), |it| it.name.to_owned())),
        ("copy share\nof bytes", Right, &|row| percent(row.runs[0].copy_share_of_channel_bytes)),
        ("bandwidth,\nGB/s", Right, &|row| format!("{:.2}", row.runs[0].bandwidth_gb_s)),
        ("IPC:\nZI", Right, &|row| cell(row, row.ipc(ZI), |it| it.zi_ipc)),
        ("energy:\nRowClone", Right, &|row| cell(row, row.ratios(PLAIN).energy, |it| it.plain.energy)),
        ("\nZI", Right, &|row| cell(row, row.ratios(ZI).energy, |it| it.zi.energy)),
        ("bytes:\nRowClone", Right, &|row| cell(row, row.ratios(PLAIN).bytes, |it| it.plain.bytes)),
        ("\nZI", Right, &|row| cell(row, row.ratios(ZI).bytes, |it| it.zi.bytes)),
    ];
    listed(&columns, rows, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(program: &str, last_level_bytes: u64, energies: [f64; 3], bytes: [u64; 3]) -> ApplicationRow {
        let run = |method: usize| ApplicationRun {
            method: ["baseline", "rowclone", "rowclone-zi"][method],
            ipc: [1.0, 1.1, 1.25][method],
            energy_nj: energies[method],
            channel_bytes: bytes[method],
            bandwidth_gb_s: 0.5,
            copy_share_of_channel_bytes: 0.25,
        };
        ApplicationRow { program: program.to_owned(), last_level_bytes, runs: std::array::from_fn(run) }
    }

    #[test]
    fn the_tables_have_changes_published_ones_and_what_is_required() {
        let rows = vec![
            row("compiler", 1 << 20, [100.0, 110.0, 70.0], [1000, 900, 500]),
            row("compiler", 1 << 18, [100.0, 90.0, 95.0], [1000, 800, 700]),
            row("redis", 1 << 20, [100.0, 80.0, 90.0], [1000, 500, 500]),
            row("xz", 1 << 20, [100.0, 100.0, 100.0], [0, 0, 0]),
        ];
        let table = ApplicationTable {
            schema_version: SCHEMA_VERSION,
            machine: "paper".to_owned(),
            baseline: "a loop".to_owned(),
            min_bytes: 4096,
            copies: "kernel",
            published: PUBLISHED,
            rows,
        };
        let text = table.to_text();
        let found = |line: &str| {
            assert!(text.lines().any(|it| it.split_whitespace().eq(line.split_whitespace())), "{line}\n{text}");
        };
        found("compiler compile 25.0 % 0.50 +25.0 % (+9) +10.0 % (+2) -30.0 % (-32) -10.0 % (-2) -50.0 % (-47)");
        found("xz - 25.0 % 0.50 +25.0 % +0.0 % +0.0 % +0.0 % +0.0 %");
        found("holds: compiler: rowclone-zi uses no more energy and bytes than rowclone");
        found("fails: redis: rowclone-zi uses no more energy and bytes than rowclone");
        found("compiler 256 KiB 25.0 % +25.0 % -10.0 % -5.0 % -20.0 % -30.0 %");
    }
}
