//! Readers of the command traces of other simulators.

mod common;

use std::io::Read;

use dram_spec::AutoPrecharge::{No, Yes};
use dram_spec::{BankId, Channel, Column, Command, Cycle, Density, Issued, PrechargePowerDown, Row, System};
use proptest::prelude::*;
use trace_io::LineError;
use trace_io::command_log::LogReader;
use trace_io::commands::{CommandFormat, CommandReader, FORMATS, FileRank, Peeked};

use common::{system, system_of};

const PLACE: FileRank = FileRank { channel: Channel(2), rank: 1 };

fn reader(format: &str, trace: &[u8]) -> CommandReader<impl Read + use<>> {
    let input = Peeked::new(std::io::Cursor::new(trace.to_vec()));
    let format = CommandFormat::named(format).expect("a format");
    CommandReader::new(input, format, PLACE, &system()).expect("a format that is read")
}

fn read(format: &str, trace: &str) -> Result<(Vec<Issued>, Option<Cycle>), LineError> {
    let mut reader = reader(format, trace.as_bytes());
    let commands = reader.by_ref().collect::<Result<_, _>>()?;
    Ok((commands, reader.end()))
}

fn issued(channel: u8, commands: impl IntoIterator<Item = (u64, Command)>) -> Vec<Issued> {
    let issued = |(at, command)| Issued { at: Cycle(at), channel: Channel(channel), command };
    commands.into_iter().map(issued).collect()
}

#[test]
fn a_trace_of_drampower_reads_like_this() {
    let (rank, bank) = (1, BankId { rank: 1, bank: 3 });
    let (row, column) = (Row(0), Column(0));
    let trace = "0,ACT,3\n8,RD,3\r\n\n12, RDA \
        ,3\n16,WR,3\n20,WRA,3\n24,PRE,3\n25,PREA,0\n26,PREA\n27,REF,0\n28,PDN_F_ACT,0\n\
        29,PUP_ACT,0\n30,PDN_F_PRE,0\n31,PUP_PRE,0\n32,SREN,0\n33,SREX,0\n34,PDN_S_ACT,0\n35,PDX,-1\n\
        36,SRE,-1\n37,SRX\n38,PDE,0\n90,END,0\n";
    let expected = issued(
        2,
        [
            (0, Command::Activate { bank, row }),
            (8, Command::Read { bank, column, auto_precharge: No }),
            (12, Command::Read { bank, column, auto_precharge: Yes }),
            (16, Command::Write { bank, column, auto_precharge: No }),
            (20, Command::Write { bank, column, auto_precharge: Yes }),
            (24, Command::Precharge { bank }),
            (25, Command::PrechargeAll { rank }),
            (26, Command::PrechargeAll { rank }),
            (27, Command::Refresh { rank }),
            (28, Command::PowerDownEnter { rank }),
            (29, Command::PowerDownExit { rank }),
            (30, Command::PowerDownEnter { rank }),
            (31, Command::PowerDownExit { rank }),
            (32, Command::SelfRefreshEnter { rank }),
            (33, Command::SelfRefreshExit { rank }),
            (34, Command::PowerDownEnter { rank }),
            (35, Command::PowerDownExit { rank }),
            (36, Command::SelfRefreshEnter { rank }),
            (37, Command::SelfRefreshExit { rank }),
            (38, Command::PowerDownEnter { rank }),
        ],
    );
    for format in ["drampower", "ramulator-commands"] {
        assert_eq!(read(format, trace).unwrap(), (expected.clone(), Some(Cycle(90))));
    }
}

#[test]
fn the_exit_of_a_precharge_power_down_is_that_of_the_system() {
    for (exit, right, wrong) in [
        (PrechargePowerDown::FastExit, "PDN_F_PRE", "PDN_S_PRE"),
        (PrechargePowerDown::SlowExit, "PDN_S_PRE", "PDN_F_PRE"),
    ] {
        let system = System { precharge_power_down: exit, ..system() };
        let read = |name: &str| {
            let trace = std::io::Cursor::new(format!("5,{name},0\n"));
            let reader =
                CommandReader::new(Peeked::new(trace), CommandFormat::named("drampower").unwrap(), PLACE, &system);
            reader.unwrap().next().unwrap()
        };
        assert!(read(right).is_ok());
        let error = read(wrong).unwrap_err();
        assert!(error.to_string().starts_with(&format!("line 1: is `{wrong}`, but the system has `prech")), "{error}");
        assert_eq!(error.help(), "give the system that the trace is of");
    }
}

