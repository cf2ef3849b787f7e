//! Cache injection and prefetching (León and Maccabe): published figures beside simulated ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use crate::plot::{Chart, Point, Series, Spacing, Unit};
use crate::published::{axis, line_chart, published};
use crate::required;
use crate::table::{aligned, change, headers};

/// The version of the JSON fields. It rises when a field changes its name, unit or meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// Published changes of memory reads and of time relative to base, by mode.
type ChangesByMode = BTreeMap<String, [f64; 2]>;

/// Figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InjectionFigures {
    /// How messages reach the program.
    pub mode: &'static str,
    /// Time per 4 KiB of messages of the busiest core, us, without that in which it waits for messages.
    pub us_per_4_kib: f64,
    /// Share of the time in which cores wait for messages, 0 to 1.
    pub idle: f64,
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
    pub case: &'static str,
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
        let known: ChangesByMode = published("injection");
        let mut text = format!(
            "Cache injection and prefetching: a program reads every word of its messages once\n\
             machine {}, {} messages of 4 KiB per core\n",
            self.machine, self.messages
        );
        if let Some(plain) = self.plain() {
            let _ = write!(
                text,
                "\nRelative to base, without local data; published figures in parentheses\n{}",
                beside(plain, &known)
            );
        }
        for group in ["share of data", "message size", "delay", "one channel"] {
            let _ = write!(text, "{}", self.group(group));
        }
        text += "\nreads: lines read from memory per line of messages\ntime: us per 4 KiB of messages without waiting \
                 for them, and changes to base\nwritten back: per line of messages, of lines injected into the L3\n";
        let _ = writeln!(text, "\n{}", self.required());
        text.extend(self.plain().map(|row| near(row, &known)));
        text
    }

    fn of(&self, group: &str) -> impl Iterator<Item = &InjectionRow> {
        self.rows.iter().filter(move |row| row.group == group)
    }

    /// The row without local data.
    fn plain(&self) -> Option<&InjectionRow> {
        self.of("share of data").next()
    }

    fn group(&self, group: &'static str) -> String {
        let rows: Vec<&InjectionRow> = self.of(group).collect();
        if rows.is_empty() {
            return String::new();
        }
        let modes: Vec<&str> = rows[0].runs.iter().skip(1).map(|run| run.mode).collect();
        let line = |row: &&InjectionRow| {
            let reads = row.runs.iter().map(|run| format!("{:.2}", run.reads_per_line));
            let base = row.base();
            let time = format!("{:.2}", base.us_per_4_kib);
            let times = row.runs.iter().skip(1).map(|run| change(run.us_per_4_kib / base.us_per_4_kib));
            let written_back = row.run(L3).unwrap_or(base).written_back as f64 * base.reads_per_line;
            let written_back = format!("{:.2}", written_back / base.memory_reads.max(1) as f64);
            std::iter::once(row.case.to_owned()).chain(reads).chain([time]).chain(times).chain([written_back]).collect()
        };
        let modes = modes.join("|\n");
        let names = format!("<{group}|reads:\nbase|\n{modes}|time:\nbase|\n{modes}|written\nback");
        format!("\n{}", aligned(&headers(&names), &rows.iter().map(line).collect::<Vec<_>>()))
    }

    /// What must hold of the measurements that were made, and whether it does.
    fn required(&self) -> String {
        let mut rules = self.plain().map_or_else(Vec::new, required_of);
        let saved: Vec<f64> = self.of("share of data").filter_map(|row| row.saved(L3)).collect();
        let (least, greatest) = saved.iter().fold((f64::MAX, 0.0_f64), |(a, b), &it| (a.min(it), b.max(it)));
        if !saved.is_empty() {
            let rule = "reads saved per line of messages vary by at most 10 % over the shares of data";
            rules.push((rule, greatest <= least * 1.1));
        }
        let beyond = |has_set: bool| {
            let of =
                move |row: &&InjectionRow| row.case.starts_with("200 %") && row.case.contains("working") == has_set;
            self.of("delay").find(of).and_then(|row| row.time(L3))
        };
        if let (Some(with), Some(without)) = (beyond(true), beyond(false)) {
            rules.push(("beyond the L3, with a working set: injection is slower than base", with > 1.0));
            rules.push(("beyond the L3, without one: injection is within 2 % of base", (without - 1.0).abs() <= 0.02));
        }
        let times: Vec<f64> = self.of("one channel").filter_map(|row| row.time(L3)).collect();
        if !times.is_empty() {
            let rule = "the gain of injection in time grows with the cores on one channel";
            rules.push((rule, times.is_sorted_by(|a, b| a > b)));
        }
        let reported = self.plain().and_then(|row| Some(row.time(L2)? / row.time(PREFETCH)?)).map(|ratio| {
            format!("reported:      time of injection into the L2, relative to prefetching: {}\n", change(ratio))
        });
        format!("Required\n{}{}", required::lines(rules), reported.unwrap_or_default())
    }

    /// Time relative to base, by the number of cores on one channel.
    pub fn chart(&self) -> Chart {
        let cores = |row: &InjectionRow| row.case.split(' ').next().and_then(|cores| cores.parse().ok()).unwrap_or(0.0);
        let series = [PREFETCH, L3, L2].map(|mode| {
            let point = |row: &InjectionRow| Some(Point { x: cores(row), values: vec![row.time(mode)?] });
            Series { name: mode.to_owned(), points: self.of("one channel").filter_map(point).collect() }
        });
        let [x, y] = ["cores", "time / time of base"].map(|label| axis(label, Unit::None, Spacing::Linear));
        Chart { reach: vec![1.0], ..line_chart("Time to read messages, by cores".to_owned(), x, y, series.into()) }
    }
}

