//! Exported command traces, with the expected lines written by hand.

mod common;

use std::collections::BTreeMap;

use dram_spec::AutoPrecharge::{No, Yes};
use dram_spec::{
    BankId, Channel, Column, Command, CommandKind, Cycle, Cycles, Density, Geometry, Issued, PrechargePowerDown,
    RawGeometry, Row, SpeedBin, Standard, System, TimingParameter, Width,
};
use trace_io::LineError;
use trace_io::command_log::LogReader;
use trace_io::commands::{
    CommandFormat, CommandReader, Exporter, FORMATS, FileRank, Inexpressible, InexpressibleCommands, Peeked, Target,
    Unsupported,
};

use common::{system, system_of};

const PLACES: [FileRank; 2] = [FileRank { channel: Channel(0), rank: 0 }, FileRank { channel: Channel(0), rank: 1 }];
const BANK: BankId = BankId { rank: 0, bank: 3 };
const TRANSFER: Inexpressible = Inexpressible::OfMechanism(CommandKind::Transfer, "TRANSFER");

/// The texts of both ranks, and the commands of `RowClone`.
fn export(
    system: &System,
    target: Target,
    unsupported: Unsupported,
    commands: &[(u64, Command)],
    end: Option<u64>,
) -> Result<([String; 2], InexpressibleCommands), LineError> {
    let outputs = PLACES.map(|place| (place, Vec::new())).into();
    let mut exporter = Exporter::new(target, unsupported, system, outputs)?;
    for &(at, command) in commands {
        exporter.command(&Issued { at: Cycle(at), channel: Channel(0), command })?;
    }
    let (outputs, found) = exporter.finish(end.map(Cycle))?;
    assert_eq!([outputs[0].0, outputs[1].0], PLACES);
    let text = |(_, bytes): (FileRank, Vec<u8>)| String::from_utf8(bytes).expect("text");
    let texts: Vec<String> = outputs.into_iter().map(text).collect();
    Ok((texts.try_into().expect("two ranks"), found))
}

const fn act(row: u32) -> Command {
    Command::Activate { bank: BANK, row: Row(row) }
}

const PDE: Command = Command::PowerDownEnter { rank: 0 };
const PDX: Command = Command::PowerDownExit { rank: 0 };

/// The header of rank 0.
const HEADER_1066G: &str = "\
# rowclone-sim HDL command list, version 1
# part = DDR3-1066G, 2 Gb x8
# channel = 0
# rank = 0
# tCK_ns = 1.875
# CL = 8
# CWL = 6
# WR = 8
# BL = 8
# MR0 = 0x1940
# MR1 = 0x0000
# MR2 = 0x0008
# MR3 = 0x0000
# cycle command bank address
";

