//! Properties of the command log.

mod common;

use std::io::{BufReader, Cursor};

use dram_spec::geometry::native_row_bytes;
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, CommandKind, CopyActivations, Cycle, Density, Dialect, EventSink,
    Geometry, Issued, PrechargePowerDown, RawGeometry, ReferenceCycle, Refresh, Row, RowsPerSubarray, SpeedBin,
    Standard, System, Width,
};
use proptest::prelude::*;
use trace_io::LineError;
use trace_io::command_log::{LogHeader, LogReader, LogWriter};

use common::system;

fn written(header: &LogHeader, commands: &[Issued]) -> Vec<u8> {
    let mut writer =
        LogWriter::new(Cursor::new(Vec::new()), &header.system, header.dialect).expect("a vector takes all");
    for Issued { at, channel, command } in commands {
        writer.push(*at, *channel, command);
    }
    if let Some(end) = header.end {
        writer.finish(end);
    }
    writer.into_result().expect("a vector takes all").into_inner()
}

fn read(log: &[u8]) -> Result<(LogHeader, Vec<Issued>), LineError> {
    let mut reader = LogReader::new(log)?;
    let commands = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((reader.header().clone(), commands))
}

/// A number with any number of digits.
fn arb_number<T: TryFrom<u64> + std::fmt::Debug>(bits: u32) -> impl Strategy<Value = T> {
    (any::<u64>(), 64 - bits..64)
        .prop_map(|(number, shift)| T::try_from(number >> shift).ok().expect("so few bits fit"))
}

/// Every command that the format can express: a TRANSFER stays within its rank.
fn arb_command() -> impl Strategy<Value = Command> {
    use AutoPrecharge::{No, Yes};
    let cells =
        (arb_number::<u8>(8), arb_number::<u8>(8), arb_number(32), arb_number(16), arb_number::<u8>(8), arb_number(16));
    (0..14, cells).prop_map(|(kind, (rank, bank, row, column, dst_bank, dst_column))| {
        let (bank, dst) = (BankId { rank, bank }, BankId { rank, bank: dst_bank });
        let (row, column, dst_column) = (Row(row), Column(column), Column(dst_column));
        match kind {
            0 => Command::Activate { bank, row },
            1 => Command::Precharge { bank },
            2 => Command::PrechargeAll { rank },
            3 => Command::Read { bank, column, auto_precharge: No },
            4 => Command::Read { bank, column, auto_precharge: Yes },
            5 => Command::Write { bank, column, auto_precharge: No },
            6 => Command::Write { bank, column, auto_precharge: Yes },
            7 => Command::Transfer { src: bank, src_column: column, dst, dst_column },
            8 => Command::Refresh { rank },
            9 => Command::PowerDownEnter { rank },
            10 => Command::PowerDownExit { rank },
            11 => Command::SelfRefreshEnter { rank },
            12 => Command::RefreshSameBank { bank },
            _ => Command::SelfRefreshExit { rank },
        }
    })
}

fn arb_issued() -> impl Strategy<Value = Issued> {
    (arb_number(64), arb_number(8), arb_command()).prop_map(|(at, channel, command)| Issued {
        at: Cycle(at),
        channel: Channel(channel),
        command,
    })
}

fn arb_geometry(standard: Standard) -> impl Strategy<Value = Geometry> {
    let chip = prop::sample::select(standard.definition().chips);
    let ranks_bits = if standard.definition().rank_banks_max > 16 { 2_u32 } else { 3 };
    let rows = prop_oneof![
        3 => (7..11_u32).prop_map(|bits| RowsPerSubarray::from(1 << bits)),
        1 => prop::collection::vec(128..=1024_u64, 1..=8).prop_map(RowsPerSubarray::from_iter),
    ];
    let shape = (0..4_u32, 0..ranks_bits, chip, any::<bool>(), rows);
    shape.prop_map(move |(channels, ranks, chip, paper, rows_per_subarray)| {
        let (density, width) = (chip.density, chip.width);
        let row_bytes = if paper { 4096 } else { native_row_bytes(standard, density, width) };
        let (channels, ranks) = (1 << channels, 1 << ranks);
        let raw = RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray };
        // The last subarray may be too small.
        let other = RawGeometry { rows_per_subarray: 576.into(), ..raw };
        Geometry::try_from(raw).or_else(|_| Geometry::try_from(other)).expect("powers of two, and a row of these chips")
    })
}