/// Changes of reads and time under a mode.
fn changes(row: &InjectionRow, mode: &str) -> [f64; 2] {
    [row.reads(mode), row.time(mode)].map(|ratio| ratio.map_or(0.0, |ratio| ratio - 1.0))
}

/// Published and simulated changes.
fn beside(row: &InjectionRow, known: &ChangesByMode) -> String {
    let line = |mode: &str| {
        let cell = |at: usize| {
            let theirs = known.get(mode).map(|theirs| format!(" ({:+.0} %)", theirs[at] * 100.0));
            format!("{:+.1} %{}", changes(row, mode)[at] * 100.0, theirs.unwrap_or_default())
        };
        vec![mode.to_owned(), cell(0), cell(1)]
    };
    aligned(&headers("<mode|memory reads|time"), &[PREFETCH, L3, L2].map(line))
}

/// What must hold without local data.
fn required_of(row: &InjectionRow) -> Vec<(&'static str, bool)> {
    let at_most = |value: Option<f64>, bound: f64| value.is_some_and(|value| value <= bound);
    let is_below =
        |value: Option<f64>, bound: Option<f64>| value.zip(bound).is_some_and(|(value, bound)| value < bound);
    vec![
        ("injection: at most 10 % of the reads of base", at_most(row.reads(L3), 0.1) && at_most(row.reads(L2), 0.1)),
        ("prefetching: reads within 2 % of base", row.reads(PREFETCH).is_some_and(|it| (it - 1.0).abs() <= 0.02)),
        ("prefetching and injection into the L3 are faster than base", {
            is_below(row.time(PREFETCH), Some(1.0)) && is_below(row.time(L3), Some(1.0))
        }),
        ("prefetching is faster than injection into the L3", is_below(row.time(PREFETCH), row.time(L3))),
    ]
}

/// The cells near the published ones.
fn near(row: &InjectionRow, known: &ChangesByMode) -> String {
    let of_mode = |(mode, theirs): (&String, &[f64; 2])| [0, 1].map(|at| changes(row, mode)[at] - theirs[at]);
    required::near(known.iter().flat_map(of_mode))
}
