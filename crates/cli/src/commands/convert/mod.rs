//! `convert`: a trace in another format.

mod recording;

use std::fmt::Display;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dram_spec::{Channel, Cycle, EventSink, Issued};
use rowclone_config::{AtomicFile, Existing, Failure, SystemConfig, file};
use rowclone_sim::quantity::counted;
use trace_io::command_log::LogWriter;
use trace_io::commands::{self, Exporter, FileRank, Inexpressible, InexpressibleCommands, Target, Unsupported};
use trace_io::trace::{self, ConvertSystem, Converter};
use trace_io::{ErrorKind, LineError};

use crate::args::ConvertArgs;
use crate::command_trace::CommandTrace;
use crate::formats::{self, Family, FileFormat};
use crate::interrupt;
use crate::output;

/// Converts a trace.
///
/// # Errors
/// The input cannot be read; the pair of formats has no conversion; a command has no equivalent;
/// an output exists or cannot be written. Then no file is written.
pub fn run(args: &ConvertArgs) -> Result<ExitCode, Failure> {
    let input = file::spool(&args.input).map_err(|error| Failure::reading(&args.input, &error))?;
    let args = &ConvertArgs { input, ..args.clone() };
    let from = formats::of_input(&args.input, args.from)?;
    let to = formats::of_output(&args.output, args.to)?;
    let is_of = |is_set: bool, format: FileFormat| !is_set || format.family == Family::Recording;
    for (is_valid, flag) in [
        (is_of(args.level.is_some(), to), "--level"),
        (is_of(args.first.is_some(), from), "--first"),
        (is_of(args.without_contents, from), "--without-contents"),
    ] {
        if !is_valid {
            let message = format!("`{flag}` is of recordings, and not of `{}` to `{}`", from.name, to.name);
            return Err(Failure::at(&args.input, message).with_help("leave it out"));
        }
    }
    match (from.family, to.family) {
        (Family::Commands, Family::Commands) => convert_commands(args, from, to)?,
        (Family::Memory, Family::Memory) => convert_memory(args, from, to)?,
        (Family::Recording, Family::Recording) => recording::to_recording(args)?,
        (Family::Recording, Family::Memory) => recording::to_trace(args, to)?,
        (Family::Memory, Family::Recording) => recording::of_trace(args, from)?,
        (Family::Commands, _) | (_, Family::Commands) => return Err(no_conversion(args, from, to)),
    }
    Ok(ExitCode::SUCCESS)
}

fn no_conversion(args: &ConvertArgs, from: FileFormat, to: FileFormat) -> Failure {
    let (family, of_output) = (from.family.name(), to.family.name());
    let message = format!("a {family} (`{}`) cannot be written as a {of_output} (`{}`)", from.name, to.name);
    let is_command = |format: FileFormat| format.family == Family::Commands;
    let targets = formats::all().filter(|format| format.is_written && is_command(*format) == is_command(from));
    let targets: Vec<String> = targets.map(|format| format!("`{}`", format.name)).collect();
    Failure::at(&args.input, message).with_help(format!("a {family} can be written as {}", targets.join(", ")))
}

/// The converter to a format of memory traces.
pub(super) fn converter(args: &ConvertArgs, to: FileFormat) -> Result<Converter<BufWriter<AtomicFile>>, Failure> {
    let to = trace::Format::named(to.name).expect("it is a format of memory traces");
    let system = args.system.read()?.map(|system| convert_system(&system));
    let output = BufWriter::new(AtomicFile::create(&args.output, Existing::with_force(args.force))?);
    Ok(Converter::new(output, to, system, args.instructions_per_clock, args.drop_unsupported))
}

/// The address map and the clock of a system.
pub(super) fn convert_system(SystemConfig { memory, .. }: &SystemConfig) -> ConvertSystem {
    ConvertSystem { map: memory.map().clone(), clock: memory.system().clock() }
}

/// The error of a converter at a place of the input.
pub(super) fn pushing(args: &ConvertArgs, place: impl Display, error: &LineError) -> Failure {
    match error.kind() {
        ErrorKind::Io(error) => Failure::writing(&args.output, error),
        _ => Failure::new(format!("{}:{place}: {error}", args.input.display())).with_help(error.help()),
    }
}

/// Ends the output of a converter.
pub(super) fn commit(
    args: &ConvertArgs,
    to: FileFormat,
    converter: Converter<BufWriter<AtomicFile>>,
) -> Result<(), Failure> {
    let (output, dropped) = converter.finish();
    let file = output.into_inner().map_err(|error| Failure::writing(&args.output, error.error()))?;
    output::message(&format!("wrote {}", file.commit()?));
    if dropped > 0 {
        let records = counted(dropped, "record");
        output::message(&format!("warning: {records} left out, which `{}` cannot express", to.name));
    }
    Ok(())
}

/// A memory trace to a memory trace.
fn convert_memory(args: &ConvertArgs, from: FileFormat, to: FileFormat) -> Result<(), Failure> {
    let path = &args.input;
    let mut converter = converter(args, to)?;
    let mut reader = formats::memory_trace(path, trace::Format::named(from.name))?;
    let stop = interrupt::flag();
    while let Some(record) = reader.next() {
        Failure::if_raised(&stop)?;
        let record = record.map_err(|error| formats::refused(path, &error))?;
        converter.push(&record).map_err(|error| pushing(args, reader.line(), &error))?;
    }
    commit(args, to, converter)
}

