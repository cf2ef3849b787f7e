//! `rowclone-sim plot`: a picture of a table.

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

use report::plot::{Chart, ChartRequest, Condition, Drawing, Extent, Picture, Table, TableError, png, svg};
use rowclone_sim::quantity::{counted, grouped};

use crate::args::PlotArgs;
use crate::output;
use report::plot_file::{PictureFormat, PlotEntry, spacing};
use rowclone_config::{AtomicFile, Existing, Failure};

/// Draws, and writes the picture.
///
/// # Errors
/// A file cannot be read or written, or the table does not have the requested columns.
pub fn run(args: &PlotArgs) -> Result<ExitCode, Failure> {
    let path = args.output.clone().unwrap_or_else(|| args.table.with_extension("svg"));
    let format = PictureFormat::of(&path)?;
    let conditions = Condition::parse_all(&args.r#where)
        .map_err(|error| Failure::new(format!("`--where`: {error}")).with_help_if(error.help.as_deref()))?;
    let request = ChartRequest {
        kind: args.kind,
        x: args.x.clone(),
        y: args.y.clone(),
        by: args.by.clone(),
        conditions,
        x_spacing: spacing(args.log_x),
        y_spacing: spacing(args.log_y),
        title: args.title.clone(),
        x_label: args.x_label.clone(),
        y_label: args.y_label.clone(),
        crossovers: args.crossovers,
    };
    let table = read(&args.table)?;
    let entry = PlotEntry { file: path.display().to_string(), format, request, published: args.published.clone() };
    let marks = draw(&table, &args.table, &entry, &path, Existing::with_force(args.force))?;
    output::message(&format!("wrote {}: {marks} marks", path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Draws the table of the file `path` into the file `target`; returns the number of marks.
///
/// # Errors
/// The errors of the command.
pub fn draw(
    table: &Table,
    path: &Path,
    entry: &PlotEntry,
    target: &Path,
    existing: Existing,
) -> Result<usize, Failure> {
    // The file is opened before the drawing, so that a name that cannot be written is an error at once.
    let file = AtomicFile::create(target, existing)?;
    let PlotEntry { request, published, format, .. } = entry;
    let published = published.as_deref();
    request.check(published.is_some()).map_err(|error| Failure::new(&error).with_help_if(error.help.as_deref()))?;
    let mut drawing = request.draw(table).map_err(|error| faulty(path, &error))?;
    if let Some(path) = published {
        drawing.add_published(&read(path)?).map_err(|error| faulty(path, &error))?;
    }
    for remark in remarks(&drawing, path, published) {
        output::message(&remark);
    }
    complete(file, *format, &drawing.chart)
}

/// Draws a chart into a file; returns the number of marks.
///
/// # Errors
/// The picture cannot be encoded or written.
pub fn complete(file: AtomicFile, format: PictureFormat, chart: &Chart) -> Result<usize, Failure> {
    let picture = Picture::of(chart, Extent::COLUMN);
    let bytes = match format {
        PictureFormat::Svg => svg(&picture).into_bytes(),
        PictureFormat::Png => png(&picture).map_err(Failure::new)?,
    };
    file.complete(&bytes)?;
    Ok(picture.values())
}

/// Reads a table.
///
/// # Errors
/// The file cannot be read, or is no table.
pub fn read(path: &Path) -> Result<Table, Failure> {
    let file = File::open(path).map_err(|source| Failure::reading(path, &source))?;
    if file.metadata().is_ok_and(|there| there.is_dir()) {
        return Err(Failure::reading(path, &std::io::ErrorKind::IsADirectory.into()));
    }
    Table::read(file).map_err(|error| faulty(path, &error))
}

/// Error of a table in a file.
fn faulty(path: &Path, error: &TableError) -> Failure {
    let place = match error.line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    };
    Failure::new(format!("{place}: {error}")).with_help_if(error.help.as_deref())
}

/// Number of marks above which a picture is large: an SVG file then has megabytes.
const MARKS_MANY: usize = 20_000;

/// Notes about the data of a picture.
fn remarks(drawing: &Drawing, path: &Path, published: Option<&Path>) -> Vec<String> {
    let mut remarks = Vec::new();
    if drawing.chart.marks() > MARKS_MANY {
        let marks = grouped(drawing.chart.marks() as u64);
        remarks.push(format!("{}: {marks} marks make a large picture: narrow it down with conditions", path.display()));
    }
    if drawing.empty > 0 {
        remarks.push(format!("{}: {} left out: empty cells", path.display(), counted(drawing.empty as u64, "value")));
    }
    if !drawing.differing.is_empty() {
        let columns = drawing.differing.iter().map(|column| format!("`{column}`")).collect::<Vec<_>>().join(", ");
        let most = drawing.chart.repeated();
        remarks.push(format!("{}: a mark stands for up to {most} lines, which differ in {columns}", path.display()));
    }
    if let Some(published) = published
        && drawing.unplaced > 0
    {
        let message = "left out, for the chart has no place for them";
        remarks.push(format!("{}: {} {message}", published.display(), counted(drawing.unplaced as u64, "value")));
    }
    remarks
}
