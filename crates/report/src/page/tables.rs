//! Comparison tables: all runs, and all operations if they are listed.

use std::collections::BTreeMap;

use super::data::{Page, PageCore, PageOperation, Runs};
use super::figures;
use super::sortable::{PageColumn, Shown, Sortable, heads};
use super::words::Heading;
use rowclone_sim::quantity::grouped;

/// The group of each row: rows that differ only in policy and placement.
fn groups(runs: &Runs) -> Vec<usize> {
    let mut known = BTreeMap::new();
    (0..runs.len())
        .map(|row| {
            let next = known.len();
            *known.entry(runs.point(row)).or_insert(next)
        })
        .collect()
}

/// Maximum number of listed runs. A page with more is slow to open.
const LISTED_MOST: usize = 2000;

/// Rows of a table that are listed, with the caption.
fn listed(runs: &Runs, caption: &str) -> (std::ops::Range<usize>, String) {
    if runs.len() <= LISTED_MOST {
        return (0..runs.len(), caption.to_owned());
    }
    let (most, all) = (grouped(LISTED_MOST as u64), grouped(runs.len() as u64));
    (0..LISTED_MOST, format!("{caption}: the first {most} of {all}; results.csv has all"))
}

/// Every run with its main figures; its command or error is the last cell.
pub(super) fn runs(runs: &Runs) -> Sortable {
    let figures = figures::present(runs);
    let has = |column: &str| (0..runs.len()).any(|row| !runs.text(row, column).is_empty());
    let several = |column: &str| runs.distinct(column).len() > 1;
    let mut labels: Vec<&str> = Vec::new();
    labels.extend(has("point").then_some("point"));
    labels.extend(runs.axes().iter().map(String::as_str));
    labels.extend(several("seed").then_some("seed"));
    labels.push("policy");
    labels.extend(has("placement").then_some("placement"));
    let last = ["error"].into_iter().filter(|column| has(column));
    let columns: Vec<&str> =
        labels.iter().copied().chain(figures.iter().map(|figure| figure.column)).chain(last).collect();
    let heads = columns.iter().map(|column| Heading::of(column));
    let cell = |row: usize, column: &str| match (runs.number(row, column), runs.text(row, column)) {
        (Some(value), _) => Shown::number(Heading::of(column).value(value), value),
        (None, text) if !text.is_empty() => Shown::text(text),
        _ => Shown::none(),
    };
    let (rows, caption) = listed(runs, "Every run");
    let rows = rows.map(|row| columns.iter().map(|column| cell(row, column)).collect());
    let mut table = Sortable { id: "runs", caption, heads: heads.collect(), rows: rows.collect() };
    let groups = groups(runs);
    for (place, figure) in figures.iter().enumerate() {
        if figure.lowest_is_best {
            table.mark_lowest(labels.len() + place, |row| groups[row]);
        }
    }
    table
}

/// In how many points each policy has the lowest of a figure, over the points that every policy finished.
pub(super) fn tally(runs: &Runs) -> Option<Sortable> {
    let variants = runs.variants();
    let groups = groups(runs);
    let count = groups.iter().max().map_or(0, |last| last + 1);
    if variants.len() < 2 || count < 2 {
        return None;
    }
    let mut table = Sortable {
        id: "tally",
        caption: "Points in which each policy has the lowest figure; a tie counts for each of its policies".to_owned(),
        heads: heads("policy"),
        rows: variants.iter().map(|variant| vec![Shown::text(variant.clone())]).collect(),
    };
    for figure in figures::present(runs).iter().filter(|figure| figure.lowest_is_best) {
        let mut points = vec![BTreeMap::new(); count];
        for (row, group) in groups.iter().enumerate() {
            points[*group].extend(runs.number(row, figure.column).map(|value| (runs.variant(row), value)));
        }
        // A point counts where every policy has a value.
        points.retain(|values| values.len() == variants.len());
        let lowest = |values: &BTreeMap<String, f64>| values.values().copied().fold(f64::INFINITY, f64::min).to_bits();
        for (variant, row) in variants.iter().zip(&mut table.rows) {
            let won = points.iter().filter(|values| values[variant].to_bits() == lowest(values)).count();
            row.push(Shown::value(won as f64));
        }
        let name = format!("{}: lowest in, of {}", Heading::of(figure.column).name, grouped(points.len() as u64));
        table.heads.push(Heading { name, unit: String::new() });
    }
    Some(table)
}

