//! Cache injection and prefetching (León and Maccabe): published figures beside simulated ones.

use std::fmt::Write as _;

use serde::Serialize;

use crate::plot::{Across, Axis, Chart, Joined, Kind, Point, Series, Spacing, Unit};
use crate::table::Align::{Left, Right};
use crate::table::{Column, change, listed};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Published changes of prefetching and of injection into the L3, relative to base: memory reads, and time.
pub const PUBLISHED: [[f64; 2]; 2] = [[0.0, -0.37], [-0.96, -0.30]];

/// Figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InjectionFigures {
    /// How messages reach the program.
    pub mode: &'static str,
    /// Time per 4 KiB of messages of a core, us.
    pub us_per_4_kib: f64,
    /// Lines read from memory, prefetches included.
    pub memory_reads: u64,
    /// The same per line of messages.
    pub reads_per_line: f64,
    /// Lines injected into caches.
    pub injected: u64,
    /// Those of them that were written back.
    pub written_back: u64,
    /// Prefetched lines that were useful, late, and useless or dropped.
    pub prefetched: [u64; 3],
}

/// A measurement under several modes, base first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InjectionRow {
    /// What was varied.
    pub group: &'static str,
    /// Its value.
    pub case: String,
    /// The runs.
    pub runs: Vec<InjectionFigures>,
}

impl InjectionRow {
    fn base(&self) -> &InjectionFigures {
        &self.runs[0]
    }

    fn run(&self, mode: &str) -> Option<&InjectionFigures> {
        self.runs.iter().find(|run| run.mode == mode)
    }

    /// Time under a mode / that of base.
    fn time(&self, mode: &str) -> Option<f64> {
        Some(self.run(mode)?.us_per_4_kib / self.base().us_per_4_kib)
    }

    /// Reads under a mode / those of base.
    fn reads(&self, mode: &str) -> Option<f64> {
        Some(self.run(mode)?.memory_reads as f64 / self.base().memory_reads as f64)
    }

    /// Reads that a mode saves per line of messages.
    fn saved(&self, mode: &str) -> Option<f64> {
        Some(self.base().reads_per_line - self.run(mode)?.reads_per_line)
    }
}

/// The comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InjectionTable {
    /// The version of these fields.
    pub schema_version: u32,
    /// Machine file.
    pub machine: String,
    /// Messages of 4 KiB per core.
    pub messages: u64,
    /// A row per measurement.
    pub rows: Vec<InjectionRow>,
}

const PREFETCH: &str = "prefetch";
const L3: &str = "inject L3";
const L2: &str = "inject L2";