/// A bin of any standard, with chips and a refresh mode of the standard.
fn arb_system() -> impl Strategy<Value = System> {
    let bin = prop::sample::select(Standard::all_bins().filter(|bin| bin.has_latencies()).collect::<Vec<_>>());
    bin.prop_flat_map(|bin| {
        let definition = bin.standard.definition();
        let mode = prop::sample::select(definition.refresh_modes.iter().collect::<Vec<_>>());
        let reference = any::<bool>().prop_map(move |first| {
            if definition.two_cycle_commands && first { ReferenceCycle::First } else { ReferenceCycle::Second }
        });
        (arb_geometry(bin.standard), mode, reference).prop_map(move |(geometry, refresh_mode, reference_cycle)| {
            System { refresh_mode, reference_cycle, ..System::new(bin, geometry) }
        })
    })
}

fn has_slow_exit(system: &System) -> bool {
    system.standard().definition().slow_exit.is_some()
}

fn arb_header() -> impl Strategy<Value = LogHeader> {
    let refresh = prop_oneof![
        Just(Refresh::Off),
        (15_000..=1_000_000_000_000_u64).prop_map(|t_refi_ps| Refresh::Every { t_refi_ps })
    ];
    (arb_system(), any::<[bool; 3]>(), refresh, prop::option::of(arb_number(64))).prop_map(
        |(system, [counted, fast, jedec], refresh, end)| LogHeader {
            system: System {
                copy_activations: if counted { CopyActivations::Counted } else { CopyActivations::Free },
                precharge_power_down: if fast || !has_slow_exit(&system) {
                    PrechargePowerDown::FastExit
                } else {
                    PrechargePowerDown::SlowExit
                },
                refresh,
                ..system
            },
            dialect: if jedec { Dialect::Jedec } else { Dialect::RowClone },
            end: end.map(Cycle),
        },
    )
}

/// Reads to the end; returns the number of items.
fn items(log: &[u8]) -> usize {
    let Ok(mut reader) = LogReader::new(log) else { return 1 };
    let items = reader.by_ref().count();
    assert!(reader.next().is_none(), "what has ended stays ended");
    items
}

proptest! {
    #[test]
    fn a_log_is_written_and_read_as_itself(
        header in arb_header(), commands in prop::collection::vec(arb_issued(), 0..40),
    ) {
        let log = written(&header, &commands);
        let (read_header, read_commands) = read(&log).unwrap();
        prop_assert_eq!(read_header, header);
        prop_assert_eq!(read_commands, commands);
    }

    #[test]
    fn any_bytes_give_an_error_and_end(log in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(items(&log), 1);
    }

    /// A log with some bytes changed, cut or repeated: at most one item per line, and errors name
    /// an existing line.
    #[test]
    fn a_damaged_log_gives_commands_or_an_error_and_ends(
        header in arb_header(),
        commands in prop::collection::vec(arb_issued(), 0..10),
        damage in prop::collection::vec((
            any::<prop::sample::Index>(),
            prop_oneof![any::<u8>(), Just(b','), Just(b'\n'), Just(b'9')],
            0..3,
        ), 1..6),
    ) {
        let mut log = written(&header, &commands);
        for (place, byte, kind) in damage {
            let place = place.index(log.len());
            match kind {
                0 => log[place] = byte,
                1 => log.insert(place, byte),
                _ => log.truncate(place.max(1)),
            }
        }
        let lines = log.split(|&byte| byte == b'\n').count();
        prop_assert!(items(&log) <= lines);
        if let Err(error) = read(&log) {
            // One more if the log ends too early.
            prop_assert!((1..=lines as u64 + 1).contains(&error.line()), "{error}");
            prop_assert!(!error.help().is_empty());
        }
    }
}

