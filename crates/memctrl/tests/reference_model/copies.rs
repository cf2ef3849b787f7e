//! Dispatch of copies: their plans, programs and threads (9-11).

use std::ops::Range;

use dram_spec::Operation;
use memctrl::policy::copy::reason;
use memctrl::stats::{PartTally, Parts};
use rowclone::{Block, Blocks, FPM, LISA, Mechanism, PSM, PSM2, Program};

use super::blocking::{blocks, whole_lines};
use super::channel::Channel;
use super::front::FrontEnd;
use super::programs::ProgramRun;
use super::thread::Thread;

/// Maximum number of threads per channel.
const SLOTS: usize = 32;

/// Mechanisms that a copy policy admits, the preferred one first (`docs/planner.md`).
///
/// # Panics
/// If the policy has no definition here.
fn admitted(policy: &str) -> &'static [Mechanism] {
    match policy {
        "baseline"
        | "controller-copy"
        | "copy-engine-sync-nlb"
        | "copy-engine-sync-wlb"
        | "copy-engine-async"
        | "dma" => &[Mechanism::CHANNEL],
        "fpm-only" => &[FPM, Mechanism::CHANNEL],
        "psm-only" => &[PSM, PSM2, Mechanism::CHANNEL],
        "rowclone"
        | "rowclone-zi"
        | "copy-engine-sync-nlb-rowclone"
        | "copy-engine-sync-wlb-rowclone"
        | "copy-engine-async-rowclone"
        | "dma-rowclone" => &[FPM, PSM, PSM2, Mechanism::CHANNEL],
        "lisa" => &[FPM, LISA, Mechanism::CHANNEL],
        "rowclone+lisa" | "fastest" | "least-energy" => &[FPM, LISA, PSM, PSM2, Mechanism::CHANNEL],
        other => {
            panic!("the copy policy `{other}` is registered, but `tests/reference_model/copies.rs` does not define it")
        }
    }
}

/// A copy, an initialization or a write of partial lines.
pub struct Copy {
    /// Lines that it reads and writes.
    pub reads: Range<u64>,
    pub writes: Range<u64>,
    /// Blocks that are not planned, since its dispatch.
    blocks: Option<Blocks>,
    /// Programs planned and not dispatched, in order.
    planned: Vec<Program>,
    /// Whether all its programs are dispatched.
    pub is_dispatched: bool,
    /// Threads that are not done.
    threads: usize,
    pub tally: PartTally,
}

impl Copy {
    /// `None` for a read, and for a write of whole lines.
    pub fn of(operation: &Operation) -> Option<Copy> {
        let (target, bytes) = (operation.target().0, operation.bytes());
        let writes = whole_lines(target, bytes);
        let is_access = match operation {
            Operation::Read { .. } => true,
            Operation::Write { .. } => writes == (target..target + bytes),
            Operation::Copy { .. } | Operation::Init { .. } => false,
        };
        (!is_access).then(|| Copy {
            reads: operation.src().map_or(0..0, |src| whole_lines(src.0, bytes)),
            writes,
            blocks: None,
            planned: Vec::new(),
            is_dispatched: false,
            threads: 0,
            tally: PartTally::default(),
        })
    }

    /// Whether all threads of all programs are done.
    pub fn is_complete(&self) -> bool {
        self.is_dispatched && self.threads == 0
    }
}

impl FrontEnd {
    fn copy(&mut self, number: usize) -> &mut Copy {
        self.requests[number].copy.as_mut().expect("it is a copy")
    }

    /// Copies that are accepted and not dispatched, by number.
    pub fn undispatched(&self) -> impl Iterator<Item = (usize, &Copy)> {
        let copies = self.left().filter_map(|(number, pending)| Some((number, pending.undelivered_copy()?)));
        copies.filter(|(_, copy)| !copy.is_dispatched)
    }

