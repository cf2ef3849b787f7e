//! Who copies and zeroes physical memory, and each step of coherence that it needs.
//!
//! A copier is a file of this folder and a line of [`copier`].

mod controller;
mod dma;
mod engine;
mod loops;
mod pinned_pages;
mod stream;

use std::fmt::Debug;

use dram_spec::PhysicalAddress;
use memctrl::Completion;

use self::controller::ControllerCopies;
use self::dma::DmaCopies;
use self::engine::EngineCopies;
use self::loops::LoopCopies;
use super::bulk::Bulk;
use super::clock::CoreCycle;
use super::core::{Advance, Bounds, Core};
use super::interconnect::Message;
use super::memory::Memory;
use super::settings::{self, KernelSettings};

/// A copier of all cores.
pub trait Copier: Debug {
    /// Attempts to begin a copy or zeroing.
    fn begin(&mut self, core: &mut Core, memory: &mut Memory, bulk: Bulk, bounds: Bounds) -> Advance;

    /// Attempts to begin a piece of a copy; the core need not wait for its end. A copier without a device
    /// executes it at once.
    fn begin_piece(
        &mut self,
        core: &mut Core,
        memory: &mut Memory,
        (bulk, is_last): (Bulk, bool),
        bounds: Bounds,
    ) -> Advance {
        let _ = is_last;
        self.begin(core, memory, bulk, bounds)
    }

    /// Whether a core has begun copies and not waited for them.
    fn has_begun(&self, core: usize) -> bool {
        let _ = core;
        false
    }

    /// Lets a device execute the copies that a core has begun.
    fn issue(&mut self, core: &mut Core) -> Advance {
        let _ = core;
        Advance::Done
    }

    /// Lets a core wait for the copies that it has begun.
    fn wait(&mut self, core: &mut Core, until: CoreCycle) -> Advance {
        let _ = (core, until);
        Advance::Done
    }

    /// Executes the next step of the rest of a copy or zeroing that the copier has given the core as
    /// [`Work::CopyRest`](super::core::Work::CopyRest).
    fn proceed(&mut self, core: &mut Core, memory: &mut Memory, rest: Bulk, until: CoreCycle) -> Advance;

    /// Ends a copy or zeroing of the controller.
    fn completed(&mut self, core: &mut Core, memory: &mut Memory, completion: &Completion, at: CoreCycle) {
        let _ = (core, memory, at);
        unreachable!("the controller was given no {:?}", completion.operation);
    }

    /// Receives a message of a device for a core.
    fn received(&mut self, core: &mut Core, memory: &mut Memory, message: Message, at: CoreCycle) {
        let _ = (core, memory, at);
        unreachable!("no device sends {message:?}");
    }

    /// The copy whose end a core awaited longer than the limit, and the core.
    fn given_up(&self) -> Option<(usize, Bulk)> {
        None
    }

    /// The copies that devices have not completed: the core and the copy.
    fn pending(&self) -> Vec<(usize, Bulk)> {
        Vec::new()
    }
}

/// The cycle before a limit in which a core begins a copy or zeroing that waits for all earlier instructions,
/// lines and stores.
fn quiet(core: &mut Core, memory: &mut Memory, bulk: &Bulk, bounds: Bounds) -> Result<CoreCycle, Advance> {
    let at = core.quiet_before(bounds.until)?;
    core.delay_until(at, |stalls| &mut stalls.kernel);
    if core.begin_copy() {
        memory.begin_copy(core.index(), bulk);
    }
    Ok(at)
}

/// Page frames that the copier shares with its devices.
pub fn frames(settings: &KernelSettings, cores: usize) -> usize {
    match settings.copier {
        settings::PageCopier::Dma(dma) => dma::frames(&dma, cores),
        settings::PageCopier::Loop | settings::PageCopier::Controller | settings::PageCopier::Engine(_) => 0,
    }
}

/// The copier that the settings name, for a number of cores, with the frames that it shares with devices.
pub fn copier(settings: &KernelSettings, cores: usize, frames: &[PhysicalAddress]) -> Box<dyn Copier> {
    match settings.copier {
        settings::PageCopier::Loop => Box::new(LoopCopies::new(settings)),
        settings::PageCopier::Controller => Box::new(ControllerCopies::new(settings, cores)),
        settings::PageCopier::Dma(dma) => Box::new(DmaCopies::new(settings, dma, cores, frames)),
        settings::PageCopier::Engine(engine) => Box::new(EngineCopies::new(settings, engine, cores)),
    }
}
