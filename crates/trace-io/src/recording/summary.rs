//! What a recording has.

use std::io::Read;

use rustc_hash::FxHashSet;

use super::block::{BlockEntry, WordBlock};
use super::display::EVENT_NAMES;
use super::event::{Event, Routine};
use super::reader::RecordingReader;
use crate::LineError;

/// Counts of the events of a recording, and of its copies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordingSummary {
    /// Events by their number less 1.
    pub events: [u64; EVENT_NAMES.len()],
    /// Bytes that the kernel copies.
    pub kernel_copied_bytes: u64,
    /// Bytes that the kernel sets to zero.
    pub kernel_zeroed_bytes: u64,
    /// Bytes that `memcpy` and `memmove` copy.
    pub routine_copied_bytes: u64,
    /// Bytes that `memset` sets.
    pub routine_set_bytes: u64,
    /// Instructions between `call` and `return`.
    pub routine_instructions: u64,
    /// Threads between `call` and `return`.
    in_routine: FxHashSet<u32>,
}

impl RecordingSummary {
    /// Reads a recording to its end.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn of<R: Read>(reader: &mut RecordingReader<R>) -> Result<RecordingSummary, LineError> {
        let mut summary = RecordingSummary::default();
        while let Some(block) = reader.next_block()? {
            summary.add(&block);
        }
        Ok(summary)
    }

    fn add(&mut self, block: &WordBlock<'_>) {
        let mut in_routine = self.in_routine.contains(&block.thread);
        for entry in block.entries() {
            let instructions = match entry {
                BlockEntry::Access(access) => u64::from(access.instructions),
                BlockEntry::Instructions(count) => count,
                BlockEntry::Event(event) => {
                    in_routine = match event {
                        Event::Call { .. } => true,
                        Event::Return => false,
                        _ => in_routine,
                    };
                    self.event(event);
                    continue;
                }
            };
            if in_routine {
                self.routine_instructions += instructions;
            }
        }
        if in_routine {
            self.in_routine.insert(block.thread);
        } else {
            self.in_routine.remove(&block.thread);
        }
    }

    fn event(&mut self, event: Event) {
        self.events[event.number() as usize - 1] += 1;
        let (sum, bytes) = match event {
            Event::Copy { bytes, .. } | Event::Call { routine: Routine::CopyPage { .. }, bytes, .. } => {
                (&mut self.kernel_copied_bytes, bytes)
            }
            Event::Zero { bytes, .. } | Event::Call { routine: Routine::ClearPage, bytes, .. } => {
                (&mut self.kernel_zeroed_bytes, bytes)
            }
            Event::Call { routine: Routine::Set { .. }, bytes, .. } => (&mut self.routine_set_bytes, bytes),
            Event::Call { bytes, .. } => (&mut self.routine_copied_bytes, bytes),
            _ => return,
        };
        *sum = sum.saturating_add(bytes);
    }
}
