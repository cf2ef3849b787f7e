//! Every rule of the table is the binding one in some log, and the checker agrees to the clock.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use dram_core::{Device, Rule, When, table};
use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandLog, CopyActivations, Cycle, Density, Dialect, Geometry,
    PrechargePowerDown, RawGeometry, Refresh, Row, SpeedBin, Standard, System, Width,
};

fn system(bin: &str) -> System {
    let (density, width) = (Density::Gb2, Width::X8);
    let row_bytes = native_row_bytes(Standard::Ddr3, density, width);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 2,
        density,
        width,
        row_bytes,
        rows_per_subarray: 512.into(),
    };
    System { refresh: Refresh::Off, ..System::new(SpeedBin::named(bin).unwrap(), Geometry::try_from(raw).unwrap()) }
}

const fn bank(bank: u8) -> BankId {
    BankId { rank: 0, bank }
}

/// A script: `ACT 0 5; RD 0; REF` is rank 0's bank 0, row 5. A trailing `'` puts the command in rank 1.
fn script(text: &str) -> Vec<Command> {
    text.split(';')
        .map(|line| {
            let (line, rank) = match line.trim().strip_suffix('\'') {
                Some(line) => (line, 1),
                None => (line.trim(), 0),
            };
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = |index: usize| words.get(index).map_or(0, |word: &&str| word.parse().unwrap());
            let bank = BankId { rank, bank: number(1) as u8 };
            let column = Column(0);
            match words[0] {
                "ACT" => Command::Activate { bank, row: Row(number(2)) },
                "RBM" => Command::MoveRowBuffer { bank, row: Row(number(2)) },
                "PRE" => Command::Precharge { bank },
                "PREA" => Command::PrechargeAll { rank },
                "RD" => Command::Read { bank, column, auto_precharge: AutoPrecharge::No },
                "RDA" => Command::Read { bank, column, auto_precharge: AutoPrecharge::Yes },
                "WR" => Command::Write { bank, column, auto_precharge: AutoPrecharge::No },
                "WRA" => Command::Write { bank, column, auto_precharge: AutoPrecharge::Yes },
                "TRANSFER" => Command::Transfer {
                    src: bank,
                    src_column: column,
                    dst: BankId { rank, bank: number(2) as u8 },
                    dst_column: column,
                },
                "REF" => Command::Refresh { rank },
                "PDE" => Command::PowerDownEnter { rank },
                "PDX" => Command::PowerDownExit { rank },
                "SRE" => Command::SelfRefreshEnter { rank },
                "SRX" => Command::SelfRefreshExit { rank },
                other => panic!("no command {other}"),
            }
        })
        .collect()
}

/// Commands of which the last is delayed by the rule, each issued as early as possible.
fn held_back_by(rule: &Rule) -> (System, Vec<Command>) {
    let mut system = system("1066G");
    if rule.when.contains(&When::CopiesFree) {
        system.copy_activations = CopyActivations::Free;
    }
    let text = match rule.name {
        "tRCD" => "ACT 0 5; RD 0",
        "tRAS" => "ACT 0 5; PRE 0",
        "tRC" => "ACT 0 5; RDA 0; ACT 0 6",
        "tRP" => "PRE 0; ACT 0 5",
        "tRTP" => "ACT 0 5; RD 0; RD 0; RD 0; RD 0; PRE 0",
        "tWR" => "ACT 0 5; WR 0; PRE 0",
        "RDA-ACT" => "ACT 0 5; RD 0; RD 0; RD 0; RD 0; RDA 0; ACT 0 6",
        "WRA-ACT" => "ACT 0 5; WRA 0; ACT 0 6",
        "tRRD" => "ACT 0 5; ACT 1 5",
        "tFAW" => "ACT 0 5; ACT 1 5; ACT 2 5; ACT 3 5; ACT 4 5",
        "tCCD-RD" => "ACT 0 5; RD 0; RD 0",
        "tCCD-WR" => "ACT 0 5; WR 0; WR 0",
        "RD-WR" => "ACT 0 5; RD 0; WR 0",
        "tWTR" => "ACT 0 5; WR 0; RD 0",
        "RD-RD-rank" => "ACT 0 5; ACT 0 5'; RD 0; RD 0'",
        "WR-WR-rank" => "ACT 0 5; ACT 0 5'; WR 0; WR 0'",
        "RD-WR-rank" => "ACT 0 5; ACT 0 5'; RD 0; WR 0'",
        "WR-RD-rank" => "ACT 0 5; ACT 0 5'; WR 0; RD 0'",
        "tRP-REF" => "PRE 0; REF",
        "tRC-REF" => "ACT 0 5; RDA 0; REF",
        "RDA-REF" => "ACT 0 5; RD 0; RD 0; RD 0; RD 0; RDA 0; REF",
        "WRA-REF" => "ACT 0 5; WRA 0; REF",
        "tRFC" => "REF; ACT 0 5",
        "REF-window" => "REF; REF; REF; REF; REF; REF; REF; REF; REF; REF; REF; REF; REF; REF; REF; REF; REF",
        "tRDPDEN" => "ACT 0 5; RD 0; PDE",
        "tWRPDEN" => "ACT 0 5; WR 0; PDE",
        "tWRAPDEN" => "ACT 0 5; WRA 0; PDE",
        "tPD" => "PDE; PDX",
        "tXP" => "PDE; PDX; ACT 0 5",
        "tCKE" => "PDE; PDX; PDE",
        "PDX-REF-PDE" => "PDE; PDX; REF; PDE",
        "REF-PDX-PDE" => "REF; PDE; PDX; PDE",
        "tCKESR" => "SRE; SRX",
        "tXS" => "SRE; SRX; ACT 0 5",
        "tXSDLL" => "SRE; SRX; ACT 0 5; RD 0",
        "bus" => "ACT 0 5; PRE 1",
        "bus-TRANSFER" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; ACT 2 5",
        "FPM" => "ACT 0 5; ACT 0 6",
        "FPM-tWR" => "ACT 0 5; WR 0; ACT 0 6",
        "TRANSFER-tRCD" => "ACT 0 5; ACT 1 5; TRANSFER 0 1",
        "TRANSFER-tCCD" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; TRANSFER 0 1",
        "TRANSFER-turnaround" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; TRANSFER 1 0",
        "RD-TRANSFER" => "ACT 0 5; ACT 1 5; RD 0; RD 0; TRANSFER 0 1",
        "TRANSFER-WR" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; WR 0",
        "WR-TRANSFER" => "ACT 0 5; ACT 1 5; WR 0; TRANSFER 0 1",
        "TRANSFER-RD" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; RD 0",
        "TRANSFER-tRTP" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; TRANSFER 0 1; TRANSFER 0 1; PRE 0",
        "TRANSFER-tWR" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; PRE 1",
        "RBM" => "ACT 0 5; RBM 0 1600; ACT 0 1601",
        "TRANSFER-PDE" => "ACT 0 5; ACT 1 5; TRANSFER 0 1; PDE",
        "tXPDLL" => {
            system.precharge_power_down = PrechargePowerDown::SlowExit;
            "PDE; PDX; ACT 0 5; RD 0"
        }
        // The command bus hides these rules except at 2133, where they are two clocks.
        "tACTPDEN" | "tPRPDEN" | "tREFPDEN" => {
            system.bin = SpeedBin::named("2133N").unwrap();
            match rule.name {
                "tACTPDEN" => "ACT 0 5; PDE",
                "tPRPDEN" => "PRE 0; PDE",
                _ => "REF; PDE",
            }
        }
        other => panic!("{other} is never the binding rule of a test: give it a script"),
    };
    (system, script(text))
}

