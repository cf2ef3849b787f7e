//! One report as one HTML page, which needs nothing but itself: style and script are in it, charts are inline SVG.
//!
//! The same data give the same bytes: no date, no path, no number that is not in the data.

mod chart;
mod data;
mod decisions;
mod energy;
mod figures;
mod sortable;
mod tables;
#[cfg(test)]
mod tests;
mod warnings;
mod words;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use data::{Beside, Fact, Finding, Operation, Origin, Page, Picture, PublishedFigures, Runs, Served, Weight};
pub(crate) use decisions::sentence as reason_sentence;

use chart::{Bars, Chart, Group, Spread};
use data::in_order;
use sortable::{Head, Shown, Sortable};
use words::{Heading, number};

use rowclone_sim::quantity::{counted, grouped};

/// Nothing is loaded, whatever a name in the data may hold.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A section: its `id`, its heading, and how it is made.
type Section = (&'static str, &'static str, fn(&Page) -> Markup);

/// In their order.
const SECTIONS: [Section; 7] = [
    ("warnings", "Warnings", warnings_section),
    ("what", "What was run", what),
    ("tables", "Comparison", comparison),
    ("plots", "Plots", plots),
    ("why", "Decisions by reason", why),
    ("energy", "Energy by cause", energy_section),
    ("published", "Published figures beside ours", published),
];

impl Page {
    /// The page as HTML.
    pub fn to_html(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="generator" content="rowclone-sim";
                    title { (self.title) }
                    link rel="icon" href="data:,";
                    style { (PreEscaped(include_str!("style.css"))) }
                }
                body {
                    a.skip href="#main" { "Skip to the report" }
                    header { h1 { (self.title) } p.lead { (lead(self)) } }
                    nav aria-label="Sections" {
                        ul { @for (id, name, _) in SECTIONS { li { a href={ "#" (id) } { (name) } } } }
                    }
                    (hatch())
                    main id="main" tabindex="-1" {
                        @for (id, name, section) in SECTIONS {
                            section aria-labelledby=(id) { h2 id=(id) { (name) } (section(self)) }
                        }
                    }
                    footer { p { "Every number is computed from commands that the simulator issued, but for those in the columns named “published”." } }
                    div.hidden id="status" role="status" {}
                    script { (PreEscaped(include_str!("script.js"))) }
                }
            }
        };
        page.into_string() + "\n"
    }
}

