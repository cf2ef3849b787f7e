//! A table of text, and conditions on its rows.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;

use rowclone_config::suggestion;

/// A table: named columns, and rows of as many cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<String>,
    rows: Vec<TableRow>,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TableRow {
    /// The line of the file, counted from 1.
    pub(super) line: u64,
    pub(super) cells: Vec<String>,
}

/// A fault of a table or of a request for a chart of it. It does not name the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TableError {
    /// The faulty line, counted from 1; none for the table as a whole.
    pub line: Option<u64>,
    /// Finding.
    pub message: String,
    /// Help.
    pub help: Option<String>,
}

impl TableError {
    pub(super) fn new(message: impl fmt::Display) -> TableError {
        TableError { line: None, message: message.to_string(), help: None }
    }

    pub(super) fn at(self, line: u64) -> TableError {
        TableError { line: Some(line), ..self }
    }

    pub(super) fn with_help(self, help: impl fmt::Display) -> TableError {
        TableError { help: Some(help.to_string()), ..self }
    }
}

impl Table {
    /// A table of these columns and rows, which stand below each other from the file's second line on.
    ///
    /// # Errors
    /// A row has another number of cells, or a column has no unique name.
    pub fn new(columns: Vec<String>, rows: Vec<Vec<String>>) -> Result<Table, TableError> {
        check_names(&columns)?;
        let rows: Vec<TableRow> = (2..).zip(rows).map(|(line, cells)| TableRow { line, cells }).collect();
        if let Some(row) = rows.iter().find(|row| row.cells.len() != columns.len()) {
            let message = format!("{} cells, but there are {} columns", row.cells.len(), columns.len());
            return Err(TableError::new(message).at(row.line));
        }
        Ok(Table { columns, rows })
    }

    /// Reads a CSV file with a header.
    ///
    /// # Errors
    /// The text is no CSV; or as for [`Table::new`].
    pub fn read(file: impl Read) -> Result<Table, TableError> {
        let mut reader = csv::ReaderBuilder::new().has_headers(true).from_reader(file);
        let columns: Vec<String> =
            reader.headers().map_err(|error| unreadable(&error))?.iter().map(str::to_owned).collect();
        if columns.is_empty() {
            return Err(TableError::new("is empty").with_help("give a CSV file with a line of column names"));
        }
        check_names(&columns)?;
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| unreadable(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            rows.push(TableRow { line, cells: record.iter().map(str::to_owned).collect() });
        }
        Ok(Table { columns, rows })
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The rows: the line of the file on which each begins, counted from 1, and its cells.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (u64, &[String])> {
        self.rows.iter().map(|row| (row.line, &row.cells[..]))
    }

    /// The cell of a row, counted from 0, in a column of this index.
    pub(crate) fn cell(&self, row: usize, column: usize) -> &str {
        &self.rows[row].cells[column]
    }

    /// Whether a column has a value in some row.
    pub(super) fn has(&self, column: &str, value: &str) -> bool {
        self.column(column).is_ok_and(|column| self.rows.iter().any(|row| same(value, &row.cells[column])))
    }

    /// The index of a column.
    pub(super) fn column(&self, name: &str) -> Result<usize, TableError> {
        self.columns.iter().position(|column| column == name).ok_or_else(|| {
            let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
            let help = suggestion::choices(name, "columns", &columns);
            TableError::new(format!("there is no column `{name}`")).with_help(help)
        })
    }
}

fn check_names(columns: &[String]) -> Result<(), TableError> {
    for (index, name) in columns.iter().enumerate() {
        if columns[..index].contains(name) {
            let error = TableError::new(format!("two columns are named `{name}`")).at(1);
            return Err(error.with_help("give each column a name of its own"));
        }
    }
    Ok(())
}

fn unreadable(error: &csv::Error) -> TableError {
    let line = error.position().map(csv::Position::line);
    let (message, help) = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            (format!("{len} cells, but there are {expected_len} columns"), "give each line a cell for each column")
        }
        csv::ErrorKind::Utf8 { .. } => {
            ("is not a text in UTF-8".to_owned(), "give a CSV table: `sweep` and `run --out` write one, results.csv")
        }
        _ => return TableError { line, message: error.to_string(), help: None },
    };
    TableError { line, message, help: Some(help.to_owned()) }
}

/// The number in a cell; none if the cell has other content, or a number outside the range of axes.
pub(super) fn number(cell: &str) -> Option<f64> {
    let shown = |number: &f64| *number == 0.0 || (1e-30..1e30).contains(&number.abs());
    cell.trim().parse::<f64>().ok().filter(shown)
}

/// A condition on rows: a column has one of some values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The column.
    pub column: String,
    /// The values that it may have.
    pub values: Vec<String>,
}

