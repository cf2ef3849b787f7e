//! The page of a comparison: short answers, charts and tables.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::sortable::{Shown, Sortable};
use super::words::Heading;
use super::{POLICY, ROWS_SHOWN, drawn, figure};
use crate::plot::{self, Chart, Extent};

/// A table of the page: words, and then numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// Caption.
    pub(crate) caption: String,
    /// Heads of the columns, with their units in brackets.
    pub(crate) heads: Vec<String>,
    /// Rows: the words, and the numbers behind them.
    pub(crate) rows: Vec<(Vec<String>, Vec<Option<f64>>)>,
}

/// Charts that are shown at once; a selector shows one of the others.
const CHARTS_SHOWN: usize = 12;

/// Names of the tables in the page.
const IDS: [&str; 6] = ["table-1", "table-2", "table-3", "table-4", "table-5", "table-6"];

impl Table {
    fn sortable(&self, id: &'static str) -> Sortable {
        let row = |(words, numbers): &(Vec<String>, Vec<Option<f64>>)| {
            let numbers = numbers.iter().map(|number| number.map_or_else(Shown::none, Shown::value));
            words.iter().map(Shown::text).chain(numbers).collect()
        };
        Sortable {
            id,
            caption: self.caption.clone(),
            heads: self.heads.iter().map(|head| Heading::written(head)).collect(),
            rows: self.rows.iter().map(row).collect(),
        }
    }
}

/// The page as HTML, without external files.
pub(crate) fn page(
    title: &str,
    lead: &str,
    answers: &[String],
    charts: &[Chart],
    tables: &[Table],
    refusals: &[String],
) -> String {
    let sections = [("answers", "Answers"), ("charts", "Charts"), ("tables", "Tables"), ("refusals", "Not possible")];
    let body = |id: &str| match id {
        "answers" => html! { ul { @for answer in answers { li { (answer) } } } },
        "charts" => draw_charts(charts),
        "tables" => html! {
            @for (table, id) in tables.iter().zip(IDS) {
                @let table = table.sortable(id);
                @if table.rows.len() <= ROWS_SHOWN { (table.draw()) } @else { (table.folded()) }
            }
        },
        _ => html! {
            @if refusals.is_empty() { p { "Each copier can do each operation." } }
            ul { @for refusal in refusals { li { (refusal) } } }
        },
    };
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
                a.skip href="#main" { "Skip to the comparison" }
                header { h1 { (title) } p.lead { (lead) } }
                nav aria-label="Sections" { ul { @for (id, name) in sections { li { a href={ "#" (id) } { (name) } } } } }
                main id="main" tabindex="-1" {
                    @for (id, name) in sections {
                        section aria-labelledby=(id) { h2 id=(id) { (name) } (body(id)) }
                    }
                }
                footer { p { "Every number is computed from commands that the simulator issued." } }
                div.hidden id="status" role="status" {}
                script { (PreEscaped(include_str!("script.js"))) }
            }
        }
    };
    page.into_string() + "\n"
}

fn draw_charts(charts: &[Chart]) -> Markup {
    let (shown, more) = charts.split_at(charts.len().min(CHARTS_SHOWN));
    html! {
        @if charts.is_empty() { p { "There is nothing to draw." } }
        div.panels { @for chart in shown { (figure(chart, Extent::COLUMN)) } }
        @if !more.is_empty() {
            div.panels.more {
                label { "More charts: "
                    select { @for (place, chart) in more.iter().enumerate() { option value=(place) { (chart.title) } } }
                }
                @for (place, chart) in more.iter().enumerate() {
                    figure hidden[place > 0] { (drawn(chart, Extent::COLUMN)) }
                }
            }
        }
    }
}
