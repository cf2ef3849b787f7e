//! Requests to the same lines, each hazard in its smallest case, on the command stream. `--check` compares every byte
//! that is read, and the memory at the end, with a flat array; each write has bytes of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::Value;

use crate::common::{Directory, run};

/// The first line of row 32768 of bank 0 of channel 0, and of row 1 there: 4 MiB is subarray 64, 8 MiB the next row of
/// subarray 0.
const SRC_ROW: u64 = 0x0040_0000;
const DST_ROW: u64 = 0x0080_0000;

/// The first lines of the rows with these numbers in bank 0 of channel 1: they follow the last lines of the rows above.
const NEXT_OF_SRC: u64 = 0x0040_1000;
const NEXT_OF_DST: u64 = 0x0080_1000;

/// Bytes of a line.
const LINE: u64 = 64;

/// An operation of 64 bytes.
enum Operation {
    Read(u64),
    Write(u64),
    Copy { src: u64, dst: u64 },
}

use Operation::{Copy, Read, Write};

/// Runs operations over the channel, one of which arrives every clock, and compares the RD and WR commands, each with
/// its channel, row and column, and how many reads were answered from a queued write.
fn check(operations: &[Operation], expected: &[&str], forwarded: u64) {
    let directory = Directory::sound();
    let mut scenario = "system = \"system.toml\"\npolicies = [\"baseline\"]\nseed = 1\n".to_owned();
    for (operation, cycle) in operations.iter().zip(0..) {
        let what = match operation {
            Read(address) => format!("kind = \"read\"\ndst = {address}\n"),
            Write(address) => format!("kind = \"write\"\ndst = {address}\n"),
            Copy { src, dst } => format!("kind = \"copy\"\nsrc = {src}\ndst = {dst}\n"),
        };
        write!(scenario, "[[operation]]\n{what}bytes = 64\nat_cycle = {cycle}\n").unwrap();
    }
    let (file, log) = (directory.path("scenario.toml"), directory.path("log.csv"));
    fs::write(&file, scenario).unwrap();
    let [file, log] = [&file, &log].map(|path| path.to_str().unwrap());
    let (code, stdout, stderr) = run(&["run", file, "--check", "--format", "json", "--commands", log]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let results: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(accesses(&fs::read_to_string(log).unwrap()), expected);
    assert_eq!(results[0]["forwarded"], forwarded);
}

/// The column accesses of a log, all to bank 0: `RD channel 1 row 32768 column 3`.
fn accesses(log: &str) -> Vec<String> {
    let (mut open, mut accesses) = (BTreeMap::new(), Vec::new());
    for line in log.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, command, channel, _, bank, row, column, ..] = cells[..] else { panic!("{line}") };
        if command == "ACT" {
            assert_eq!(bank, "0");
            open.insert(channel, row);
        } else if !column.is_empty() {
            accesses.push(format!("{command} channel {channel} row {} column {column}", open[channel]));
        }
    }
    accesses
}

/// The copy reads the line first, so that both writes wait for it.
#[test]
fn a_read_is_answered_from_the_newest_of_two_blocked_writes() {
    check(
        &[Copy { src: SRC_ROW, dst: DST_ROW }, Write(SRC_ROW), Write(SRC_ROW), Read(SRC_ROW)],
        &[
            "RD channel 0 row 32768 column 0",
            "WR channel 0 row 1 column 0",
            "WR channel 0 row 32768 column 0",
            "WR channel 0 row 32768 column 0",
        ],
        1,
    );
}

/// The first write is queued when the copy arrives, which waits for it; the second write waits for the copy.
#[test]
fn a_read_is_answered_from_a_blocked_write_and_not_from_the_queued_one_before_it() {
    check(
        &[Write(SRC_ROW), Copy { src: SRC_ROW, dst: DST_ROW }, Write(SRC_ROW), Read(SRC_ROW)],
        &[
            "WR channel 0 row 32768 column 0",
            "RD channel 0 row 32768 column 0",
            "WR channel 0 row 1 column 0",
            "WR channel 0 row 32768 column 0",
        ],
        1,
    );
}

/// The copy writes the line, so that the read waits for it, too.
#[test]
fn a_read_that_waited_for_a_copy_is_answered_from_the_newest_write_behind_it() {
    check(
        &[Copy { src: SRC_ROW, dst: DST_ROW }, Write(DST_ROW), Write(DST_ROW), Read(DST_ROW)],
        &[
            "RD channel 0 row 32768 column 0",
            "WR channel 0 row 1 column 0",
            "WR channel 0 row 1 column 0",
            "WR channel 0 row 1 column 0",
        ],
        1,
    );
}

/// The copy waits for the first write, whose bank serves the read before, as its row is open. The last source line lies
/// in channel 1, which is idle: nothing but the hazard keeps the second write from going first.
#[test]
fn a_write_to_the_last_source_line_of_an_unaligned_copy_waits_until_it_was_read() {
    check(
        &[
            Read(DST_ROW),
            Write(NEXT_OF_SRC - LINE),
            Copy { src: NEXT_OF_SRC - LINE / 2, dst: DST_ROW },
            Write(NEXT_OF_SRC),
            Read(DST_ROW),
        ],
        &[
            "RD channel 0 row 1 column 0",
            "WR channel 0 row 32768 column 63",
            "RD channel 1 row 32768 column 0",
            "RD channel 0 row 32768 column 63",
            "WR channel 0 row 1 column 0",
            "RD channel 0 row 1 column 0",
            "WR channel 1 row 32768 column 0",
        ],
        0,
    );
}

/// Its first destination line lies in channel 0, and its last one in channel 1, which is idle when the read arrives.
#[test]
fn a_read_of_the_last_destination_line_of_an_unaligned_copy_returns_what_was_copied() {
    check(
        &[Read(DST_ROW), Write(SRC_ROW), Copy { src: SRC_ROW, dst: NEXT_OF_DST - LINE / 2 }, Read(NEXT_OF_DST)],
        &[
            "RD channel 0 row 1 column 0",
            "WR channel 0 row 32768 column 0",
            "RD channel 1 row 1 column 0",
            "RD channel 0 row 32768 column 0",
            "RD channel 0 row 1 column 63",
            "WR channel 0 row 1 column 63",
            "RD channel 0 row 32768 column 0",
            "WR channel 1 row 1 column 0",
            "RD channel 1 row 1 column 0",
        ],
        0,
    );
}