const SMALL: &str = "\
# rowclone-sim command log, version 1
# bin = 1066G
# density_gb = 2
# width = 8
# channels = 1
# ranks = 2
# row_bytes = 8192
# rows_per_subarray = 512
# t_refi_ps = 7800000
# copy_activations = counted
# precharge_power_down = fast-exit
# dialect = rowclone
# start = idle
# end_cycle = 48                 \x20
cycle,command,channel,rank,bank,row,column,dst_bank,dst_column
0,ACT,0,1,3,45,,,
8,RD,0,1,3,,17,,
12,RDA,0,1,3,,18,,
20,TRANSFER,0,1,3,,0,4,127
40,PRE,0,1,4,,,,
41,PREA,0,1,,,,,
42,SRE,0,0,,,,,
";

#[test]
fn a_small_log_reads_like_this() {
    let bank = BankId { rank: 1, bank: 3 };
    let dst = BankId { rank: 1, bank: 4 };
    let commands = [
        (0, Command::Activate { bank, row: Row(45) }),
        (8, Command::Read { bank, column: Column(17), auto_precharge: AutoPrecharge::No }),
        (12, Command::Read { bank, column: Column(18), auto_precharge: AutoPrecharge::Yes }),
        (20, Command::Transfer { src: bank, src_column: Column(0), dst, dst_column: Column(127) }),
        (40, Command::Precharge { bank: dst }),
        (41, Command::PrechargeAll { rank: 1 }),
        (42, Command::SelfRefreshEnter { rank: 0 }),
    ]
    .map(|(at, command)| Issued { at: Cycle(at), channel: Channel(0), command });
    let header = LogHeader { system: system(), dialect: Dialect::RowClone, end: Some(Cycle(48)) };
    assert_eq!(String::from_utf8(written(&header, &commands)).unwrap(), SMALL);
    assert_eq!(read(SMALL.as_bytes()).unwrap(), (header.clone(), commands.to_vec()));

    let unfinished = LogHeader { end: None, ..header };
    let text = String::from_utf8(written(&unfinished, &[])).unwrap();
    assert!(text.contains("\n# end_cycle = unknown             \n"), "{text}");
}

#[test]
fn a_log_may_have_remarks_blank_lines_spaces_and_any_order_of_keys() {
    let mut lines: Vec<&str> = SMALL.lines().collect();
    lines[1..14].reverse();
    let by_hand =
        lines.join("\r\n\r\n").replace("8,RD,0", "# the first read\n 8 , RD ,\t0").replace("# bin =", "#bin=");
    assert_eq!(read(by_hand.as_bytes()).unwrap(), read(SMALL.as_bytes()).unwrap());
}

#[test]
fn commands_of_every_kind_are_written_with_their_mnemonic_and_read_as_themselves() {
    let header = LogHeader { system: system(), dialect: Dialect::RowClone, end: Some(Cycle(100)) };
    for (command, _) in CommandKind::ALL.into_iter().flat_map(CommandKind::examples) {
        let issued = Issued { at: Cycle(50), channel: Channel(0), command };
        let log = written(&header, &[issued]);
        let line = String::from_utf8_lossy(&log).lines().last().map(str::to_owned);
        assert!(line.is_some_and(|line| line.starts_with(&format!("50,{},0,0,", command.mnemonic()))), "{command}");
        assert_eq!(read(&log).unwrap().1, [issued], "{command}");
    }
}

