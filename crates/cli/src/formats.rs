//! The trace formats of all families, and the choice of one.

use std::path::Path;

use rowclone_config::{Failure, file};
use trace_io::commands::{self, Peeked};
use trace_io::{ErrorKind, LineError, Text, trace};

use crate::recording;

dram_spec::named! {
    /// Family of a trace format: the kind of its records.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Family {
        /// Commands on the bus of a memory.
        Commands = "command trace",
        /// Requests to a memory.
        Memory = "memory trace",
        /// Instructions, accesses and events of a program.
        Recording = "recording",
    }
}

/// A trace format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFormat {
    /// Name on command lines, unique in all families.
    pub name: &'static str,
    /// Its family.
    pub family: Family,
    /// Extensions of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether it is read.
    pub is_read: bool,
    /// Whether it is written.
    pub is_written: bool,
}

impl From<&'static commands::CommandFormat> for FileFormat {
    fn from(format: &'static commands::CommandFormat) -> FileFormat {
        let commands::CommandFormat { name, extensions, is_written, .. } = *format;
        FileFormat { name, family: Family::Commands, extensions, is_read: format.is_read(), is_written }
    }
}

impl From<&'static trace::Format> for FileFormat {
    fn from(format: &'static trace::Format) -> FileFormat {
        let (name, extensions) = (format.name, std::slice::from_ref(&format.name));
        FileFormat { name, family: Family::Memory, extensions, is_read: true, is_written: format.is_written() }
    }
}

/// The format of recordings of programs.
const RECORDING: FileFormat = FileFormat {
    name: "recording",
    family: Family::Recording,
    extensions: &["rct", "rct.zst"],
    is_read: true,
    is_written: true,
};

/// The formats of all families.
pub fn all() -> impl Iterator<Item = FileFormat> {
    commands::FORMATS
        .iter()
        .map(FileFormat::from)
        .chain(trace::FORMATS.into_iter().map(FileFormat::from))
        .chain([RECORDING])
}

/// The format of an input: the named one, or that of its first line, or that of its extension.
///
/// # Errors
/// The file cannot be read, or matches no format, or several.
pub fn of_input(path: &Path, named: Option<FileFormat>) -> Result<FileFormat, Failure> {
    if let Some(format) = named {
        return Ok(format);
    }
    if recording::is_recording(path)? {
        return Ok(RECORDING);
    }
    let unreadable = |source: std::io::Error| Failure::reading(path, &source);
    let bytes = Peeked::new(Text::new(file::open(path).map_err(unreadable)?).map_err(unreadable)?);
    let name = name_of(path);
    let commands = commands::CommandFormat::matching(bytes.head(), &name).into_iter().map(FileFormat::from);
    let memory = match trace::TraceReader::with_name(bytes.head(), path) {
        Ok(mut reader) => reader.next().and_then(Result::ok).map(|_| FileFormat::from(reader.format())),
        Err(error) if matches!(error.kind(), ErrorKind::Ambiguous) => {
            return Err(refused(path, &error));
        }
        Err(_) => None,
    };
    let mut found: Vec<FileFormat> = commands.chain(memory).collect();
    if found.is_empty() {
        found = all().filter(|format| format.is_read && has_extension(format, &name)).collect();
    }
    one(path, &found, "--from", |format| format.is_read)
}

/// Opens a memory trace of a format, or of that of its first lines or its name.
///
/// # Errors
/// The file cannot be read; its format is not known, or its first line is wrong.
pub fn memory_trace(
    path: &Path,
    format: Option<&'static trace::Format>,
) -> Result<trace::TraceReader<file::Input>, Failure> {
    let text = file::stream(path).map_err(|error| Failure::reading(path, &error))?;
    let reader = match format {
        Some(_) => trace::TraceReader::new(text, format),
        None => trace::TraceReader::with_name(text, path),
    };
    reader.map_err(|error| refused(path, &error))
}

/// The last part of a path.
pub fn name_of(file: &Path) -> String {
    file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The error of the reader of a memory trace.
pub fn refused(path: &Path, error: &LineError) -> Failure {
    Failure::of_reader(path, error).with_help(error.help())
}

/// The error for a trace that is given as a scenario; none if the file is no trace.
pub fn trace_for_scenario(path: &Path) -> Option<Failure> {
    let bytes = Peeked::new(Text::new(file::open(path).ok()?).ok()?);
    if let [format, ..] = commands::CommandFormat::matching(bytes.head(), &name_of(path))[..] {
        let message = format!("is a command trace of the format `{}`, and no scenario", format.name);
        return Some(
            Failure::at(path, message).with_help(format!("check it with `rowclone-sim check {}`", path.display())),
        );
    }
    let format = match trace::TraceReader::with_name(bytes.head(), path) {
        Ok(mut reader) => {
            reader.next().and_then(Result::ok).map(|_| format!(" of the format `{}`", reader.format().name))?
        }
        Err(error) if matches!(error.kind(), ErrorKind::Ambiguous) => String::new(),
        Err(_) => return None,
    };
    let help = format!("play it with `--trace`: `rowclone-sim run --trace {}`", path.display());
    Some(Failure::at(path, format!("is a memory trace{format}, and no scenario")).with_help(help))
}

/// The format of an output: the named one, or that of its extension.
///
/// # Errors
/// The extension is that of no format, or of several.
pub fn of_output(path: &Path, named: Option<FileFormat>) -> Result<FileFormat, Failure> {
    if let Some(format) = named {
        return Ok(format);
    }
    let name = name_of(path);
    let found: Vec<FileFormat> = all().filter(|format| format.is_written && has_extension(format, &name)).collect();
    one(path, &found, "--to", |format| format.is_written)
}

fn has_extension(format: &FileFormat, name: &str) -> bool {
    let has = |extension: &&str| name.strip_suffix(*extension).is_some_and(|stem| stem.ends_with('.'));
    format.extensions.iter().any(has)
}

/// The only format of a list. The help names those of `has_use`.
fn one(
    path: &Path,
    found: &[FileFormat],
    flag: &str,
    has_use: impl Fn(&FileFormat) -> bool,
) -> Result<FileFormat, Failure> {
    let names = |formats: &mut dyn Iterator<Item = FileFormat>| {
        formats.map(|format| format!("`{}`", format.name)).collect::<Vec<_>>().join(", ")
    };
    match found {
        [format] => Ok(*format),
        [] => Err(Failure::at(path, "the format is not known")
            .with_help(format!("name it with `{flag}`: {}", names(&mut all().filter(has_use))))),
        [first, ..] => {
            let message = format!("may have the format {}", names(&mut found.iter().copied()));
            Err(Failure::at(path, message).with_help(format!("name it, for example `{flag} {}`", first.name)))
        }
    }
}
