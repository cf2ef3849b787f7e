//! The mechanism with the least energy.

use rowclone::{Block, MECHANISMS, Mechanism};

use super::{CopyPolicy, Outlook};

/// The mechanism whose commands take the least dynamic energy.
#[derive(Clone, Copy, Debug)]
pub struct LeastEnergy;

impl CopyPolicy for LeastEnergy {
    fn name(&self) -> &'static str {
        "least-energy"
    }

    fn admits(&self) -> &'static [Mechanism] {
        &MECHANISMS
    }

    fn choose(&self, block: &Block, part: usize, outlook: &Outlook<'_>) -> Mechanism {
        outlook.least(self, block, part, |programs| programs.iter().map(|program| outlook.energy(program)).sum::<f64>())
    }

    fn weighs(&self) -> bool {
        true
    }

    fn needs_prices(&self) -> bool {
        true
    }

    fn preference(&self) -> (&'static str, &'static str) {
        ("cheapest", "takes less energy than")
    }
}