#[test]
fn a_trace_of_ramulator_2_reads_like_this() {
    let bank = BankId { rank: 0, bank: 3 };
    let expected = issued(
        1,
        [
            (10, Command::Activate { bank, row: Row(17) }),
            (21, Command::Read { bank, column: Column(5), auto_precharge: No }),
            (22, Command::Read { bank, column: Column(5), auto_precharge: Yes }),
            (23, Command::Write { bank, column: Column(5), auto_precharge: No }),
            (24, Command::Write { bank, column: Column(5), auto_precharge: Yes }),
            (25, Command::Precharge { bank }),
            (26, Command::PrechargeAll { rank: 1 }),
            (27, Command::Refresh { rank: 1 }),
        ],
    );
    for (bank_name, rank_name, refresh) in
        [("PRE", "PREA", "REF"), ("PREpb", "PREab", "REFab"), ("PREsb", "PREab", "REF")]
    {
        let trace = format!(
            "clock,command,Channel,Rank,Bank,Row,Column,type,source\n10,ACT,1,0,3,17,5,0,0\n21,RD,1,0,3,17,5,0,0\n\
             22,RDA,1,0,3,17,5,0,0\n23,WR,1,0,3,17,5,1,-1\n24,WRA,1,0,3,17,5,1,-1\n25,{bank_name},1,0,3,17,5,0,0\n\
             26,{rank_name},-1,1,-1,-1,-1,2,-1\n27,{refresh},-1,1,-1,-1,-1,2,-1\n"
        );
        assert_eq!(read("ramulator2-commands", &trace).unwrap(), (expected.clone(), None));
    }
    let moved = "clock,command,Row,Bank,Rank,Column,Channel,type,source\n10,ACT,17,3,0,5,1,0,0\n";
    assert_eq!(read("ramulator2-commands", moved).unwrap().0, expected[..1]);
}

#[test]
fn a_trace_of_dramsim3_reads_like_this() {
    let bank = BankId { rank: 0, bank: 3 };
    // The refresh does not name its channel: it has that of the first line that does.
    let trace = "\
5                  refresh               -1   1  -1  -1     -0x1     -0x1
12                 activate               1   0   0   3     0x11      0x5
23                 read                   1   0   0   3     0x11      0x5
24                 read_p                 1   0   0   3     0x11      0x6
25                 write                  1   0   0   3     0x11     0x7f
26                 write_p                1   0   0   3     0x11      0x8
27                 precharge              1   0   0   3     0x11      0x5
28                 self_refresh_enter     1   0  -1  -1     -0x1     -0x1
29                 self_refresh_exit      1   0  -1  -1     -0x1     -0x1
";
    let access = |column, auto_precharge| Command::Read { bank, column: Column(column), auto_precharge };
    let write = |column, auto_precharge| Command::Write { bank, column: Column(column), auto_precharge };
    let expected = issued(
        1,
        [
            (5, Command::Refresh { rank: 1 }),
            (12, Command::Activate { bank, row: Row(17) }),
            (23, access(5, No)),
            (24, access(6, Yes)),
            (25, write(127, No)),
            (26, write(8, Yes)),
            (27, Command::Precharge { bank }),
            (28, Command::SelfRefreshEnter { rank: 0 }),
            (29, Command::SelfRefreshExit { rank: 0 }),
        ],
    );
    assert_eq!(read("dramsim3-commands", trace).unwrap(), (expected, None));
}

const HEADER: &str = "clock,command,Channel,Rank,Bank,Row,Column,type,source\n";
const COLUMNS_HELP: &str = "the first line of DDR3 is `clock,command,Channel,Rank,Bank,Row,Column,type,source`";
const GRAMMAR_HELP: &str = "correct the line, or name the trace's format; docs/command-traces.md has the grammars";

