//! Reader of the command traces of other simulators.

use std::io::Read;

use dram_spec::{Channel, Cycle, Issued, System};

use super::format::Grammar;
use super::memory::Memory;
use super::ramulator2::Levels;
use super::{Format, Peeked, Place, TraceError, drampower, dramsim3};
use crate::line::{Lines, shown};

/// Iterator over the commands of a trace that names no memory system.
///
/// A file holds the commands of one channel; a file of `DRAMPower` or Ramulator 1, those of one
/// rank. The iterator ends with the input or after the first error. Its memory does not depend on
/// the length of the trace. Of the memory system it checks only the exit of power-down and the bank
/// groups; order, timing and other numbers are left to the protocol checker.
#[derive(Debug)]
pub struct TraceReader<R> {
    lines: Lines<Peeked<R>>,
    parser: Parser,
    /// Cycle and line of `END`.
    end: Option<(Cycle, u64)>,
    ended: bool,
}

/// Content of a line.
pub(super) enum TraceLine {
    Command(Issued),
    End(Cycle),
    /// The names of the columns.
    Header,
}

/// The channel of a file. Some tools leave it out (-1) for commands of a rank.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileChannel(Option<u8>);

impl FileChannel {
    /// The channel of a line. The first one decides for those that are left out.
    pub(super) fn check(&mut self, found: Option<u8>, line: u64) -> Result<Channel, TraceError> {
        match (self.0, found) {
            (Some(expected), Some(found)) if found != expected => {
                Err(TraceError::OtherChannel { line, found, expected })
            }
            (known, found) => {
                self.0 = known.or(found);
                Ok(Channel(self.0.unwrap_or(0)))
            }
        }
    }
}

#[derive(Debug)]
enum Parser {
    DramPower(Place, Memory),
    Ramulator2(Memory, Option<Levels>, FileChannel),
    DramSim3(Memory, FileChannel),
}

impl Parser {
    fn parse(&mut self, text: &[u8], line: u64) -> Result<TraceLine, TraceError> {
        match self {
            Parser::DramPower(place, memory) => drampower::parse(text, line, *place, *memory),
            Parser::Ramulator2(_, Some(levels), channel) => levels.command(text, line, channel),
            Parser::Ramulator2(memory, levels @ None, _) => {
                *levels = Some(Levels::parse(text, line, *memory)?);
                Ok(TraceLine::Header)
            }
            Parser::DramSim3(memory, channel) => dramsim3::parse(text, line, *memory, channel),
        }
    }
}

impl<R: Read> TraceReader<R> {
    /// Starts at the first line. The place is that of a trace that does not name channel and rank.
    ///
    /// Returns `None` for the format of command logs, whose reader is
    /// [`LogReader`](crate::command_log::LogReader), and for a format that is not read.
    pub fn new(input: Peeked<R>, format: &Format, place: Place, system: &System) -> Option<TraceReader<R>> {
        let memory = Memory::of(system);
        let parser = match format.grammar? {
            Grammar::Log => return None,
            Grammar::DramPower => Parser::DramPower(place, memory),
            Grammar::Ramulator2 => Parser::Ramulator2(memory, None, FileChannel::default()),
            Grammar::DramSim3 => Parser::DramSim3(memory, FileChannel(dramsim3::first_channel(input.head()))),
        };
        Some(TraceReader { lines: Lines::new(input), parser, end: None, ended: false })
    }

    /// Line of the last command returned, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// The end of the run, once the trace has given it.
    pub fn end(&self) -> Option<Cycle> {
        self.end.map(|(end, _)| end)
    }

    fn command(&mut self) -> Result<Option<Issued>, TraceError> {
        while self.lines.advance()? {
            let (text, line) = (self.lines.line(), self.lines.number());
            if let Some((_, end)) = self.end {
                return Err(TraceError::AfterEnd { line, found: shown(text), end });
            }
            match self.parser.parse(text, line) {
                Ok(TraceLine::Command(issued)) => return Ok(Some(issued)),
                Ok(TraceLine::End(end)) => self.end = Some((end, line)),
                Ok(TraceLine::Header) => {}
                Err(TraceError::UnknownCommand { line, found, known }) => {
                    let found = self.unknown_commands(found);
                    return Err(TraceError::UnknownCommand { line, found, known });
                }
                Err(error) => return Err(error),
            }
        }
        match self.parser {
            Parser::Ramulator2(memory, None, _) => {
                let what = "the trace ends without the names of its columns".to_owned();
                let (standard, has_groups) = (memory.standard, memory.has_groups());
                Err(TraceError::Header { line: self.lines.number() + 1, what, standard, has_groups })
            }
            _ => Ok(None),
        }
    }

    /// Adds the unknown commands of the rest of the trace, so that one error lists them.
    fn unknown_commands(&mut self, mut found: Vec<String>) -> Vec<String> {
        while found.len() < TraceError::UNKNOWN_MAX && matches!(self.lines.advance(), Ok(true)) {
            if let Err(TraceError::UnknownCommand { found: other, .. }) =
                self.parser.parse(self.lines.line(), self.lines.number())
            {
                found.extend(other.into_iter().filter(|name| !found.contains(name)).collect::<Vec<_>>());
            }
        }
        found
    }
}

impl<R: Read> Iterator for TraceReader<R> {
    type Item = Result<Issued, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let command = self.command().transpose();
        self.ended = !matches!(command, Some(Ok(_)));
        command
    }
}

impl<R: Read> std::iter::FusedIterator for TraceReader<R> {}
