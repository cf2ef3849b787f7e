//! Reader of the command traces of other simulators.

use std::io::Read;

use dram_spec::{Cycle, Issued, System};

use super::file_rank::FileChannel;
use super::format::Grammar;
use super::memory::Memory;
use super::ramulator2::{Levels, wrong_levels};
use super::trace_line::TraceLine;
use super::{CommandFormat, FileRank, Peeked, drampower, dramsim3};
use crate::LineError;
use crate::line::{Lines, shown};

/// Iterator over the commands of a trace that names no memory system.
///
/// A file holds the commands of one channel; a file of `DRAMPower` or Ramulator 1, those of one
/// rank. The iterator ends with the input or after the first error. Its memory does not depend on
/// the length of the trace. Of the memory system it checks only the exit of power-down and the bank
/// groups; order, timing and other numbers are left to the protocol checker.
#[derive(Debug)]
pub struct CommandReader<R> {
    lines: Lines<Peeked<R>>,
    parser: Parser,
    /// Cycle and line of `END`.
    end: Option<(Cycle, u64)>,
    ended: bool,
}

/// Greatest number of unknown commands that an error lists.
const UNKNOWN_MAX: usize = 8;

#[derive(Debug)]
enum Parser {
    DramPower(FileRank, Memory),
    Ramulator2(Memory, Option<Levels>, FileChannel),
    DramSim3(Memory, FileChannel),
}

impl Parser {
    fn parse(&mut self, text: &[u8]) -> Result<TraceLine, LineError> {
        match self {
            Parser::DramPower(place, memory) => drampower::parse(text, *place, *memory),
            Parser::Ramulator2(_, Some(levels), channel) => levels.command(text, channel),
            Parser::Ramulator2(memory, levels @ None, _) => {
                *levels = Some(Levels::parse(text, *memory)?);
                Ok(TraceLine::Header)
            }
            Parser::DramSim3(memory, channel) => dramsim3::parse(text, *memory, channel),
        }
    }
}

impl<R: Read> CommandReader<R> {
    /// Starts at the first line. The place is that of a trace that does not name channel and rank.
    ///
    /// Returns `None` for the format of command logs, whose reader is
    /// [`LogReader`](crate::command_log::LogReader), and for a format that is not read.
    pub fn new(input: Peeked<R>, format: &CommandFormat, place: FileRank, system: &System) -> Option<CommandReader<R>> {
        let memory = Memory::of(system);
        let parser = match format.grammar? {
            Grammar::Log => return None,
            Grammar::DramPower => Parser::DramPower(place, memory),
            Grammar::Ramulator2 => Parser::Ramulator2(memory, None, FileChannel::default()),
            Grammar::DramSim3 => Parser::DramSim3(memory, FileChannel(dramsim3::first_channel(input.head()))),
        };
        Some(CommandReader { lines: Lines::new(input), parser, end: None, ended: false })
    }

    /// Line of the last command returned, counted from 1.
    pub const fn line(&self) -> u64 {
        self.lines.number()
    }

    /// The end of the run, once the trace has given it.
    pub fn end(&self) -> Option<Cycle> {
        self.end.map(|(end, _)| end)
    }

    fn command(&mut self) -> Result<Option<Issued>, LineError> {
        while self.lines.advance()? {
            let (text, line) = (self.lines.line(), self.lines.number());
            if let Some((_, end)) = self.end {
                let what = format!("is `{}`, but the trace ended in line {end}", shown(text));
                return Err(LineError::new(what, "leave out what follows `END`, or the `END`").in_line(line));
            }
            match self.parser.parse(text).map_err(|error| error.in_line(line))? {
                TraceLine::Command(issued) => return Ok(Some(issued)),
                TraceLine::End(end) => self.end = Some((end, line)),
                TraceLine::Header => {}
                TraceLine::Unknown(name, known) => return Err(self.unknown_commands(name, known).in_line(line)),
            }
        }
        match self.parser {
            Parser::Ramulator2(memory, None, _) => {
                let what = "the trace ends without the names of its columns".to_owned();
                Err(wrong_levels(memory, what).in_line(self.lines.number() + 1))
            }
            _ => Ok(None),
        }
    }

    /// The error for an unknown command, which lists those of the rest of the trace.
    fn unknown_commands(&mut self, first: String, known: &[&str]) -> LineError {
        let mut found = vec![first];
        while found.len() < UNKNOWN_MAX && matches!(self.lines.advance(), Ok(true)) {
            if let Ok(TraceLine::Unknown(name, _)) = self.parser.parse(self.lines.line())
                && !found.contains(&name)
            {
                found.push(name);
            }
        }
        let plural = if found.len() == 1 { "" } else { "s" };
        let what = format!("unknown command{plural} `{}`", found.join("`, `"));
        LineError::new(what, format!("the commands of this format are {}", known.join(", ")))
    }
}

impl<R: Read> Iterator for CommandReader<R> {
    type Item = Result<Issued, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let command = self.command().transpose();
        self.ended = !matches!(command, Some(Ok(_)));
        command
    }
}

impl<R: Read> std::iter::FusedIterator for CommandReader<R> {}