/// format, trace, message, help
#[rustfmt::skip]
const MALFORMED: &[(&str, &str, &str, &str)] = &[
    ("drampower", "0,ACT,3\n5\n", "line 2: is `5`, but a line has a clock, a command and a bank, with commas", GRAMMAR_HELP),
    ("drampower", "0,ACT,3,4\n", "line 1: is `0,ACT,3,4`, but a line has a clock, a command and a bank, with commas", GRAMMAR_HELP),
    ("drampower", "# remark\n", "line 1: is `# remark`, but a line has a clock, a command and a bank, with commas", GRAMMAR_HELP),
    ("drampower", "x,ACT,3\n", "line 1: `clock` is `x`, but must be a whole number from 0 to 18446744073709551615", GRAMMAR_HELP),
    ("drampower", "0,ACT\n", "line 1: `bank` is ``, but must be a whole number from 0 to 255", GRAMMAR_HELP),
    ("drampower", "0,PRE,-1\n", "line 1: `bank` is `-1`, but must be a whole number from 0 to 255", GRAMMAR_HELP),
    ("drampower", "0,REF,x\n", "line 1: `bank` is `x`, but must be a whole number from 0 to 255", GRAMMAR_HELP),
    ("drampower", "0,ACT,3\n1,FLY,3\n2,ACT,x\n3,REFB,1\n4,FLY,3\n", "line 2: unknown commands `FLY`, `REFB`",
     "the commands of this format are ACT, PRE, PREA, RD, RDA, WR, WRA, REF, PDN_F_ACT, PDN_S_ACT, PDN_F_PRE, PDN_S_PRE, \
      PUP_ACT, PUP_PRE, SREN, SREX, END, PDE, PDX, SRE, SRX"),
    ("drampower", "5,END,0\n\n6,ACT,1\n", "line 3: is `6,ACT,1`, but the trace ended in line 1", "leave out what follows `END`, or the `END`"),
    ("ramulator2-commands", "", "line 1: the trace ends without the names of its columns", COLUMNS_HELP),
    ("ramulator2-commands", "10,ACT,0,0,3,17,5,0,0\n", "line 1: is `10,ACT,0,0,3,17,5,0,0`, but the trace begins with the names of its columns", COLUMNS_HELP),
    ("ramulator2-commands", "clock,command,Channel,Rank,BankGroup,Bank,Row,Column,type,source\n", "line 1: `BankGroup` is no level of DDR3", COLUMNS_HELP),
    ("ramulator2-commands", "clock,command,Channel,Rank,Bank,Row,type,source\n", "line 1: the level `Column` is missing", COLUMNS_HELP),
    ("ramulator2-commands", "clock,command,Channel,Rank,Bank,Row,Column,Row,type,source\n", "line 1: the level `Row` occurs twice", COLUMNS_HELP),
    ("dramsim3-commands", "12 activate 0 0 0 3 0x11\n", "line 1: is `12 activate 0 0 0 3 0x11`, but a line has eight fields: clock command channel rank bankgroup bank 0xrow 0xcolumn", GRAMMAR_HELP),
    ("dramsim3-commands", "12 activate 0 0 0 3 17 0x5\n", "line 1: `row` is `17`, but must be a hexadecimal number from 0x0 to 0xffffffff", GRAMMAR_HELP),
    ("dramsim3-commands", "12 activate 0 0 0 -1 0x1 0x5\n", "line 1: `bank` is `-1`, but must be a whole number from 0 to 255", GRAMMAR_HELP),
    ("dramsim3-commands", "12 read 0 0 0 1 0x1 0x10000\n", "line 1: `column` is `0x10000`, but must be a hexadecimal number from 0x0 to 0xffff", GRAMMAR_HELP),
    ("dramsim3-commands", "12 precharge 0 0 0 1 row 0x0\n", "line 1: `row` is `row`, but must be a number", GRAMMAR_HELP),
    ("dramsim3-commands", "12 activate 0 0 2 3 0x11 0x5\n", "line 1: bank group 2, but DDR3 has none", "give a trace of a DDR3 memory"),
    ("dramsim3-commands", "12 refresh_bank 0 0 0 3 0x11 0x5\n", "line 1: `refresh_bank`, but DDR3 refreshes all banks at once", "give a trace of a DDR3 memory"),
    ("dramsim3-commands", "12 precharge 0 0 0 1 0x1 0x0\n13 precharge 1 0 0 1 0x1 0x0\n", "line 2: channel 1, but the commands before are of channel 0", "give one file per channel, as the tools write them"),
    ("dramsim3-commands", "12 self_refresh 0 0 0 1 0x1 0x0\n", "line 1: unknown command `self_refresh`",
     "the commands of this format are read, read_p, write, write_p, activate, precharge, refresh, self_refresh_enter, self_refresh_exit"),
];

