//! Fast parallel mode: a copy activation within one subarray.

use dram_spec::{CommandKind, Mechanism, MechanismInfo};

use super::{Columns, Copied, Coverage, Held, InDram, Route, Shared, same_rank};
use crate::faulty::{BankRow, RowAddress};
use crate::reason::Reason;
use crate::step::{CopyStep, CopyThread};

/// Fast parallel mode: a whole row by a copy activation within one subarray.
pub const FPM: Mechanism =
    Mechanism::new(&MechanismInfo { name: "fpm", label: "FPM", rank: 0, commands: &[CommandKind::CopyActivate] });

pub(super) struct Fpm;

impl InDram for Fpm {
    fn copy(&self, memory: &Shared, copied: &Copied<'_>) -> Result<Route, Reason> {
        let Copied { src, dst, coverage, .. } = *copied;
        coverage.too_small()?;
        same_rank(src, dst)?;
        memory.same_subarray(src, dst)?;
        memory.whole_row(copied)?;
        Ok(Route::from(src.bank, src.row))
    }

    fn zero(&self, memory: &Shared, dst: RowAddress, coverage: Coverage) -> Result<Route, Reason> {
        let zero = memory.zero_row(dst.row);
        coverage.reason()?;
        memory.sound(dst)?;
        memory.sound(RowAddress { row: zero, ..dst })?;
        Ok(Route::from(dst.bank, zero))
    }

    fn value(&self, memory: &Shared, held: &Held, dst: RowAddress) -> Result<Route, Reason> {
        memory.sound(dst)?;
        held.near.map(|row| Route::from(dst.bank, row)).ok_or(Reason::NoSource)
    }

    fn program(&self, route: &Route, (bank, row): BankRow, _columns: &Columns<'_>, steps: &mut CopyThread) {
        steps.push(CopyStep::Open { bank, row: route.src.1 });
        steps.push(CopyStep::CopyOpen { bank, row });
        steps.push(CopyStep::Close { bank });
    }
}
