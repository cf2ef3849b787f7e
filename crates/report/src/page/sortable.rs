//! Tables that a reader can sort, by pointer and by keyboard. Numbers are aligned to the right; the best of a group has
//! a mark.

use maud::{Markup, html};

use super::words::{Heading, number};

/// A cell: the displayed text, and the key for sorting.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    pub(super) text: String,
    /// Number by which the cell is sorted.
    pub(super) value: Option<f64>,
    /// Whether the value is the best of its group.
    pub(super) best: bool,
    /// Whether the text is shown verbatim, such as a command.
    pub(super) code: bool,
}

/// A table under a caption.
#[derive(Clone, Debug)]
pub(super) struct Sortable {
    /// `id` of the table in the page, which `#sort=…` names.
    pub(super) id: &'static str,
    pub(super) caption: String,
    pub(super) heads: Vec<Heading>,
    pub(super) rows: Vec<Vec<Shown>>,
}

/// Number of characters above which a text may be broken into lines.
const WRAPPED_FROM: usize = 36;
/// Number of rows above which a table scrolls within a box.
const BOXED_FROM: usize = 40;

/// Columns by their names, with their units in brackets: `operation | latency (ns)`.
pub(super) fn heads(columns: &str) -> Vec<Heading> {
    columns.split('|').map(Heading::written).collect()
}

/// A column of a table of values: its head, as in [`heads`], and the cell of a value.
pub(super) type PageColumn<'a, T> = (&'a str, &'a dyn Fn(&T) -> Shown);

impl Shown {
    pub(super) fn text(text: impl Into<String>) -> Shown {
        Shown { text: text.into(), ..Shown::default() }
    }

    pub(super) fn code(text: impl Into<String>) -> Shown {
        Shown { code: true, ..Shown::text(text) }
    }

    pub(super) fn number(text: impl Into<String>, value: f64) -> Shown {
        Shown { value: Some(value), ..Shown::text(text) }
    }

    /// A number as [`number`] writes it.
    pub(super) fn value(value: f64) -> Shown {
        Shown::number(number(value), value)
    }

    /// A share in percent, without its sign.
    pub(super) fn percent(share: f64) -> Shown {
        Shown::number(format!("{:.1}", share * 100.0), share)
    }

    /// A position in a list, counted from 0.
    pub(super) fn ordinal(index: usize) -> Shown {
        Shown::number(index.to_string(), index as f64)
    }

    pub(super) fn none() -> Shown {
        Shown::text("–")
    }
}

impl Sortable {
    /// A table with a row per value.
    pub(super) fn of<T>(
        id: &'static str,
        caption: impl Into<String>,
        columns: &[PageColumn<'_, T>],
        values: impl IntoIterator<Item = T>,
    ) -> Sortable {
        let row = |value: T| columns.iter().map(|(_, cell)| cell(&value)).collect();
        let heads = columns.iter().map(|(head, _)| Heading::written(head)).collect();
        Sortable { id, caption: caption.into(), heads, rows: values.into_iter().map(row).collect() }
    }

    /// Marks the lowest value of each group of rows in a column, if the group has several values.
    pub(super) fn mark_lowest(&mut self, column: usize, group: impl Fn(usize) -> usize) {
        let groups = (0..self.rows.len()).map(&group).max().map_or(0, |last| last + 1);
        let mut range = vec![(f64::INFINITY, f64::NEG_INFINITY); groups];
        for (row, cells) in self.rows.iter().enumerate() {
            if let Some(value) = cells[column].value {
                let (low, high) = &mut range[group(row)];
                (*low, *high) = (low.min(value), high.max(value));
            }
        }
        for (row, cells) in self.rows.iter_mut().enumerate() {
            let (low, high) = range[group(row)];
            // Values are compared bit by bit, because the lowest value is one of them.
            let lowest = cells[column].value.is_some_and(|value| value.to_bits() == low.to_bits());
            cells[column].best = low < high && lowest;
        }
    }

    /// Writes a table of secondary interest: it is folded, and opens at its caption.
    pub(super) fn folded(&self) -> Markup {
        html! { details { summary { (self.caption) } (self.draw()) } }
    }

    /// Writes the table.
    pub(super) fn draw(&self) -> Markup {
        let Sortable { id, caption, heads, rows } = self;
        let boxed = rows.len() > BOXED_FROM;
        let is_number = |column: usize| rows.iter().any(|row| row[column].value.is_some());
        let numeric: Vec<bool> = (0..heads.len()).map(is_number).collect();
        html! {
            div.scroll.boxed[boxed] tabindex="0" role="region" aria-label=(caption) {
                table id=(id) {
                    caption { (caption) }
                    thead { tr {
                        @for (head, numeric) in heads.iter().zip(&numeric) {
                            th.number[*numeric] scope="col" aria-sort="none" {
                                button type="button" {
                                    (head.name) @if !head.unit.is_empty() { " " span.unit { (head.unit) } }
                                }
                            }
                        }
                    } }
                    tbody {
                        @for row in rows {
                            tr { @for (numeric, cell) in numeric.iter().zip(row) { (draw_cell(*numeric, cell)) } }
                        }
                    }
                }
            }
        }
    }
}

fn draw_cell(numeric: bool, cell: &Shown) -> Markup {
    html! {
        td.number[numeric].long[cell.text.len() > WRAPPED_FROM].best[cell.best] data-v=[cell.value] {
            @if cell.best { span.sign title="lowest of its group" { "★" } }
            @if cell.code { code { (cell.text) } } @else { (cell.text) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(values: &[Option<f64>]) -> Sortable {
        let cell = |value: &Option<f64>| value.map_or_else(Shown::none, |value| Shown::number("", value));
        let rows = values.iter().map(|value| vec![cell(value)]).collect();
        Sortable { id: "t", caption: String::new(), heads: heads("n (ns)"), rows }
    }

    fn best(values: &[Option<f64>]) -> Vec<bool> {
        let mut table = table(values);
        table.mark_lowest(0, |row| row / 3);
        table.rows.iter().map(|row| row[0].best).collect()
    }

    #[test]
    fn the_lowest_of_a_group_is_marked_with_all_its_equals() {
        let values = [3.0, 1.0, 1.0, 5.0, 9.0, 7.0].map(Some);
        assert_eq!(best(&values), [false, true, true, true, false, false]);
    }

    #[test]
    fn nothing_is_marked_where_there_is_nothing_to_compare() {
        assert_eq!(best(&[Some(2.0), Some(2.0), None, Some(1.0)]), [false; 4]);
        assert_eq!(best(&[]), [false; 0]);
    }

    #[test]
    fn a_table_escapes_what_it_shows() {
        let mut table = table(&[None]);
        table.rows[0][0].text = "<b>&".to_owned();
        assert!(table.draw().into_string().contains("&lt;b&gt;&amp;"));
    }
}