/// The hatch of the second round of colours.
fn hatch() -> Markup {
    html! {
        svg.hidden width="0" height="0" aria-hidden="true" {
            defs { pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" { path d="M0 0V6" {} } }
        }
    }
}

fn lead(page: &Page) -> String {
    let failed = (0..page.runs.len()).filter(|&row| !page.runs.error(row).is_empty()).count();
    let what = match page.origin {
        Origin::Sweep => "A sweep",
        Origin::Run => "A scenario",
    };
    let runs = counted(page.runs.len() as u64, "run");
    let failures = if failed > 0 { format!(", {} of them failed", grouped(failed as u64)) } else { String::new() };
    format!("{what} of rowclone-sim: {runs}{failures}.")
}

fn warnings_section(page: &Page) -> Markup {
    let found = warnings::all(page);
    html! {
        @if found.is_empty() { p { "None: no run failed, and none had anything to say." } }
        ul.findings {
            @for Finding { weight, text, runs } in &found {
                li.grave[*weight != Weight::Warning] {
                    strong { (match weight {
                        Weight::Error => "✖ Error",
                        Weight::Violation => "✖ Violation",
                        Weight::Warning => "⚠ Warning",
                    }) }
                    (text)
                    @if *runs > 0 { " " span.unit { "(" (counted(*runs, "run")) ")" } }
                }
            }
        }
    }
}

fn what(page: &Page) -> Markup {
    let Page { runs, facts, commands, .. } = page;
    let failed = (0..runs.len()).filter(|&row| !runs.error(row).is_empty()).count() as u64;
    let variants = in_order((0..runs.len()).map(|row| runs.variant(row)).filter(|variant| !variant.is_empty()));
    let axis = |axis: &String| {
        let values = runs.distinct(axis);
        (format!("axis {axis}"), format!("{}: {}", counted(values.len() as u64, "value"), some_of(&values)))
    };
    html! {
        dl.facts {
            @for Fact { name, values } in facts { dt { (name) } dd { (some_of(values)) } }
            @for (name, values) in runs.axes().iter().map(axis) { dt { (name) } dd { (values) } }
            dt { "seeds" } dd { (some_of(&runs.distinct("seed"))) }
            dt { "policies" } dd { (some_of(&variants)) }
            dt { "runs" } dd { (grouped(runs.len() as u64)) ", " (grouped(failed)) " failed" }
        }
        @if !commands.is_empty() {
            h3 { "To run it again" }
            pre { code { (commands.join("\n")) } }
        }
        @if let Some(table) = tables::rerun(runs) {
            details { summary { "The command of each of the " (counted(runs.len() as u64, "run")) } (table.draw()) }
        }
    }
}

/// Values in a line; of many, the first and the last.
fn some_of(values: &[String]) -> String {
    if values.len() <= 24 {
        return values.join(", ");
    }
    format!("{}, … {}", values[..12].join(", "), values[values.len() - 1])
}

fn comparison(page: &Page) -> Markup {
    let group = match page.origin {
        Origin::Sweep => "of the runs of a point: the same axes and seed, another policy or placement",
        Origin::Run => "under any policy or placement",
    };
    html! {
        p.note { "A click on a heading sorts, a second one turns the order round; so does Enter or Space. ★ is the lowest " (group) "." }
        @if !page.operations.is_empty() { (tables::operations(page).draw()) }
        @if let Some(table) = tables::tally(&page.runs) { (table.draw()) }
        (tables::runs(&page.runs).draw())
    }
}

fn plots(page: &Page) -> Markup {
    let mut drawings: Vec<(String, Chart, Option<String>)> = Vec::new();
    if page.operations.is_empty() {
        let of_runs = figures::drawings(&page.runs).into_iter();
        drawings.extend(of_runs.map(|drawing| (drawing.heading.name, drawing.chart, drawing.note)));
    } else {
        drawings.extend(operation_bars(page));
    }
    let by_epoch = figures::drawings(&page.epochs).into_iter();
    drawings
        .extend(by_epoch.map(|drawing| (format!("{}, by epoch", drawing.heading.name), drawing.chart, drawing.note)));
    html! {
        p.note { "Point at a mark for its value, or go to a plot with the tab key and from mark to mark with the arrows." }
        @if drawings.is_empty() { p { "There is nothing to draw." } }
        @for (name, chart, note) in &drawings { (drawing(name, chart)) @if let Some(note) = note { p.note { (note) } } }
        @for picture in &page.pictures { (shown(picture)) }
    }
}

/// A picture as it was drawn; its values are in the tables.
fn shown(picture: &Picture) -> Markup {
    let Picture { name, media_type, bytes } = picture;
    let source = format!("data:{media_type};base64,{}", BASE64_STANDARD.encode(bytes));
    html! { figure.picture { img src=(source) alt={ "The picture " (name) }; figcaption.unit { (name) } } }
}

fn drawing(name: &str, chart: &Chart) -> Markup {
    let wide = matches!(chart, Chart::Lines(lines) if lines.panels.len() > 1);
    html! { div.drawing.wide[wide] { h3 { (name) } (chart::draw(name, chart)) } }
}

/// So many operations are drawn.
const OPERATIONS_MOST: usize = 16;

/// Latency and energy of each operation, by policy.
fn operation_bars(page: &Page) -> Vec<(String, Chart, Option<String>)> {
    let series = in_order(page.operations.iter().map(|operation| operation.run.clone()));
    let indices = in_order(page.operations.iter().map(|operation| operation.index));
    let shown = &indices[..indices.len().min(OPERATIONS_MOST)];
    let bars = |column: &str, value: fn(&Operation) -> f64| {
        let group = |index: &usize| {
            let of = || page.operations.iter().filter(|operation| operation.index == *index);
            let bar = |operation: &Operation| {
                let place = series.iter().position(|run| *run == operation.run)?;
                Some((place, Spread::of(&[value(operation)])?))
            };
            let name = of().next().map(|operation| operation.label.clone()).unwrap_or_default();
            Group { name, bars: of().filter_map(bar).collect() }
        };
        let groups = shown.iter().map(group).collect();
        let y = Heading::of(column);
        (y.name.clone(), Chart::Bars(Bars { y, series: series.clone(), groups }))
    };
    let left_out = indices.len() - shown.len();
    let note = (left_out > 0).then(|| format!("{left_out} more operations are not drawn; the table has them."));
    let latency = bars("operation_latency_ns", |operation| operation.latency_ns);
    let energy = bars("dynamic_energy_nj", |operation| operation.energy_nj);
    [latency, energy].into_iter().map(|(name, chart)| (name, chart, note.clone())).collect()
}

fn why(page: &Page) -> Markup {
    html! {
        @if page.served.is_empty() {
            p { "No copy and no initialisation was served." }
        } @else {
            @let (charts, table) = decisions::by_reason(page);
            @for (name, chart) in &charts { (drawing(name, chart)) }
            (table.draw())
            @if !page.operations.is_empty() {
                details { summary { "The reasons of each operation" } (reasons(page).draw()) }
            }
        }
    }
}

fn reasons(page: &Page) -> Sortable {
    let row = |operation: &Operation| {
        let Operation { index, label, run, reasons, .. } = operation;
        vec![
            Shown::number((index + 1).to_string(), *index as f64),
            Shown::text(label.clone()),
            Shown::text(run.clone()),
            Shown::text(reasons.join("; ")),
        ]
    };
    let heads = vec![Head::number("number", ""), Head::text("operation"), Head::text("policy"), Head::text("why")];
    let rows = page.operations.iter().map(row).collect();
    Sortable { id: "reasons", caption: "Why each operation was served so".to_owned(), heads, rows }
}

fn energy_section(page: &Page) -> Markup {
    html! {
        @if let Some(by_cause) = energy::by_cause(&page.runs) {
            (drawing(&format!("Of {}", by_cause.of), &by_cause.chart))
            (by_cause.table.draw())
            p.note { "All causes together are the total; standby, power-down and refresh are not part of the energy above standby." }
        } @else { p { "The data hold no energy." } }
    }
}

fn published(page: &Page) -> Markup {
    let PublishedFigures { rows, notes } = &page.published;
    let off = |simulated: f64, published: f64| {
        let off = (simulated / published - 1.0) * 100.0;
        Shown::number(format!("{off:+.1}"), off)
    };
    let row = |beside: &Beside| {
        vec![
            Shown::text(beside.id.clone()),
            Shown::text(beside.run.clone()),
            Shown::number(number(beside.published_ns), beside.published_ns),
            Shown::number(number(beside.simulated_ns), beside.simulated_ns),
            off(beside.simulated_ns, beside.published_ns),
            Shown::number(format!("{:.1}", beside.published_nj), beside.published_nj),
            Shown::number(format!("{:.1}", beside.simulated_nj), beside.simulated_nj),
            off(beside.simulated_nj, beside.published_nj),
        ]
    };
    let heads = vec![
        Head::text("published row"),
        Head::text("ours"),
        Head::number("latency, published", "ns"),
        Head::number("latency, simulated", "ns"),
        Head::number("latency, off by", "%"),
        Head::number("energy, published", "nJ"),
        Head::number("energy, simulated", "nJ"),
        Head::number("energy, off by", "%"),
    ];
    let caption = "RowClone (MICRO 2013), table 3: one operation of 4 KB, energy above standby".to_owned();
    let table = Sortable { id: "beside", caption, heads, rows: rows.iter().map(row).collect() };
    html! {
        @if !rows.is_empty() { (table.draw()) }
        @for note in notes { p.note { (note) } }
    }
}
