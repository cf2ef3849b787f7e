//! The write buffer of each core.

use dram_spec::{Operation, PhysicalAddress};
use host::machine::Purpose;

use crate::access::Access;
use crate::machine::ReferenceMachine;
use crate::traffic::Sender;

/// Bytes of a burst of the memory.
const BURST: u64 = 64;

/// The stores to a line.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    number: u64,
    line: u64,
    /// A bit per byte of the line that is written.
    written: u128,
    /// Who made its first store.
    purpose: Purpose,
    /// Writes that the controller has not accepted, once the entry has left.
    left: Option<u64>,
}

impl Entry {
    /// Whether it has the stores to a line, and has not left.
    pub fn holds(&self, line: u64) -> bool {
        self.line == line && self.left.is_none()
    }
}

/// The runs of consecutive bits, as the first one and their number.
fn runs(bits: u128) -> Vec<(u64, u64)> {
    let is_set = |bit: u64| bit < 128 && bits >> bit & 1 == 1;
    let starts = (0..128).filter(|&bit| is_set(bit) && (bit == 0 || !is_set(bit - 1)));
    starts.map(|first| (first, (first..128).take_while(|&bit| is_set(bit)).count() as u64)).collect()
}

/// Bursts of a write: a burst that is written in part is read and written.
fn bursts(from: u64, bytes: u64) -> u64 {
    let of = |burst: u64| {
        let is_whole = burst * BURST >= from && (burst + 1) * BURST <= from + bytes;
        if is_whole { 1 } else { 2 }
    };
    (from / BURST..(from + bytes).div_ceil(BURST)).map(of).sum()
}

impl ReferenceMachine {
    /// Whether a store joins an entry of the write buffer, or can take one.
    pub fn has_entry(&self, at: usize, line: u64, is_new: bool) -> bool {
        let buffer = &self.cores[at].write_buffer;
        let joins = !is_new && buffer.iter().any(|entry| entry.holds(line));
        joins || buffer.len() < self.settings.lines.write_buffer
    }

    /// Enters a store in the write buffer.
    pub fn buffer_store(&mut self, at: usize, now: u64, access: Access, is_new: bool) {
        let line_bytes = self.settings.lines.bytes;
        let (offset, bytes) = access.bytes;
        let written = (offset..offset + bytes).fold(0_u128, |bits, byte| bits | 1 << byte);
        let core = &mut self.cores[at];
        let joined = core.write_buffer.iter().position(|entry| entry.holds(access.line) && !is_new);
        let index = joined.unwrap_or_else(|| {
            let (number, purpose) = (core.entries, access.purpose);
            core.entries += 1;
            core.write_buffer.push(Entry { number, line: access.line, written: 0, purpose, left: None });
            core.write_buffer.len() - 1
        });
        let entry = &mut core.write_buffer[index];
        entry.written |= written;
        let is_whole = u64::from(entry.written.count_ones()) == line_bytes;
        if is_whole {
            self.send_entry(at, now, index);
        }
        let buffer = &self.cores[at].write_buffer;
        let is_full = buffer.len() == self.settings.lines.write_buffer;
        if is_full && buffer.iter().all(|entry| entry.left.is_none()) {
            self.send_entry(at, now, 0);
        }
    }

    /// Sends the entry of a line of a core, if it has not left.
    pub fn empty_entry(&mut self, at: usize, now: u64, line: u64) {
        let buffer = &self.cores[at].write_buffer;
        if let Some(index) = buffer.iter().position(|entry| entry.holds(line)) {
            self.send_entry(at, now, index);
        }
    }

    /// Sends the entries of a line, of any core.
    pub fn empty_entries(&mut self, now: u64, line: u64) {
        for core in 0..self.cores.len() {
            self.empty_entry(core, now, line);
        }
    }

    fn send_entry(&mut self, at: usize, now: u64, index: usize) {
        let leaves = now + self.settings.last_level.latency;
        let entry = self.cores[at].write_buffer[index].number;
        for (address, bytes) in self.leave_entry(at, index) {
            let operation = Operation::Write { address: PhysicalAddress(address), bytes };
            self.send(Sender::WriteBuffer { core: at, entry }, leaves, operation);
        }
    }

    /// Passes the entries of a line of all cores to a device, from a cycle on; returns the cycle in which it has them.
    pub fn pass_entries(&mut self, mut from: u64, line: u64, device: u16) -> u64 {
        for core in 0..self.cores.len() {
            let buffer = &self.cores[core].write_buffer;
            let Some(index) = buffer.iter().position(|entry| entry.holds(line)) else { continue };
            let entry = buffer[index].number;
            for (address, bytes) in self.leave_entry(core, index) {
                from = self.bus.data(from, bytes);
                let operation = Operation::Write { address: PhysicalAddress(address), bytes };
                self.send(Sender::PassedEntry { core, entry, device }, from, operation);
            }
        }
        from
    }

    /// An entry leaves; returns address and size of its writes.
    fn leave_entry(&mut self, at: usize, index: usize) -> Vec<(u64, u64)> {
        let line_bytes = self.settings.lines.bytes;
        let Entry { line, written, purpose, .. } = self.cores[at].write_buffer[index];
        let writes: Vec<_> =
            runs(written).into_iter().map(|(first, bytes)| (line * line_bytes + first, bytes)).collect();
        self.cores[at].write_buffer[index].left = Some(writes.len() as u64);
        if !self.cores[at].is_over() {
            let counts = self.cores[at].counters.of(purpose);
            for &(address, bytes) in &writes {
                counts.buffered += 1;
                counts.buffered_bursts += bursts(address, bytes);
                counts.buffered_bytes += bytes;
            }
        }
        writes
    }

    /// The controller has accepted a write of an entry.
    pub fn accept_write(&mut self, at: usize, number: u64) {
        let buffer = &mut self.cores[at].write_buffer;
        let index = buffer.iter().position(|entry| entry.number == number).expect("it has a write left");
        let left = buffer[index].left.as_mut().expect("it has left");
        *left -= 1;
        if *left == 0 {
            buffer.remove(index);
        }
    }
}
