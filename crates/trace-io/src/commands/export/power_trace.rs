//! Lines of `DRAMPower` 4.

use dram_spec::{Command, PrechargePowerDown};

use super::rank::{PowerDown, RankEvent};

/// Name and bank of a command; bank 0 for a command of the whole rank. `None` for a command that
/// the format lacks.
pub(super) fn cells(command: &Command, event: RankEvent) -> Option<(&'static str, u8)> {
    let is_entry = matches!(command, Command::PowerDownEnter { .. });
    Some(match event {
        RankEvent::Inexpressible(_) => return None,
        RankEvent::PowerDown(kind) if is_entry => (entry(kind), 0),
        RankEvent::PowerDown(PowerDown::Active(_)) => ("PUP_ACT", 0),
        RankEvent::PowerDown(PowerDown::Precharged(_)) => ("PUP_PRE", 0),
        RankEvent::Other => {
            let name = match command {
                Command::SelfRefreshEnter { .. } => "SREN",
                Command::SelfRefreshExit { .. } => "SREX",
                _ => command.mnemonic(),
            };
            (name, command.bank().map_or(0, |bank| bank.bank))
        }
    })
}

/// The name of an entry. At most one of the two states has a slow exit in a standard.
const fn entry(kind: PowerDown) -> &'static str {
    match kind {
        PowerDown::Active(PrechargePowerDown::FastExit) => "PDN_F_ACT",
        PowerDown::Active(PrechargePowerDown::SlowExit) => "PDN_S_ACT",
        PowerDown::Precharged(PrechargePowerDown::FastExit) => "PDN_F_PRE",
        PowerDown::Precharged(PrechargePowerDown::SlowExit) => "PDN_S_PRE",
    }
}
