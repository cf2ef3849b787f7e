//! Cells of tables for other programs. CSV writes the text of a cell, Parquet its value.

use std::fmt;

/// Value of a row in a column. An undefined number is an empty cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A text; may be empty.
    Text(String),
    /// An integer: a count, or a number of clocks or bytes.
    Count(Option<u64>),
    /// A real number.
    Number(Option<f64>),
    /// `true` or `false`.
    Flag(Option<bool>),
}

/// The type of the cells of a column: the type in Parquet, and the one that a reader infers from the texts in CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// Words: a string.
    Text,
    /// Whole numbers from 0 to 2^63 - 1: int64.
    Count,
    /// Numbers: a double. Their texts have a decimal point or an exponent.
    Number,
    /// `true` or `false`: a boolean.
    Flag,
}

/// A column of a table for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellColumn {
    /// Name, with the unit at its end.
    pub name: String,
    /// Type of the cells.
    pub kind: CellKind,
}

impl CellColumn {
    /// A column with this name.
    pub fn new(name: impl Into<String>, kind: CellKind) -> CellColumn {
        CellColumn { name: name.into(), kind }
    }
}

impl CellKind {
    /// The empty cell.
    pub const fn empty(self) -> Cell {
        match self {
            CellKind::Text => Cell::Text(String::new()),
            CellKind::Count => Cell::Count(None),
            CellKind::Number => Cell::Number(None),
            CellKind::Flag => Cell::Flag(None),
        }
    }

    /// The cell with this text, with all bits; none if no cell of this type has the text.
    pub fn parse(self, text: &str) -> Option<Cell> {
        match self {
            CellKind::Text => Some(Cell::Text(text.to_owned())),
            CellKind::Count | CellKind::Number | CellKind::Flag if text.is_empty() => Some(self.empty()),
            CellKind::Count => text.parse().ok().map(|count| Cell::Count(Some(count))),
            CellKind::Number => text.parse().ok().map(|number| Cell::Number(Some(number))),
            CellKind::Flag => text.parse().ok().map(|flag| Cell::Flag(Some(flag))),
        }
    }
}

impl Cell {
    /// Type of the cell.
    pub const fn kind(&self) -> CellKind {
        match self {
            Cell::Text(_) => CellKind::Text,
            Cell::Count(_) => CellKind::Count,
            Cell::Number(_) => CellKind::Number,
            Cell::Flag(_) => CellKind::Flag,
        }
    }
}

/// The shortest text that parses to an equal value of the same type; none for an empty cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Count(Some(count)) => count.fmt(f),
            // `90.0` instead of `90`, which a reader would take for an integer.
            Cell::Number(Some(number)) => write!(f, "{number:?}"),
            Cell::Flag(Some(flag)) => flag.fmt(f),
            Cell::Count(None) | Cell::Number(None) | Cell::Flag(None) => Ok(()),
        }
    }
}

macro_rules! from {
    ($($source:ty => $cell:path),+) => {
        $(impl From<$source> for Cell {
            fn from(value: $source) -> Cell {
                $cell(value.into())
            }
        })+
    };
}

from!(String => Cell::Text, &str => Cell::Text, u64 => Cell::Count, Option<u64> => Cell::Count);
from!(f64 => Cell::Number, Option<f64> => Cell::Number, bool => Cell::Flag);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_reads_back_to_the_last_bit() {
        let numbers = [0.1 + 0.2, 1e-300, 7e300, f64::MIN_POSITIVE, -0.0, 90.0].map(Cell::from);
        let counts = [0, 1, u64::MAX].map(Cell::from);
        let texts = ["", "rule", "a, \"b\"\n"].map(Cell::from);
        let flags = [true, false].map(|flag| Cell::Flag(Some(flag)));
        let none = [Cell::Count(None), Cell::Number(None), Cell::Flag(None)];
        for cell in numbers.into_iter().chain(counts).chain(texts).chain(flags).chain(none) {
            assert_eq!(cell.kind().parse(&cell.to_string()), Some(cell));
        }
        assert_eq!([Cell::from(90.0), Cell::from(7e300)].map(|cell| cell.to_string()), ["90.0", "7e300"]);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!(
            [CellKind::Count.parse("1.5"), CellKind::Count.parse("-1"), CellKind::Number.parse("x")],
            [None, None, None]
        );
    }
}