/// Replacement of the line `8,RD,…` (line 17), message, help.
#[rustfmt::skip]
const MALFORMED_CELLS: &[(&str, &str, &str)] = &[
    ("8,RD,0,1,3,,17,", "line 17: has 8 cells, but a command has 9",
     "give each of `cycle,command,channel,rank,bank,row,column,dst_bank,dst_column` its cell; those that a command does not use stay empty"),
    ("8,RD,0,1,3,,17,,,", "line 17: has 10 cells, but a command has 9",
     "give each of `cycle,command,channel,rank,bank,row,column,dst_bank,dst_column` its cell; those that a command does not use stay empty"),
    ("-8,RD,0,1,3,,17,,", "line 17: `cycle` is `-8`, but must be a whole number from 0 to 18446744073709551615",
     "write a whole number from 0 to 18446744073709551615 into `cycle`"),
    ("18446744073709551616,RD,0,1,3,,17,,", "line 17: `cycle` is `18446744073709551616`, but must be a whole number from 0 to 18446744073709551615",
     "write a whole number from 0 to 18446744073709551615 into `cycle`"),
    ("8,READ,0,1,3,,17,,", "line 17: `command` is `READ`, but must be one of ACT, PRE, PREA, RD, RDA, WR, WRA, TRANSFER, RBM, REF, REFsb, PDE, PDX, SRE, SRX",
     "write one of ACT, PRE, PREA, RD, RDA, WR, WRA, TRANSFER, RBM, REF, REFsb, PDE, PDX, SRE, SRX into `command`"),
    ("8,rd,0,1,3,,17,,", "line 17: `command` is `rd`, but must be one of ACT, PRE, PREA, RD, RDA, WR, WRA, TRANSFER, RBM, REF, REFsb, PDE, PDX, SRE, SRX",
     "write one of ACT, PRE, PREA, RD, RDA, WR, WRA, TRANSFER, RBM, REF, REFsb, PDE, PDX, SRE, SRX into `command`"),
    ("8,RD,256,1,3,,17,,", "line 17: `channel` is `256`, but must be a whole number from 0 to 255",
     "write a whole number from 0 to 255 into `channel`"),
    ("8,RD,0,,3,,17,,", "line 17: `rank` is empty, but must be a whole number from 0 to 255",
     "write a whole number from 0 to 255 into `rank`"),
    ("8,RD,0,1,b3,,17,,", "line 17: `bank` is `b3`, but must be a whole number from 0 to 255",
     "write a whole number from 0 to 255 into `bank`"),
    ("8,RD,0,1,3,,65536,,", "line 17: `column` is `65536`, but must be a whole number from 0 to 65535",
     "write a whole number from 0 to 65535 into `column`"),
    ("8,ACT,0,1,3,4294967296,,,", "line 17: `row` is `4294967296`, but must be a whole number from 0 to 4294967295",
     "write a whole number from 0 to 4294967295 into `row`"),
    ("8,RD,0,1,3,7,17,,", "line 17: `row` is `7`, but must be empty for RD", "empty the cell, or correct the command"),
    ("8,REF,0,1,3,,,,", "line 17: `bank` is `3`, but must be empty for REF", "empty the cell, or correct the command"),
    ("8,PRE,0,1,3,,17,,", "line 17: `column` is `17`, but must be empty for PRE", "empty the cell, or correct the command"),
    ("8,TRANSFER,0,1,3,,17,,5", "line 17: `dst_bank` is empty, but must be a whole number from 0 to 255",
     "write a whole number from 0 to 255 into `dst_bank`"),
    ("8,ACT,0,1,3,4,,5,", "line 17: `dst_bank` is `5`, but must be empty for ACT", "empty the cell, or correct the command"),
    ("cycle,command,channel,rank,bank,row,column,dst_bank,dst_column",
     "line 17: `cycle` is `cycle`, but must be a whole number from 0 to 18446744073709551615",
     "write a whole number from 0 to 18446744073709551615 into `cycle`"),
];

#[test]
fn a_malformed_cell_is_named_with_what_was_found_and_what_would_work() {
    for (line, message, help) in MALFORMED_CELLS {
        let log = SMALL.replace("8,RD,0,1,3,,17,,", line);
        let mut reader = LogReader::new(log.as_bytes()).unwrap();
        assert!(reader.next().unwrap().is_ok(), "the line before is sound");
        let error = reader.next().unwrap().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help(), error.line()), (*message, *help, 17));
        assert!(reader.next().is_none(), "it ended with the error");
    }
}

const KEYS: &str = "the keys are bin, density_gb, width, channels, ranks, row_bytes, rows_per_subarray, t_refi_ps, \
    refresh, refresh_mode, reference_cycle, \
    copy_activations, precharge_power_down, dialect, start, end_cycle";

