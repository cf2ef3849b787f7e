//! The legend: above the chart, in as many rows as it needs, where it can hide nothing.

use super::font::Size;
use super::palette;
use super::picture::{Anchor, Colour, Picture};

/// The sign of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// A line with a mark.
    Line(usize),
    /// A hatched field.
    Field(usize),
    /// A hollow mark in this colour.
    Hollow(usize, Colour),
}

/// A sign and its meaning.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) sign: Sign,
    pub(super) text: String,
}

/// The width of a sign, in mm.
const SIGN: f64 = 4.6;

/// Between a sign and its text, in mm.
const GAP: f64 = 0.8;

/// Between two entries, in mm.
const APART: f64 = 2.6;

/// The height of a row, in mm.
const ROW: f64 = 3.3;

/// Draws the entries from this place down, within these sides; gives the place of the lower end.
pub(super) fn draw(picture: &mut Picture, entries: &[Entry], left: f64, right: f64, top: f64) -> f64 {
    if entries.is_empty() {
        return top;
    }
    let rows = rows(entries, right - left);
    for (index, row) in rows.iter().enumerate() {
        let middle = top + (index as f64 + 0.5) * ROW;
        for (x, entry, text) in row {
            sign(picture, entry.sign, left + x, middle);
            let at = (left + x + SIGN + GAP, middle + Size::TICK.capital() / 2.0);
            picture.text(text, at, Size::TICK, Anchor::Start, Colour::BLACK);
        }
    }
    top + rows.len() as f64 * ROW + 0.8
}

/// A row: the place of each entry from the left, in mm, and its text as far as it fits.
type Row<'a> = Vec<(f64, &'a Entry, String)>;

/// Each entry with its place and its text as far as it fits. Entries stand in columns where that takes no more rows.
fn rows(entries: &[Entry], width: f64) -> Vec<Row<'_>> {
    let text = |entry: &Entry| Size::TICK.fit(&entry.text, width - SIGN - GAP);
    let wide = |text: &str| SIGN + GAP + Size::TICK.width(text) + APART;
    let texts: Vec<String> = entries.iter().map(text).collect();
    let mut flowing: Vec<Row<'_>> = vec![Vec::new()];
    let mut x = 0.0;
    for (entry, text) in entries.iter().zip(&texts) {
        if x > 0.0 && x + wide(text) - APART > width {
            flowing.push(Vec::new());
            x = 0.0;
        }
        let row = flowing.last_mut().expect("there is a row from the beginning");
        row.push((x, entry, text.clone()));
        x += wide(text);
    }
    if flowing.len() == 1 {
        return flowing;
    }
    let columns = flowing.iter().map(Vec::len).max().unwrap_or(1);
    in_columns(entries, &texts, columns, width, wide)
        .or_else(|| in_columns(entries, &texts, columns - 1, width, wide))
        .filter(|rows| rows.len() <= flowing.len() + 1)
        .unwrap_or(flowing)
}

/// In so many columns, if they fit.
fn in_columns<'a>(
    entries: &'a [Entry],
    texts: &[String],
    columns: usize,
    width: f64,
    wide: impl Fn(&str) -> f64,
) -> Option<Vec<Row<'a>>> {
    if columns == 0 {
        return None;
    }
    let widest = |column: usize| texts.iter().skip(column).step_by(columns).map(|text| wide(text)).fold(0.0, f64::max);
    let widths: Vec<f64> = (0..columns).map(widest).collect();
    if widths.iter().sum::<f64>() - APART > width {
        return None;
    }
    let x = |column: usize| widths[..column].iter().sum::<f64>();
    let all: Vec<(&Entry, &String)> = entries.iter().zip(texts).collect();
    let row = |row: &[(&'a Entry, &String)]| {
        row.iter().enumerate().map(|(column, (entry, text))| (x(column), *entry, (*text).clone())).collect()
    };
    Some(all.chunks(columns).map(row).collect())
}

fn sign(picture: &mut Picture, sign: Sign, left: f64, middle: f64) {
    let centre = (left + SIGN / 2.0, middle);
    match sign {
        Sign::Line(series) => {
            let line = [(left, middle), (left + SIGN, middle)];
            picture.dashed(&line, palette::colour(series), palette::LINE, palette::strokes(series));
            palette::mark(picture, series, centre, palette::MARK_RADIUS);
        }
        Sign::Field(series) => {
            palette::hatched(picture, series, (left + 0.4, middle - 1.1), (left + SIGN - 0.2, middle + 1.1));
        }
        Sign::Hollow(series, colour) => palette::hollow_mark(picture, series, centre, colour),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_legend_fit_and_entries_do_not_overlap() {
        for count in 1..=16 {
            let entry = |index: usize| Entry { sign: Sign::Line(index), text: "a policy ".repeat(1 + index % 5) };
            let entries: Vec<Entry> = (0..count).map(entry).collect();
            let rows = rows(&entries, 70.0);
            assert_eq!(rows.iter().map(Vec::len).sum::<usize>(), count);
            for row in rows {
                let end = |(x, _, text): &(f64, &Entry, String)| x + SIGN + GAP + Size::TICK.width(text);
                assert!(row.iter().all(|it| end(it) <= 70.0 + 1e-6));
                assert!(row.windows(2).all(|pair| end(&pair[0]) < pair[1].0));
            }
        }
    }
}