impl InjectionTable {
    /// The table for a terminal.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "Cache injection and prefetching: a program reads every word of its messages once\nmachine {}, {} messages of 4 \
             KiB per core\n\nRelative to base, without local data; published figures in parentheses\n",
            self.machine, self.messages
        );
        text += &self.published();
        for group in ["share of data", "message size", "delay", "one channel"] {
            let _ = write!(text, "\n{}", self.group(group));
        }
        text += "\nreads: lines read from memory per line of messages; time: us per 4 KiB of messages, and changes relative to \
                 base;\nwritten back: per line of messages, of lines injected into the L3\n";
        let _ = write!(text, "\n{}\n{}\n", self.required(), self.near());
        text
    }

    fn of(&self, group: &str) -> impl Iterator<Item = &InjectionRow> {
        self.rows.iter().filter(move |row| row.group == group)
    }

    /// The row without local data.
    fn plain(&self) -> &InjectionRow {
        &self.rows[0]
    }

    /// Changes of reads and time under the published modes.
    fn cells(&self) -> [[f64; 2]; 2] {
        let of = |mode| {
            let row = self.plain();
            [row.reads(mode), row.time(mode)].map(|ratio| ratio.map_or(0.0, |ratio| ratio - 1.0))
        };
        [of(PREFETCH), of(L3)]
    }

    fn published(&self) -> String {
        let cells = self.cells();
        let row = self.plain();
        let ours = |mode| [row.reads(mode), row.time(mode)].map(|ratio| ratio.map_or(0.0, |ratio| ratio - 1.0));
        let lines =
            [(PREFETCH, cells[0], Some(PUBLISHED[0])), (L3, cells[1], Some(PUBLISHED[1])), (L2, ours(L2), None)];
        let cell = |ours: f64, theirs: Option<f64>| {
            let theirs = theirs.map_or_else(String::new, |theirs| format!(" ({:+.0} %)", theirs * 100.0));
            format!("{:+.1} %{theirs}", ours * 100.0)
        };
        let columns: [Column<'_, (&str, [f64; 2], Option<[f64; 2]>)>; 3] = [
            ("mode", Left, &|line| line.0.to_owned()),
            ("memory reads", Right, &|line| cell(line.1[0], line.2.map(|cells| cells[0]))),
            ("time", Right, &|line| cell(line.1[1], line.2.map(|cells| cells[1]))),
        ];
        listed(&columns, &lines, usize::MAX)
    }

    fn group(&self, group: &'static str) -> String {
        let rows: Vec<&InjectionRow> = self.of(group).collect();
        let names: Vec<&'static str> = rows[0].runs.iter().map(|run| run.mode).collect();
        let reads = |row: &&InjectionRow, run: usize| format!("{:.2}", row.runs[run].reads_per_line);
        let time = |row: &&InjectionRow, run: usize| change(row.runs[run].us_per_4_kib / row.base().us_per_4_kib);
        let titles: Vec<String> = names.iter().map(|name| format!("\n{name}")).collect();
        let columns: [Column<'_, &InjectionRow>; 10] = [
            (group, Left, &|row| row.case.clone()),
            ("reads:\nbase", Right, &|row| reads(row, 0)),
            (&titles[1], Right, &|row| reads(row, 1)),
            (&titles[2], Right, &|row| reads(row, 2)),
            (&titles[3], Right, &|row| reads(row, 3)),
            ("time:\nbase", Right, &|row| format!("{:.2}", row.base().us_per_4_kib)),
            (&titles[1], Right, &|row| time(row, 1)),
            (&titles[2], Right, &|row| time(row, 2)),
            (&titles[3], Right, &|row| time(row, 3)),
            ("written\nback", Right, &|row| {
                let run = row.run(L3).unwrap_or_else(|| row.base());
                format!(
                    "{:.2}",
                    run.written_back as f64 * row.base().reads_per_line / row.base().memory_reads.max(1) as f64
                )
            }),
        ];
        listed(&columns, &rows, usize::MAX)
    }

    /// What must hold, and whether it does.
    fn required(&self) -> String {
        let plain = self.plain();
        let at_most = |value: Option<f64>, bound: f64| value.is_some_and(|value| value <= bound);
        let saved: Vec<f64> = self.of("share of data").filter_map(|row| row.saved(L3)).collect();
        let (least, greatest) = saved.iter().fold((f64::MAX, 0.0_f64), |(a, b), &it| (a.min(it), b.max(it)));
        let beyond = |row: &&InjectionRow| row.case.starts_with("200 %");
        let has_set = |row: &InjectionRow| row.case.contains("working set");
        let delayed: Vec<&InjectionRow> = self.of("delay").filter(beyond).collect();
        let all = |is_of: bool, holds: &dyn Fn(f64) -> bool| {
            let mut rows = delayed.iter().filter(|row| has_set(row) == is_of).peekable();
            rows.peek().is_some() && rows.all(|row| row.time(L3).is_some_and(holds))
        };
        let gains: Vec<f64> = self.of("one channel").filter_map(|row| row.time(L3)).collect();
        let rules = [
            (
                "injection: at most 10 % of the reads of base",
                at_most(plain.reads(L3), 0.1) && at_most(plain.reads(L2), 0.1),
            ),
            ("prefetching: reads within 2 % of base", plain.reads(PREFETCH).is_some_and(|it| (it - 1.0).abs() <= 0.02)),
            ("prefetching and injection into the L3 are faster than base", {
                at_most(plain.time(PREFETCH), 0.999) && at_most(plain.time(L3), 0.999)
            }),
            ("prefetching is faster than injection into the L3", plain.time(PREFETCH) < plain.time(L3)),
            ("reads saved per line of messages vary by at most 10 % over the shares of data", greatest <= least * 1.1),
            ("200 % of L3 in the delay, with a working set: injection is slower than base", all(true, &|it| it > 1.0)),
            ("200 % of L3 in the delay, without one: injection is within 2 % of base", {
                all(false, &|it| (it - 1.0).abs() <= 0.02)
            }),
            ("the gain of injection in time grows with the cores on one channel", gains.is_sorted_by(|a, b| a > b)),
        ];
        let lines =
            rules.map(|(rule, holds)| format!("{} {rule}\n", if holds { "holds:        " } else { "does not hold:" }));
        let l2 = plain.time(L2).zip(plain.time(PREFETCH));
        let reported = l2.map_or_else(String::new, |(l2, prefetch)| {
            let than = if l2 <= prefetch { "at most" } else { "more than" };
            format!(
                "reported:      injection into the L2 takes {than} the time of prefetching: {}\n",
                change(l2 / prefetch)
            )
        });
        format!("Required\n{}{reported}", lines.concat())
    }

    /// The cells near the published ones.
    fn near(&self) -> String {
        let distances = self.cells().into_iter().flatten().zip(PUBLISHED.into_iter().flatten());
        let distances: Vec<f64> = distances.map(|(ours, theirs)| (ours - theirs).abs()).collect();
        let within = |points: f64| distances.iter().filter(|&&distance| distance <= points / 100.0).count();
        format!("of {} published cells, {} within 6 points, {} within 10", distances.len(), within(6.0), within(10.0))
    }

    /// Time relative to base, by the number of cores on one channel.
    pub fn chart(&self) -> Chart {
        let cores = |row: &InjectionRow| row.case.split(' ').next().and_then(|cores| cores.parse().ok()).unwrap_or(0.0);
        let series = [PREFETCH, L3, L2].map(|mode| {
            let point = |row: &InjectionRow| Some(Point { x: cores(row), values: vec![row.time(mode)?] });
            Series { name: mode.to_owned(), points: self.of("one channel").filter_map(point).collect() }
        });
        let axis = |label: &str| Axis { label: label.to_owned(), unit: Unit::None, spacing: Spacing::Linear };
        Chart {
            title: "Time to read messages, by cores on one memory channel".to_owned(),
            kind: Kind::Lines,
            x: Across::Numbers(axis("cores")),
            y: axis("time / time of base"),
            rows: None,
            published: Vec::new(),
            joined: Joined::Series,
            series: series.into(),
            crossovers: Vec::new(),
            reach: vec![1.0],
        }
    }
}
