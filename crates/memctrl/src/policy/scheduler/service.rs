//! Service of sources, and numeric settings.

use dram_core::{P, Timings};
use dram_spec::{BankIndex, CommandKind, Cycle, Cycles, SourceId};

use super::Reads;
use crate::access::{AccessKind, QueuedAccess};

/// A command for a source: a row or column command of an access, or a row or column step of a copy,
/// also a PRE or ACT because the copy was preempted. Commands of refresh, power-down and row
/// policies serve no source.
///
/// A TRANSFER is reported for each of its two banks, and a command with auto-precharge also as a
/// PRE.
#[derive(Clone, Copy, Debug)]
pub struct Service<'a> {
    /// Cycle of the command; of a run of column steps, the first.
    pub at: Cycle,
    /// Source of the request.
    pub source: SourceId,
    /// Bank.
    pub bank: BankIndex,
    /// Kind of the command.
    pub kind: CommandKind,
    /// Number of commands: more than 1 for a run of column steps of a copy, of which none is after
    /// the end of the quantum.
    pub commands: u64,
    /// Bank time of all of these ([`bank_time`]).
    pub bank_time: Cycles,
    /// The access for which the command was issued; `None` for a copy.
    pub access: Option<&'a QueuedAccess>,
    /// The reads that remain queued.
    pub reads: Reads<'a>,
}

impl<'a> Service<'a> {
    /// The read that the command completes, if any.
    pub fn completed_read(&self) -> Option<&'a QueuedAccess> {
        self.access.filter(|access| self.kind == CommandKind::Read && access.kind() == AccessKind::Read)
    }
}

/// Time for which a command for a source keeps a bank busy, before the bank can take the next command
/// of the same purpose: tRCD for an ACT, tRP for a PRE, tCCD for a RD, WR or TRANSFER. A copy ACT
/// waits for the source row, and needs tRAS like it: 2 tRAS - tRCD after the ACT before it. Commands with
/// a time of their own have that instead ([`dram_core::Device::own_time`]).
pub fn bank_time(kind: CommandKind, timings: &Timings) -> Cycles {
    let n = |parameter| timings.get(parameter);
    match kind {
        CommandKind::Activate => n(P::Rcd),
        CommandKind::CopyActivate => Cycles(2 * n(P::Ras).0 - n(P::Rcd).0),
        CommandKind::Precharge => n(P::Rp),
        CommandKind::Read | CommandKind::Write | CommandKind::Transfer => n(P::Ccd),
        _ => Cycles(0),
    }
}

/// A numeric setting of a scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Key in the configuration.
    pub name: &'static str,
    /// Unit of its values.
    pub unit: SettingUnit,
    /// Least valid value.
    pub least: u64,
    /// Largest valid value.
    pub most: u64,
    /// Whether a configuration with the scheduler must give it.
    pub is_required: bool,
    /// Meaning, for the list of keys.
    pub about: &'static str,
}

impl Setting {
    /// A count in a range, which a configuration may leave out.
    pub const fn count(name: &'static str, (least, most): (u64, u64), about: &'static str) -> Setting {
        Setting { name, unit: SettingUnit::Count, least, most, is_required: false, about }
    }

    /// A time of at least one clock, which a configuration may leave out.
    pub const fn clocks(name: &'static str, about: &'static str) -> Setting {
        Setting { unit: SettingUnit::Clocks, ..Setting::count(name, (1, 1 << 40), about) }
    }
}

/// Unit of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingUnit {
    /// A number.
    Count,
    /// Memory clocks; a configuration may give a time instead.
    Clocks,
}
