//! Page faults of a recording, as records of the format `perf`.

use std::io::{Chain, Cursor, Read};

use dram_spec::PhysicalAddress;

use super::batch::Batch;
use super::record::{Arrival, Event, OsEvent, Record};
use crate::LineError;
use crate::recording::{self, BlockEntry, Detail};
use crate::text::Text;

/// The input after its compression, preceded by the bytes read to detect a recording.
type Whole<R> = Chain<Cursor<Vec<u8>>, Text<R>>;

/// Reads the page faults, forks and exits of a recording of page faults, whose process numbers stand for pids.
pub(super) struct RecordedFaults<R: Read> {
    reader: recording::RecordingReader<Whole<R>>,
    /// Number of the last block read.
    block: u64,
    /// Time of the last `time` event in ps.
    picoseconds: u64,
}

impl<R: Read> RecordedFaults<R> {
    /// Reads the header of a recording.
    ///
    /// # Errors
    /// If it is damaged, or its detail is not `faults`.
    pub fn new(input: Whole<R>) -> Result<Self, LineError> {
        let reader = recording::RecordingReader::new(input)?;
        match reader.metadata().detail {
            Detail::Faults => Ok(RecordedFaults { reader, block: 0, picoseconds: 0 }),
            Detail::Accesses => Err(LineError::new(
                "is a recording of a program, which runs on cores, and no memory trace",
                "run it without a scenario, `rowclone-sim run FILE.rct.zst`, or as one of `workload.programs`; \
                 `rowclone-sim convert` writes its accesses as a memory trace",
            )),
        }
    }

    /// Number of the last block read, counted from 1.
    pub const fn block(&self) -> u64 {
        self.block
    }

    /// Reads the records of the next block, which may be none; `false` at the end.
    ///
    /// # Errors
    /// If the recording is damaged.
    pub fn read(&mut self, batch: &mut Batch) -> Result<bool, LineError> {
        let Some(block) = self.reader.next_block()? else { return Ok(false) };
        self.block = block.number;
        let pid = block.process;
        for entry in block.entries() {
            let BlockEntry::Event(event) = entry else { continue };
            let os = match event {
                recording::Event::Time { nanoseconds } => {
                    self.picoseconds = nanoseconds * 1000;
                    continue;
                }
                recording::Event::Fault { kind, address } => {
                    OsEvent::Fault { pid, address: PhysicalAddress(address), kind }
                }
                recording::Event::Fork { process } => OsEvent::Fork { parent: pid, child: process },
                recording::Event::Exit => OsEvent::Exit { pid },
                // A process begins with its first fault or fork.
                _ => continue,
            };
            let record = Record { arrival: Arrival::AtPicoseconds(self.picoseconds), event: Event::Os(os) };
            batch.records.push((record, block.number));
        }
        Ok(true)
    }
}