#[test]
fn an_hdl_list_has_each_command_as_on_the_pins() {
    let dst = BankId { rank: 0, bank: 4 };
    let commands = [
        (0, act(0x7abc)),
        (8, Command::Read { bank: BANK, column: Column(0), auto_precharge: No }),
        (12, Command::Read { bank: BANK, column: Column(1), auto_precharge: Yes }),
        (40, Command::Activate { bank: dst, row: Row(1) }),
        (50, Command::Write { bank: dst, column: Column(127), auto_precharge: No }),
        (54, Command::Write { bank: dst, column: Column(126), auto_precharge: Yes }),
        (90, act(9)),
        (95, Command::Activate { bank: dst, row: Row(2) }),
        (103, Command::Transfer { src: BANK, src_column: Column(2), dst, dst_column: Column(3) }),
        (120, act(10)),
        (140, Command::Precharge { bank: BANK }),
        (141, Command::PrechargeAll { rank: 0 }),
        (150, Command::Refresh { rank: 0 }),
        (250, PDE),
        (260, PDX),
        (270, Command::SelfRefreshEnter { rank: 0 }),
        (300, Command::SelfRefreshExit { rank: 0 }),
        (301, Command::Refresh { rank: 1 }),
    ];
    let expected = "\
0 ACT 3 0x7abc
8 RD 3 0x1000
12 RDA 3 0x1408
40 ACT 4 0x0001
50 WR 4 0x13f8
54 WRA 4 0x17f0
90 ACT 3 0x0009
95 ACT 4 0x0002
# 103 TRANSFER 3 0x1010 4 0x1018
120 ACT 3 0x000a
140 PRE 3 0x0000
141 PREA 0 0x0400
150 REF 0 0x0000
250 PDE 0 0x0000
260 PDX 0 0x0000
270 SRE 0 0x0000
300 SRX 0 0x0000
# end at cycle 400
";
    let ([first, second], found) = export(&system(), Target::Hdl, Unsupported::Refuse, &commands, Some(400)).unwrap();
    assert_eq!(first, format!("{HEADER_1066G}{expected}"));
    let header = HEADER_1066G.replace("# rank = 0", "# rank = 1");
    assert_eq!(second, format!("{header}301 REF 0 0x0000\n# end at cycle 400\n"));
    assert_eq!(found, InexpressibleCommands::from([(TRANSFER, 1), (Inexpressible::CopyActivation, 1)]));
}

/// 4 Gb x4: 2048 device columns, so bit 10 is on A11. 8 Gb x4: 4096, so bit 11 is on A13.
#[test]
fn columns_above_1023_skip_a10_and_a12() {
    for (density, row_bytes, pins) in [
        (Density::Gb4, 16384, vec![(255, 0x1bf8), (128, 0x1800)]),
        (Density::Gb8, 32768, vec![(511, 0x3bf8), (256, 0x3000)]),
    ] {
        let raw = RawGeometry {
            standard: Standard::Ddr3,
            channels: 1,
            ranks: 2,
            density,
            width: Width::X4,
            row_bytes,
            rows_per_subarray: 512.into(),
        };
        let system = System { geometry: Geometry::try_from(raw).unwrap(), ..system() };
        for (column, address) in pins {
            let read = Command::Read { bank: BANK, column: Column(column), auto_precharge: No };
            let ([list, _], _) = export(&system, Target::Hdl, Unsupported::Refuse, &[(0, read)], None).unwrap();
            assert_eq!(list.lines().last().unwrap(), format!("0 RD 3 0x{address:04x}"));
        }
    }
}

#[test]
fn the_header_of_a_list_follows_the_bin_and_the_exit_of_power_down() {
    let bin = SpeedBin::named("1600K").unwrap();
    let system = System { bin, precharge_power_down: PrechargePowerDown::SlowExit, ..system() };
    let ([list, _], _) = export(&system, Target::Hdl, Unsupported::Refuse, &[], None).unwrap();
    let expected = HEADER_1066G
        .replace("1066G", "1600K")
        .replace("1.875", "1.25")
        .replace("CL = 8", "CL = 11")
        .replace("CWL = 6", "CWL = 8")
        .replace("WR = 8", "WR = 12")
        .replace("0x1940", "0x0d70")
        .replace("MR2 = 0x0008", "MR2 = 0x0018");
    assert_eq!(list, expected);

    let slow = bin.with_timings(&BTreeMap::from([(TimingParameter::Wr, Cycles(17))]));
    let error = export(&System { bin: slow, ..system }, Target::Hdl, Unsupported::Refuse, &[], None).unwrap_err();
    assert_eq!(error.to_string(), "tWR is 17 clocks, but MR0 holds 5 to 16");
    assert_eq!(error.help(), "give a system with parameters that the mode registers can hold");
}

