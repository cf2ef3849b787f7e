//! Pages that move.

use os_alloc_sim::{Destination, Generator};
use rowclone::Planner;

use crate::allocator_settings::AllocatorSettings;

use super::bulk::{Bulk, Step, Task};
use super::error::WorkloadError;
use super::gap::Gap;
use super::machine::{Machine, request};
use super::region::some;

/// Where a page is moved to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveTo {
    /// As the allocator places a copy of it.
    NearSource,
    /// As the allocator places any page.
    Anywhere,
}

impl MoveTo {
    /// Both, by the names that scenarios give them.
    pub const NAMES: [(&'static str, MoveTo); 2] =
        [("near-source", MoveTo::NearSource), ("anywhere", MoveTo::Anywhere)];

    /// The choice of that name.
    pub fn named(name: &str) -> Option<MoveTo> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, to)| to)
    }

    const fn destination(self) -> Destination {
        match self {
            MoveTo::NearSource => Destination::NearSource,
            MoveTo::Anywhere => Destination::Anywhere,
        }
    }
}

/// Random pages of a process are moved to other frames. Each frame that a page leaves is free at once, for the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The memory of the process, which it has filled before the run: a multiple of 4096.
    pub bytes: u64,
    /// Moves; a page may move several times.
    pub pages: u64,
    /// Where to.
    pub to: MoveTo,
    /// Copies under way at once, at most: at least 1.
    pub window: u64,
    /// Between the arrivals of two copies, at least.
    pub gap: Gap,
}

/// What is left to do of a [`Migration`].
#[derive(Debug)]
pub(super) struct Moves {
    left: u64,
    to: MoveTo,
    generator: Generator,
}

impl Migration {
    pub(super) fn source(
        &self,
        workload: &'static str,
        planner: &Planner,
        allocator: Option<&AllocatorSettings>,
        seed: u64,
    ) -> Result<Bulk<Moves>, WorkloadError> {
        let Migration { bytes, pages, to, window, gap } = *self;
        some("pages", pages, 1)?;
        some("window", window, 1)?;
        let mut machine = Machine::new(workload, planner, allocator, bytes)?;
        machine.assure_room("bytes", machine.grains() + 1, 1)?;
        machine.fill();
        Ok(Bulk::new(machine, Moves { left: pages, to, generator: Generator::new(seed) }, window, gap, pages))
    }
}

impl Task for Moves {
    fn step(&mut self, machine: &mut Machine) -> Step {
        if self.left == 0 {
            return Step::Done;
        }
        self.left -= 1;
        let page = machine.draw_page(&mut self.generator);
        let mut operations = Vec::new();
        let moved = machine.kernel.migrate(machine.process, page, self.to.destination(), &mut operations);
        moved.expect("the page is nobody else's, and there is room for one more");
        // One copy, as nothing is zeroed when it is freed.
        operations.first().map_or(Step::Done, |copy| Step::Issue(request(copy)))
    }
}