/// A command trace to a command trace.
fn convert_commands(args: &ConvertArgs, from: FileFormat, to: FileFormat) -> Result<(), Failure> {
    let stop = interrupt::flag();
    let mut trace =
        CommandTrace::open(&args.input, ("--from", commands::CommandFormat::named(from.name)), &args.system)?;
    let target = Target::named(to.name);
    if !trace.format.has_rows && !matches!(target, Some(Target::DramPower | Target::Ramulator)) {
        let message = format!("`{}` has rows and columns, and `{}` has none", to.name, from.name);
        return Err(Failure::at(&args.input, message).with_help("convert the trace that it was written from"));
    }
    // The first command names the channel of a file of one channel.
    let mut next = trace.next()?;
    let mut writer = match target {
        None => CommandWriter::log(args, &trace)?,
        Some(target) => CommandWriter::per_rank(args, &trace, target)?,
    };
    while let Some(issued) = next {
        Failure::if_raised(&stop)?;
        writer.command(&issued).map_err(|error| trace.fault(&error.to_string()).with_help(error.help()))?;
        next = trace.next()?;
    }
    let (files, found) = writer.finish(trace.end(), &args.output)?;
    let written = files.into_iter().map(AtomicFile::commit).collect::<Result<Vec<String>, Failure>>()?;
    output::message(&format!("wrote {}", written.join(", ")));
    if let Some(target) = target {
        warn(target, found);
    }
    Ok(())
}

/// Reports how many commands a trace for other tools omits or writes in another form.
fn warn(target: Target, found: InexpressibleCommands) {
    for (command, number) in found {
        let fate = match (target, command) {
            (Target::Hdl, Inexpressible::OfMechanism(..)) => "written as comments",
            (Target::Hdl, Inexpressible::CopyActivation) => "written as ACT",
            _ => "left out",
        };
        output::message(&format!("warning: {} {fate}", counted(number, command.name())));
    }
}

/// A writer of one of the formats.
enum CommandWriter {
    Log(LogWriter<AtomicFile>),
    PerRank(Exporter<AtomicFile>),
}

impl CommandWriter {
    fn log(args: &ConvertArgs, trace: &CommandTrace) -> Result<CommandWriter, Failure> {
        let file = AtomicFile::create(&args.output, Existing::with_force(args.force))?;
        let log = LogWriter::new(file, &trace.system, trace.dialect());
        log.map(CommandWriter::Log).map_err(|error| Failure::writing(&args.output, &error))
    }

    fn per_rank(args: &ConvertArgs, trace: &CommandTrace, target: Target) -> Result<CommandWriter, Failure> {
        let unsupported = if args.drop_unsupported { Unsupported::Drop } else { Unsupported::Refuse };
        let existing = Existing::with_force(args.force);
        let files = output_files(&args.output, &places(trace)).into_iter();
        let files = files.map(|(place, path)| Ok((place, AtomicFile::create(&path, existing)?)));
        let files = files.collect::<Result<_, Failure>>()?;
        Exporter::new(target, unsupported, &trace.system, files)
            .map(CommandWriter::PerRank)
            .map_err(|error| export_failure(&args.output, &error))
    }

    fn command(&mut self, issued: &Issued) -> Result<(), LineError> {
        match self {
            CommandWriter::Log(log) => {
                log.push(issued.at, issued.channel, &issued.command);
                Ok(())
            }
            CommandWriter::PerRank(exporter) => exporter.command(issued),
        }
    }

    fn finish(self, end: Option<Cycle>, path: &Path) -> Result<(Vec<AtomicFile>, InexpressibleCommands), Failure> {
        match self {
            CommandWriter::Log(mut log) => {
                if let Some(end) = end {
                    log.finish(end);
                }
                let mut file = log.into_result().map_err(|error| Failure::writing(path, &error))?;
                file.flush().map_err(|error| Failure::writing(path, &error))?;
                Ok((vec![file], InexpressibleCommands::default()))
            }
            CommandWriter::PerRank(exporter) => {
                let (files, found) = exporter.finish(end).map_err(|error| export_failure(path, &error))?;
                Ok((files.into_iter().map(|(_, file)| file).collect(), found))
            }
        }
    }
}

fn export_failure(path: &Path, error: &LineError) -> Failure {
    Failure::at(path, error).with_help(error.help())
}

/// The ranks whose commands a trace holds.
fn places(trace: &CommandTrace) -> Vec<FileRank> {
    let geometry = trace.system.geometry;
    let ranks = |channel| (0..geometry.ranks()).map(move |rank| FileRank { channel: Channel(channel), rank });
    let places = (0..geometry.channels()).flat_map(ranks);
    places.filter(|place| trace.holds(place.channel, place.rank)).collect()
}

/// The file of each place: the output itself for a single place, else the output with the place
/// before its extension.
fn output_files(output: &Path, places: &[FileRank]) -> Vec<(FileRank, PathBuf)> {
    let name = formats::name_of(output);
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (&name[..], String::new()),
    };
    let file = |place: FileRank| match places {
        [_] => output.to_owned(),
        _ => output.with_file_name(format!("{stem}{}{extension}", place.file_name_part())),
    };
    places.iter().map(|&place| (place, file(place))).collect()
}