#[test]
fn a_malformed_trace_is_refused_with_line_and_reason() {
    for (format, trace, message, help) in MALFORMED {
        let mut reader = reader(format, trace.as_bytes());
        let error = reader.by_ref().find_map(Result::err).unwrap_or_else(|| panic!("{trace:?} is accepted"));
        assert_eq!((error.to_string().as_str(), error.help()), (*message, *help), "{trace:?}");
        assert!(message.starts_with(&format!("line {}: ", error.line())), "{message}");
        assert!(reader.next().is_none(), "it ended with the error");
    }
    for (line, message) in [
        ("10,ACT,0,0,3,17,5,0", "line 2: is `10,ACT,0,0,3,17,5,0`, but a line has as many cells as the first line"),
        ("10,ACT,0,-1,3,17,5,0,0", "line 2: `Rank` is `-1`, but must be a whole number from 0 to 255"),
        ("10,ACT,0,0,3,17,5,0,x", "line 2: `source` is `x`, but must be a number"),
        ("10,ACT,0,0,3,,5,0,0", "line 2: `Row` is ``, but must be a number"),
        ("10,RFMab,0,0,3,17,5,0,0", "line 2: unknown command `RFMab`"),
    ] {
        let error = read("ramulator2-commands", &format!("{HEADER}{line}\n")).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn unknown_commands_are_listed_up_to_a_limit() {
    let trace = (0..100).map(|number| format!("{number},X{number},0\n")).collect::<Vec<_>>().concat();
    let error = read("drampower", &trace).unwrap_err();
    let found = (0..8).map(|number| format!("`X{number}`")).collect::<Vec<_>>().join(", ");
    assert_eq!((error.line(), error.to_string()), (1, format!("line 1: unknown commands {found}")));
}

#[test]
fn logs_and_lists_have_other_readers_or_none() {
    for name in ["log", "hdl"] {
        let format = CommandFormat::named(name).unwrap();
        assert!(CommandReader::new(Peeked::new(&b""[..]), format, PLACE, &system()).is_none());
    }
}

#[test]
fn an_input_that_fails_is_an_error_of_the_line_reached() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no disk"))
        }
    }
    for length in [1_u64, 20_000] {
        let lines = (0..length).map(|at| format!("{at},ACT,3\n")).collect::<Vec<_>>().concat();
        let bytes = lines.len();
        let input = Peeked::new(std::io::Cursor::new(lines).chain(Broken));
        let reader = CommandReader::new(input, CommandFormat::named("drampower").unwrap(), PLACE, &system()).unwrap();
        let items: Vec<_> = reader.collect();
        assert_eq!(items.len() as u64, length + 1);
        let message = items.into_iter().find_map(Result::err).unwrap().to_string();
        let line = length + 1;
        let expected =
            format!("line {line}: the input cannot be read any further after {bytes} bytes of text: no disk");
        assert_eq!(message, expected);
    }
}

/// Number of items, all of which are read: the greater one of a system without bank groups and one with them.
fn items(format: &CommandFormat, trace: &[u8]) -> usize {
    let items = |system: &System| {
        let Some(mut reader) = CommandReader::new(Peeked::new(trace), format, PLACE, system) else { return 0 };
        let items = reader.by_ref().count();
        assert!(reader.next().is_none(), "what has ended stays ended");
        items
    };
    items(&system()).max(items(&system_of("DDR5-4800B", Density::Gb16)))
}