/// Command of each run.
pub(super) fn rerun(runs: &Runs) -> Option<Sortable> {
    let commands = runs.distinct("rerun");
    if commands.iter().all(String::is_empty) {
        return None;
    }
    let columns: [PageColumn<'_, usize>; 4] = [
        ("point", &|row| runs.number(*row, "point").map_or_else(Shown::none, Shown::value)),
        ("policy", &|row| Shown::text(runs.variant(*row))),
        ("command", &|row| Shown::code(runs.text(*row, "rerun"))),
        ("digest", &|row| Shown::code(runs.text(*row, "digest"))),
    ];
    let (rows, caption) = listed(runs, "The command of each run");
    Some(Sortable::of("rerun", caption, &columns, rows))
}

/// Every core under every policy.
pub(super) fn cores(page: &Page) -> Sortable {
    let known = |value: Option<f64>, factor: f64| value.map_or_else(Shown::none, |value| Shown::value(value * factor));
    let columns: [PageColumn<'_, &PageCore>; 11] = [
        ("policy", &|it| Shown::text(&it.run)),
        ("core", &|it| Shown::value(it.core as f64)),
        ("instructions", &|it| Shown::value(it.instructions as f64)),
        ("core cycles", &|it| Shown::value(it.cycles as f64)),
        ("IPC", &|it| Shown::value(it.ipc)),
        ("misses per 1000 instructions", &|it| Shown::value(it.misses_per_1000_instructions)),
        ("dynamic energy per instruction (nJ)", &|it| known(it.dynamic_energy_per_instruction_nj, 1.0)),
        ("copy share of channel bytes (%)", &|it| known(it.copy_share_of_channel_bytes, 100.0)),
        ("bandwidth (GB/s)", &|it| known(it.bandwidth_gb_s, 1.0)),
        ("CPU time of copies (core cycles)", &|it| Shown::value(it.copy_cycles)),
        ("misses after copies", &|it| Shown::value(it.misses_after_copies as f64)),
    ];
    Sortable::of("cores", "Every core, in its region", &columns, &page.cores)
}

/// Every operation under every policy.
pub(super) fn operations(page: &Page) -> Sortable {
    let times = |value: Option<f64>| match value {
        Some(value) => Shown::number(format!("{value:.2}"), value),
        None => Shown::none(),
    };
    let columns: [PageColumn<'_, &PageOperation>; 10] = [
        ("number", &|it| Shown::ordinal(it.index)),
        ("operation", &|it| Shown::text(&it.row.label)),
        ("policy", &|it| Shown::text(&it.run)),
        ("mechanism", &|it| Shown::text(&it.row.mechanism)),
        ("latency (tCK)", &|it| Shown::value(it.row.latency_cycles as f64)),
        ("latency (ns)", &|it| Shown::value(it.row.latency_ns)),
        ("speedup", &|it| times(it.row.speedup)),
        ("dynamic energy (nJ)", &|it| it.row.energy_nj.map_or_else(Shown::none, Shown::value)),
        ("energy ratio", &|it| times(it.row.energy_ratio)),
        ("channel traffic (bytes)", &|it| Shown::value(it.row.channel_bytes as f64)),
    ];
    let mut sorted: Vec<&PageOperation> = page.operations.iter().collect();
    sorted.sort_by_key(|operation| operation.index);
    let caption = "Every operation, from its first command to its last bank ready";
    let mut table = Sortable::of("operations", caption, &columns, sorted.iter().copied());
    for column in [5, 7] {
        table.mark_lowest(column, |row| sorted[row].index);
    }
    table
}
