//! A report as one HTML page without external files: it contains its style, its script and its charts as inline SVG.
//!
//! Equal data give equal bytes: the page contains no date, no path, and no number that is not in the data.

pub(crate) mod compared;
mod data;
mod decisions;
mod energy;
mod figures;
mod headline;
mod sortable;
mod tables;
#[cfg(test)]
mod tests;
mod warnings;
mod words;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use data::{Beside, Fact, Finding, Image, Page, PageCore, PageOperation, PublishedFigures, Runs, Subject, Weight};

use sortable::{PageColumn, Shown, Sortable};

pub use crate::decisions::Served;
use crate::plot::{self, Chart, Extent, inline_svg};

use rowclone_sim::quantity::{counted, grouped};

/// Content security policy: the page loads nothing, whatever the names in the data are.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

/// A section: its `id`, its heading, and the function that writes it.
type Section = (&'static str, &'static str, fn(&Page) -> Markup);

/// Sections in the order of the page.
const SECTIONS: [Section; 8] = [
    ("headline", "Speedup and energy ratio", |page| headline::draw(&page.runs)),
    ("warnings", "Warnings", warnings_section),
    ("plots", "Charts", plots),
    ("tables", "Comparison", comparison),
    ("why", "Decisions by reason", why),
    ("energy", "Energy by cause", energy_section),
    ("published", "Simulated and published values", published),
    ("what", "What was run", what),
];

/// Number of panels that are visible; a selector shows one of the others.
const PANELS_SHOWN: usize = 9;

/// Number of rows above which a table is folded.
const ROWS_SHOWN: usize = 24;

impl Page {
    /// The page as HTML.
    pub fn to_html(&self) -> String {
        let sections = SECTIONS.map(|(id, name, section)| (id, name, section(self)));
        let footer = "Every number is computed from commands that the simulator issued, but for those in the columns \
            named “published”.";
        document(&self.title, &lead(self), "Skip to the report", &sections, footer)
    }
}

/// A page of sections, each with its identifier and its title, without external files.
fn document(title: &str, lead: &str, skip: &str, sections: &[(&str, &str, Markup)], footer: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="generator" content="rowclone-sim";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(include_str!("style.css"))) (PreEscaped(plot::style_sheet())) }
                noscript { style { ".more figure[hidden] { display: block }" } }
            }
            body {
                a.skip href="#main" { (skip) }
                header { h1 { (title) } p.lead { (lead) } }
                nav aria-label="Sections" {
                    ul { @for (id, name, _) in sections { li { a href={ "#" (id) } { (name) } } } }
                }
                main id="main" tabindex="-1" {
                    @for (id, name, section) in sections {
                        section aria-labelledby=(id) { h2 id=(id) { (name) } (section) }
                    }
                }
                footer { p { (footer) } }
                div.hidden id="status" role="status" {}
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    };
    page.into_string() + "\n"
}

fn lead(page: &Page) -> String {
    let what = match page.subject {
        Subject::Sweep => "A sweep",
        Subject::Run => "A scenario",
    };
    let runs = counted(page.runs.len() as u64, "run");
    let failures = match page.runs.failed() {
        0 => String::new(),
        failed => format!(", {} of them failed", grouped(failed)),
    };
    format!("{what} of rowclone-sim: {runs}{failures}.")
}

