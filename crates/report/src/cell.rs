//! A cell of a table for programs: CSV writes its text, Parquet its value.

use std::fmt;

/// What stands in a row under a column. A number that there is none of is an empty cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words; empty where there are none.
    Text(String),
    /// A count, or a number of clocks or bytes.
    Count(Option<u64>),
    /// A measure.
    Number(Option<f64>),
}

/// What the cells of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// Whole numbers from 0 to 2^64 - 1.
    Count,
    /// Numbers.
    Number,
}

/// A column of a table for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, with its unit at the end.
    pub name: String,
    /// What its cells are.
    pub kind: Kind,
}

impl Column {
    /// A column of that name.
    pub fn new(name: impl Into<String>, kind: Kind) -> Column {
        Column { name: name.into(), kind }
    }
}

impl Kind {
    /// A cell with nothing in it.
    pub const fn empty(self) -> Cell {
        match self {
            Kind::Text => Cell::Text(String::new()),
            Kind::Count => Cell::Count(None),
            Kind::Number => Cell::Number(None),
        }
    }

    /// The cell that has this text, to the last bit; nothing if it is the text of no such cell.
    pub fn parse(self, text: &str) -> Option<Cell> {
        match self {
            Kind::Text => Some(Cell::Text(text.to_owned())),
            Kind::Count | Kind::Number if text.is_empty() => Some(self.empty()),
            Kind::Count => text.parse().ok().map(|count| Cell::Count(Some(count))),
            Kind::Number => text.parse().ok().map(|number| Cell::Number(Some(number))),
        }
    }
}

impl Cell {
    /// What kind of cell it is.
    pub const fn kind(&self) -> Kind {
        match self {
            Cell::Text(_) => Kind::Text,
            Cell::Count(_) => Kind::Count,
            Cell::Number(_) => Kind::Number,
        }
    }
}

/// The shortest text that reads back as the same value; nothing for an empty cell.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => f.write_str(text),
            Cell::Count(Some(count)) => count.fmt(f),
            Cell::Number(Some(number)) => number.fmt(f),
            Cell::Count(None) | Cell::Number(None) => Ok(()),
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(Some(count))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(Some(number))
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Cell {
        Cell::Number(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_reads_back_to_the_last_bit() {
        let numbers = [0.1 + 0.2, 1e-300, 7e300, f64::MIN_POSITIVE, -0.0, 90.0].map(Cell::from);
        let counts = [0, 1, u64::MAX].map(Cell::from);
        let texts = ["", "rule", "a, \"b\"\n"].map(Cell::from);
        let none = [Cell::Count(None), Cell::Number(None)];
        for cell in numbers.into_iter().chain(counts).chain(texts).chain(none) {
            assert_eq!(cell.kind().parse(&cell.to_string()), Some(cell));
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        assert_eq!([Kind::Count.parse("1.5"), Kind::Count.parse("-1"), Kind::Number.parse("x")], [None, None, None]);
    }
}