/// Issues each command as early as the device allows; returns the rule that delayed the last one.
fn as_early_as_can_be(system: &System, commands: &[Command]) -> (CommandLog, Option<&'static str>) {
    let mut device = Device::new(system, None);
    let (mut log, mut binding) = (CommandLog::default(), None);
    for command in commands {
        let hold = device.earliest(command).unwrap();
        device.issue(hold.until(), command);
        log.push(hold.until(), Channel(0), command);
        log.end = hold.until();
        binding = hold.rule();
    }
    (log, binding)
}

#[test]
fn every_rule_is_the_binding_one_somewhere() {
    for rule in table(Standard::Ddr3).rules {
        let (system, commands) = held_back_by(rule);
        assert_eq!(as_early_as_can_be(&system, &commands).1, Some(rule.name));
    }
}

#[test]
fn what_binds_the_device_is_what_the_checker_misses_one_clock_earlier() {
    for rule in table(Standard::Ddr3).rules {
        let (system, commands) = held_back_by(rule);
        let (mut log, _) = as_early_as_can_be(&system, &commands);
        let found = protocol_check::audit(&system, Dialect::RowClone, &log);
        assert!(found.is_empty(), "{}: {found:#?}", rule.name);
        log.commands.last_mut().unwrap().at.0 -= 1;
        let found = protocol_check::audit(&system, Dialect::RowClone, &log);
        assert!(found.iter().any(|violation| violation.rule.name() == rule.name), "{}: {found:#?}", rule.name);
    }
}

/// The system determines whether a copy activation waits for the four activations before it.
#[test]
fn a_copy_activation_waits_for_the_window_where_it_counts() {
    let commands = script("ACT 0 5; ACT 1 5; ACT 2 5; ACT 3 5; ACT 0 6");
    for (counted, rule) in [(CopyActivations::Counted, "tFAW"), (CopyActivations::Free, "FPM")] {
        let system = System { copy_activations: counted, ..system("800D") };
        assert_eq!(as_early_as_can_be(&system, &commands).1, Some(rule), "{counted:?}");
    }
}

#[test]
#[should_panic(expected = "RD r0 b0 col 0 at cycle 7: not before cycle 8 by tRCD")]
fn an_early_command_panics_with_both_cycles_and_the_rule() {
    let mut device = Device::new(&system("1066G"), None);
    let commands = script("ACT 0 5; RD 0");
    device.issue(Cycle(0), &commands[0]);
    device.issue(Cycle(7), &commands[1]);
}

#[test]
#[should_panic(expected = "breaks tRAS-max")]
fn a_row_left_open_too_long_panics() {
    let mut device = Device::new(&system("1066G"), None);
    device.issue(Cycle(0), &Command::Activate { bank: bank(0), row: Row(5) });
    device.finish(Cycle(9 * 4160));
    device.finish(Cycle(9 * 4160 + 1));
}

#[test]
#[should_panic(expected = "no REF by cycle 37440")]
fn the_tenth_interval_without_a_refresh_panics() {
    let mut device = Device::new(&System { refresh: Refresh::NORMAL, ..system("1066G") }, None);
    for rank in 0..2 {
        device.issue(Cycle(4160 + u64::from(rank)), &Command::Refresh { rank });
    }
    let late = Device::new(&System { refresh: Refresh::NORMAL, ..system("1066G") }, None);
    device.finish(Cycle(37_441));
    late.finish(Cycle(37_440));
    late.finish(Cycle(37_441));
}
