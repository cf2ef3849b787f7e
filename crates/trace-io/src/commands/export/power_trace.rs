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
        RankEvent::Other => match command {
            Command::Activate { bank, .. }
            | Command::Precharge { bank }
            | Command::RefreshSameBank { bank }
            | Command::Read { bank, .. }
            | Command::Write { bank, .. } => (command.mnemonic(), bank.bank),
            Command::SelfRefreshEnter { .. } => ("SREN", 0),
            Command::SelfRefreshExit { .. } => ("SREX", 0),
            Command::PrechargeAll { .. }
            | Command::Refresh { .. }
            | Command::PowerDownEnter { .. }
            | Command::PowerDownExit { .. }
            | Command::MoveRowBuffer { .. }
            | Command::Transfer { .. } => (command.mnemonic(), 0),
        },
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
