//! Pages that move.

use dram_spec::Cycles;

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
}

/// Random pages of a process are moved to other frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The memory of the process, which it has filled before the run: a multiple of 4096.
    pub bytes: u64,
    /// Moves; a page may move several times.
    pub pages: u64,
    /// Where to.
    pub to: MoveTo,
    /// Copies under way at once, at most.
    pub window: u64,
    /// Between the arrivals of two copies, at least.
    pub gap: Cycles,
}
