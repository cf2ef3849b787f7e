//! Copies between subarrays of a bank through linked row buffers (LISA).
//!
//! Source: Chang et al., "Low-Cost Inter-Linked Subarrays (LISA)", HPCA 2016.

use dram_spec::{Command, CommandKind, Mechanism, MechanismInfo};

use super::{Columns, Copied, Coverage, Held, InDram, Route, Shared, same_rank};
use crate::faulty::{BankRow, RowAddress};
use crate::reason::Reason;
use crate::step::{CopyStep, CopyThread};

/// A whole row to another subarray of its bank, by a row buffer movement and two activations of the
/// destination row, one for each half of the row.
pub const LISA: Mechanism = Mechanism::new(&MechanismInfo {
    name: "lisa",
    label: "LISA",
    rank: 1,
    commands: &[CommandKind::CopyActivate, CommandKind::MoveRowBuffer],
});

pub(super) struct Lisa;

impl InDram for Lisa {
    fn copy(&self, memory: &Shared, copied: &Copied<'_>) -> Result<Route, Reason> {
        let Copied { src, dst, coverage, .. } = *copied;
        coverage.too_small()?;
        same_rank(src, dst)?;
        memory.other_subarray(src, dst)?;
        memory.whole_row(copied)?;
        Ok(Route::from(src.bank, src.row))
    }

    fn zero(&self, _memory: &Shared, _dst: RowAddress, _coverage: Coverage) -> Result<Route, Reason> {
        Err(Reason::SameSubarray)
    }

    fn value(&self, memory: &Shared, held: &Held, dst: RowAddress) -> Result<Route, Reason> {
        memory.other_subarray(held.first, dst)?;
        memory.sound(held.first)?;
        memory.sound(dst)?;
        Ok(Route::from(dst.bank, held.first.row))
    }

    fn program(&self, route: &Route, (bank, row): BankRow, columns: &Columns<'_>, steps: &mut CopyThread) {
        steps.push(CopyStep::open(route.src));
        let hops = columns.geometry.subarray_distance(route.src.1, row);
        steps.push(CopyStep::LeaveRow { bank, command: Command::MoveRowBuffer { bank, row }, units: hops });
        steps.push(CopyStep::CopyOpen { bank, row });
        steps.push(CopyStep::Close { bank });
        steps.push(CopyStep::Open { bank, row });
        steps.push(CopyStep::Close { bank });
    }
}
