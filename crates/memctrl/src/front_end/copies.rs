//! Copies in progress and their programs: dispatch, data, and completion. Rules 9 to 11 of
//! `docs/controller.md`.

use std::collections::VecDeque;

use dram_spec::{Cycle, Operation};
use rowclone::{Blocks, Program};

use super::staging::Staging;
use crate::copy::data_gate::DataGate;
use crate::stats::PartTally;

/// State of a copy in addition to its request.
#[derive(Debug)]
pub(crate) struct Copy {
    /// Number of accesses for which the copy waits.
    pub(crate) waits_for: u32,
    /// Blocks that are not planned.
    pub(crate) blocks: Blocks,
    /// Whether all programs are dispatched.
    pub(crate) is_dispatched: bool,
    /// Number of programs planned and not completed.
    pub(crate) programs_left: u32,
    pub(crate) tally: PartTally,
}

impl Copy {
    pub(crate) fn new(blocks: Blocks, waits_for: u32) -> Copy {
        Copy { waits_for, blocks, is_dispatched: false, programs_left: 0, tally: PartTally::default() }
    }

    /// Takes the place of a copy that is done: its programs were dispatched, and its tally was taken.
    pub(crate) fn begin(&mut self, operation: Operation, waits_for: u32) {
        self.blocks.restart(operation);
        self.waits_for = waits_for;
        (self.is_dispatched, self.programs_left) = (false, 0);
    }
}

/// A dispatched program.
#[derive(Debug)]
pub(crate) struct RunningProgram {
    /// Slot of its copy.
    pub(crate) copy: u32,
    /// Channel of each thread, and its slot there.
    threads: Vec<(dram_spec::Channel, u8)>,
    threads_left: u32,
    /// Whether each line is written when its own data has arrived, instead of waiting for all
    /// lines.
    is_pipelined: bool,
    /// Number of lines not yet read.
    unread: u32,
    /// Arrival of the last line so far.
    arrives: Cycle,
    /// Lines read, if contents are modeled.
    pub(crate) staging: Option<Staging>,
}

impl RunningProgram {
    /// A program of the copy in a slot begins; `threads` and `staging` are empty.
    fn new(
        copy: u32,
        program: &Program,
        threads: Vec<(dram_spec::Channel, u8)>,
        staging: Option<Staging>,
    ) -> RunningProgram {
        RunningProgram {
            copy,
            threads,
            threads_left: program.threads.len() as u32,
            is_pipelined: program.is_pipelined(),
            unread: program.lines_read(),
            arrives: Cycle::ZERO,
            staging,
        }
    }

    /// Condition for the writes of its threads.
    pub(crate) fn gate(&self) -> DataGate {
        if self.is_pipelined {
            DataGate::Each(VecDeque::new())
        } else {
            DataGate::All((self.unread == 0).then_some(Cycle::ZERO))
        }
    }

    /// Records the slot of a thread.
    pub(crate) fn thread_added(&mut self, channel: dram_spec::Channel, slot: u8) {
        self.threads.push((channel, slot));
    }

    /// Records that a thread is done; returns whether the program is.
    pub(crate) fn thread_done(&mut self) -> bool {
        self.threads_left -= 1;
        self.threads_left == 0
    }

    /// Records that lines read by a channel arrive, the last at a cycle. Returns the threads whose
    /// writes wait for them, and the arrival of all data for which they wait.
    pub(crate) fn data_arrives(
        &mut self,
        reader: dram_spec::Channel,
        (lines, at): (u32, Cycle),
    ) -> Option<(impl Iterator<Item = (dram_spec::Channel, u8)>, Cycle)> {
        self.unread -= lines;
        self.arrives = self.arrives.max(at);
        let is_pipelined = self.is_pipelined;
        let writes = move |&(channel, _): &(dram_spec::Channel, u8)| !is_pipelined || channel != reader;
        let is_known = is_pipelined || self.unread == 0;
        is_known.then(|| (self.threads.iter().copied().filter(writes), if is_pipelined { at } else { self.arrives }))
    }
}

/// Dispatched programs, by slot.
#[derive(Debug, Default)]
pub(crate) struct Programs {
    /// Slots of programs; a free slot has a program that is done.
    slots: Vec<RunningProgram>,
    free: Vec<u32>,
    /// Programs dispatched over the run.
    pub(crate) dispatched: u64,
}

impl Programs {
    /// A program of the copy in a slot begins. Returns its own slot.
    pub(crate) fn begin(&mut self, copy: u32, program: &Program, has_contents: bool) -> u32 {
        self.dispatched += 1;
        let Some(slot) = self.free.pop() else {
            let staging = has_contents.then(Staging::default);
            self.slots.push(RunningProgram::new(copy, program, Vec::new(), staging));
            return self.slots.len() as u32 - 1;
        };
        let place = &mut self.slots[slot as usize];
        let (mut threads, mut staging) = (std::mem::take(&mut place.threads), place.staging.take());
        threads.clear();
        staging.iter_mut().for_each(Staging::clear);
        *place = RunningProgram::new(copy, program, threads, staging);
        slot
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut RunningProgram {
        &mut self.slots[slot as usize]
    }

    /// A program is done.
    pub(crate) fn done(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

/// Copies that are not completely dispatched, in order.
#[derive(Debug)]
pub(crate) struct DispatchQueue {
    pub(crate) order: VecDeque<u32>,
    /// Programs of the last planned blocks of the first copy. Dispatched programs have no steps left.
    pub(crate) planned: Vec<Program>,
    /// Number of planned programs that are dispatched.
    pub(crate) dispatched: usize,
    /// The channel for whose port the next program waits.
    pub(crate) waits_for_port: Option<dram_spec::Channel>,
    /// Cycle of the next attempt to dispatch; never if it waits for a command.
    pub(crate) next: Cycle,
}

impl Default for DispatchQueue {
    fn default() -> DispatchQueue {
        let (order, planned) = (VecDeque::new(), Vec::new());
        DispatchQueue { order, planned, dispatched: 0, waits_for_port: None, next: Cycle::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::Channel;

    use super::*;

    /// A program that reads three lines, with a thread on each of two channels.
    fn running(is_pipelined: bool) -> RunningProgram {
        RunningProgram {
            copy: 0,
            threads: vec![(Channel(0), 4), (Channel(1), 5)],
            threads_left: 2,
            is_pipelined,
            unread: 3,
            arrives: Cycle::ZERO,
            staging: None,
        }
    }

    fn arrival(program: &mut RunningProgram, channel: u8, at: u64) -> Option<(Vec<u8>, Cycle)> {
        let (threads, at) = program.data_arrives(Channel(channel), (1, Cycle(at)))?;
        Some((threads.map(|(_, slot)| slot).collect(), at))
    }

    /// The line that is read last is not the one that arrives last: its channel is faster.
    #[test]
    fn all_writes_wait_for_the_latest_arrival() {
        for arrivals in [[40, 55, 50], [55, 40, 50], [40, 50, 55]] {
            let mut program = running(false);
            assert_eq!(arrival(&mut program, 0, arrivals[0]), None);
            assert_eq!(arrival(&mut program, 1, arrivals[1]), None);
            assert_eq!(arrival(&mut program, 0, arrivals[2]), Some((vec![4, 5], Cycle(55))), "{arrivals:?}");
        }
    }

    #[test]
    fn a_pipelined_write_waits_for_its_own_line() {
        let mut program = running(true);
        for at in [40, 55, 50] {
            assert_eq!(arrival(&mut program, 0, at), Some((vec![5], Cycle(at))), "the thread of the other channel");
        }
    }
}
