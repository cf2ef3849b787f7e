//! Reader of `results.csv` and `epochs.csv`.

use std::path::{Path, PathBuf};

use report::page::{Runs, Subject};
use report::plot::Table;
use report::{Cell, CellKind, decisions, run_cells};

use crate::commands::plot;
use rowclone_config::Failure;

/// A table of results, and its file.
pub(super) struct Results {
    path: PathBuf,
    table: Table,
}

impl Results {
    /// Reads a table.
    ///
    /// # Errors
    /// The file cannot be read, is empty, or a row has another number of cells than the header.
    pub(super) fn read(path: &Path) -> Result<Results, Failure> {
        let table = plot::read(path)?;
        if table.rows().len() == 0 {
            return Err(Failure::at(path, "has no rows").with_help("run the sweep or the scenario to its end first"));
        }
        Ok(Results { path: path.to_owned(), table })
    }

    /// The command that wrote the table, from its first column.
    ///
    /// # Errors
    /// The first column is unknown, or the table has no policies.
    pub(super) fn subject(&self) -> Result<Subject, Failure> {
        let subject = match self.table.columns()[0].as_str() {
            "point" => Subject::Sweep,
            "schema_version" => Subject::Run,
            found => {
                let message = format!("{}:1: begins with the column `{found}`", self.path.display());
                let help = "the table of a sweep begins with `point`, that of a run with `schema_version`";
                return Err(Failure::new(message).with_help(help));
            }
        };
        self.place("policy")?;
        Ok(subject)
    }

    fn place(&self, column: &str) -> Result<usize, Failure> {
        self.table.columns().iter().position(|name| name == column).ok_or_else(|| {
            let message = format!("{}:1: has no column `{column}`", self.path.display());
            Failure::new(message).with_help("give the directory of `sweep --out` or of `run --out`, as it was written")
        })
    }

    /// The columns between `point` and `seed`.
    ///
    /// # Errors
    /// The column `seed` is absent.
    pub(super) fn axes_of_a_sweep(&self) -> Result<Vec<String>, Failure> {
        Ok(self.table.columns()[1..self.place("seed")?.max(1)].to_vec())
    }

    /// Rows; the figures of known columns are checked.
    ///
    /// # Errors
    /// A cell has a form that the program does not write.
    pub(super) fn runs(&self, axes: &[String]) -> Result<Runs, Failure> {
        let columns = self.table.columns();
        for known in run_cells::columns().iter().filter(|known| !axes.contains(&known.name)) {
            let Some(place) = columns.iter().position(|column| *column == known.name) else { continue };
            for (line, cells) in self.table.rows() {
                self.check(line, &known.name, known.kind, &cells[place])?;
            }
        }
        Ok(Runs::new(self.table.clone(), axes.to_vec()))
    }

    fn check(&self, line: u64, name: &str, kind: CellKind, text: &str) -> Result<(), Failure> {
        let is_finite = |cell: &Cell| !matches!(cell, Cell::Number(Some(number)) if !number.is_finite());
        let is_sound = kind.parse(text).is_some_and(|cell| is_finite(&cell));
        if is_sound && (name != "decisions" || decisions::read(text, "").is_some()) {
            return Ok(());
        }
        let must = match kind {
            CellKind::Count => "a whole number from 0 on",
            CellKind::Number => "a number",
            CellKind::Flag => "`true` or `false`",
            CellKind::Text => "like `copy fpm fastest 12 49152`",
        };
        let message = format!("{}:{line}: `{name}` is `{text}`, but must be {must}", self.path.display());
        Err(Failure::new(message).with_help("the table was changed after it was written: write it again"))
    }
}
