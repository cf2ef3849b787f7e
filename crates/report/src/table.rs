//! Aligned text: no colours, no borders, two spaces between columns.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ContentArrangement, Table};

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table of text with a header; one `Align` a column.
pub fn aligned(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_preset(NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|(name, _)| *name));
    for row in rows {
        table.add_row(row);
    }
    for (column, (_, align)) in table.column_iter_mut().zip(columns) {
        column.set_padding((0, 2));
        column.set_cell_alignment(match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_and_nothing_trails() {
        let rows = [vec!["a".to_string(), "7".to_string()], vec!["bcd".to_string(), "1,234".to_string()]];
        let text = aligned(&[("name", Align::Left), ("clocks", Align::Right)], &rows);
        assert_eq!(text, "name  clocks\na          7\nbcd    1,234\n");
    }
}