#[test]
fn a_malformed_header_is_named_with_what_was_found_and_what_would_work() {
    #[rustfmt::skip]
    let cases = [
        ("version 1", "version 2", "line 1: is `# rowclone-sim command log, version 2`, but a command log begins with `# rowclone-sim command log, version 1`",
         "this program reads version 1: use the rowclone-sim that wrote the log, or write the log again"),
        ("# rowclone-sim command log, version 1\n", "", "line 1: is `# bin = 1066G`, but a command log begins with `# rowclone-sim command log, version 1`",
         "give a log that `rowclone-sim` wrote, or put the header of one before the commands"),
        ("# width = 8", "# width: 8", "line 4: is `# width: 8`, but the header has lines `# key = value`, and then the column names",
         "after the last key comes `cycle,command,channel,rank,bank,row,column,dst_bank,dst_column`, and then the commands"),
        ("cycle,command", "cycle,cmd", "line 15: is `cycle,cmd,channel,rank,bank,row,column,dst_bank,...`, but the header has lines `# key = value`, and then the column names",
         "after the last key comes `cycle,command,channel,rank,bank,row,column,dst_bank,dst_column`, and then the commands"),
        ("# width = 8", "# widht = 8", "line 4: `widht` is not a key of the header", KEYS),
        ("# ranks = 2", "# channels = 1", "line 6: `channels` was given in line 5 already", "keep one of lines 5 and 6"),
        ("# ranks = 2\n", "", "line 14: the header ends without `ranks`", "add a line such as `# ranks = 1` before the column names"),
        ("# start = idle\n", "", "line 14: the header ends without `start`", "add a line such as `# start = idle` before the column names"),
        ("# t_refi_ps = 7800000\n", "", "line 14: the header ends without `t_refi_ps`",
         "add `# t_refi_ps = 7800000`, or `# refresh = off`, before the column names"),
        ("# width = 8", "# refresh = off", "line 9: refresh is off, and yet `t_refi_ps` is given",
         "keep `t_refi_ps` for a run with refresh, `refresh = off` for one without"),
        ("# t_refi_ps = 7800000", "# refresh = on", "line 9: `refresh` is `on`, but must be `off`", "write for example `# refresh = off`"),
        ("7800000", "14999", "line 9: `t_refi_ps` is `14999`, but must be a whole number from 15000 to 1000000000000",
         "write for example `# t_refi_ps = 7800000`"),
        ("1066G", "1066X", "line 2: `bin` is `1066X`, but must be a speed bin, for example `1066E`, `1066F`, `1066G`; `rowclone-sim explain rules --help` lists all bins",
         "write for example `# bin = 1066G`"),
        ("1066G", "DDR5-5200", "line 2: `bin` is `DDR5-5200`, but must be a bin with latencies, such as `DDR5-5200[CL=42,tRCD=42,tRP=42]`",
         "write for example `# bin = 1066G`"),
        ("counted", "counted\n# reference_cycle = first", "line 11: `reference_cycle` is given, but has no effect in DDR3", "leave the line out"),
        ("density_gb = 2", "density_gb = 3", "line 3: `density_gb` is `3`, but must be 1, 2, 4 or 8", "write for example `# density_gb = 2`"),
        ("width = 8", "width = x8", "line 4: `width` is `x8`, but must be 4, 8 or 16", "write for example `# width = 8`"),
        ("channels = 1", "channels = 1.0", "line 5: `channels` is `1.0`, but must be a whole number", "write for example `# channels = 1`"),
        ("ranks = 2", "ranks = 3", "line 6: `ranks` is 3, but must be a power of two from 1 to 4", "try `ranks = 4`"),
        ("row_bytes = 8192", "row_bytes = 2048", "line 7: `row_bytes` is 2048, but a rank of 2 Gb x8 chips has rows of 8192 bytes",
         "try `row_bytes = 8192`, or the RowClone paper's `row_bytes = 4096`"),
        ("rows_per_subarray = 512", "rows_per_subarray = [640, x]",
         "line 8: `rows_per_subarray` is `[640, x]`, but must be a whole number, or a list such as `[640, 640, 768]`",
         "write for example `# rows_per_subarray = 512`"),
        ("rows_per_subarray = 512", "rows_per_subarray = [640,127]",
         "line 8: `rows_per_subarray` is [640, 127], but must be a whole number from 128 to 1024, or a list of 1 to 8 of them",
         "try `rows_per_subarray = [640, 128]`"),
        ("counted", "yes", "line 10: `copy_activations` is `yes`, but must be `counted` or `free`", "write for example `# copy_activations = counted`"),
        ("fast-exit", "fast", "line 11: `precharge_power_down` is `fast`, but must be `fast-exit` or `slow-exit`",
         "write for example `# precharge_power_down = fast-exit`"),
        ("= rowclone", "= ddr4", "line 12: `dialect` is `ddr4`, but must be `rowclone` or `jedec`", "write for example `# dialect = rowclone`"),
        ("= idle", "= busy", "line 13: `start` is `busy`, but must be `idle`", "write for example `# start = idle`"),
        ("= 48", "=", "line 14: `end_cycle` is ``, but must be a whole number or `unknown`", "write for example `# end_cycle = 48`"),
    ];
    for (right, wrong, message, help) in cases {
        assert_eq!(SMALL.matches(right).count(), 1, "{right}");
        // `refresh = off` is an additional line, so that no key is missing.
        let wrong = if wrong == "# refresh = off" { format!("{right}\n{wrong}") } else { wrong.to_owned() };
        let log = SMALL.replace(right, &wrong);
        let message = if wrong.ends_with("= off") { message.replace("line 9", "line 10") } else { message.to_owned() };
        let error = read(log.as_bytes()).unwrap_err();
        assert!(message.starts_with(&format!("line {}: ", error.line())), "{message}");
        assert_eq!((error.to_string(), error.help()), (message, help));
    }
}