fn warnings_section(page: &Page) -> Markup {
    let found = warnings::all(page);
    html! {
        @if found.is_empty() { p { "None: no run failed or gave a warning." } }
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
    let axis = |axis: &String| {
        let values = runs.distinct(axis);
        (format!("axis {axis}"), format!("{}: {}", counted(values.len() as u64, "value"), some_of(&values)))
    };
    html! {
        dl.facts {
            @for Fact { name, values } in facts { dt { (name) } dd { (some_of(values)) } }
            @for (name, values) in runs.axes().iter().map(axis) { dt { (name) } dd { (values) } }
            dt { "seeds" } dd { (some_of(&runs.distinct("seed"))) }
            dt { "policies" } dd { (some_of(&runs.variants())) }
            dt { "runs" } dd { (grouped(runs.len() as u64)) ", " (grouped(runs.failed())) " failed" }
        }
        @if !commands.is_empty() {
            h3 { "To run it again" }
            pre { code { (commands.join("\n")) } }
        }
        @if let Some(table) = tables::rerun(runs) {
            (table.folded())
        }
    }
}

/// Values in a line; of many values, only the first and the last.
fn some_of(values: &[String]) -> String {
    if values.len() <= 24 {
        return values.join(", ");
    }
    format!("{}, … {}", values[..12].join(", "), values[values.len() - 1])
}

fn comparison(page: &Page) -> Markup {
    let group = match page.subject {
        Subject::Sweep => "of the runs of a point: the same axes and seed, another policy or placement",
        Subject::Run => "under any policy or placement",
    };
    html! {
        p.note {
            "A click on a heading sorts, a second one reverses the order; so does Enter or Space. ★ is the lowest "
            (group) "."
        }
        @if !page.operations.is_empty() { (tables::operations(page).draw()) }
        @if let Some(table) = tables::tally(&page.runs) { (table.folded()) }
        @if !page.cores.is_empty() { (tables::cores(page).folded()) }
        @let runs = tables::runs(&page.runs);
        @if page.operations.is_empty() && runs.rows.len() <= ROWS_SHOWN { (runs.draw()) } @else { (runs.folded()) }
    }
}

fn plots(page: &Page) -> Markup {
    let panels = figures::panels(page);
    let charts: Vec<&Chart> = panels.iter().flatten().collect();
    let more = counted(charts.len().saturating_sub(PANELS_SHOWN) as u64, "more chart") + ": ";
    html! {
        p.note { "Point at a mark for its value, or go to a chart with the tab key and from mark to mark with the \
            arrows." }
        @if charts.is_empty() && page.pictures.is_empty() { p { "There is nothing to draw." } }
        (in_panels(&charts, PANELS_SHOWN, &more))
        @for note in panels.iter().filter_map(|panel| panel.as_ref().err()) { p.note { (note) } }
        div.panels { @for picture in &page.pictures { (picture_of(picture)) } }
    }
}

/// Charts, of which a selector with a label shows one of those beyond the first `shown`.
fn in_panels(charts: &[&Chart], shown: usize, label: &str) -> Markup {
    let (shown, more) = charts.split_at(charts.len().min(shown));
    html! {
        div.panels { @for chart in shown { (figure(chart, Extent::COLUMN)) } }
        @if !more.is_empty() {
            div.panels.more {
                label { (label)
                    select { @for (place, chart) in more.iter().enumerate() { option value=(place) { (chart.title) } } }
                }
                @for (place, chart) in more.iter().enumerate() {
                    figure hidden[place > 0] { (drawn(chart, Extent::COLUMN)) }
                }
            }
        }
    }
}

fn drawn(chart: &Chart, extent: Extent) -> Markup {
    PreEscaped(inline_svg(&plot::Picture::of(chart, extent)))
}

fn figure(chart: &Chart, extent: Extent) -> Markup {
    html! { figure { (drawn(chart, extent)) } }
}

/// A chart with the width of the page, or the reason why there is none.
fn wide(chart: &Result<Chart, String>) -> Markup {
    match chart {
        Ok(chart) => figure(chart, Extent::PAGE),
        Err(why) => html! { p.note { (why) } },
    }
}

/// A picture from the directory of the results. The tables have its values.
fn picture_of(picture: &Image) -> Markup {
    let Image { name, media_type, bytes } = picture;
    let source = format!("data:{media_type};base64,{}", BASE64_STANDARD.encode(bytes));
    html! { figure { img src=(source) alt={ "The picture " (name) }; figcaption.unit { (name) } } }
}

fn why(page: &Page) -> Markup {
    html! {
        @if page.served.is_empty() {
            p { "No copy and no initialization was served." }
        } @else {
            @let (charts, table) = decisions::by_reason(page);
            @for chart in &charts { (wide(chart)) }
            (table.folded())
            @if !page.operations.is_empty() { (reasons(page).folded()) }
        }
    }
}

fn reasons(page: &Page) -> Sortable {
    let columns: [PageColumn<'_, &PageOperation>; 4] = [
        ("number", &|it| Shown::ordinal(it.index)),
        ("operation", &|it| Shown::text(&it.row.label)),
        ("policy", &|it| Shown::text(&it.run)),
        ("reasons", &|it| Shown::text(it.row.reasons.join("; "))),
    ];
    Sortable::of("reasons", "The reasons of each operation", &columns, &page.operations)
}

fn energy_section(page: &Page) -> Markup {
    html! {
        @if let Some((chart, table)) = energy::by_cause(&page.runs) {
            (wide(&chart))
            (table.folded())
            p.note { "The sum of all causes is the total energy. Standby, power-down and refresh are not part of the \
                dynamic energy." }
        } @else { p { "The data hold no energy." } }
    }
}

fn published(page: &Page) -> Markup {
    let PublishedFigures { rows, notes } = &page.published;
    let nj = |energy: f64| Shown::number(format!("{energy:.1}"), energy);
    let off = |simulated: f64, published: f64| {
        let off = (simulated / published - 1.0) * 100.0;
        Shown::number(format!("{off:+.1}"), off)
    };
    let columns: [PageColumn<'_, &Beside>; 8] = [
        ("published row", &|it| Shown::text(&it.id)),
        ("simulated run", &|it| Shown::text(&it.run)),
        ("latency, published (ns)", &|it| Shown::value(it.published_ns)),
        ("latency, simulated (ns)", &|it| Shown::value(it.simulated_ns)),
        ("difference of latency (%)", &|it| off(it.simulated_ns, it.published_ns)),
        ("energy, published (nJ)", &|it| nj(it.published_nj)),
        ("energy, simulated (nJ)", &|it| nj(it.simulated_nj)),
        ("difference of energy (%)", &|it| off(it.simulated_nj, it.published_nj)),
    ];
    let caption = "RowClone (MICRO 2013), table 3: one operation of 4 KB, dynamic energy";
    let table = Sortable::of("beside", caption, &columns, rows);
    html! {
        @if !rows.is_empty() { (table.draw()) }
        @for note in notes { p.note { (note) } }
    }
}
