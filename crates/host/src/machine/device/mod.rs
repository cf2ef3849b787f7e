//! Devices beside the controller: engines and adapters.
//!
//! A device is a file of this folder and a line of [`devices`]. It acts when a message or the end of one of
//! its requests arrives, and makes requests through the methods of the memory.

mod copy_engine;
mod dma_engine;
mod transfer;

use std::fmt::Debug;

use memctrl::Completion;

use self::copy_engine::CopyEngine;
use self::dma_engine::DmaEngine;
use super::clock::CoreCycle;
use super::interconnect::Message;
use super::memory::Memory;
use super::settings::{Copier, MachineSettings};

/// A device.
pub trait Device: Debug {
    /// Receives a message at a cycle.
    fn receive(&mut self, message: Message, at: CoreCycle, memory: &mut Memory);

    /// Learns at a cycle that the controller has accepted its request with this number.
    fn accepted(&mut self, request: u64, at: CoreCycle, memory: &mut Memory);

    /// Receives the data or the end of a request at a cycle.
    fn completed(&mut self, completion: &Completion, at: CoreCycle, memory: &mut Memory);
}

/// The devices of a machine, by number.
pub fn devices(settings: &MachineSettings) -> Vec<Box<dyn Device>> {
    match settings.kernel.copier {
        Copier::Engine(engine) => vec![Box::new(CopyEngine::new(0, engine))],
        Copier::Dma(dma) => vec![Box::new(DmaEngine::new(0, dma))],
        Copier::Loop | Copier::Controller => Vec::new(),
    }
}
