//! The page of a comparison: short answers, charts and tables.

use maud::html;

use super::sortable::{Shown, Sortable};
use super::words::Heading;
use super::{ROWS_SHOWN, document, in_panels};
use crate::plot::Chart;

/// A table of the page: words, and then numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComparedTable {
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

impl ComparedTable {
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
    tables: &[ComparedTable],
    refusals: &[String],
) -> String {
    let answers = html! { ul { @for answer in answers { li { (answer) } } } };
    let charts: Vec<&Chart> = charts.iter().collect();
    let charts = html! {
        @if charts.is_empty() { p { "There is nothing to draw." } }
        (in_panels(&charts, CHARTS_SHOWN, "More charts: "))
    };
    let tables = html! {
        @for (table, id) in tables.iter().zip(IDS) {
            @let table = table.sortable(id);
            @if table.rows.len() <= ROWS_SHOWN { (table.draw()) } @else { (table.folded()) }
        }
    };
    let refusals = html! {
        @if refusals.is_empty() { p { "Each copier can do each operation." } }
        ul { @for refusal in refusals { li { (refusal) } } }
    };
    let sections = [
        ("answers", "Answers", answers),
        ("charts", "Charts", charts),
        ("tables", "Tables", tables),
        ("refusals", "Not possible", refusals),
    ];
    let footer = "Every number is computed from commands that the simulator issued.";
    document(title, lead, "Skip to the comparison", &sections, footer)
}
