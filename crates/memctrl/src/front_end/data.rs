//! Data of lines, if contents are modeled: between the cells, requests and programs.

use dram_core::Line;
use dram_spec::{Column, LINE_BYTES, Location, PhysicalAddress};

use super::FrontEnd;
use crate::access::{Access, AccessKind};
use crate::channel::{Channel, ThreadStep};
use crate::copy::port::MovedLines;

impl FrontEnd {
    /// Bytes of a line written by a queued write.
    pub(super) fn line_of_write(&self, slot: u32, line: PhysicalAddress) -> Line {
        let mut bytes = [0; LINE_BYTES as usize];
        if let Some((payload, from)) = self.in_flight.get(slot).bytes_of_line(line) {
            bytes[from..from + payload.len()].copy_from_slice(payload);
        }
        bytes
    }

    /// Stores the bytes of a line that a read returns.
    pub(super) fn line_read(&mut self, access: &Access, bytes: &Line) {
        match access.slot {
            Access::NO_SLOT => self.unreported.push((access.id, *bytes)),
            slot => self.in_flight.get_mut(slot).line_read(access.address, bytes),
        }
    }

    /// Moves the data of an access between its request and the cells.
    #[inline(never)]
    pub(super) fn move_data(&mut self, channel: &mut Channel, access: &Access) {
        let Access { slot, address, row, column, .. } = *access;
        let bank = channel.topology().bank(access.bank);
        match access.kind {
            AccessKind::Read => {
                let mut line = [[0; LINE_BYTES as usize]];
                channel.device.read_lines(bank, row, column, &mut line);
                self.line_read(access, &line[0]);
            }
            AccessKind::Write => {
                let bytes = self.line_of_write(slot, address);
                channel.device.write_line(bank, row, column, &bytes);
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
