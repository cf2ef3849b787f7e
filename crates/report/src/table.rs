//! Aligned text tables, without colors and borders, with two spaces between columns.

pub use comfy_table::CellAlignment as Align;
use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};
use rowclone_sim::quantity::grouped;
use textwrap::WordSplitter;

/// The header of a column, in one or more lines, and its alignment: words to the left, numbers to the right.
pub type Header<'a> = (&'a str, Align);

/// A column of a table of values: its header, its alignment, and the cell of a value.
pub type TextColumn<'a, T> = (&'a str, Align, &'a dyn Fn(&T) -> String);

/// The headers that `|` separates: those of words begin with `<`, the others are those of numbers.
pub(crate) fn headers(names: &str) -> Vec<Header<'_>> {
    let names = names.split('|');
    names.map(|name| name.strip_prefix('<').map_or((name, Align::Right), |name| (name, Align::Left))).collect()
}

/// Columns of a terminal for which tables are made.
pub const COLUMNS_MAX: usize = 80;

/// Spaces between columns.
const GAP: usize = 2;

/// A table of text with a header, as wide as its cells.
pub fn aligned(columns: &[Header<'_>], rows: &[Vec<String>]) -> String {
    rendered(columns, rows, usize::MAX)
}

/// A table of text with a header, in at most `width` columns where its numbers allow that: a wider table is divided
/// into several, each with the columns before the first number; in one that is still too wide, or that begins with a
/// number, texts are wrapped.
pub fn fitted(columns: &[Header<'_>], rows: &[Vec<String>], width: usize) -> String {
    let widths = widths(columns, rows);
    let labels = columns.iter().position(|(_, align)| *align == Align::Right).unwrap_or(columns.len());
    if total(&widths) <= width || labels == columns.len() || labels == 0 {
        return rendered(columns, rows, width);
    }
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for column in labels..columns.len() {
        let fits = |block: &Vec<usize>| {
            let block = block.iter().chain([&column]).map(|&other| GAP + widths[other]).sum::<usize>();
            total(&widths[..labels]) + block <= width
        };
        match blocks.last_mut().filter(|block| fits(block)) {
            Some(block) => block.push(column),
            None => blocks.push(vec![column]),
        }
    }
    let tables = blocks.iter().map(|block| {
        let places: Vec<usize> = (0..labels).chain(block.iter().copied()).collect();
        let columns: Vec<Header<'_>> = places.iter().map(|&place| columns[place]).collect();
        let cells = |row: &Vec<String>| places.iter().map(|&place| row[place].clone()).collect();
        rendered(&columns, &rows.iter().map(cells).collect::<Vec<_>>(), width)
    });
    tables.collect::<Vec<_>>().join("\n")
}

/// A table of text with a row per value, divided like [`fitted`].
pub fn listed<T>(columns: &[TextColumn<'_, T>], values: &[T], width: usize) -> String {
    let headers: Vec<Header<'_>> = columns.iter().map(|(name, align, _)| (*name, *align)).collect();
    let row = |value: &T| columns.iter().map(|(.., cell)| cell(value)).collect();
    fitted(&headers, &values.iter().map(row).collect::<Vec<_>>(), width)
}

/// The characters of the widest cell of each column.
pub(crate) fn widths(columns: &[Header<'_>], rows: &[Vec<String>]) -> Vec<usize> {
    let of = |text: &str| text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    let cells = |column: usize| rows.iter().map(move |row| of(&row[column])).max().unwrap_or(0);
    columns.iter().enumerate().map(|(column, (header, _))| of(header).max(cells(column))).collect()
}

/// The characters of a line of these columns.
pub(crate) fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

/// Values by key, the keys in the order of their first values.
pub(crate) fn in_groups<K: PartialEq, V>(values: impl IntoIterator<Item = (K, V)>) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// A value as a text; `-` where it is undefined.
pub(crate) fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

/// A ratio as a factor: `2.50x`.
pub(crate) fn times(ratio: f64) -> String {
    format!("{ratio:.2}x")
}

/// A share of 0 to 1 in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A number of at least 0, rounded to a whole one.
pub(crate) fn whole(value: f64) -> String {
    #[expect(clippy::cast_sign_loss, reason = "ratios, times and energies are not negative")]
    grouped(value.round() as u64)
}

/// At least three significant digits: 7.95, 66.4, 558, 3,288.
pub(crate) fn three_digits(value: f64) -> String {
    match value {
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => whole(value),
    }
}

/// The difference of a ratio from 1 in percent, with its sign.
pub(crate) fn change(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

fn rendered(columns: &[Header<'_>], rows: &[Vec<String>], width: usize) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    if total(&widths(columns, rows)) > width {
        // The spaces after the last column are cut off.
        let width = u16::try_from(width + GAP).unwrap_or(u16::MAX);
        table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    }
    table.set_header(columns.iter().map(|(name, _)| *name));
    for row in rows {
        table.add_row(row);
    }
    for (column, (_, align)) in table.column_iter_mut().zip(columns) {
        column.set_padding((0, GAP as u16));
        column.set_cell_alignment(*align);
    }
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// The lines of a text, each [`wrapped`].
pub fn wrapped_lines(text: &str, width: usize) -> String {
    text.lines().map(|line| wrapped(line, width)).collect()
}

/// A text in lines of at most `width` characters, broken between words; the second line and those after it are indented
/// by two spaces.
pub fn wrapped(text: &str, width: usize) -> String {
    let options = textwrap::Options::new(width).subsequent_indent("  ").break_words(false);
    textwrap::fill(text, options.word_splitter(WordSplitter::NoHyphenation)) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Vec<String> {
        cells.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn numbers_stand_to_the_right_and_nothing_trails() {
        let rows = [row(&["a", "7"]), row(&["bcd", "1,234"])];
        let text = aligned(&[("name", Align::Left), ("clocks", Align::Right)], &rows);
        assert_eq!(text, "name  clocks\na          7\nbcd    1,234\n");
    }

    #[test]
    fn a_wide_table_of_numbers_becomes_several_and_texts_are_wrapped() {
        let columns = [("name", Align::Left), ("clocks", Align::Right), ("ns", Align::Right), ("nJ", Align::Right)];
        let rows = [row(&["a", "7", "8", "9"])];
        assert_eq!(fitted(&columns, &rows, 20), "name  clocks  ns  nJ\na          7   8   9\n");
        assert_eq!(fitted(&columns, &rows, 19), "name  clocks  ns\na          7   8\n\nname  nJ\na      9\n");
        let why = [("policy", Align::Left), ("why", Align::Left)];
        let text = fitted(&why, &[row(&["rowclone", "source and destination lie in different banks"])], 30);
        assert!(text.lines().count() > 2 && text.lines().all(|line| line.chars().count() <= 30), "{text}");
        let numbered = [("#", Align::Right), ("cycle", Align::Right), ("why", Align::Left)];
        let text = fitted(&numbered, &[row(&["10", "52", "other commands went first"])], 25);
        assert_eq!(
            text, " #  cycle  why\n10     52  other commands\n           went first\n",
            "each number stays in its line"
        );
    }

    #[test]
    fn figures_have_three_digits() {
        assert_eq!([0.994, 7.951, 66.43, 558.0, 3288.2].map(three_digits), ["0.99", "7.95", "66.4", "558", "3,288"]);
    }

    #[test]
    fn a_text_is_broken_between_words() {
        assert_eq!(wrapped("warning: one two three", 12), "warning: one\n  two three\n");
        assert_eq!(wrapped("unbreakable", 4), "unbreakable\n");
    }
}
