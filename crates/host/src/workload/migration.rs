//! Migration of pages.

use os_alloc_sim::{Destination, Generator};

use super::bulk::{BulkRequests, Task, TaskStep};
use super::error::WorkloadError;
use super::gap::Gap;
use super::kind::{KindProperties, RequestGenerator, WorkloadKind};
use super::machine::{RunningKernel, Setup, request};
use super::region::positive_multiple;

dram_spec::named! {
    /// Destination of a page migration.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum MoveTo {
        /// The place of a copy of the page.
        NearSource = "near-source",
        /// The place of a request without a source.
        #[default]
        Anywhere = "anywhere",
    }
}

impl MoveTo {
    const fn destination(self) -> Destination {
        match self {
            MoveTo::NearSource => Destination::NearSource,
            MoveTo::Anywhere => Destination::Anywhere,
        }
    }
}

/// Migration of random pages of a process. The frame that a page leaves is free at once, for the
/// next page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Migration {
    /// Memory of the process in bytes, written before the run: a multiple of 4096.
    pub bytes: u64,
    /// Migrations; a page may migrate several times.
    pub pages: u64,
    /// Destination.
    pub to: MoveTo,
    /// Maximum number of copies in flight, at least 1.
    pub window: u64,
    /// Minimum time between the arrivals of two copies.
    pub gap: Gap,
}

/// State of a [`Migration`].
#[derive(Debug)]
struct Moves {
    left: u64,
    to: MoveTo,
    generator: Generator,
}

impl WorkloadKind for Migration {
    fn properties(&self) -> KindProperties {
        KindProperties { name: "migration", gap: self.gap, needs_allocator: true }
    }

    fn generator(&self, setup: &Setup<'_>) -> Result<Box<dyn RequestGenerator>, WorkloadError> {
        let Migration { bytes, pages, to, window, gap } = *self;
        positive_multiple("pages", pages, 1)?;
        positive_multiple("window", window, 1)?;
        let mut machine = RunningKernel::new(setup, bytes)?;
        machine.ensure_free_frames("bytes", machine.grains() + 1, 1)?;
        machine.fill();
        Ok(BulkRequests::generator(
            machine,
            Moves { left: pages, to, generator: Generator::new(setup.seed) },
            window,
            gap,
            pages,
        ))
    }
}

impl Task for Moves {
    fn step(&mut self, machine: &mut RunningKernel) -> TaskStep {
        if self.left == 0 {
            return TaskStep::Done;
        }
        self.left -= 1;
        let page = machine.draw_page(&mut self.generator);
        let mut operations = Vec::new();
        let moved = machine.kernel.migrate(machine.process, page, self.to.destination(), &mut operations);
        moved.expect("the page is not shared, and a frame is free");
        machine.log.kernel_requests(operations.len());
        // One copy, as freed frames are not zeroed.
        operations.first().map_or(TaskStep::Done, |copy| TaskStep::Issue(request(copy)))
    }
}