/// DDR4 has no slow exit of power-down, and a log of it is written with the fast one.
#[test]
fn a_standard_without_slow_exit_has_the_fast_one() {
    let system = System::new(SpeedBin::named("DDR4-2400R").unwrap(), ddr4_geometry());
    let system = System { precharge_power_down: PrechargePowerDown::SlowExit, ..system };
    let log = written(&LogHeader { system, dialect: Dialect::Jedec, end: None }, &[]);
    let text = String::from_utf8(log).unwrap();
    assert_eq!(read(text.as_bytes()).unwrap().0.system.precharge_power_down, PrechargePowerDown::FastExit);
    let error = read(text.replace("fast-exit", "slow-exit").as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "line 11: `precharge_power_down` is `slow-exit`, but must be `fast-exit`");
}

fn ddr4_geometry() -> Geometry {
    let (standard, density, width) = (Standard::Ddr4, Density::Gb8, Width::X8);
    let row_bytes = native_row_bytes(standard, density, width);
    let raw = system().geometry.raw();
    Geometry::try_from(RawGeometry { standard, density, width, row_bytes, ..raw }).expect("a geometry")
}

#[test]
fn a_log_truncated_within_its_header_is_an_error() {
    for (log, line) in [("", 1), ("# rowclone-sim command log, version 1\n# bin = 1066G\n", 3)] {
        let error = read(log.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), format!("line {line}: the log ends within its header"));
        assert_eq!(error.line(), line);
        assert!(error.help().starts_with("the log was cut short: "), "{}", error.help());
    }
}

#[test]
fn the_line_is_that_of_the_command_returned_last() {
    let mut reader = LogReader::new(SMALL.as_bytes()).unwrap();
    assert_eq!(reader.line(), 15, "the column names");
    assert!(reader.nth(1).is_some());
    assert_eq!(reader.line(), 17);
}

#[test]
fn a_long_log_passes_through_small_buffers() {
    let header = LogHeader { system: system(), dialect: Dialect::Jedec, end: Some(Cycle(20_000)) };
    let commands: Vec<Issued> = (0..20_000)
        .map(|at| Issued {
            at: Cycle(at),
            channel: Channel(0),
            command: Command::PowerDownExit { rank: (at % 4) as u8 },
        })
        .collect();
    let log = written(&header, &commands);
    let reader = LogReader::new(BufReader::with_capacity(7, &log[..])).unwrap();
    assert_eq!(reader.collect::<Result<Vec<_>, _>>().unwrap(), commands);
}
