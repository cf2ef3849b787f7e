//! `rowclone-sim report`: the results of a sweep or a run as one HTML page.

mod published;
mod results_csv;
mod results_json;

use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use report::NO_CURRENT_SET;
use report::page::{Fact, Image, Page, PageOperation, Runs, Served, Subject};

use crate::args::ReportArgs;
use crate::output;
use report::plot_file::PictureFormat;
use rowclone_config::{AtomicFile, Existing, Failure};
use rowclone_sweep::directory;

use results_csv::Results;
use results_json::RunJson;

/// Reads a directory and writes its page.
///
/// # Errors
/// A file cannot be read, or is no output of a sweep or a run; the page cannot be written.
pub fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    // The page is opened first, so that an existing page is an error at once.
    let file = AtomicFile::create(&args.output, Existing::with_force(args.force))?;
    let page = page(&args.directory, args.title.as_deref())?;
    file.complete(page.to_html().as_bytes())?;
    output::message(&format!("wrote {}", args.output.display()));
    Ok(ExitCode::SUCCESS)
}

/// Results in a directory.
///
/// # Errors
/// A file cannot be read, or is no output of a sweep or a run.
pub fn page(directory: &Path, title: Option<&str>) -> Result<Page, Failure> {
    let path = directory.join("results.csv");
    if directory.is_file() || (directory.is_dir() && !path.exists()) {
        let what = if directory.is_file() { "is a file, and not a directory" } else { "holds no results.csv" };
        return Err(Failure::at(directory, what).with_help("give the directory of `sweep --out` or of `run --out`"));
    }
    let table = Results::read(&path)?;
    match table.subject()? {
        Subject::Sweep => of_a_sweep(directory, &table, title),
        Subject::Run => of_a_run(directory, &table, title),
    }
}

fn of_a_sweep(directory: &Path, table: &Results, title: Option<&str>) -> Result<Page, Failure> {
    let name = directory::name_of(directory)?;
    let runs = table.runs(&table.axes_of_a_sweep()?)?;
    let mut facts = Vec::new();
    facts.extend(name.clone().map(|name| fact("sweep", [name])));
    facts.push(fact("scenario", runs.distinct("scenario")));
    facts.push(fact("model version", runs.distinct("model_version")));
    let title = title.map(str::to_owned).or_else(|| name.clone()).unwrap_or_else(|| "A sweep".to_owned());
    Ok(Page {
        title,
        subject: Subject::Sweep,
        facts,
        // The location of the sweep file is not recorded; each run has its command.
        served: Served::of_all(&runs),
        pictures: pictures(directory)?,
        published: published::of_a_sweep(&runs),
        runs,
        ..Page::default()
    })
}

fn of_a_run(directory: &Path, table: &Results, title: Option<&str>) -> Result<Page, Failure> {
    let path = directory.join("results.json");
    let text = fs::read_to_string(&path).map_err(|error| Failure::reading(&path, &error))?;
    let results = results_json::read(&path, &text)?;
    let runs = table.runs(&[])?;
    if results.len() != runs.len() {
        let message = format!("has {} results, and results.csv has {}", results.len(), runs.len());
        return Err(Failure::at(&path, message).with_help("give a directory whose files one run has written"));
    }
    let epochs = directory.join("epochs.csv");
    let epochs =
        if epochs.exists() { Results::read(&epochs)?.runs(&["from_cycle".to_owned()])? } else { Runs::default() };
    let all = |of: fn(&RunJson) -> String| {
        let mut values: Vec<String> = results.iter().map(of).collect();
        values.dedup();
        values
    };
    let mut facts = vec![
        fact("scenario", all(|run| run.scenario.clone())),
        fact("system", all(|run| run.system.clone())),
        fact("controller", all(|run| run.controller.clone())),
        fact("currents", all(|run| run.currents.clone().unwrap_or_else(|| NO_CURRENT_SET.to_owned()))),
        fact("checked", all(|run| run.checked().to_owned())),
        fact("schema version", all(|run| run.schema_version.to_string())),
    ];
    let sizes: Vec<String> = results.iter().filter_map(RunJson::break_even).collect();
    if !sizes.is_empty() {
        facts.push(fact("break-even size of copies", sizes));
    }
    let title =
        title.map_or_else(|| results.first().map(|run| run.scenario.clone()).unwrap_or_default(), str::to_owned);
    let mut commands: Vec<String> = results.iter().filter_map(|run| run.rerun.clone()).collect();
    commands.dedup();
    let published = published::of_a_run(&results);
    Ok(Page {
        title,
        subject: Subject::Run,
        facts,
        commands,
        findings: results.iter().flat_map(RunJson::findings).collect(),
        runs,
        epochs,
        operations: results.iter().flat_map(operations).collect(),
        cores: results.iter().flat_map(RunJson::cores).collect(),
        served: results.iter().flat_map(|run| run.served.clone()).collect(),
        published,
        ..Page::default()
    })
}

fn operations(run: &RunJson) -> impl Iterator<Item = PageOperation> {
    run.operations.iter().enumerate().map(|(index, row)| PageOperation { index, run: run.variant(), row: row.clone() })
}

/// The pictures in a directory, in the order of their names.
fn pictures(directory: &Path) -> Result<Vec<Image>, Failure> {
    let fault = |error: io::Error| Failure::reading(directory, &error);
    let mut pictures = Vec::new();
    for entry in fs::read_dir(directory).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        let Ok(format) = PictureFormat::of(&path) else { continue };
        if path.is_file() {
            let bytes = fs::read(&path).map_err(|error| Failure::reading(&path, &error))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pictures.push(Image { name, media_type: format.media_type(), bytes });
        }
    }
    pictures.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(pictures)
}

fn fact(name: &str, values: impl IntoIterator<Item = String>) -> Fact {
    Fact { name: name.to_owned(), values: values.into_iter().collect() }
}
