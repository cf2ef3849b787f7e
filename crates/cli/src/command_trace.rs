//! A command trace of any format, opened with the memory system that executed it.

use std::path::{Path, PathBuf};

use dram_spec::{Channel, Cycle, Dialect, Issued, System};
use rowclone_config::{Failure, file};
use trace_io::Text;
use trace_io::command_log::LogReader;
use trace_io::commands::{CommandFormat, CommandReader, FORMATS, FileRank, Peeked};

use crate::args::TraceSystemArgs;
use crate::formats::{name_of, refused};

/// The flag that chooses an input format, and the chosen format, if any.
pub type Choice = (&'static str, Option<&'static CommandFormat>);

/// A command trace that is being read.
#[derive(Debug)]
pub struct CommandTrace {
    file: PathBuf,
    /// Format of the trace.
    pub format: &'static CommandFormat,
    /// The memory system that executed the commands.
    pub system: System,
    input: CommandInput,
    /// Channel and rank that the trace covers: those of its file name; the last command determines the channel.
    place: FileRank,
}

#[derive(Debug)]
enum CommandInput {
    Log(LogReader<Peeked<Text<file::Input>>>),
    Trace(CommandReader<Text<file::Input>>),
}

impl CommandTrace {
    /// Opens a trace.
    ///
    /// # Errors
    /// The file cannot be read; its format is not known, or is not read; the system is missing, or
    /// is given for a log, which names its own.
    pub fn open(argument: &Path, choice: Choice, system: &TraceSystemArgs) -> Result<CommandTrace, Failure> {
        let path = file::of_argument(argument);
        let unreadable = |source: std::io::Error| Failure::reading(path, &source);
        let bytes = Peeked::new(Text::new(file::stream(path).map_err(unreadable)?).map_err(unreadable)?);
        let format = format_of(path, bytes.head(), choice)?;
        let place = FileRank::of_file_name(&name_of(path)).unwrap_or_default();
        if format.names_system() {
            if let Some(option) = system.given() {
                let (name, _) = option.split_once(' ').unwrap_or((&option, ""));
                let message = format!("a command log names its system, and `{name}` gives another");
                return Err(Failure::at(path, message).with_help(format!("leave out `{option}`")));
            }
            let log = LogReader::new(bytes).map_err(|error| refused(path, &error))?;
            let system = log.header().system.clone();
            return Ok(CommandTrace { file: path.to_owned(), format, system, input: CommandInput::Log(log), place });
        }
        let Some(system) = system.read()? else {
            let message = format!("a trace of the format `{}` names no memory system", format.name);
            return Err(Failure::at(path, message)
                .with_help("give the system that it is of, for example `--system ddr3-1600-8gb-dimm`"));
        };
        let system = system.memory.system().clone();
        let reader = CommandReader::new(bytes, format, place, &system).ok_or_else(|| not_read(path, format))?;
        Ok(CommandTrace { file: path.to_owned(), format, system, input: CommandInput::Trace(reader), place })
    }

    /// The dialect of the trace: that of a log's header; the standard for other traces.
    pub const fn dialect(&self) -> Dialect {
        match &self.input {
            CommandInput::Log(log) => log.header().dialect,
            CommandInput::Trace(_) => Dialect::Jedec,
        }
    }

    /// Line of the last command, counted from 1.
    pub const fn line(&self) -> u64 {
        match &self.input {
            CommandInput::Log(log) => log.line(),
            CommandInput::Trace(trace) => trace.line(),
        }
    }

    /// End of the run, if the trace names it. Known after the last command.
    pub fn end(&self) -> Option<Cycle> {
        match &self.input {
            CommandInput::Log(log) => log.header().end,
            CommandInput::Trace(trace) => trace.end(),
        }
    }

    /// Name of the end of the run in the trace, and the help for an end that is too early.
    pub const fn end_name(&self) -> (&'static str, &'static str) {
        match &self.input {
            CommandInput::Log(_) => ("`end_cycle`", "correct it, or write `# end_cycle = unknown`"),
            CommandInput::Trace(_) => ("`END`", "correct it, or leave it out"),
        }
    }

    /// The next command.
    ///
    /// # Errors
    /// The line is no command of the format.
    #[expect(clippy::should_implement_trait, reason = "an error ends the caller, so `?` is in each loop")]
    pub fn next(&mut self) -> Result<Option<Issued>, Failure> {
        let fault = |error| refused(&self.file, &error);
        let issued = match &mut self.input {
            CommandInput::Log(log) => log.next().transpose().map_err(fault)?,
            CommandInput::Trace(trace) => trace.next().transpose().map_err(fault)?,
        };
        if let (CommandInput::Trace(_), Some(issued)) = (&self.input, &issued) {
            self.place = FileRank { channel: issued.channel, ..self.place };
        }
        Ok(issued)
    }

    /// Whether the trace holds the commands of a rank: a log those of all ranks, other traces those
    /// of one channel, and without rows those of one rank. Known after the last command.
    pub fn holds(&self, channel: Channel, rank: u8) -> bool {
        let FileRank { channel: of_file, rank: rank_of_file } = self.place;
        self.format.names_system() || channel == of_file && (self.format.has_rows || rank == rank_of_file)
    }

    /// An error of the last command, with file and line.
    pub fn fault(&self, message: &str) -> Failure {
        Failure::new(format!("{}:{}: {message}", self.file.display(), self.line()))
    }
}

/// The format of a file: that of the flag, or the only one that matches.
fn format_of(file: &Path, head: &[u8], (flag, chosen): Choice) -> Result<&'static CommandFormat, Failure> {
    if let Some(format) = chosen {
        return Ok(format);
    }
    match &CommandFormat::candidates(head, &name_of(file))[..] {
        [format] if format.is_read() => Ok(format),
        [format] => Err(not_read(file, format)),
        [] => Err(Failure::at(file, "is no command trace of a known format")
            .with_help(format!("the formats are {}; see docs/command-traces.md", names(FORMATS.iter())))),
        several => {
            let message = format!("may be a trace of {}", names(several.iter().copied()));
            Err(Failure::at(file, message)
                .with_help(format!("name its format, for example `{} {}`", flag, several[0].name)))
        }
    }
}

fn not_read(file: &Path, format: &CommandFormat) -> Failure {
    Failure::at(file, format_args!("the format `{}` is written, but not read", format.name))
        .with_help("give the command log that it was written from")
}

/// The names of formats that are read.
fn names<'a>(formats: impl Iterator<Item = &'a CommandFormat>) -> String {
    formats.filter(|format| format.is_read()).map(|format| format!("`{}`", format.name)).collect::<Vec<_>>().join(", ")
}
