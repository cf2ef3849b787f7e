//! Dynamic energy of programs, for the copy policy `least-energy`.

use dram_spec::{CommandKind, PerKind, Picojoule};
use rowclone::{Program, Step};

/// Dynamic energy of one command of each kind, for all chips of the rank together, including I/O on
/// the channel. The price of an ACT includes the PRE that follows, so that of a PRE is 0. The
/// caller provides the prices, as the controller has no currents.
pub type PriceTable = PerKind<Picojoule>;

/// Dynamic energy of a program: the sum over its steps.
pub fn energy(program: &Program, prices: &PriceTable) -> Picojoule {
    let price = |step: &Step| match step {
        Step::Open { .. } => prices[CommandKind::Activate],
        Step::CopyOpen { .. } => prices[CommandKind::CopyActivate],
        Step::Close { .. } => prices[CommandKind::Precharge],
        Step::Move { hops, .. } => prices[CommandKind::MoveRowBuffer] * f64::from(*hops),
        Step::Transfer { count, .. } => prices[CommandKind::Transfer] * f64::from(*count),
        Step::Read { run, .. } => prices[CommandKind::Read] * f64::from(run.count),
        Step::Write { write, .. } => prices[CommandKind::Write] * f64::from(write.run.count),
    };
    program.steps().map(price).sum()
}
