//! `rowclone-sim sweep` and `sweep collect`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use report::table::{self, Align};
use rowclone_sim::quantity::{counted, grouped};

use crate::args::{CollectArgs, SweepArgs, SweepCommand};
use crate::interrupt;
use crate::output;
use rowclone_config::{Existing, Failure};
use rowclone_sweep::{AxisColumn, RESULTS, Shard, Sweep, SweepFile, Tables, Tally, directory};

use super::{plot, sweep_slurm};

/// Exit code if some runs failed.
const FAILED: u8 = 1;
/// Exit code if some runs are not finished.
const INCOMPLETE: u8 = 3;
/// Maximum number of points that `--dry-run` prints.
const SHOWN: usize = 10;

/// Runs a sweep, or executes its subcommand.
///
/// # Errors
/// An error of a file, or an interruption.
pub fn run(args: &SweepArgs) -> Result<ExitCode, Failure> {
    if let Some(SweepCommand::Collect(args)) = &args.command {
        return collect(args);
    }
    let path = args.sweep.as_ref().ok_or_else(|| Failure::new("no sweep was given"))?;
    let file = SweepFile::read(path)?;
    let stop = interrupt::flag();
    let mut sweep = Sweep::new(&file, jobs(args.jobs)?, &stop)?;
    sweep.allow_skipped = args.allow_skipped;
    if !args.dry_run {
        sweep.check_values()?;
    }
    if args.slurm.slurm {
        return sweep_slurm::submit(path, &file, &sweep, args);
    }
    if args.dry_run {
        return output::print(dry_run(&file, &sweep, args.shard));
    }
    let directory = args.out.clone().unwrap_or_else(|| PathBuf::from(&file.name));
    let (tally, tables) = directory::run(&sweep, &directory, args.shard, args.force)?;
    let Tally { done, kept, failed, first_failure } = tally;
    let besides = [(kept, "done before"), (failed, "failed")].into_iter().filter(|(count, _)| *count > 0);
    let besides: String =
        besides.flat_map(|(count, what)| [", ".to_owned(), grouped(count), format!(" {what}")]).collect();
    output::message(&format!("{}: {} done{besides}", file.name, counted(done, "run")));
    if let Some((point, error)) = first_failure {
        output::message(&format!("point {point} failed: {error}"));
    }
    if let Some(tables) = &tables {
        say_written(tables);
        draw(&file, &directory, failed == 0)?;
    }
    Ok(ExitCode::from(if failed > 0 { FAILED } else { 0 }))
}

fn collect(args: &CollectArgs) -> Result<ExitCode, Failure> {
    let file = SweepFile::read(&args.sweep)?;
    let stop = interrupt::flag();
    let mut sweep = Sweep::new(&file, jobs(args.jobs)?, &stop)?;
    sweep.allow_skipped = args.allow_skipped;
    let tables = directory::collect(&sweep, &args.from, &args.out, args.force)?;
    let Tables { rows, failed, missing, missing_points, .. } = &tables;
    let of_them = if *failed > 0 { format!(", {} of them failed", grouped(*failed)) } else { String::new() };
    let points = missing_points.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let more = match *missing {
        0 => String::new(),
        missing => format!("; {} missing, the first at point {points}", grouped(missing)),
    };
    output::message(&format!("{}: {} finished{of_them}{more}", file.name, counted(*rows, "run")));
    say_written(&tables);
    draw(&file, &args.out, *missing + *failed == 0)?;
    Ok(ExitCode::from(match (*missing, *failed) {
        (0, 0) => 0,
        (0, _) => FAILED,
        _ => INCOMPLETE,
    }))
}

fn say_written(tables: &Tables) {
    let paths: Vec<String> = tables.paths.iter().map(|path| path.display().to_string()).collect();
    output::message(&format!("wrote {}", paths.join(", ")));
    if tables.without_reference > 0 {
        let rows = counted(tables.without_reference, "row");
        output::message(&format!(
            "no reference of {rows}: speedup and energy_ratio are empty; without `baseline = false` in the sweep file, \
                the same \
             command runs what is missing"
        ));
    }
}

