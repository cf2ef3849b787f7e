//! Pictures of a comparison: a line per kind of copiers.

use rowclone_sim::compare::{CopierKind, Question};

use super::{CompareTable, ComparedCase, by_kind, has_lines_lost, quantity, title};
use crate::plot::{Chart, ChartKind, ChartRequest, Spacing, Table};

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// Name of a file without its extension, such as `compare-copy-cold-0-time`.
    pub name: String,
    /// Chart.
    pub chart: Chart,
}

/// The question as part of a file name, and the column of its chart.
const fn column(question: Question) -> (&'static str, &'static str) {
    match question {
        Question::Time => ("time", "time_ns"),
        Question::CpuTime => ("cpu-time", "cpu_time_ns"),
        Question::Energy => ("energy", "energy_nj"),
        Question::Displacement => ("displacement", "lines_lost"),
    }
}

impl CompareTable {
    /// Pictures of cases of several sizes: one per operation and state, for the first and the last share that is read.
    pub fn pictures(&self) -> Vec<Drawn> {
        let groups: Vec<&[ComparedCase]> = self.groups().filter(|group| group.len() > 1).collect();
        let same = |a: &ComparedCase, b: &ComparedCase| (a.operation, &a.state) == (b.operation, &b.state);
        let shown = |(place, group): (usize, &&[ComparedCase])| {
            let is_same = |other: Option<&&[ComparedCase]>| other.is_some_and(|other| same(&other[0], &group[0]));
            !is_same(place.checked_sub(1).and_then(|before| groups.get(before))) || !is_same(groups.get(place + 1))
        };
        let places = groups.iter().enumerate().filter(|(place, group)| shown((*place, *group)));
        let draw = |(_, group): (usize, &&[ComparedCase])| {
            Question::ALL.into_iter().filter_map(|question| drawn(group, question)).collect::<Vec<_>>()
        };
        places.flat_map(draw).collect()
    }
}

/// The picture of a question; none where no copier has a figure above 0.
fn drawn(group: &[ComparedCase], question: Question) -> Option<Drawn> {
    let (name, column) = column(question);
    // A logarithmic axis has no 0, and the energy is 0 if all lines are in a cache.
    let is_log = question != Question::Displacement;
    let figures = group.iter().map(|case| (case.bytes.unwrap_or(0), by_kind(case, question))).collect::<Vec<_>>();
    // One order for all pictures, so that each kind has one color.
    let rows = CopierKind::ALL.into_iter().flat_map(|kind| {
        let of_kind = figures.iter().flat_map(|(bytes, figures)| figures.iter().map(move |figure| (bytes, figure)));
        let of_kind = of_kind.filter(move |(_, (known, value))| *known == kind && (*value > 0.0 || !is_log));
        of_kind.map(move |(bytes, (_, value))| vec![bytes.to_string(), kind.name().to_owned(), value.to_string()])
    });
    let table = Table::new(["bytes", "kind", column].map(str::to_owned).into(), rows.collect()).ok()?;
    let request = ChartRequest {
        kind: ChartKind::Lines,
        x: "bytes".to_owned(),
        y: vec![column.to_owned()],
        by: vec!["kind".to_owned()],
        x_spacing: Spacing::Log,
        y_spacing: if is_log { Spacing::Log } else { Spacing::Linear },
        title: Some(format!("{}: {}", title(&group[0]), heading(question, &group[0]))),
        x_label: Some("size".to_owned()),
        y_label: Some(quantity(question, &group[0]).split(',').next().unwrap_or_default().to_owned()),
        ..ChartRequest::default()
    };
    let chart = request.draw(&table).ok()?.chart;
    Some(Drawn { name: format!("{}{name}", stem(&group[0])), chart })
}

/// Prefix of the names of a case's pictures, such as `compare-copy-cold-0-`.
pub(super) fn stem(case: &ComparedCase) -> String {
    let ComparedCase { operation, state, read_percent, .. } = case;
    let state = if state.is_empty() { String::new() } else { format!("{state}-") };
    format!("compare-{operation}-{state}{}-", read_percent.unwrap_or(0))
}

/// Subject of a picture, for its title.
fn heading(question: Question, case: &ComparedCase) -> &'static str {
    match question {
        Question::Time => "time of the best copier of each kind",
        Question::CpuTime => "CPU time of the best copier of each kind",
        Question::Energy => "energy of the best copier of each kind",
        Question::Displacement if has_lines_lost(case) => "lines lost with the best copier of each kind",
        Question::Displacement => "misses with the best copier of each kind",
    }
}