/// Seeds and corpora of the fuzzers, of which the seeds are traces, and traces that are refused.
#[test]
fn the_seeds_and_corpora_of_the_fuzzers_are_read_or_refused() {
    let folders = [
        ("drampower", Some("drampower")),
        ("ramulator2", Some("ramulator2-commands")),
        ("dramsim3-commands", Some("dramsim3-commands")),
        ("command_log", None),
    ];
    let fuzz = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (folder, name) in folders {
        let (mut sound, mut refused) = (0, 0);
        let corpus = fuzz.join("corpus").join(folder);
        let seeds = std::fs::read_dir(fuzz.join("seeds").join(folder)).expect("the seeds");
        for file in seeds.chain(std::fs::read_dir(corpus).into_iter().flatten()) {
            let bytes = std::fs::read(file.expect("an entry").path()).expect("a file");
            for format in &FORMATS {
                items(format, &bytes);
            }
            let is_sound = match name {
                Some(name) => reader(name, &bytes).all(|item| item.is_ok()),
                None => LogReader::new(&bytes[..]).is_ok_and(|mut log| log.all(|item| item.is_ok())),
            };
            if is_sound { sound += 1 } else { refused += 1 }
        }
        assert!(sound >= 1 && (refused >= 1 || name.is_none()), "{folder}: {sound} traces, {refused} that are none");
    }
}

fn small(format: &str) -> &'static str {
    match format {
        "drampower" | "ramulator-commands" => include_str!("../../../fuzz/seeds/drampower/power-states.trace"),
        "ramulator2-commands" => include_str!("../../../fuzz/seeds/ramulator2/small.csv.ch0"),
        _ => include_str!("../../../fuzz/seeds/dramsim3-commands/small.trace"),
    }
}

proptest! {
    #[test]
    fn any_bytes_give_an_error_and_end(trace in prop::collection::vec(any::<u8>(), 0..300)) {
        for format in &FORMATS {
            let with_names = [WITH_GROUPS.as_bytes(), &trace].concat();
            prop_assert!(items(format, &with_names) <= with_names.split(|&byte| byte == b'\n').count() + 1);
            prop_assert!(items(format, &trace) <= trace.split(|&byte| byte == b'\n').count() + 1);
            CommandFormat::candidates(&trace, "x.trace");
        }
    }

    /// A trace with some bytes changed, cut or repeated: at most one item per line, and errors name an existing line.
    #[test]
    fn a_damaged_trace_gives_commands_or_an_error_and_ends(
        format in prop::sample::select(vec!["drampower", "ramulator2-commands", "dramsim3-commands"]),
        damage in prop::collection::vec((
            any::<prop::sample::Index>(),
            prop_oneof![any::<u8>(), Just(b','), Just(b'\n'), Just(b'9')],
            0..3,
        ), 1..6),
    ) {
        let mut trace = small(format).as_bytes().to_vec();
        for (place, byte, kind) in damage {
            let place = place.index(trace.len());
            match kind {
                0 => trace[place] = byte,
                1 => trace.insert(place, byte),
                _ => trace.truncate(place.max(1)),
            }
        }
        let lines = trace.split(|&byte| byte == b'\n').count();
        prop_assert!(items(CommandFormat::named(format).unwrap(), &trace) <= lines + 1);
        if let Some(error) = reader(format, &trace).find_map(Result::err) {
            prop_assert!((1..=lines as u64 + 1).contains(&error.line()), "{error}");
            prop_assert!(!error.help().is_empty());
        }
    }
}

fn read_as(system: &System, format: &str, trace: &str) -> Result<Vec<Issued>, LineError> {
    let input = Peeked::new(std::io::Cursor::new(trace.as_bytes().to_vec()));
    let format = CommandFormat::named(format).expect("a format");
    CommandReader::new(input, format, PLACE, system).expect("a format that is read").collect()
}

const WITH_GROUPS: &str = "clock,command,Channel,Rank,BankGroup,Bank,Row,Column,type,source\n";

/// DDR4 x8: bank 1 of group 2 is bank 9.
#[test]
fn banks_of_groups_are_counted_in_their_rank() {
    let ddr4 = system_of("DDR4-3200AA", Density::Gb8);
    let bank = BankId { rank: 0, bank: 9 };
    let expected = issued(
        0,
        [
            (10, Command::Activate { bank, row: Row(17) }),
            (32, Command::Read { bank, column: Column(5), auto_precharge: No }),
            (90, Command::Precharge { bank }),
            (91, Command::PrechargeAll { rank: 0 }),
            (120, Command::Refresh { rank: 0 }),
        ],
    );
    let ramulator = "10,ACT,0,0,2,1,17,5,0,0\n32,RD,0,0,2,1,17,5,0,0\n90,PRE,0,0,2,1,17,5,0,0\n\
        91,PREA,0,0,-1,-1,-1,-1,2,-1\n120,REFab,0,0,-1,-1,-1,-1,2,-1\n";
    let found = read_as(&ddr4, "ramulator2-commands", &format!("{WITH_GROUPS}{ramulator}")).unwrap();
    assert_eq!(found, expected);
    let dramsim3 = "10 activate 0 0 2 1 0x11 0x5\n32 read 0 0 2 1 0x11 0x5\n90 precharge 0 0 2 1 0x11 0x5\n";
    assert_eq!(read_as(&ddr4, "dramsim3-commands", dramsim3).unwrap(), expected[..3]);
    let drampower = "10,ACT,9\n";
    let found = read_as(&ddr4, "drampower", drampower).unwrap();
    assert_eq!(found[0].command, Command::Activate { bank: BankId { rank: 1, bank: 9 }, row: Row(0) });
}