/// Draws the plots of the sweep file. A plot that cannot be drawn is an error only if the table is complete.
fn draw(file: &SweepFile, directory: &Path, whole: bool) -> Result<(), Failure> {
    if file.plots.is_empty() {
        return Ok(());
    }
    let path = directory.join(RESULTS);
    let table = plot::read(&path)?;
    let (mut written, mut faults) = (Vec::new(), Vec::new());
    for entry in &file.plots {
        let picture = directory.join(&entry.file);
        match plot::draw(&table, &path, entry, &picture, Existing::Replace) {
            Ok(_) => written.push(picture.display().to_string()),
            Err(fault) => faults.push((entry, fault)),
        }
    }
    if !written.is_empty() {
        output::message(&format!("drew {}", written.join(", ")));
    }
    for (entry, fault) in &faults {
        output::message(&format!("{} was not drawn: {fault}", directory.join(&entry.file).display()));
    }
    match faults.into_iter().next() {
        Some((_, fault)) if whole => Err(fault),
        _ => Ok(()),
    }
}

fn jobs(wanted: Option<NonZeroUsize>) -> Result<usize, Failure> {
    wanted
        .map_or_else(std::thread::available_parallelism, Ok)
        .map(NonZeroUsize::get)
        .map_err(|error| Failure::new(format!("the processors cannot be counted: {error}")).with_help("give `--jobs`"))
}

/// Text of `--dry-run`: number of points, axes, and the first points.
fn dry_run(file: &SweepFile, sweep: &Sweep<'_>, shard: Option<Shard>) -> String {
    let numbers = sweep.numbers(shard);
    let (points, combinations) = (sweep.points.count(), sweep.points.combinations());
    let (path, scenario) = (file.path.display(), file.scenario.display());
    let mut lines = vec![format!("{path}: {} of {scenario}", counted(points, "point"))];
    if combinations > points {
        lines.push(format!("left out: {} of {}", grouped(combinations - points), grouped(combinations)));
    }
    if let Some(Shard { number, count }) = shard {
        lines.push(format!("shard {number} of {count}: {}", counted(numbers.len() as u64, "point")));
    }
    lines.extend(file.axes.iter().map(|axis| {
        let columns: Vec<String> = axis.columns.iter().map(named).collect();
        format!("axis: {}, {}", columns.join(" with "), counted(axis.steps.len() as u64, "value"))
    }));
    lines.join("\n") + "\n\n" + &first_points(file, sweep, &numbers)
}

fn named(column: &AxisColumn) -> String {
    let AxisColumn { key, name, .. } = column;
    if name == key { name.clone() } else { format!("{name} ({key})") }
}

/// The first points, with their runs or errors.
fn first_points(file: &SweepFile, sweep: &Sweep<'_>, numbers: &[u64]) -> String {
    let names = file.axes.iter().flat_map(|axis| &axis.columns).map(|column| (column.name.as_str(), Align::Right));
    let columns: Vec<_> = [("point", Align::Right)].into_iter().chain(names).chain([("runs", Align::Left)]).collect();
    let row = |&number: &u64| {
        let point = sweep.points.point(number);
        let shown = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let runs = match sweep.resolve(&point) {
            Ok(resolved) => {
                let labels = resolved.scenario.variants().into_iter().map(|variant| variant.label("/"));
                labels.collect::<Vec<_>>().join(", ")
            }
            Err(error) => format!("error: {error}"),
        };
        [number.to_string()].into_iter().chain(point.values.iter().map(|&value| shown(value))).chain([runs]).collect()
    };
    let rows: Vec<Vec<String>> = numbers.iter().take(SHOWN).map(row).collect();
    table::fitted(&columns, &rows, output::width())
}