    /// Dispatches programs while slots are free.
    pub fn dispatch(&mut self, now: u64, channels: &mut [Channel]) {
        while let Some(number) = self.next_copy() {
            if self.copy(number).blocks.is_none() {
                if self.is_blocked(number, channels) {
                    return;
                }
                let operation = self.requests[number].request.operation;
                self.requests[number].done = now + 1;
                self.copy(number).blocks = Some(self.config.planner.blocks(&operation));
                self.plan_next_block(number, now, channels);
            }
            while let Some(program) = self.copy(number).planned.first() {
                let slots = |channel: dram_spec::Channel| channels[usize::from(channel.0)].threads.len();
                if program.threads.iter().any(|thread| slots(thread.channel) == SLOTS) {
                    return;
                }
                let program = self.copy(number).planned.remove(0);
                self.begin_program(number, program, now, channels);
                if self.copy(number).planned.is_empty() {
                    self.plan_next_block(number, now, channels);
                }
            }
            self.copy(number).is_dispatched = true;
        }
    }

    /// The copy to dispatch next.
    fn next_copy(&self) -> Option<usize> {
        self.undispatched().next().map(|(number, _)| number)
    }

    /// Whether an access that was accepted before a copy and conflicts with it has not been issued.
    fn is_blocked(&mut self, number: usize, channels: &[Channel]) -> bool {
        let copy = &*self.copy(number);
        channels.iter().flat_map(|channel| &channel.accesses).any(|access| blocks(access, number, copy))
    }

    /// Plans the next block, if there is one, which has programs.
    fn plan_next_block(&mut self, number: usize, now: u64, channels: &[Channel]) {
        let Some(block) = self.copy(number).blocks.as_mut().and_then(Iterator::next) else { return };
        let choices: Vec<Mechanism> =
            (0..block.parts().len()).map(|part| self.choose(&block, part, now, channels)).collect();
        for (part, &chosen) in block.parts().iter().zip(&choices) {
            let reason = reason(self.config.copy_policy, part, chosen);
            self.copy(number).tally.add(chosen, reason, Parts { count: 1, bytes: part.bytes() });
        }
        let mut programs = Vec::new();
        block.programs(&choices, self.config.staging_lines, |program| programs.push(program));
        if self.config.copy_policy.name() == "fastest" {
            for program in &programs {
                self.book(program, now, channels);
            }
        }
        self.copy(number).planned = programs;
    }

    /// Mechanism of a part.
    fn choose(&self, block: &Block, part: usize, now: u64, channels: &[Channel]) -> Mechanism {
        let programs = |mechanism| block.programs_of(part, mechanism, self.config.staging_lines);
        let prices = self.config.prices.as_ref();
        let price = |mechanism: Mechanism| match self.config.copy_policy.name() {
            "fastest" => {
                programs(mechanism).iter().map(|program| self.done(program, now, channels)).max().unwrap_or(0) as f64
            }
            "least-energy" => {
                let energy = |program| memctrl::price::energy(program, prices.expect("a table of prices")).0;
                programs(mechanism).iter().map(energy).sum()
            }
            _ => 0.0,
        };
        let possible = |mechanism: &&Mechanism| block.parts()[part].allows(**mechanism).is_ok();
        let possible = admitted(self.config.copy_policy.name()).iter().filter(possible);
        // `min_by` returns the first of equal ones.
        *possible.min_by(|a, b| price(**a).total_cmp(&price(**b))).expect("the channel is always possible")
    }

    /// Adds the threads of a program to their channels.
    fn begin_program(&mut self, number: usize, program: Program, now: u64, channels: &mut [Channel]) {
        let index = self.programs.len();
        self.copy(number).threads += program.threads.len();
        for thread in &program.threads {
            let of_channel = &mut channels[usize::from(thread.channel.0)].threads;
            of_channel.push(Thread::new(index, number, now, thread.steps.clone()));
        }
        self.programs.push(ProgramRun::new(self.requests[number].request.clone(), program));
    }

    /// Records that a thread of a copy is done with a bank, which can be activated again at
    /// `ready`.
    pub fn bank_done(&mut self, number: usize, ready: u64) {
        let done = &mut self.requests[number].done;
        *done = ready.max(*done);
    }

    /// Records that a thread of a copy is done.
    pub fn thread_done(&mut self, number: usize) {
        self.copy(number).threads -= 1;
    }
}
