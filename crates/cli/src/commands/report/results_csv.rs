//! `results.csv` and `epochs.csv`, read back.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use report::page::{Origin, Runs};
use report::{Cell, Column, Kind, decisions, run_cells};

use crate::CliError;

/// A table as it was read: texts.
pub(super) struct Table {
    path: PathBuf,
    columns: Vec<String>,
    /// With the line that each began on.
    rows: Vec<(u64, Vec<String>)>,
}

/// Columns that are words, whatever stands in them.
const WORDS: [&str; 7] = ["policy", "placement", "error", "scenario", "digest", "rerun", "currents"];
/// Ratios beside the figures: empty where no baseline was run.
const RATIOS: [&str; 2] = ["speedup", "energy_ratio"];
/// Counts beside the figures.
const COUNTS: [&str; 6] = ["point", "seed", "model_version", "schema_version", "from_cycle", "to_cycle"];

impl Table {
    /// Reads a table.
    ///
    /// # Errors
    /// It cannot be read, is empty, or a row has not as many cells as there are columns.
    pub(super) fn read(path: &Path) -> Result<Table, CliError> {
        let file = File::open(path).map_err(|error| CliError::reading(path, &error))?;
        let mut reader = csv::Reader::from_reader(BufReader::new(file));
        let fault = |error: &csv::Error| unreadable(path, error);
        let columns: Vec<String> = reader.headers().map_err(|error| fault(&error))?.iter().map(str::to_owned).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| fault(&error))?;
            let line = record.position().map_or(0, csv::Position::line);
            rows.push((line, record.iter().map(str::to_owned).collect()));
        }
        let table = Table { path: path.to_owned(), columns, rows };
        if table.rows.is_empty() {
            let message = format!("{}: has no rows", path.display());
            return Err(CliError::new(message).with_help("run the sweep or the scenario to its end first"));
        }
        Ok(table)
    }

    /// Who has written it.
    ///
    /// # Errors
    /// Nobody that is known.
    pub(super) fn origin(&self) -> Result<Origin, CliError> {
        let origin = match self.columns.first().map(String::as_str) {
            Some("point") => Origin::Sweep,
            Some("schema_version") => Origin::Run,
            found => {
                let message =
                    format!("{}:1: begins with the column `{}`", self.path.display(), found.unwrap_or_default());
                let help = "the table of a sweep begins with `point`, that of a run with `schema_version`";
                return Err(CliError::new(message).with_help(help));
            }
        };
        self.place("policy")?;
        Ok(origin)
    }

    fn place(&self, column: &str) -> Result<usize, CliError> {
        self.columns.iter().position(|name| name == column).ok_or_else(|| {
            let message = format!("{}:1: has no column `{column}`", self.path.display());
            CliError::new(message).with_help("give the directory of `sweep --out` or of `run --out`, as it was written")
        })
    }

    /// The columns between `point` and `seed`.
    ///
    /// # Errors
    /// There is no `seed`.
    pub(super) fn axes_of_a_sweep(&self) -> Result<Vec<String>, CliError> {
        Ok(self.columns[1..self.place("seed")?.max(1)].to_vec())
    }

    /// Its rows in cells: words, counts and measures as the program writes them; an axis is a number if all its values are.
    ///
    /// # Errors
    /// A figure that is no number.
    pub(super) fn runs(&self, axes: &[String]) -> Result<Runs, CliError> {
        let known = run_cells::columns();
        let columns: Vec<Column> =
            self.columns.iter().enumerate().map(|(place, name)| self.column(place, name, axes, &known)).collect();
        let mut rows = Vec::with_capacity(self.rows.len());
        for (line, texts) in &self.rows {
            let cells = columns.iter().zip(texts).map(|(column, text)| self.cell(*line, column, text));
            rows.push(cells.collect::<Result<Vec<Cell>, CliError>>()?);
        }
        Ok(Runs::new(columns, axes.to_vec(), rows))
    }

    fn column(&self, place: usize, name: &str, axes: &[String], known: &[Column]) -> Column {
        let column = known.iter().find(|column| column.name == name).filter(|_| !axes.iter().any(|axis| axis == name));
        let kind = match column {
            Some(column) => column.kind,
            None if RATIOS.contains(&name) => Kind::Number,
            None if COUNTS.contains(&name) => Kind::Count,
            None if WORDS.contains(&name) => Kind::Text,
            None => self.kind(place),
        };
        Column::new(name, kind)
    }

    /// What all values of a column are.
    fn kind(&self, place: usize) -> Kind {
        let all =
            |kind: Kind| self.rows.iter().all(|(_, row)| kind.parse(&row[place]).is_some_and(|cell| finite(&cell)));
        [Kind::Count, Kind::Number].into_iter().find(|kind| all(*kind)).unwrap_or(Kind::Text)
    }

    fn cell(&self, line: u64, column: &Column, text: &str) -> Result<Cell, CliError> {
        let sound = |cell: &Cell| finite(cell) && (column.name != "decisions" || decisions::read(text).is_some());
        column.kind.parse(text).filter(sound).ok_or_else(|| {
            let Column { name, kind } = column;
            let must = match kind {
                Kind::Count => "a whole number from 0 on",
                Kind::Number => "a number",
                Kind::Flag => "`true` or `false`",
                Kind::Text => "like `copy fpm - 12 49152`",
            };
            let message = format!("{}:{line}: `{name}` is `{text}`, but must be {must}", self.path.display());
            CliError::new(message).with_help("the table was changed after it was written: write it again")
        })
    }
}

fn finite(cell: &Cell) -> bool {
    !matches!(cell, Cell::Number(Some(number)) if !number.is_finite())
}

fn unreadable(path: &Path, error: &csv::Error) -> CliError {
    let line = error.position().map_or(String::new(), |position| format!(":{}", position.line()));
    let place = format!("{}{line}", path.display());
    match error.kind() {
        csv::ErrorKind::Io(source) => CliError::reading(path, source),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            CliError::new(format!("{place}: has {len} cells, and there are {expected_len} columns"))
                .with_help("the table was cut off or changed: write it again")
        }
        csv::ErrorKind::Utf8 { .. } => {
            CliError::new(format!("{place}: is no UTF-8")).with_help("give a table in UTF-8")
        }
        _ => CliError::new(format!("{place}: {error}")),
    }
}
