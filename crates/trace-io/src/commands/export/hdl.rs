//! The HDL command list: `cycle command bank address`, with the address as on the pins.

use dram_spec::{AutoPrecharge, BankId, Column, Command, CommandEvent, Operands, System};

use super::ddr3::{ModeRegisters, STANDARD};
use super::{FileRank, Inexpressible};
use crate::LineError;

/// A10: auto-precharge of RDA and WRA, all banks of PREA.
const A10: u16 = 1 << 10;
/// A12: burst length 8.
const A12: u16 = 1 << 12;

/// Device columns per burst.
const COLUMNS_PER_BURST: u16 = 8;

/// The header of the list of a rank.
pub(super) fn header(system: &System, place: FileRank) -> Result<String, LineError> {
    if system.standard() != STANDARD {
        let (format, system) = (STANDARD.name(), system.bin.full_name());
        return Err(LineError::new(
            format!("the format is one of {format} chips only, and the system is {system}"),
            "write another format, for example `--to drampower`, which takes every standard",
        ));
    }
    let registers = ModeRegisters::of(system)?;
    let (bin, geometry) = (system.bin, system.geometry);
    let [mr0, mr1, mr2, mr3] = registers.values;
    let lines = [
        "# rowclone-sim HDL command list, version 1".to_owned(),
        format!("# part = {}, {} {}", bin.full_name(), geometry.density(), geometry.width()),
        format!("# channel = {}", place.channel.0),
        format!("# rank = {}", place.rank),
        format!("# tCK_ns = {}", system.clock().t_ck_ns()),
        format!("# CL = {}", bin.cl),
        format!("# CWL = {}", bin.cwl),
        format!("# WR = {}", registers.write_recovery),
        "# BL = 8".to_owned(),
        format!("# MR0 = 0x{mr0:04x}"),
        format!("# MR1 = 0x{mr1:04x}"),
        format!("# MR2 = 0x{mr2:04x}"),
        format!("# MR3 = 0x{mr3:04x}"),
        "# cycle command bank address".to_owned(),
    ];
    Ok(lines.join("\n") + "\n")
}

/// The line of a command, with its end: a comment for a command that JEDEC does not define. Bank and address are 0
/// where the chips ignore them.
pub(super) fn line(event: &CommandEvent) -> String {
    let (at, command) = (event.at, &event.command);
    let pins = |(bank, address): (u8, u16)| format!("{bank} 0x{address:04x}");
    let auto_precharge = match *command {
        Command::Read { auto_precharge, .. } | Command::Write { auto_precharge, .. } => auto_precharge,
        _ => AutoPrecharge::No,
    };
    let pins = match command.operands() {
        Operands::Row(bank, row) => pins((bank.bank, row.0 as u16)),
        Operands::Line(bank, column) => pins(access(bank, column, auto_precharge)),
        Operands::Lines((src, src_column), (dst, dst_column)) => {
            let out = pins(access(src, src_column, auto_precharge));
            format!("{out} {}", pins(access(dst, dst_column, auto_precharge)))
        }
        Operands::Bank(bank) | Operands::BankSet(bank) => pins((bank.bank, 0)),
        Operands::Rank(_) if matches!(command, Command::PrechargeAll { .. }) => pins((0, A10)),
        Operands::Rank(_) => pins((0, 0)),
    };
    let comment = if matches!(Inexpressible::of(event), Some(Inexpressible::OfMechanism(..))) { "# " } else { "" };
    format!("{comment}{at} {} {pins}\n", command.mnemonic())
}

/// Bank and address pins of RD and WR.
const fn access(bank: BankId, column: Column, auto_precharge: AutoPrecharge) -> (u8, u16) {
    let auto_precharge = match auto_precharge {
        AutoPrecharge::Yes => A10,
        AutoPrecharge::No => 0,
    };
    (bank.bank, column_pins(column.0 * COLUMNS_PER_BURST) | auto_precharge | A12)
}

/// A device column on A0 to A9, A11 and A13: A10 and A12 have other meanings.
const fn column_pins(column: u16) -> u16 {
    column & 0x3ff | (column >> 10 & 1) << 11 | (column >> 11 & 1) << 13
}