/// DDR5 x8, 16 Gb: eight groups of four banks. A REFsb and a PREsb name a bank number, and no group.
#[test]
fn commands_to_a_bank_of_each_group_are_read() {
    let ddr5 = system_of("DDR5-4800B", Density::Gb16);
    let lines = "10,ACT,0,0,3,1,17,5,0,0\n90,PREsb,0,0,-1,1,-1,-1,0,0\n91,PREsb,0,0,-1,2,-1,-1,0,0\n\
        200,REFsb,0,0,-1,1,-1,-1,2,-1\n";
    let found = read_as(&ddr5, "ramulator2-commands", &format!("{WITH_GROUPS}{lines}")).unwrap();
    let bank = |bank| BankId { rank: 0, bank };
    let expected = issued(
        0,
        [
            (10, Command::Activate { bank: bank(13), row: Row(17) }),
            (90, Command::Precharge { bank: bank(13) }),
            (91, Command::Precharge { bank: bank(2) }),
            (200, Command::RefreshSameBank { bank: bank(1) }),
        ],
    );
    assert_eq!(found, expected);
}

#[test]
fn what_the_standard_lacks_is_refused_with_its_name() {
    let (ddr4, ddr5) = (system_of("DDR4-3200AA", Density::Gb8), system_of("DDR5-4800B", Density::Gb16));
    let with_groups = |lines: &str| format!("{WITH_GROUPS}{lines}");
    let columns = "the first line of DDR4 is `clock,command,Channel,Rank,BankGroup,Bank,Row,Column,type,source`";
    for (system, format, trace, message, help) in [
        (&ddr4, "ramulator2-commands", HEADER.to_owned(), "line 1: the level `BankGroup` is missing", columns),
        (
            &ddr4,
            "ramulator2-commands",
            with_groups("10,ACT,0,0,4,1,17,5,0,0\n"),
            "line 2: bank group 4, but the chips have 4",
            "give a trace of a DDR4 memory",
        ),
        (
            &ddr4,
            "ramulator2-commands",
            with_groups("10,ACT,0,0,0,4,17,5,0,0\n"),
            "line 2: bank 4 of a group, but a group has 4",
            "give a trace of a DDR4 memory",
        ),
        (
            &ddr4,
            "ramulator2-commands",
            with_groups("10,ACT,0,0,-1,3,17,5,0,0\n"),
            "line 2: `BankGroup` is `-1`, but must be a whole number from 0 to 255",
            GRAMMAR_HELP,
        ),
        (
            &ddr4,
            "ramulator2-commands",
            with_groups("10,REFsb,0,0,-1,3,17,5,0,0\n"),
            "line 2: `REFsb`, but DDR4 refreshes all banks at once",
            "give a trace of a DDR4 memory",
        ),
        (
            &ddr5,
            "ramulator2-commands",
            with_groups("1,ACT,0,0,0,1,1,1,0,0\n9,ACT,0,0,1,1,1,1,0,0\n90,PREsb,0,0,-1,1,1,1,0,0\n"),
            "line 4: `PREsb` of 2 open banks; a command here closes one or all",
            "give a trace of a DDR5 memory",
        ),
        (
            &ddr5,
            "dramsim3-commands",
            "12 refresh_bank 0 0 0 3 0x11 0x5\n".to_owned(),
            "line 1: `refresh_bank`, but DDR5 refreshes no single bank",
            "give a trace of a DDR5 memory",
        ),
    ] {
        let error = read_as(system, format, &trace).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help()), (message, help), "{trace}");
    }
}
