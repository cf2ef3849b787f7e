//! Who copies and zeroes physical memory, and each step of coherence that it needs.
//!
//! A copier is a file of this folder and a line of [`copier`].

mod controller;
mod loops;

use std::fmt::Debug;

use memctrl::Completion;

use self::controller::ControllerCopies;
use self::loops::CopyLoop;
use super::bulk::Bulk;
use super::clock::CoreCycle;
use super::core::{Core, Outcome};
use super::memory::Memory;
use super::settings::{self, KernelSettings};

/// A copier of all cores.
pub trait Copier: Debug {
    /// Begins a copy or zeroing at a cycle. The core has no instruction, line or store in progress.
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, at: CoreCycle) -> Outcome;

    /// Executes the next step of the rest of a copy or zeroing that the copier has given the core as
    /// [`Work::CopyRest`](super::core::Work::CopyRest).
    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, until: CoreCycle) -> Outcome;

    /// Ends a copy or zeroing of the controller.
    fn completed(&mut self, core: &mut Core, memory: &mut Memory, completion: &Completion, at: CoreCycle);
}

/// The copier that the settings name, for a number of cores.
pub fn copier(settings: &KernelSettings, cores: usize) -> Box<dyn Copier> {
    match settings.copier {
        settings::Copier::CachedLoop | settings::Copier::NoFetchLoop | settings::Copier::NonTemporalLoop => {
            Box::new(CopyLoop::new(settings))
        }
        settings::Copier::Controller => Box::new(ControllerCopies::new(settings, cores)),
    }
}
