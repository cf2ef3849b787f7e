//! Tables of a sweep: results as CSV and Parquet, and the duration of each run on this computer.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use report::{Cell, CellColumn, CellKind, CsvTable, ParquetTable};
use rowclone_sim::ratio;

use rowclone_config::{AtomicFile, Existing, Failure, Variant};

use super::axis::columns;
use super::digest::{Digest, MODEL_VERSION};
use super::journal::Journals;
use super::points::Point;
use super::record::Record;
use super::rerun;
use super::run::{Plan, Planned, Sweep};

/// File name of the table that `plot` and `report` read.
pub const RESULTS: &str = "results.csv";

/// File names, in the order of writing.
pub(super) const NAMES: [&str; 3] = [RESULTS, "results.parquet", "times.csv"];

/// Summary of the written tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The files.
    pub paths: Vec<PathBuf>,
    /// Rows of results.
    pub rows: u64,
    /// Rows with an error.
    pub failed: u64,
    /// Unfinished runs, which have no row.
    pub missing: u64,
    /// The first points with an unfinished run.
    pub missing_points: Vec<u64>,
    /// Rows without speedup and energy ratio, because the sweep does not run their reference.
    pub without_reference: u64,
}

impl Tables {
    /// Counts an unfinished run.
    fn miss(&mut self, point: u64) {
        self.missing += 1;
        if self.missing_points.len() < MISSING_NAMED && self.missing_points.last() != Some(&point) {
            self.missing_points.push(point);
        }
    }
}

/// Maximum number of points that the summary names.
const MISSING_NAMED: usize = 10;

/// Tables that are being written.
struct Writers<'a> {
    sweep: &'a Sweep<'a>,
    directory: &'a Path,
    csv: CsvTable<BufWriter<AtomicFile>>,
    parquet: ParquetTable<BufWriter<AtomicFile>>,
    times: CsvTable<BufWriter<AtomicFile>>,
    tables: Tables,
}

/// Writes the finished runs of all points in the order of the points, and replaces earlier tables. All tables are
/// committed together.
///
/// # Errors
/// A journal cannot be read, or a table cannot be written.
pub(super) fn write(
    sweep: &Sweep<'_>,
    plans: &[Plan],
    journals: &Journals,
    directory: &Path,
) -> Result<Tables, Failure> {
    let mut writers = Writers::open(sweep, directory)?;
    for (number, plan) in (0..).zip(plans) {
        let point = sweep.points.point(number);
        match plan {
            Err(error) => {
                let rerun = rerun::command(&sweep.file.scenario, &point.words, &[], None);
                writers.row(
                    &point,
                    ResultRow { seed: None, run: None, reference: None, ratios: [None; 5], outcome: Err(error), rerun },
                )?;
            }
            Ok(planned) => writers.point(&point, planned, journals)?,
        }
    }
    writers.commit()
}

/// Result of an output; an error names the file.
fn named<T>(directory: &Path, name: &str, result: io::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| Failure::writing(&directory.join(name), &error))
}

/// A row of results.
struct ResultRow<'a> {
    seed: Option<u64>,
    /// The run; none for a point without runs.
    run: Option<(Variant, Digest)>,
    /// The run to which the ratios refer.
    reference: Option<Variant>,
    /// Speedup, energy ratio, and the ratios of the mean latencies of reads, writes and copies.
    ratios: [Option<f64>; 5],
    outcome: Result<&'a [Cell], &'a str>,
    rerun: String,
}

/// Ratios of a run to its reference; none if one of the two is missing or failed.
fn ratios(columns: &[CellColumn], run: Option<&[Cell]>, reference: Option<&[Cell]>) -> [Option<f64>; 5] {
    let of = |name: &str| {
        let place = columns.iter().position(|column| column.name == name)?;
        let number = |cells: &[Cell]| if let Cell::Number(number) = cells[place] { number } else { None };
        ratio(number(reference?)?, number(run?)?)
    };
    // Programs on cores have an energy per instruction.
    let energy = of("energy_per_instruction_nj").or_else(|| of("dynamic_energy_nj"));
    let [read, write, copy] = ["read", "write", "copy"].map(|kind| of(&format!("{kind}_latency_mean_ns")));
    [of("latency_ns"), energy, read, write, copy]
}

