//! Causes of energy.

use std::fmt;

use dram_spec::CommandKind;

/// Part of the dynamic energy of a command, by place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// Within the chips.
    Core,
    /// At the data pins of the rank: drivers of a read, termination of a write.
    Io,
    /// Termination of the data pins in another rank of the channel.
    IdleRankIo,
}

impl Component {
    /// All components, in the order of reports.
    pub const ALL: [Component; 3] = [Component::Core, Component::Io, Component::IdleRankIo];
}

/// Cause of energy. Every picojoule of a report has exactly one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Ordinary activations, including the precharge that follows.
    Activate,
    /// Copy activations: an ACT to an open bank, in the open row's subarray.
    CopyActivate,
    /// Reads, within the chips.
    Read,
    /// Writes, within the chips.
    Write,
    /// TRANSFERs: lines over the internal bus.
    Transfer,
    /// Row buffer movements, by hops.
    MoveRowBuffer,
    /// Driving the data pins during reads.
    ReadIo,
    /// Terminating the data pins during writes, in the rank written to.
    WriteIo,
    /// Terminating the data pins in another rank of the channel.
    IdleRankIo,
    /// Refreshes without active standby: REF, and the refresh that each SRE starts.
    Refresh,
    /// Standby with a bank open.
    BackgroundActive,
    /// Standby with all banks closed.
    BackgroundPrecharged,
    /// Power-down with a bank open.
    PowerDownActive,
    /// Precharge power-down with the DLL on.
    PowerDownFast,
    /// Precharge power-down with the DLL off.
    PowerDownSlow,
    /// Self-refresh.
    SelfRefresh,
}

impl Cause {
    /// All causes, in the order of reports.
    pub const ALL: [Cause; 16] = [
        Cause::Activate,
        Cause::CopyActivate,
        Cause::Read,
        Cause::Write,
        Cause::Transfer,
        Cause::MoveRowBuffer,
        Cause::ReadIo,
        Cause::WriteIo,
        Cause::IdleRankIo,
        Cause::Refresh,
        Cause::BackgroundActive,
        Cause::BackgroundPrecharged,
        Cause::PowerDownActive,
        Cause::PowerDownFast,
        Cause::PowerDownSlow,
        Cause::SelfRefresh,
    ];

    /// Cause of the energy of a component of a command; `None` if commands of the kind take no such
    /// energy. The energy of a PRE is part of that of its ACT.
    pub const fn of(kind: CommandKind, component: Component) -> Option<Cause> {
        match (kind, component) {
            (CommandKind::Activate, Component::Core) => Some(Cause::Activate),
            (CommandKind::CopyActivate, Component::Core) => Some(Cause::CopyActivate),
            (CommandKind::Read, Component::Core) => Some(Cause::Read),
            (CommandKind::Read, Component::Io) => Some(Cause::ReadIo),
            (CommandKind::Write, Component::Core) => Some(Cause::Write),
            (CommandKind::Write, Component::Io) => Some(Cause::WriteIo),
            (CommandKind::Read | CommandKind::Write, Component::IdleRankIo) => Some(Cause::IdleRankIo),
            (CommandKind::Transfer, Component::Core) => Some(Cause::Transfer),
            (CommandKind::MoveRowBuffer, Component::Core) => Some(Cause::MoveRowBuffer),
            (CommandKind::Refresh | CommandKind::RefreshSameBank | CommandKind::SelfRefreshEnter, Component::Core) => {
                Some(Cause::Refresh)
            }
            (
                CommandKind::Activate
                | CommandKind::CopyActivate
                | CommandKind::Transfer
                | CommandKind::MoveRowBuffer
                | CommandKind::Refresh
                | CommandKind::RefreshSameBank
                | CommandKind::SelfRefreshEnter,
                Component::Io | Component::IdleRankIo,
            )
            | (
                CommandKind::DroppedActivate
                | CommandKind::Precharge
                | CommandKind::PowerDownEnter
                | CommandKind::WakeUp,
                _,
            ) => None,
        }
    }

    /// Name in reports: "copy activation".
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Activate => "activate",
            Cause::CopyActivate => "copy activation",
            Cause::Read => "read",
            Cause::Write => "write",
            Cause::Transfer => "transfer",
            Cause::MoveRowBuffer => "row buffer movement",
            Cause::ReadIo => "read I/O",
            Cause::WriteIo => "write I/O",
            Cause::IdleRankIo => "idle-rank I/O",
            Cause::Refresh => "refresh",
            Cause::BackgroundActive => "active standby",
            Cause::BackgroundPrecharged => "precharged standby",
            Cause::PowerDownActive => "active power-down",
            Cause::PowerDownFast => "precharge power-down, fast exit",
            Cause::PowerDownSlow => "precharge power-down, slow exit",
            Cause::SelfRefresh => "self-refresh",
        }
    }

    /// Whether the cause is part of the dynamic energy of operations, without background and
    /// refresh.
    pub const fn in_operation(self) -> bool {
        match self {
            Cause::Activate
            | Cause::CopyActivate
            | Cause::Read
            | Cause::Write
            | Cause::Transfer
            | Cause::MoveRowBuffer
            | Cause::ReadIo
            | Cause::WriteIo
            | Cause::IdleRankIo => true,
            Cause::Refresh
            | Cause::BackgroundActive
            | Cause::BackgroundPrecharged
            | Cause::PowerDownActive
            | Cause::PowerDownFast
            | Cause::PowerDownSlow
            | Cause::SelfRefresh => false,
        }
    }

    /// Whether the commands of every standard, or those that `RowClone` adds, have the cause: reports
    /// name the others only where they occur.
    pub const fn is_in_all_standards(self) -> bool {
        !matches!(self, Cause::MoveRowBuffer)
    }

    /// Whether the energy is spent on the channel: the pins and their terminations.
    pub const fn on_channel(self) -> bool {
        matches!(self, Cause::ReadIo | Cause::WriteIo | Cause::IdleRankIo)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_listed_in_their_order_and_under_distinct_names() {
        for (index, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
            assert_eq!(Cause::ALL.iter().filter(|other| other.name() == cause.name()).count(), 1, "{cause}");
            assert_eq!(cause.to_string(), cause.name());
        }
    }
}
