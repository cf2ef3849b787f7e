//! Causes of energy.

use dram_spec::{Burst, ChipEnergy, CommandKind};

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

macro_rules! causes {
    ($($variant:ident = $name:literal, $in_operation:literal, $everywhere:literal, $what:literal;)*) => {
        /// Cause of energy. Every picojoule of a report has exactly one cause.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, derive_more::Display)]
        #[display("{}", self.name())]
        pub enum Cause {
            $(#[doc = concat!($what, ".")] $variant,)*
        }

        impl Cause {
            /// All causes, in the order of reports.
            pub const ALL: [Cause; [$($name),*].len()] = [$(Cause::$variant),*];

            /// Name in reports: "copy activation".
            pub const fn name(self) -> &'static str {
                match self {
                    $(Cause::$variant => $name,)*
                }
            }

            /// Whether the cause is part of the dynamic energy of operations, without background and
            /// refresh.
            pub const fn in_operation(self) -> bool {
                match self {
                    $(Cause::$variant => $in_operation,)*
                }
            }

            /// Whether the commands of every standard, or those that `RowClone` adds, have the cause: reports
            /// name the others only where they occur.
            pub const fn is_in_all_standards(self) -> bool {
                match self {
                    $(Cause::$variant => $everywhere,)*
                }
            }
        }
    };
}

#[rustfmt::skip] // One cause per line.
causes! {
//  cause                  name                                in operation in all standards what
    Activate             = "activate",                         true,        true,            "Ordinary activations, including the precharge that follows";
    CopyActivate         = "copy activation",                  true,        true,            "Copy activations: an ACT to an open bank, in the open row's subarray";
    Read                 = "read",                             true,        true,            "Reads, within the chips";
    Write                = "write",                            true,        true,            "Writes, within the chips";
    Transfer             = "transfer",                         true,        true,            "TRANSFERs: lines over the internal bus";
    Mechanism            = "mechanism commands",               true,        false,           "Commands of copy mechanisms whose energy no current of a datasheet gives";
    ReadIo               = "read I/O",                         true,        true,            "Driving the data pins during reads";
    WriteIo              = "write I/O",                        true,        true,            "Terminating the data pins during writes, in the rank written to";
    IdleRankIo           = "idle-rank I/O",                    true,        true,            "Terminating the data pins in another rank of the channel";
    Refresh              = "refresh",                          false,       true,            "Refreshes without active standby: REF, and the refresh that each SRE starts";
    BackgroundActive     = "active standby",                   false,       true,            "Standby with a bank open";
    BackgroundPrecharged = "precharged standby",               false,       true,            "Standby with all banks closed";
    PowerDownActive      = "active power-down",                false,       true,            "Power-down with a bank open";
    PowerDownFast        = "precharge power-down, fast exit",  false,       true,            "Precharge power-down with the DLL on";
    PowerDownSlow        = "precharge power-down, slow exit",  false,       true,            "Precharge power-down with the DLL off";
    SelfRefresh          = "self-refresh",                     false,       true,            "Self-refresh";
}

impl Cause {
    /// Cause of the energy of a component of a command; `None` if commands of the kind take no such
    /// energy. The energy of a PRE is part of that of its ACT.
    pub const fn of(kind: CommandKind, component: Component) -> Option<Cause> {
        match (component, kind.burst()) {
            (Component::Core, _) => Cause::in_chips(kind),
            (Component::Io, Some(Burst::Read)) => Some(Cause::ReadIo),
            (Component::Io, Some(Burst::Write)) => Some(Cause::WriteIo),
            (Component::IdleRankIo, Some(Burst::Read | Burst::Write)) => Some(Cause::IdleRankIo),
            (Component::Io | Component::IdleRankIo, None) => None,
        }
    }

    const fn in_chips(kind: CommandKind) -> Option<Cause> {
        match kind.chip_energy() {
            ChipEnergy::Zero => None,
            ChipEnergy::Activation => Some(Cause::Activate),
            ChipEnergy::CopyActivation => Some(Cause::CopyActivate),
            ChipEnergy::Read => Some(Cause::Read),
            ChipEnergy::Write => Some(Cause::Write),
            ChipEnergy::Transfer => Some(Cause::Transfer),
            ChipEnergy::Refresh | ChipEnergy::RefreshSameBank | ChipEnergy::NormalRefresh => Some(Cause::Refresh),
            ChipEnergy::Chosen(_) => Some(Cause::Mechanism),
        }
    }

    /// Whether the energy is spent on the channel: the pins and their terminations.
    pub const fn on_channel(self) -> bool {
        matches!(self, Cause::ReadIo | Cause::WriteIo | Cause::IdleRankIo)
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
