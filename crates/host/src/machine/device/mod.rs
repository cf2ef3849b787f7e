//! Devices beside the controller: engines and adapters.
//!
//! A device is a file of this folder and a line of [`devices`]. It acts when a message or the end of one of
//! its requests arrives, and makes requests through the methods of the memory.

mod copy_engine;
mod dma_engine;
mod network_adapter;
mod transfer;

use std::fmt::Debug;

use memctrl::Completion;

use self::copy_engine::CopyEngine;
use self::dma_engine::DmaEngine;
use self::network_adapter::NetworkAdapter;
use super::clock::CoreCycle;
use super::interconnect::Message;
use super::memory::Memory;
use super::settings::{MachineSettings, PageCopier};

/// A device.
pub trait Device: Debug {
    /// Receives a message at a cycle.
    fn receive(&mut self, message: Message, at: CoreCycle, memory: &mut Memory);

    /// Learns at a cycle that the controller has accepted its request with this number.
    fn accepted(&mut self, request: u64, at: CoreCycle, memory: &mut Memory);

    /// Receives the data or the end of a request at a cycle.
    fn completed(&mut self, completion: &Completion, at: CoreCycle, memory: &mut Memory);

    /// Whether it has no copy of a core to execute or report.
    fn is_idle(&self) -> bool {
        true
    }
}

/// The number of the network adapter, after that of the copier's device.
pub const fn network_adapter(settings: &MachineSettings) -> usize {
    match settings.kernel.copier {
        PageCopier::Engine(_) | PageCopier::Dma(_) => 1,
        PageCopier::Loop | PageCopier::Controller => 0,
    }
}

/// The devices of a machine with a number of cores, by number.
pub fn devices(settings: &MachineSettings, cores: usize) -> Vec<Box<dyn Device>> {
    let mut devices: Vec<Box<dyn Device>> = match settings.kernel.copier {
        PageCopier::Engine(engine) => vec![Box::new(CopyEngine::new(0, engine))],
        PageCopier::Dma(dma) => vec![Box::new(DmaEngine::new(0, dma))],
        PageCopier::Loop | PageCopier::Controller => Vec::new(),
    };
    if let Some(network) = settings.network {
        devices.push(Box::new(NetworkAdapter::new(devices.len(), network, cores)));
    }
    devices
}
