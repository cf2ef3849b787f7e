//! Dynamic energy of programs, for the copy policy `least-energy`.

use dram_spec::{PerKind, Picojoule};
use rowclone::{CopyStep, Program};

/// Dynamic energy of one command of each kind, for all chips of the rank together, including I/O on
/// the channel. The price of an ACT includes the PRE that follows, so that of a PRE is 0. The
/// caller provides the prices, as the controller has no currents.
pub type PriceTable = PerKind<Picojoule>;

/// Dynamic energy of a program: the sum over its steps.
pub fn energy(program: &Program, prices: &PriceTable) -> Picojoule {
    let price = |step: &CopyStep| prices[step.kind()] * f64::from(step.units());
    program.steps().map(price).sum()
}