/// Everything that DRAMPower knows: power-down by the open banks, and by the exit of the system.
#[test]
fn a_trace_of_drampower_tells_the_power_states_apart() {
    let write = Command::Write { bank: BANK, column: Column(0), auto_precharge: No };
    let commands = [
        (0, act(5)),
        (10, PDE),
        (20, PDX),
        (30, write),
        (60, Command::Precharge { bank: BANK }),
        (61, PDE),
        (70, PDX),
        (80, Command::Refresh { rank: 0 }),
        (90, Command::Refresh { rank: 1 }),
        (180, Command::SelfRefreshEnter { rank: 0 }),
        (300, Command::SelfRefreshExit { rank: 0 }),
        (900, Command::PrechargeAll { rank: 0 }),
    ];
    let expected = "0,ACT,3\n10,PDN_F_ACT,0\n20,PUP_ACT,0\n30,WR,3\n60,PRE,3\n61,PDN_F_PRE,0\n70,PUP_PRE,0\n80,REF,0\n\
        180,SREN,0\n300,SREX,0\n900,PREA,0\n";
    let drampower = |system: &System, end| export(system, Target::DramPower, Unsupported::Refuse, &commands, end);
    let ([first, second], _) = drampower(&system(), Some(950)).unwrap();
    assert_eq!([first, second], [format!("{expected}950,END,0\n"), "90,REF,0\n950,END,0\n".to_owned()]);
    assert_eq!(drampower(&system(), None).unwrap().0[0], expected);
    let slow = System { precharge_power_down: PrechargePowerDown::SlowExit, ..system() };
    assert_eq!(drampower(&slow, None).unwrap().0[0], expected.replace("PDN_F_PRE", "PDN_S_PRE"));
    let ramulator = export(&system(), Target::Ramulator, Unsupported::Refuse, &commands, Some(950)).unwrap();
    assert_eq!(ramulator.0, [expected.to_owned(), "90,REF,0\n".to_owned()]);
}

/// 1066G: RDA starts its precharge tRTP = 4 later, or tRAS = 20 after the ACT. WRA: CWL + 4 + tWR = 18 later.
#[test]
fn a_pending_auto_precharge_makes_a_power_down_active() {
    let rda = Command::Read { bank: BANK, column: Column(0), auto_precharge: Yes };
    let wra = Command::Write { bank: BANK, column: Column(0), auto_precharge: Yes };
    for (access, at, entry, name) in [
        (rda, 8, 19, "PDN_F_ACT"),
        (rda, 8, 20, "PDN_F_PRE"),
        (rda, 30, 33, "PDN_F_ACT"),
        (rda, 30, 34, "PDN_F_PRE"),
        (wra, 8, 25, "PDN_F_ACT"),
        (wra, 8, 26, "PDN_F_PRE"),
    ] {
        let commands = [(0, act(5)), (at, access), (entry, PDE), (entry + 10, PDX)];
        let ([trace, _], _) = export(&system(), Target::DramPower, Unsupported::Refuse, &commands, None).unwrap();
        let exit = if name == "PDN_F_ACT" { "PUP_ACT" } else { "PUP_PRE" };
        assert!(trace.ends_with(&format!("{entry},{name},0\n{},{exit},0\n", entry + 10)), "{trace}");
    }
}

#[test]
fn commands_of_rowclone_are_refused_or_left_out_and_counted() {
    let dst = BankId { rank: 0, bank: 4 };
    let transfer = Command::Transfer { src: BANK, src_column: Column(2), dst, dst_column: Column(3) };
    let commands = [(0, act(5)), (20, act(6)), (30, transfer), (60, Command::Precharge { bank: BANK }), (70, act(7))];
    for target in [Target::DramPower, Target::Ramulator] {
        let error = export(&system(), target, Unsupported::Refuse, &commands, None).unwrap_err();
        let message =
            "cycle 20: ACT r0 b3 row 6, to an open bank, is a command of RowClone, which the format cannot express";
        assert_eq!(error.to_string(), message);
        assert!(error.help().contains("`--drop-unsupported`"));
        let error = export(&system(), target, Unsupported::Refuse, &commands[2..], None).unwrap_err();
        assert!(error.to_string().starts_with("cycle 30: TRANSFER r0 b3 col 2 -> b4 col 3 is a command"), "{error}");
        let ([trace, _], found) = export(&system(), target, Unsupported::Drop, &commands, None).unwrap();
        assert_eq!(trace, "0,ACT,3\n60,PRE,3\n70,ACT,3\n");
        assert_eq!(found, InexpressibleCommands::from([(TRANSFER, 1), (Inexpressible::CopyActivation, 1)]));
    }
}