impl Condition {
    /// Conditions from `COLUMN=VALUE`; several on one column admit each of their values.
    ///
    /// # Errors
    /// One has no `=`.
    pub fn parse_all(texts: &[String]) -> Result<Vec<Condition>, TableError> {
        let mut conditions: Vec<Condition> = Vec::new();
        for text in texts {
            let Some((column, value)) = text.split_once('=') else {
                let error = TableError::new(format!("the condition {text:?} has no `=`"));
                return Err(error.with_help("write COLUMN=VALUE, such as `policy=rowclone`"));
            };
            let (column, value) = (column.trim(), value.trim());
            match conditions.iter_mut().find(|condition| condition.column == column) {
                Some(condition) => condition.values.push(value.to_owned()),
                None => {
                    conditions.push(Condition { column: column.to_owned(), values: vec![value.to_owned()] });
                }
            }
        }
        Ok(conditions)
    }
}

/// `4096` is `4096.0`.
fn same(a: &str, b: &str) -> bool {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b).is_eq(),
        _ => a == b,
    }
}

/// The rows that meet all conditions.
///
/// # Errors
/// A condition names an absent column, or a value of no row; or no row is left.
pub(super) fn select<'a>(table: &'a Table, conditions: &[Condition]) -> Result<Vec<&'a TableRow>, TableError> {
    let mut rows: Vec<&TableRow> = table.rows.iter().collect();
    for condition in conditions {
        let column = table.column(&condition.column)?;
        for value in &condition.values {
            if !table.has(&condition.column, value) {
                let message = format!("no line has `{}` = {value:?}", condition.column);
                return Err(TableError::new(message).with_help(values_of(table, column)));
            }
        }
        rows.retain(|row| condition.values.iter().any(|value| same(value, &row.cells[column])));
    }
    if rows.is_empty() {
        let message = if conditions.is_empty() { "has no line of data" } else { "no line meets all conditions" };
        return Err(TableError::new(message));
    }
    Ok(rows)
}

/// Description of the values of a column.
fn values_of(table: &Table, column: usize) -> String {
    const SHOWN: usize = 12;
    let mut seen = BTreeSet::new();
    let values = table.rows.iter().map(|row| row.cells[column].as_str()).filter(|&value| seen.insert(value));
    let values: Vec<&str> = values.take(SHOWN + 1).collect();
    let more = if values.len() > SHOWN { ", and more" } else { "" };
    let list = values.iter().take(SHOWN).map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ");
    format!("its values are {list}{more}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::read("policy,bytes,latency_ns\nfpm,64,90\nfpm,4096.0,90\nrule,64,100\n".as_bytes()).unwrap()
    }

    fn conditions(texts: &[&str]) -> Vec<Condition> {
        Condition::parse_all(&texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn conditions_on_one_column_add_up_and_on_two_narrow_down() {
        let table = table();
        let lines = |texts: &[&str]| -> Vec<u64> {
            select(&table, &conditions(texts)).unwrap().iter().map(|row| row.line).collect()
        };
        assert_eq!(lines(&[]), [2, 3, 4]);
        assert_eq!(lines(&["policy=fpm"]), [2, 3]);
        assert_eq!(lines(&["policy=fpm", "policy=rule"]), [2, 3, 4]);
        assert_eq!(lines(&["policy=fpm", "bytes=4096"]), [3]);
    }

    #[test]
    fn what_is_not_there_is_named_with_what_is() {
        let error = select(&table(), &conditions(&["policy=psm"])).unwrap_err();
        assert_eq!(error.message, "no line has `policy` = \"psm\"");
        assert_eq!(error.help.unwrap(), "its values are \"fpm\", \"rule\"");
        let error = table().column("delay").unwrap_err();
        assert_eq!(error.message, "there is no column `delay`");
        assert_eq!(error.help.unwrap(), "the columns are `policy`, `bytes`, `latency_ns`");
        let error = select(&table(), &conditions(&["policy=rule", "bytes=4096"])).unwrap_err();
        assert_eq!(error.message, "no line meets all conditions");
        assert!(Condition::parse_all(&["policy".to_owned()]).is_err());
    }

    #[test]
    fn a_table_that_is_none_is_refused_with_its_line() {
        for (text, line, message) in [
            ("", None, "is empty"),
            ("a,b\n1,2\n3\n", Some(3), "1 cells, but there are 2 columns"),
            ("a,a\n", Some(1), "two columns are named `a`"),
        ] {
            let error = Table::read(text.as_bytes()).unwrap_err();
            assert_eq!((error.line, error.message.as_str()), (line, message), "{text:?}");
        }
        let error = Table::read(&b"a,b\n1,\xff\n"[..]).unwrap_err();
        assert_eq!(error.message, "is not a text in UTF-8");
        let rows = vec![vec!["1".to_owned()]];
        assert_eq!(Table::new(vec!["a".into(), "b".into()], rows).unwrap_err().line, Some(2));
    }
}
