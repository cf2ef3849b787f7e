//! Requests to the same lines, each hazard in its smallest case, on the command stream. `--check` compares every byte that is
//! read, and the memory at the end, with a flat array; each write has bytes of its own.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use crate::common::{Directory, run};

/// The first line of row 64 of bank 0, of row 128 there, and of row 128 of bank 1; all of channel 0.
const ROW_64: u64 = 0x0040_0000;
const ROW_128: u64 = 0x0080_0000;
const BANK_1: u64 = 0x0080_2000;

/// Bytes of a line.
const LINE: u64 = 64;

/// An operation of 64 bytes.
enum Operation {
    Read(u64),
    Write(u64),
    Copy { src: u64, dst: u64 },
}

use Operation::{Copy, Read, Write};

/// Runs operations over the channel, one of which arrives every clock, and compares the RD and WR commands, each with its
/// bank, row and column, and how many reads were answered from a queued write.
fn check(operations: &[Operation], expected: &[&str], forwarded: u64) {
    let directory = Directory::sound();
    let mut scenario = "system = \"system.toml\"\npolicies = [\"channel\"]\nseed = 1\n".to_owned();
    for (operation, cycle) in operations.iter().zip(0..) {
        let what = match operation {
            Read(address) => format!("kind = \"read\"\ndst = {address}\n"),
            Write(address) => format!("kind = \"write\"\ndst = {address}\n"),
            Copy { src, dst } => format!("kind = \"copy\"\nsrc = {src}\ndst = {dst}\n"),
        };
        scenario += &format!("[[operation]]\n{what}bytes = 64\nat_cycle = {cycle}\n");
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

/// The column accesses of a log: `RD bank 0 row 64 column 3`.
fn accesses(log: &str) -> Vec<String> {
    let (mut open, mut accesses) = (BTreeMap::new(), Vec::new());
    for line in log.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [_, command, _, _, bank, row, column, ..] = cells[..] else { panic!("{line}") };
        if command == "ACT" {
            open.insert(bank, row);
        } else if !column.is_empty() {
            accesses.push(format!("{command} bank {bank} row {} column {column}", open[bank]));
        }
    }
    accesses
}

/// The copy reads the line first, so that both writes wait for it.
#[test]
fn a_read_is_answered_from_the_newest_of_two_blocked_writes() {
    check(
        &[Copy { src: ROW_64, dst: ROW_128 }, Write(ROW_64), Write(ROW_64), Read(ROW_64)],
        &[
            "RD bank 0 row 64 column 0",
            "WR bank 0 row 128 column 0",
            "WR bank 0 row 64 column 0",
            "WR bank 0 row 64 column 0",
        ],
        1,
    );
}

/// The first write is queued when the copy arrives, which waits for it; the second write waits for the copy.
#[test]
fn a_read_is_answered_from_a_blocked_write_and_not_from_the_queued_one_before_it() {
    check(
        &[Write(ROW_64), Copy { src: ROW_64, dst: ROW_128 }, Write(ROW_64), Read(ROW_64)],
        &[
            "WR bank 0 row 64 column 0",
            "RD bank 0 row 64 column 0",
            "WR bank 0 row 128 column 0",
            "WR bank 0 row 64 column 0",
        ],
        1,
    );
}

/// The copy writes the line, so that the read waits for it, too.
#[test]
fn a_read_that_waited_for_a_copy_is_answered_from_the_newest_write_behind_it() {
    check(
        &[Copy { src: ROW_64, dst: ROW_128 }, Write(ROW_128), Write(ROW_128), Read(ROW_128)],
        &[
            "RD bank 0 row 64 column 0",
            "WR bank 0 row 128 column 0",
            "WR bank 0 row 128 column 0",
            "WR bank 0 row 128 column 0",
        ],
        1,
    );
}

/// The copy of half of line 0 and half of line 1 waits for the first write. Without the hazard, the second would follow it
/// at once: its row is open.
#[test]
fn a_write_to_the_last_source_line_of_an_unaligned_copy_waits_until_it_was_read() {
    check(
        &[Write(ROW_64), Copy { src: ROW_64 + LINE / 2, dst: ROW_128 }, Write(ROW_64 + LINE), Read(ROW_128)],
        &[
            "WR bank 0 row 64 column 0",
            "RD bank 0 row 64 column 0",
            "RD bank 0 row 64 column 1",
            "WR bank 0 row 128 column 0",
            "RD bank 0 row 128 column 0",
            "WR bank 0 row 64 column 1",
        ],
        0,
    );
}

/// The copy goes to half of line 0 and half of line 1, which it reads first. It waits for the write; the bank of the read is
/// idle meanwhile.
#[test]
fn a_read_of_the_last_destination_line_of_an_unaligned_copy_returns_what_was_copied() {
    check(
        &[Write(ROW_64), Copy { src: ROW_64, dst: BANK_1 + LINE / 2 }, Read(BANK_1 + LINE)],
        &[
            "WR bank 0 row 64 column 0",
            "RD bank 0 row 64 column 0",
            "RD bank 1 row 128 column 0",
            "RD bank 1 row 128 column 1",
            "WR bank 1 row 128 column 0",
            "WR bank 1 row 128 column 1",
            "RD bank 1 row 128 column 1",
        ],
        0,
    );
}