#[test]
fn a_stream_that_no_rank_can_execute_is_refused() {
    let far = Command::Activate { bank: BankId { rank: 0, bank: 8 }, row: Row(0) };
    #[rustfmt::skip]
    let cases = [
        (vec![(5, act(5)), (4, Command::Precharge { bank: BANK })], "cycle 4: PRE r0 b3 follows a command at cycle 5"),
        (vec![(5, far)], "cycle 5: the system does not have the place of ACT r0 b8 row 0, channel 0"),
        (vec![(5, act(1 << 15))], "cycle 5: the system does not have the place of ACT r0 b3 row 32768, channel 0"),
        (vec![(5, Command::Read { bank: BANK, column: Column(128), auto_precharge: No })], "cycle 5: the system does not have the place of RD r0 b3 col 128, channel 0"),
        (vec![(5, Command::Refresh { rank: 2 })], "cycle 5: the system does not have the place of REF r2, channel 0"),
        (vec![(5, PDX)], "cycle 5: PDX r0 of a rank that is awake"),
        (vec![(5, PDE), (6, PDE)], "cycle 6: PDE r0 of a rank in power-down"),
        (vec![(5, Command::SelfRefreshEnter { rank: 0 }), (6, PDX)], "cycle 6: PDX r0 of a rank in self-refresh"),
    ];
    for (commands, message) in cases {
        for target in [Target::DramPower, Target::Ramulator, Target::Hdl] {
            let error = export(&system(), target, Unsupported::Refuse, &commands, None).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(!error.help().is_empty());
        }
    }
    // Cycles near 2^64 do not overflow.
    let rda = Command::Read { bank: BANK, column: Column(0), auto_precharge: Yes };
    let commands = [(u64::MAX - 1, act(5)), (u64::MAX, rda), (u64::MAX, PDE)];
    assert!(export(&system(), Target::DramPower, Unsupported::Refuse, &commands, None).is_ok());
}

/// The log of `docs/command-traces.md` gives the exports that the page shows, and the page's traces are read.
#[test]
fn the_documentation_shows_what_is_written_and_read() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/command-traces.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let starting =
        |start: &str| -> Vec<&str> { blocks.iter().copied().filter(|block| block.starts_with(start)).collect() };
    let log = starting("# rowclone-sim command log")[0];
    let lists = starting("# rowclone-sim HDL");
    let power_traces = starting("0,ACT,3\n");
    let expected =
        [(Target::DramPower, power_traces[0]), (Target::Ramulator, power_traces[1]), (Target::Hdl, lists[0])];
    for (target, expected) in expected {
        let mut log = LogReader::new(log.as_bytes()).unwrap();
        let header = log.header().clone();
        let mut exporter =
            Exporter::new(target, Unsupported::Refuse, &header.system, vec![(PLACES[0], Vec::new())]).unwrap();
        log.try_for_each(|issued| exporter.command(&issued.unwrap())).unwrap();
        let (outputs, _) = exporter.finish(header.end).unwrap();
        assert_eq!(String::from_utf8(outputs[0].1.clone()).unwrap(), expected, "{target:?}");
    }
    let mut read = 0;
    for block in starting("0,ACT").into_iter().chain(starting("clock,")).chain(starting("12  ")) {
        let format = CommandFormat::matching(block.as_bytes(), "")[0];
        let reader = CommandReader::new(Peeked::new(block.as_bytes()), format, PLACES[0], &system()).unwrap();
        read += reader.map(Result::unwrap).count();
    }
    assert_eq!(read, 6 + 6 + 4 + 4);
    let word = |is_so| if is_so { "yes" } else { "no" };
    for format in &FORMATS {
        assert!(page.contains(&format!("\n## `{}`\n", format.name)), "{} has no section", format.name);
        let row = page.lines().find(|line| line.starts_with(&format!("| [`{}`]", format.name))).unwrap();
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).skip(2).collect();
        let properties = [format.is_read(), format.is_written, format.has_rows].map(word);
        assert_eq!(cells[1..4], properties, "{row}");
        let ends = [format.extensions.first(), format.extensions.last()];
        assert!(ends.into_iter().flatten().all(|extension| cells[0].contains(&format!("`{extension}`"))), "{row}");
    }
}

