//! The mechanism with the earliest estimated completion.

use rowclone::{Block, MECHANISMS, Mechanism};

use super::{CopyPolicy, Outlook};

/// The mechanism with the earliest estimated completion, from open rows, queues and refresh
/// (`memctrl::estimate`).
#[derive(Clone, Copy, Debug)]
pub struct Fastest;

impl CopyPolicy for Fastest {
    fn name(&self) -> &'static str {
        "fastest"
    }

    fn admits(&self) -> &'static [Mechanism] {
        &MECHANISMS
    }

    fn choose(&self, block: &Block, part: usize, outlook: &Outlook<'_>) -> Mechanism {
        outlook.least(self, block, part, |programs| programs.iter().map(|program| outlook.done(program)).max())
    }

    fn weighs(&self) -> bool {
        true
    }

    fn preference(&self) -> (&'static str, &'static str) {
        ("soonest", "estimated to be done sooner than by")
    }
}
