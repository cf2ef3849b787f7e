//! Pipelined serial mode within one bank, or one bank group: through the temporary row of another bank.

use dram_spec::{CommandKind, Mechanism, MechanismInfo};

use super::{Columns, Copied, Coverage, Held, InDram, PSM, Route, Shared, same_rank};
use crate::faulty::{BankRow, RowAddress};
use crate::reason::Reason;
use crate::step::{CopyStep, CopyThread, LineRun};

/// Two TRANSFERs per line within one bank or one bank group, through the temporary row of another bank.
pub const PSM2: Mechanism =
    Mechanism::new(&MechanismInfo { name: "psm2", label: "2 × PSM", rank: 3, commands: &[CommandKind::Transfer] });

pub(super) struct Psm2;

impl InDram for Psm2 {
    /// It consists of commands of PSM.
    fn offered_with(&self) -> Option<Mechanism> {
        Some(PSM)
    }

    fn copy(&self, memory: &Shared, copied: &Copied<'_>) -> Result<Route, Reason> {
        between_rows(memory, copied.src, copied.dst)
    }

    fn zero(&self, _memory: &Shared, _dst: RowAddress, _coverage: Coverage) -> Result<Route, Reason> {
        Err(Reason::PsmSuffices)
    }

    fn value(&self, memory: &Shared, held: &Held, dst: RowAddress) -> Result<Route, Reason> {
        between_rows(memory, held.first, dst)
    }

    /// From the source column to the destination column of the temporary row, and from there to the
    /// same column of the destination row.
    fn program(&self, route: &Route, dst: BankRow, columns: &Columns<'_>, steps: &mut CopyThread) {
        let temporary = route.via.expect("the route is that of this mechanism");
        let (src, bank, other) = (route.src.0, dst.0, temporary.0);
        steps.push(CopyStep::open(route.src));
        steps.push(CopyStep::open(temporary));
        steps.transfer(src, other, columns.runs());
        steps.push(CopyStep::Close { bank: src });
        steps.push(CopyStep::open(dst));
        steps.transfer(other, bank, columns.runs().map(|run| LineRun { src: run.dst, ..run }));
        steps.push(CopyStep::Close { bank });
        steps.push(CopyStep::Close { bank: other });
    }
}

fn between_rows(memory: &Shared, src: RowAddress, dst: RowAddress) -> Result<Route, Reason> {
    same_rank(src, dst)?;
    if memory.may_transfer(src.bank, dst.bank) {
        return Err(Reason::OtherBank);
    }
    if src == dst {
        return Err(Reason::SameRow);
    }
    let temporary = memory.next_bank(dst, memory.map.geometry().temporary_row()).ok_or(Reason::NoTemporaryRow)?;
    Ok(Route { src: (src.bank, src.row), via: Some(temporary) })
}