#[test]
fn an_hdl_list_of_another_standard_is_refused() {
    for (bin, density) in [("DDR2-400B", Density::Gb2), ("DDR4-3200AA", Density::Gb8), ("DDR5-4800B", Density::Gb16)] {
        let error = export(&system_of(bin, density), Target::Hdl, Unsupported::Drop, &[], None).unwrap_err();
        assert_eq!(error.to_string(), format!("the format is one of DDR3 chips only, and the system is {bin}"));
        assert_eq!(error.help(), "write another format, for example `--to drampower`, which takes every standard");
    }
}

/// Bank 13 is bank 1 of group 3. DDR4 has no slow exit.
#[test]
fn lines_of_drampower_have_the_bank_numbers_of_ddr4() {
    let bank = BankId { rank: 0, bank: 13 };
    let commands = [
        (0, Command::Activate { bank, row: Row(45) }),
        (22, Command::Read { bank, column: Column(17), auto_precharge: Yes }),
        (100, Command::Activate { bank: BankId { rank: 0, bank: 2 }, row: Row(1) }),
        (110, PDE),
        (130, PDX),
    ];
    let system =
        System { precharge_power_down: PrechargePowerDown::SlowExit, ..system_of("DDR4-3200AA", Density::Gb8) };
    let ([text, _], _) = export(&system, Target::DramPower, Unsupported::Refuse, &commands, None).unwrap();
    assert_eq!(text, "0,ACT,13\n22,RDA,13\n100,ACT,2\n110,PDN_F_ACT,0\n130,PUP_ACT,0\n");
}

/// The slow exit of DDR2 is that of active power-down.
#[test]
fn the_slow_exit_of_ddr2_is_that_of_active_power_down() {
    let system = System { precharge_power_down: PrechargePowerDown::SlowExit, ..system_of("DDR2-400B", Density::Gb2) };
    let commands = [(0, PDE), (10, PDX), (20, act(7)), (30, PDE), (40, PDX)];
    let ([text, _], _) = export(&system, Target::DramPower, Unsupported::Refuse, &commands, None).unwrap();
    assert_eq!(text, "0,PDN_F_PRE,0\n10,PUP_PRE,0\n20,ACT,3\n30,PDN_S_ACT,0\n40,PUP_ACT,0\n");
}

#[test]
fn a_same_bank_refresh_is_refused_or_counted() {
    let system = system_of("DDR5-4800B", Density::Gb16);
    let bank = BankId { rank: 0, bank: 2 };
    let commands = [(0, Command::RefreshSameBank { bank }), (400, Command::Activate { bank, row: Row(3) })];
    for target in [Target::DramPower, Target::Ramulator] {
        let error = export(&system, target, Unsupported::Refuse, &commands, None).unwrap_err();
        assert!(
            error.to_string().ends_with(" is a refresh of one bank of each group, which the format cannot express")
        );
        let ([text, _], found) = export(&system, target, Unsupported::Drop, &commands, None).unwrap();
        assert_eq!((text.as_str(), found.into_values().sum::<u64>()), ("400,ACT,2\n", 1));
    }
}
