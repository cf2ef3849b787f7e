//! CSV files for other programs, written row by row.

use std::io::{self, Write};

use crate::cell::{Cell, CellColumn};

/// A CSV file that is being written: a header, and one line per row.
pub struct CsvTable<W: Write> {
    writer: csv::Writer<W>,
    columns: usize,
}

impl<W: Write> CsvTable<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(output: W, columns: &[CellColumn]) -> io::Result<CsvTable<W>> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(columns.iter().map(|column| &column.name)).map_err(io_error)?;
        Ok(CsvTable { writer, columns: columns.len() })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// Those of the output.
    ///
    /// # Panics
    /// If the number of cells differs from that of the columns.
    pub fn row(&mut self, cells: &[Cell]) -> io::Result<()> {
        assert_eq!(cells.len(), self.columns, "a cell for each column");
        self.writer.write_record(cells.iter().map(ToString::to_string)).map_err(io_error)
    }

    /// The output, after all rows were written to it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CellKind;

    #[test]
    fn cells_are_quoted_where_they_must_be_and_empty_where_there_is_nothing() {
        let columns = [
            CellColumn::new("a", CellKind::Text),
            CellColumn::new("b_ns", CellKind::Number),
            CellColumn::new("c", CellKind::Count),
        ];
        let mut table = CsvTable::new(Vec::new(), &columns).unwrap();
        table.row(&["x, \"y\"".into(), 0.5.into(), u64::MAX.into()]).unwrap();
        table.row(&[CellKind::Text.empty(), CellKind::Number.empty(), CellKind::Count.empty()]).unwrap();
        let text = String::from_utf8(table.finish().unwrap()).unwrap();
        assert_eq!(text, "a,b_ns,c\n\"x, \"\"y\"\"\",0.5,18446744073709551615\n,,\n");
    }
}
