//! Applications: the published figures of six beside those of recorded programs.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::table::Align::{Left, Right};
use crate::table::{TextColumn, change, listed, or_dash, percent};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// The published applications of `MICRO` 2013, section 7.3, and what is required of recordings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedApplications {
    /// Published ratios.
    pub published: Vec<PublishedApplication>,
    /// Recordings in which zeroing with insertion must use no more energy and bytes than plain `RowClone`.
    #[serde(skip_serializing)]
    required: Vec<String>,
}

/// Published ratios of an application to its baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PublishedApplication {
    /// Its name in the paper.
    pub name: String,
    /// IPC under `RowClone`-ZI.
    pub zi_ipc: f64,
    /// DRAM energy and channel bytes under `RowClone`.
    pub plain: EnergyAndBytes,
    /// DRAM energy and channel bytes under `RowClone`-ZI.
    pub zi: EnergyAndBytes,
    /// The recording of `traces/recorded` that is compared with it.
    #[serde(skip_serializing)]
    pub recording: String,
}

/// Ratios to the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnergyAndBytes {
    /// DRAM energy.
    pub energy: f64,
    /// Bytes over the channels.
    pub bytes: f64,
}

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
    #[serde(flatten)]
    pub published: PublishedApplications,
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
        text += &self.listed(&own, false);
        text += "\npublished changes in parentheses; bytes: over the memory channels\n\nRequired\n";
        let mut checked = own.iter().filter_map(|row| Some((row, self.required(row)?))).peekable();
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
            let mut rows: Vec<&ApplicationRow> = self.rows.iter().collect();
            for rows in rows.chunk_by_mut(|a, b| a.program == b.program) {
                rows.sort_by_key(|row| row.last_level_bytes);
            }
            let _ = write!(text, "\nBy size of the last-level cache\n{}", self.listed(&rows, true));
        }
        text
    }

    /// The rows of each recording.
    fn by_program(&self) -> impl Iterator<Item = &[ApplicationRow]> {
        self.rows.chunk_by(|a, b| a.program == b.program)
    }

    /// Whether zeroing with insertion uses no more energy and bytes than plain `RowClone`, where this is required.
    fn required(&self, row: &ApplicationRow) -> Option<bool> {
        let [_, plain, zi] = &row.runs;
        let holds = zi.energy_nj <= plain.energy_nj && zi.channel_bytes <= plain.channel_bytes;
        self.published.required.contains(&row.program).then_some(holds)
    }

    /// A line per row: with the size of the cache, or with published changes in parentheses.
    fn listed(&self, rows: &[&ApplicationRow], has_sizes: bool) -> String {
        let published = |row: &ApplicationRow| {
            let mut applications = self.published.published.iter().filter(|_| !has_sizes);
            applications.find(|it| it.recording == row.program)
        };
        let name = |row: &&ApplicationRow| or_dash(published(row), |it| it.name.clone());
        let cell = |row: &ApplicationRow, ratio: f64, of: fn(&PublishedApplication) -> f64| {
            let published = published(row).map(|it| format!(" ({:+.0})", (of(it) - 1.0) * 100.0));
            change(ratio) + &published.unwrap_or_default()
        };
        let columns: [TextColumn<'_, &ApplicationRow>; 10] = [
            ("program", Left, &|row| row.program.clone()),
            ("published as", Left, &name),
            ("cache", Right, &|row| format!("{} KiB", row.last_level_bytes >> 10)),
            ("copy share\nof bytes", Right, &|row| percent(row.runs[0].copy_share_of_channel_bytes)),
            ("bandwidth,\nGB/s", Right, &|row| format!("{:.2}", row.runs[0].bandwidth_gb_s)),
            ("IPC:\nZI", Right, &|row| cell(row, row.ipc(ZI), |it| it.zi_ipc)),
            ("energy:\nRowClone", Right, &|row| cell(row, row.ratios(PLAIN).energy, |it| it.plain.energy)),
            ("\nZI", Right, &|row| cell(row, row.ratios(ZI).energy, |it| it.zi.energy)),
            ("bytes:\nRowClone", Right, &|row| cell(row, row.ratios(PLAIN).bytes, |it| it.plain.bytes)),
            ("\nZI", Right, &|row| cell(row, row.ratios(ZI).bytes, |it| it.zi.bytes)),
        ];
        let without: &[&str] = if has_sizes { &["published as", "bandwidth,\nGB/s"] } else { &["cache"] };
        let columns: Vec<_> = columns.into_iter().filter(|(name, ..)| !without.contains(name)).collect();
        listed(&columns, rows, usize::MAX)
    }
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
            published: crate::published::published("apps"),
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
