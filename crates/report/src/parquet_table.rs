//! Parquet files for other programs, written row by row.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use crate::cell::{Cell, CellColumn, CellKind};

/// Number of rows that are buffered and written together, column by column.
const GROUP_ROWS: usize = 4096;

/// A Parquet file that is being written.
///
/// Texts are UTF-8 strings, counts int64, numbers doubles, flags booleans: the types that readers infer from CSV files
/// of the same table. Empty cells and empty texts are null.
pub struct ParquetTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    kinds: Vec<CellKind>,
    /// Rows that are not yet written.
    rows: Vec<Vec<Cell>>,
}

impl<W: Write + Send> ParquetTable<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(output: W, columns: &[CellColumn]) -> io::Result<ParquetTable<W>> {
        let fields = columns.iter().map(field).collect::<Result<_, _>>().map_err(io_error)?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build().map_err(io_error)?;
        let properties = WriterProperties::builder()
            .set_created_by(concat!("rowclone-sim ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::SNAPPY)
            .build();
        let writer = SerializedFileWriter::new(output, Arc::new(schema), Arc::new(properties)).map_err(io_error)?;
        Ok(ParquetTable { writer, kinds: columns.iter().map(|column| column.kind).collect(), rows: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Those of the output, or a count above 2^63 - 1.
    ///
    /// # Panics
    /// If a cell is missing, or has another type than its column.
    pub fn row(&mut self, cells: Vec<Cell>) -> io::Result<()> {
        assert!(cells.iter().map(Cell::kind).eq(self.kinds.iter().copied()), "a cell of its kind for each column");
        self.rows.push(cells);
        if self.rows.len() == GROUP_ROWS { self.write_group() } else { Ok(()) }
    }

    /// The output, after all rows were written to it.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_group()?;
        self.writer.into_inner().map_err(io_error)
    }

    fn write_group(&mut self) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        write_group(&mut self.writer, &self.kinds, &self.rows).map_err(io_error)?;
        self.rows.clear();
        Ok(())
    }
}

fn field(column: &CellColumn) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match column.kind {
        CellKind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        CellKind::Count => (Physical::INT64, None),
        CellKind::Number => (Physical::DOUBLE, None),
        CellKind::Flag => (Physical::BOOLEAN, None),
    };
    let builder = Type::primitive_type_builder(&column.name, physical).with_repetition(Repetition::OPTIONAL);
    builder.with_logical_type(logical).build().map(Arc::new)
}

fn write_group<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    kinds: &[CellKind],
    rows: &[Vec<Cell>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (index, kind) in kinds.iter().enumerate() {
        let mut column = group.next_column()?.ok_or_else(|| ParquetError::General("a column is missing".to_owned()))?;
        let cells = rows.iter().map(|row| &row[index]);
        match kind {
            CellKind::Text => write::<ByteArrayType>(&mut column, cells, |cell| {
                Ok(Some(cell.to_string()).filter(|text| !text.is_empty()).map(|text| text.as_str().into()))
            }),
            CellKind::Count => write::<Int64Type>(&mut column, cells, count),
            CellKind::Flag => {
                write::<BoolType>(&mut column, cells, |cell| Ok(if let Cell::Flag(flag) = cell { *flag } else { None }))
            }
            CellKind::Number => write::<DoubleType>(&mut column, cells, |cell| {
                Ok(if let Cell::Number(number) = cell { *number } else { None })
            }),
        }?;
        column.close()?;
    }
    group.close()?;
    Ok(())
}

/// Writes the values of cells, with definition level 0 for an empty cell.
fn write<'a, T: DataType>(
    column: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = &'a Cell>,
    value: impl Fn(&Cell) -> Result<Option<T::T>, ParquetError>,
) -> Result<(), ParquetError> {
    let cells = cells.map(value).collect::<Result<Vec<_>, _>>()?;
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    let values: Vec<T::T> = cells.into_iter().flatten().collect();
    column.typed::<T>().write_batch(&values, Some(&levels), None).map(drop)
}

fn count(cell: &Cell) -> Result<Option<i64>, ParquetError> {
    let &Cell::Count(Some(count)) = cell else { return Ok(None) };
    let too_large = |_| ParquetError::General(format!("{count} is above 2^63 - 1, the largest count of a table"));
    i64::try_from(count).map(Some).map_err(too_large)
}

/// The error of the output, where the output failed.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => inner.downcast::<io::Error>().map_or_else(io::Error::other, |inner| *inner),
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::*;

    #[test]
    fn every_cell_reads_back_across_groups_of_rows() {
        let columns = [
            CellColumn::new("a", CellKind::Text),
            CellColumn::new("b_ns", CellKind::Number),
            CellColumn::new("c", CellKind::Count),
            CellColumn::new("d", CellKind::Flag),
        ];
        let mut table = ParquetTable::new(Vec::new(), &columns).unwrap();
        let most = i64::MAX.cast_unsigned();
        let count = 2 * GROUP_ROWS as u64 + 1;
        for row in 0..count {
            let cells = match row % 3 {
                0 => vec![
                    format!("row {row}").into(),
                    (row as f64 / 3.0).into(),
                    (most - row).into(),
                    Cell::Flag(Some(row % 2 == 0)),
                ],
                1 => columns.iter().map(|column| column.kind.empty()).collect(),
                _ => vec!["same".into(), CellKind::Number.empty(), row.into(), Cell::Flag(Some(true))],
            };
            table.row(cells).unwrap();
        }
        let reader = SerializedFileReader::new(bytes::Bytes::from(table.finish().unwrap())).unwrap();
        assert_eq!(reader.num_row_groups(), 3);
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        let mut seen = 0_u32;
        for (row, found) in (0_u32..).zip(rows) {
            let fields: Vec<Field> = found.get_column_iter().map(|(_, field)| field.clone()).collect();
            let text = |text: String| Field::Str(text);
            assert_eq!(
                fields,
                match row % 3 {
                    0 => vec![
                        text(format!("row {row}")),
                        Field::Double(f64::from(row) / 3.0),
                        Field::Long(i64::MAX - i64::from(row)),
                        Field::Bool(row % 2 == 0),
                    ],
                    1 => vec![Field::Null; 4],
                    _ => vec![text("same".to_owned()), Field::Null, Field::Long(row.into()), Field::Bool(true),],
                }
            );
            seen += 1;
        }
        assert_eq!(u64::from(seen), count);
    }

    #[test]
    fn a_count_that_is_no_int64_is_refused() {
        let mut table = ParquetTable::new(Vec::new(), &[CellColumn::new("c", CellKind::Count)]).unwrap();
        table.row(vec![(1_u64 << 63).into()]).unwrap();
        let error = table.finish().unwrap_err().to_string();
        assert!(error.contains("9223372036854775808 is above 2^63 - 1"), "{error}");
    }

    #[test]
    fn a_table_without_rows_has_its_columns() {
        let table = ParquetTable::new(Vec::new(), &[CellColumn::new("a", CellKind::Text)]).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(table.finish().unwrap())).unwrap();
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        assert_eq!(reader.metadata().file_metadata().schema().get_fields()[0].name(), "a");
    }
}
