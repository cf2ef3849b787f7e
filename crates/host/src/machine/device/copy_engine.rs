//! A copy engine in the controller's hub (Zhao et al., ICCD 2005).
//!
//! The engine executes one copy at a time, in the order of their commands. It reads the lines of the source
//! into a stream buffer, and snoops the caches meanwhile; each part of a line of the destination is written
//! once its data are there. With copies in DRAM it snoops all lines, and then requests the copy from the
//! controller. `docs/copiers.md` has the steps and their times.

use std::collections::VecDeque;

use memctrl::Completion;

use super::super::bulk::CopyId;
use super::super::clock::CoreCycle;
use super::super::interconnect::{Agent, Message, Requester};
use super::super::memory::Memory;
use super::super::settings::{EngineMode, EngineSettings};
use super::Device;
use super::transfer::{Route, Snoops, Transfer};
use crate::defects::{Planted, is_planted};

/// A copy engine.
#[derive(Debug)]
pub(super) struct CopyEngine {
    settings: EngineSettings,
    device: usize,
    /// Copies, of which the first is in progress.
    copies: VecDeque<EngineCopy>,
}

/// A copy.
#[derive(Debug)]
struct EngineCopy {
    id: CopyId,
    core: usize,
    transfer: Transfer,
}

impl EngineCopy {
    /// The message of its end.
    const fn completed(&self) -> Message {
        let Transfer { counts, channel_bytes, .. } = self.transfer;
        Message::Completed { id: self.id, counts, channel_bytes }
    }
}

impl CopyEngine {
    pub(super) const fn new(device: usize, settings: EngineSettings) -> CopyEngine {
        CopyEngine { settings, device, copies: VecDeque::new() }
    }

    /// Proceeds with the first copy as far as possible at a cycle.
    fn proceed(&mut self, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        let EngineSettings { is_in_dram, buffer_lines, .. } = self.settings;
        let was_requested = copy.transfer.is_requested();
        copy.transfer.proceed(at, Route { is_in_dram, buffer_lines }, memory);
        if is_planted(Planted::EarlyCompletion) && !was_requested && copy.transfer.is_requested() && !is_in_dram {
            memory.interconnect.post(Agent::Device(self.device), Agent::Core(copy.core), copy.completed(), at);
        }
    }

    /// Ends the first copy at a cycle, and begins the next one.
    fn end(&mut self, at: CoreCycle, memory: &mut Memory) {
        let copy = self.copies.pop_front().expect("it is in progress");
        if !is_planted(Planted::EarlyCompletion) && !is_planted(Planted::LostCompletion) {
            memory.interconnect.post(Agent::Device(self.device), Agent::Core(copy.core), copy.completed(), at);
        }
        self.proceed(at, memory);
    }
}

impl Device for CopyEngine {
    fn receive(&mut self, message: Message, at: CoreCycle, memory: &mut Memory) {
        if let Message::Copy { id, core, bulk } = message {
            let (own, core_agent) = (Agent::Device(self.device), Agent::Core(core));
            let mut snoops = Snoops::PerLine;
            if self.settings.mode == EngineMode::Async {
                let entered = memory.interconnect.snooped(at);
                memory.interconnect.post_later(own, core_agent, Message::Entered(id), entered);
                snoops = Snoops::Known(entered);
            }
            let requester = Requester { core, device: Some(self.device) };
            self.copies.push_back(EngineCopy {
                id,
                core,
                transfer: Transfer::new(requester, bulk, memory.line_size(), snoops),
            });
        }
        self.proceed(at, memory);
    }

    fn accepted(&mut self, request: u64, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        if !copy.transfer.accepted(request) {
            return;
        }
        if copy.transfer.is_written() {
            self.end(at, memory);
        } else {
            self.proceed(at, memory);
        }
    }

    fn completed(&mut self, completion: &Completion, at: CoreCycle, memory: &mut Memory) {
        let Some(copy) = self.copies.front_mut() else { return };
        if copy.transfer.answered(completion) {
            self.proceed(at, memory);
        } else if copy.transfer.is_ended_by(completion) {
            self.end(at, memory);
        }
    }

    fn is_idle(&self) -> bool {
        self.copies.is_empty()
    }
}
