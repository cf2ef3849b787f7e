//! Data of a program, from its reads to its writes.

use dram_core::LineBytes;
use dram_spec::{IssueCause, LINE_BYTES, Operation, SourceId};
use memctrl::Request;
use rowclone::{LineWrite, Program};

/// A dispatched program; its number is its index.
pub struct ProgramRun {
    request: Request,
    program: Program,
    /// Arrival of the data of each line read.
    arrivals: Vec<u64>,
    /// Number of lines written.
    written: usize,
    /// Lines read, by address.
    staging: Vec<(u64, LineBytes)>,
}

impl ProgramRun {
    pub fn new(request: Request, program: Program) -> ProgramRun {
        ProgramRun { request, program, arrivals: Vec::new(), written: 0, staging: Vec::new() }
    }

    /// Source of its copy.
    pub fn source(&self) -> SourceId {
        self.request.source
    }

    /// Cause of its commands; `number` is the number of the program.
    pub fn cause(&self, number: usize) -> IssueCause {
        IssueCause::Copy { request: self.request.id, mechanism: self.program.mechanism, program: number as u64 }
    }

    /// Arrival of the data of the next line to be written; `None` if not known.
    pub fn data_arrives(&self) -> Option<u64> {
        if self.program.is_pipelined() {
            return self.arrivals.get(self.written).copied();
        }
        let all = self.arrivals.len() == self.program.lines_read() as usize;
        all.then(|| self.arrivals.iter().copied().max().unwrap_or(0))
    }

    /// Records a line that was read; its data arrives at `arrives`.
    pub fn read(&mut self, line: u64, data: Option<LineBytes>, arrives: u64) {
        self.arrivals.push(arrives);
        self.staging.extend(data.map(|data| (line, data)));
    }

    /// Bytes of the next line to be written.
    pub fn write(&mut self, write: &LineWrite) -> LineBytes {
        self.written += 1;
        let first = write.line.address.0;
        let mut line = [0; LINE_BYTES as usize];
        for (offset, byte) in (0..).zip(&mut line) {
            let is_changed = (write.from..write.to).contains(&offset);
            *byte = self.byte(first + u64::from(offset), is_changed);
        }
        line
    }

    /// Byte at an address after the operation.
    fn byte(&self, address: u64, is_changed: bool) -> u8 {
        match self.request.operation {
            Operation::Copy { src, dst, .. } if is_changed => self.staged(address - dst.0 + src.0),
            Operation::Init { value, .. } if is_changed => value,
            Operation::Write { address: first, .. } if is_changed => {
                self.request.payload.as_ref().map_or(0, |payload| payload[(address - first.0) as usize])
            }
            _ => self.staged(address),
        }
    }

    fn staged(&self, address: u64) -> u8 {
        let line = self.staging.iter().find(|(line, _)| (*line..line + LINE_BYTES).contains(&address));
        line.map_or(0, |(line, data)| data[(address - line) as usize])
    }
}