impl<'a> Writers<'a> {
    fn open(sweep: &'a Sweep<'_>, directory: &'a Path) -> Result<Writers<'a>, Failure> {
        let paths = NAMES.map(|name| directory.join(name));
        let [csv, parquet, times] = paths.each_ref().map(|path| AtomicFile::create(path, Existing::Replace));
        let all = columns(&sweep.file.axes);
        let timed = [
            ("point", CellKind::Count),
            ("policy", CellKind::Text),
            ("placement", CellKind::Text),
            ("wall_s", CellKind::Number),
        ];
        let timed = timed.map(|(name, kind)| CellColumn::new(name, kind));
        Ok(Writers {
            sweep,
            directory,
            csv: named(directory, NAMES[0], CsvTable::new(BufWriter::new(csv?), &all))?,
            parquet: named(directory, NAMES[1], ParquetTable::new(BufWriter::new(parquet?), &all))?,
            times: named(directory, NAMES[2], CsvTable::new(BufWriter::new(times?), &timed))?,
            tables: Tables { paths: paths.to_vec(), ..Tables::default() },
        })
    }

    /// Writes the rows of the finished runs of a point.
    fn point(&mut self, point: &Point<'_>, planned: &Planned, journals: &Journals) -> Result<(), Failure> {
        let sweep = self.sweep;
        let listed = planned.runs.iter().filter(|run| run.is_listed);
        let variants: Vec<Variant> = listed.map(|run| run.variant).collect();
        let found = planned.runs.iter().map(|run| journals.find(run.digest, &sweep.run_columns));
        let found = found.collect::<Result<Vec<Option<Record>>, Failure>>()?;
        for (run, record) in planned.runs.iter().zip(&found) {
            let Some(Record { wall, outcome, .. }) = record.clone() else {
                self.tables.miss(point.number);
                continue;
            };
            let (variant, reference) = (run.variant, planned.place(run.reference));
            if run.is_listed {
                let outcome = sweep.counted(outcome);
                let outcome = outcome.as_deref().map_err(String::as_str);
                let of_reference = reference.and_then(|place| found[place].clone()?.outcome.ok());
                self.tables.without_reference += u64::from(reference.is_none());
                let row = ResultRow {
                    seed: Some(planned.seed),
                    run: Some((variant, run.digest)),
                    reference: reference.map(|_| run.reference),
                    ratios: ratios(&sweep.run_columns, outcome.ok(), of_reference.as_deref()),
                    outcome,
                    rerun: rerun::command(&sweep.file.scenario, &point.words, &variants, Some((planned.key, variant))),
                };
                self.row(point, row)?;
            }
            let (policy, placement) = (variant.name(), variant.placement.name().unwrap_or_default());
            let time = [point.number.into(), policy.into(), placement.into(), wall.as_secs_f64().into()];
            named(self.directory, NAMES[2], self.times.row(&time))?;
        }
        Ok(())
    }

    fn row(&mut self, point: &Point<'_>, row: ResultRow<'_>) -> Result<(), Failure> {
        let (sweep, ResultRow { seed, run, reference, ratios, outcome, rerun }) = (self.sweep, row);
        self.tables.rows += 1;
        self.tables.failed += u64::from(outcome.is_err());
        let (policy, placement, digest) = match run {
            Some((variant, digest)) => {
                (variant.name(), variant.placement.name().unwrap_or_default(), digest.to_string())
            }
            None => ("", "", String::new()),
        };
        let mut cells: Vec<Cell> = vec![point.number.into()];
        cells.extend(sweep.points.cells(point));
        let reference = reference.map(|variant| variant.label("/")).unwrap_or_default();
        cells.extend([Cell::Count(seed), policy.into(), placement.into(), reference.into()]);
        cells.extend(ratios.map(Cell::from));
        match outcome {
            Ok(figures) => cells.extend_from_slice(figures),
            Err(_) => cells.extend(sweep.run_columns.iter().map(|column| column.kind.empty())),
        }
        let scenario = sweep.file.scenario.display().to_string();
        let error = outcome.err().unwrap_or_default();
        cells.extend([error.into(), scenario.into(), MODEL_VERSION.into(), digest.into(), rerun.into()]);
        named(self.directory, NAMES[0], self.csv.row(&cells))?;
        named(self.directory, NAMES[1], self.parquet.row(cells))
    }

    fn commit(self) -> Result<Tables, Failure> {
        let Writers { directory, csv, parquet, times, tables, .. } = self;
        let mut files = Vec::new();
        for (name, output) in NAMES.into_iter().zip([csv.finish(), parquet.finish(), times.finish()]) {
            let file = output.and_then(|output| output.into_inner().map_err(io::IntoInnerError::into_error));
            files.push(named(directory, name, file)?);
        }
        files.into_iter().try_for_each(|file| file.commit().map(drop)).map(|()| tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 6] = [
        "latency_ns",
        "dynamic_energy_nj",
        "energy_per_instruction_nj",
        "read_latency_mean_ns",
        "write_latency_mean_ns",
        "copy_latency_mean_ns",
    ];

    fn cells(numbers: [Option<f64>; 6]) -> Vec<Cell> {
        numbers.map(Cell::Number).into()
    }

    /// Each figure of the reference is 2, 3, 5, 7, 11 or 13 times that of the run.
    #[test]
    fn ratios_are_those_of_their_figures_reference_by_run() {
        let columns = NAMES.map(|name| CellColumn::new(name, CellKind::Number));
        let run = cells([Some(10.0); 6]);
        let reference = [20.0, 30.0, 50.0, 70.0, 110.0, 130.0].map(Some);
        let of = |reference: &[Cell]| ratios(&columns, Some(&run), Some(reference));
        assert_eq!(of(&cells(reference)), [2.0, 5.0, 7.0, 11.0, 13.0].map(Some), "energy is per instruction");
        let mut without_cores = reference;
        without_cores[2] = None;
        assert_eq!(of(&cells(without_cores)), [2.0, 3.0, 7.0, 11.0, 13.0].map(Some));
        assert_eq!(ratios(&columns, Some(&run), None), [None; 5]);
        assert_eq!(ratios(&columns, None, Some(&run)), [None; 5]);
    }

    #[test]
    fn the_first_points_that_miss_runs_are_named_once() {
        let mut tables = Tables::default();
        for point in [3, 3, 5, 7, 7, 7] {
            tables.miss(point);
        }
        assert_eq!((tables.missing, tables.missing_points.as_slice()), (6, &[3, 5, 7][..]));
        (10..30).for_each(|point| tables.miss(point));
        assert_eq!((tables.missing, tables.missing_points.len()), (26, MISSING_NAMED));
    }
}
