//! Data of lines, if contents are modeled: between the cells, requests and programs.

use std::sync::Arc;

use dram_core::LineBytes;
use dram_spec::{Column, LINE_BYTES, Location, RequestId};

use super::FrontEnd;
use crate::access::{AccessKind, LineAccess};
use crate::channel::{Channel, ThreadStep};
use crate::copy::thread::MovedLines;
use crate::request::Request;

/// Data of reads and writes of one line without a slot.
#[derive(Debug, Default)]
pub(crate) struct Unreported {
    /// Lines that were read, until the requester takes them.
    read: Vec<(RequestId, LineBytes)>,
    /// Bytes of the writes that are not issued, by slot, and the free slots.
    written: Vec<Option<Arc<[u8]>>>,
    free: Vec<u32>,
}

impl Unreported {
    /// Stores the bytes of a request, if it is a write. Returns the slot of its access.
    pub(super) fn add(&mut self, request: Request) -> u32 {
        let Some(payload) = request.payload else { return LineAccess::NO_SLOT };
        let index = self.free.pop().unwrap_or_else(|| {
            self.written.push(None);
            self.written.len() as u32 - 1
        });
        self.written[index as usize] = Some(payload);
        LineAccess::UNREPORTED + index
    }

    fn bytes_of_write(&self, slot: u32) -> Option<&[u8]> {
        self.written.get((slot - LineAccess::UNREPORTED) as usize)?.as_deref()
    }

    /// Removes the bytes of a write that is issued.
    fn remove(&mut self, slot: u32) {
        if slot != LineAccess::NO_SLOT {
            self.written[(slot - LineAccess::UNREPORTED) as usize] = None;
            self.free.push(slot - LineAccess::UNREPORTED);
        }
    }

    /// Reports the lines that were read since the last call.
    #[inline]
    pub(crate) fn report_reads(&mut self, mut report: impl FnMut(RequestId, &LineBytes)) {
        if !self.read.is_empty() {
            self.read.drain(..).for_each(|(id, line)| report(id, &line));
        }
    }
}

impl FrontEnd {
    /// Bytes of a line written by an access that is not issued.
    pub(super) fn line_of_write(&self, access: &LineAccess) -> LineBytes {
        let mut bytes = [0; LINE_BYTES as usize];
        let payload = match access.slot {
            slot @ LineAccess::UNREPORTED.. => self.unreported.bytes_of_write(slot).map(|payload| (payload, 0)),
            slot => self.in_flight.get(slot).bytes_of_line(access.address),
        };
        if let Some((payload, from)) = payload {
            bytes[from..from + payload.len()].copy_from_slice(payload);
        }
        bytes
    }

    /// Stores the bytes of a line that a read returns.
    pub(super) fn line_read(&mut self, access: &LineAccess, bytes: &LineBytes) {
        match access.slot {
            LineAccess::UNREPORTED.. => self.unreported.read.push((access.id, *bytes)),
            slot => self.in_flight.get_mut(slot).line_read(access.address, bytes),
        }
    }

    /// Moves the data of an access between its request and the cells.
    #[inline(never)]
    pub(super) fn move_data(&mut self, channel: &mut Channel, access: &LineAccess) {
        let LineAccess { slot, row, column, .. } = *access;
        let bank = channel.topology().bank(access.bank);
        match access.kind {
            AccessKind::Read => {
                let mut line = [[0; LINE_BYTES as usize]];
                channel.device.read_lines(bank, row, column, &mut line);
                self.line_read(access, &line[0]);
            }
            AccessKind::Write => {
                let bytes = self.line_of_write(access);
                channel.device.write_line(bank, row, column, &bytes);
                if slot >= LineAccess::UNREPORTED {
                    self.unreported.remove(slot);
                }
            }
        }
    }

    /// Moves the data of the lines of a step between a program and the cells.
    pub(super) fn move_lines(&mut self, channel: &mut Channel, step: &ThreadStep) {
        let program = self.programs.get_mut(step.program);
        let staging = program.staging.as_mut().expect("data moves only where contents are modeled");
        match channel.port.moved_lines(step.slot, step.lines as u16) {
            MovedLines::Read(run) => {
                let Location { bank, row, column, .. } = run.first.location;
                channel.device.read_lines(bank, row, column, staging.add(&run));
            }
            MovedLines::Written(write) => {
                let in_flight = self.in_flight.get(program.copy);
                let Location { bank, row, column, .. } = write.run.first.location;
                staging.written(&write, &in_flight.operation, in_flight.payload(), |first, lines| {
                    channel.device.write_lines(bank, row, Column(column.0 + first), lines);
                });
            }
        }
    }
}
