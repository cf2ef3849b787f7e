//! Pipelined serial mode between two banks.

use dram_spec::{CommandKind, Mechanism, MechanismInfo};

use super::{Columns, Copied, Coverage, Held, InDram, Route, Shared, same_rank};
use crate::faulty::{BankRow, RowAddress};
use crate::reason::Reason;
use crate::step::{CopyStep, CopyThread};

/// Pipelined serial mode: one TRANSFER per line, between two banks of a rank.
pub const PSM: Mechanism =
    Mechanism::new(&MechanismInfo { name: "psm", label: "PSM", rank: 2, commands: &[CommandKind::Transfer] });

pub(super) struct Psm;

impl InDram for Psm {
    fn copy(&self, memory: &Shared, copied: &Copied<'_>) -> Result<Route, Reason> {
        let Copied { src, dst, .. } = *copied;
        same_rank(src, dst)?;
        if src == dst {
            Err(Reason::SameRow)
        } else if src.bank == dst.bank {
            Err(Reason::SameBank)
        } else if !memory.may_transfer(src.bank, dst.bank) {
            Err(Reason::SameGroup)
        } else {
            Ok(Route::from(src.bank, src.row))
        }
    }

    fn zero(&self, memory: &Shared, dst: RowAddress, _coverage: Coverage) -> Result<Route, Reason> {
        let zero = memory.next_bank(dst, memory.zero_row(dst.row)).ok_or(Reason::NoZeroRow)?;
        Ok(Route { src: zero, via: None })
    }

    fn value(&self, memory: &Shared, held: &Held, dst: RowAddress) -> Result<Route, Reason> {
        let RowAddress { bank, row, .. } = held.first;
        if bank == dst.bank {
            Err(Reason::SameBank)
        } else if memory.may_transfer(bank, dst.bank) {
            Ok(Route::from(bank, row))
        } else {
            Err(Reason::SameGroup)
        }
    }

    fn program(&self, route: &Route, dst: BankRow, columns: &Columns<'_>, steps: &mut CopyThread) {
        steps.push(CopyStep::open(route.src));
        steps.push(CopyStep::open(dst));
        steps.transfer(route.src.0, dst.0, columns.runs());
        steps.push(CopyStep::Close { bank: route.src.0 });
        steps.push(CopyStep::Close { bank: dst.0 });
    }
}
