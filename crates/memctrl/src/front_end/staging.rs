//! Lines that a program has read and not yet written, if contents are modeled.

use dram_core::LineBytes;
use dram_spec::{LINE_BYTES, Operation, PhysicalAddress};
use rowclone::{LineWrite, Run, RunWrite};

const ZEROS: LineBytes = [0; LINE_BYTES as usize];

/// Lines read by a program, in the order of their runs.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    lines: Vec<LineBytes>,
    runs: Vec<StagedRun>,
    /// Index of the run in which a line was found last: lines are usually written in the order in
    /// which they were read.
    latest: usize,
}

/// Addresses of lines that were read one after the other.
#[derive(Clone, Copy, Debug)]
struct StagedRun {
    first: u64,
    /// Bytes from a line to the next.
    stride: u64,
    count: u64,
    /// Index of the first line.
    index: usize,
}

impl StagedRun {
    /// Index of the line at an address, and the number of lines from this one on.
    fn find(&self, address: PhysicalAddress) -> Option<(usize, u64)> {
        let distance = address.0.checked_sub(self.first)?;
        let number = distance / self.stride;
        let is_in = number < self.count && distance.is_multiple_of(self.stride);
        is_in.then(|| (self.index + number as usize, self.count - number))
    }
}

impl Staging {
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.runs.clear();
        self.latest = 0;
    }

    /// Adds a run of lines; returns the place of their bytes.
    pub(crate) fn add(&mut self, run: &Run) -> &mut [LineBytes] {
        let index = self.lines.len();
        let (first, stride, count) = (run.first.address.0, run.stride, u64::from(run.count));
        self.runs.push(StagedRun { first, stride, count, index });
        self.lines.resize(index + count as usize, ZEROS);
        &mut self.lines[index..]
    }

    /// Index of the line at an address, the number of lines from this one on in its run, and their
    /// distance, if it was read.
    fn find(&mut self, address: PhysicalAddress) -> Option<(usize, u64, u64)> {
        (self.latest..self.runs.len()).chain(0..self.latest).find_map(|place| {
            let (line, count) = self.runs[place].find(address)?;
            self.latest = place;
            Some((line, count, self.runs[place].stride))
        })
    }

    /// Passes on the bytes of lines to be written, by ascending column, each time with the number
    /// of the first line: the bytes that the operation changes, and the others as read.
    ///
    /// # Panics
    /// If a required byte has not been read.
    pub(crate) fn written(
        &mut self,
        write: &RunWrite,
        operation: &Operation,
        payload: Option<&[u8]>,
        mut pass_on: impl FnMut(u16, &[LineBytes]),
    ) {
        let run = &write.run;
        match *operation {
            Operation::Copy { src, dst, .. } if write.is_whole() && (src.0 ^ dst.0).is_multiple_of(LINE_BYTES) => {
                let mut number = 0;
                while number < run.count {
                    let from = PhysicalAddress(run.line(number).address.0 - dst.0 + src.0);
                    let (index, count, stride) = self.find(from).expect("a program reads what it writes");
                    let count = if stride == run.stride { count.min(u64::from(run.count - number)) } else { 1 };
                    pass_on(number, &self.lines[index..index + count as usize]);
                    number += count as u16;
                }
            }
            _ => {
                for number in 0..run.count {
                    pass_on(number, &[self.line_written(&write.write(number), operation, payload)]);
                }
            }
        }
    }

    /// Bytes of a line to be written.
    fn line_written(&mut self, write: &LineWrite, operation: &Operation, payload: Option<&[u8]>) -> LineBytes {
        let address = write.line.address;
        let is_merged = u64::from(write.to - write.from) < LINE_BYTES;
        let read = if is_merged { self.find(address) } else { None };
        let mut line = read.map_or(ZEROS, |(index, ..)| self.lines[index]);
        let changed = &mut line[usize::from(write.from)..usize::from(write.to)];
        let first = address.0 + u64::from(write.from);
        match *operation {
            Operation::Copy { src, dst, .. } => {
                // The source of a line is in one line, or in two.
                let mut done = 0;
                while done < changed.len() {
                    let from = first - dst.0 + src.0 + done as u64;
                    let (of, offset) = (from / LINE_BYTES * LINE_BYTES, (from % LINE_BYTES) as usize);
                    let (index, ..) = self.find(PhysicalAddress(of)).expect("a program reads what it writes");
                    let count = (LINE_BYTES as usize - offset).min(changed.len() - done);
                    changed[done..done + count].copy_from_slice(&self.lines[index][offset..offset + count]);
                    done += count;
                }
            }
            Operation::Init { value, .. } => changed.fill(value),
            Operation::Write { address, .. } | Operation::Read { address, .. } => match payload {
                Some(payload) => changed.copy_from_slice(&payload[(first - address.0) as usize..][..changed.len()]),
                None => changed.fill(0),
            },
        }
        line
    }
}
