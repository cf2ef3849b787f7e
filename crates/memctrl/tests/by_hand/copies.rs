//! Slots of a port, and a copy behind a read that waits for another copy (rules 7, 9 and 10 of
//! `docs/controller.md`).

use std::sync::Arc;

use dram_core::{Background, LineBytes};
use dram_spec::address::MapPreset;
use dram_spec::{Channel, Column, Location, Operation, PhysicalAddress, Refresh, Row};
use memctrl::policy::copy::ROWCLONE;
use memctrl::{Config, QueueSettings};

use crate::drive::{check, run_until};
use crate::{bank, config, config_of, line, read, requests, system, write};

/// Start of a row.
fn row_of(config: &Config, channel: u8, in_bank: u8, row: u32) -> PhysicalAddress {
    let place =
        Location { channel: Channel(channel), bank: bank(in_bank), row: Row(row), column: Column(0), offset: 0 };
    config.planner.map().address(place).unwrap()
}

/// Two channels, FPM, and more entries for copies than slots for threads.
fn with_64_copies() -> Config {
    let config = config_of(system(2, Refresh::Off), MapPreset::RowInterleaved);
    let queues = QueueSettings { copy_entries: 64, ..config.queues };
    Config { copy_policy: ROWCLONE, queues, ..config }
}

/// 32 copies of bank 0 of channel 1, each of which takes the bank for tRAS + tRAS + tRP = 48 clocks,
/// have all slots of the channel. The next copy, of bank 1, has its slot in the cycle after the
/// first PRE, though the bank is free before; the copy of the idle channel 0 waits for its turn.
#[test]
fn the_33rd_copy_of_channel_1_waits_for_the_first_to_leave_its_slot() {
    let config = with_64_copies();
    let copy = |channel, bank, row| Operation::Copy {
        src: row_of(&config, channel, bank, row),
        dst: row_of(&config, channel, bank, row + 1),
        bytes: 4096,
    };
    let mut list: Vec<_> = (0..32).map(|number| (0, copy(1, 0, 2 * number))).collect();
    list.extend([(0, copy(1, 1, 0)), (0, copy(0, 0, 0))]);
    let expected = [
        "ch1 0 ACT r0 b0 row 0",
        "ch1 20 ACT r0 b0 row 1",
        "ch1 40 PRE r0 b0",
        "41 ACT r0 b0 row 0",
        "ch1 41 ACT r0 b1 row 0",
        "ch1 48 ACT r0 b0 row 2",
        "61 ACT r0 b0 row 1",
        "ch1 61 ACT r0 b1 row 1",
        "ch1 68 ACT r0 b0 row 3",
        "81 PRE r0 b0",
        "ch1 81 PRE r0 b1",
        "ch1 88 PRE r0 b0",
    ];
    let outcome = check(&config, requests(&list), 90, &expected);
    // A PRE and tRP: 40 + 8, then 81 + 8.
    assert_eq!(outcome.done(), [(0, 48), (32, 89), (33, 89)]);
}

/// With 31 copies in the way, no copy waits: one copy is accepted per cycle, so the last two begin
/// in the cycles 31 and 32.
#[test]
fn the_32nd_copy_of_a_channel_has_a_slot() {
    let config = with_64_copies();
    let copy = |channel, bank, row| Operation::Copy {
        src: row_of(&config, channel, bank, row),
        dst: row_of(&config, channel, bank, row + 1),
        bytes: 4096,
    };
    let mut list: Vec<_> = (0..31).map(|number| (0, copy(1, 0, 2 * number))).collect();
    list.extend([(0, copy(1, 1, 0)), (0, copy(0, 0, 0))]);
    let expected = [
        "ch1 0 ACT r0 b0 row 0",
        "ch1 20 ACT r0 b0 row 1",
        "ch1 31 ACT r0 b1 row 0",
        "32 ACT r0 b0 row 0",
        "ch1 40 PRE r0 b0",
    ];
    check(&config, requests(&list), 45, &expected);
}

/// All bytes of a row are its number.
struct RowNumbers;

impl Background for RowNumbers {
    fn line(&self, _: Channel, _: dram_spec::BankId, row: Row, _: Column) -> LineBytes {
        [row.0 as u8; 64]
    }
}

/// A copy over the channel writes a line. A write of the line and a read of it wait for the copy;
/// when it is delivered, the read is answered from the write. The next copy to the line waits for
/// both. With one entry for reads, the last read shows that the entry of the first one is free.
#[test]
fn a_blocked_read_that_is_forwarded_lets_the_copy_behind_it_begin() {
    let config = config(Refresh::Off);
    let queues = QueueSettings { read_entries: 1, admission_per_cycle: 4, ..config.queues };
    let config = Config { queues, contents: Some(Arc::new(RowNumbers)), ..config };
    let to = line(0, 600, 0);
    let copy = |src| Operation::Copy { src, dst: to, bytes: 64 };
    // Row 1 of bank 0, the write, and row 3 of bank 1 in turn.
    let list = [(0, copy(line(0, 1, 0))), (0, write(to)), (0, read(to)), (1, copy(line(1, 3, 0))), (300, read(to))];
    let mut requests = requests(&list);
    requests[1].payload = Some(Arc::from([7; 64]));
    let outcome = run_until(&config, requests, 400);
    let expected = [
        "0 ACT r0 b0 row 1",
        "8 RD r0 b0 col 0",
        "20 PRE r0 b0",
        "28 ACT r0 b0 row 600",
        "36 WR r0 b0 col 0",
        // CWL 6 + BL/2 4 + tWR 8.
        "54 PRE r0 b0",
        // tRP: the copy is delivered, and the write is queued.
        "62 ACT r0 b0 row 600",
        "70 WR r0 b0 col 0",
        // The second copy is dispatched in the cycle after the write; it finds row 600 open.
        "71 ACT r0 b1 row 3",
        // tWTR: 70 + CWL 6 + BL/2 4 + 4.
        "84 RD r0 b1 col 0",
        // tRAS.
        "91 PRE r0 b1",
        // CL 8 + BL/2 4 + 2 - CWL 6.
        "92 WR r0 b0 col 0",
        "110 PRE r0 b0",
        "300 ACT r0 b0 row 600",
        "308 RD r0 b0 col 0",
    ];
    assert_eq!(outcome.listing, expected);
    // The forwarded read is done in the cycle after the delivery, the write at 70 + CWL 6 + BL/2 4.
    assert_eq!(outcome.done(), [(0, 62), (2, 63), (1, 80), (3, 118), (4, 320)]);
    assert_eq!(outcome.stats.whole.forwarded, 1);
    let data = |at: usize| outcome.completions[at].data.as_ref().unwrap()[0];
    assert_eq!([data(1), data(4)], [7, 3], "the write's bytes, then those of the second copy");
}
