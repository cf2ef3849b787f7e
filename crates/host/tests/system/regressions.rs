//! Minimal loads that exposed errors.

use dram_spec::{BankId, Channel, Column, Cycle, Cycles, Dialect, Location, PhysicalAddress, Row};
use host::MemoryCheck;
use memctrl::policy::copy::{BASELINE, ROWCLONE};
use memctrl::{Config, PowerPolicy};
use rowclone::Operation;

use crate::cases::Case;
use crate::common::{paper, run};

/// The first line of a row of the paper's system.
fn line(bank: u8, row: u32, channel: u8) -> PhysicalAddress {
    let location = Location {
        channel: Channel(channel),
        bank: BankId { rank: 0, bank },
        row: Row(row),
        column: Column(0),
        offset: 0,
    };
    paper(ROWCLONE).planner.map().address(location).unwrap()
}

fn check(config: Config, operations: &[(Operation, u64)]) {
    let operations: Vec<_> = operations.iter().map(|&(operation, at)| (operation, Some(Cycle(at)))).collect();
    let case = Case { config, seed: 1, operations };
    assert_eq!(run(&case.config, case.seed, &case.operations, Dialect::RowClone).memory, MemoryCheck::Equal);
}

fn page(src: PhysicalAddress, dst: PhysicalAddress) -> Operation {
    Operation::Copy { src, dst, bytes: 4096 }
}

fn read(address: PhysicalAddress) -> Operation {
    Operation::Read { address, bytes: 64 }
}

#[test]
fn a_copy_onto_itself_is_done_while_it_waits_for_writes() {
    let here = line(0, 0, 0);
    check(paper(BASELINE), &[(Operation::Write { address: here, bytes: 640 }, 0), (page(here, here), 0)]);
}

#[test]
fn a_read_is_released_while_an_older_write_of_its_line_waits_for_another_copy() {
    let here = line(0, 0, 0);
    let operations = [
        (page(line(0, 1, 0), here), 0),
        (page(here, line(1, 0, 0)), 0),
        (Operation::Write { address: here, bytes: 64 }, 0),
        (read(here), 0),
    ];
    check(paper(BASELINE), &operations);
}

/// Otherwise the later thread would overtake it in that bank, and read wrong data.
#[test]
fn a_preempted_thread_keeps_its_place_in_banks_that_it_has_left() {
    let (here, there) = (line(0, 0, 0), line(0, 0, 1));
    let operations =
        [(page(there, here), 0), (Operation::Init { dst: there, bytes: 4096, value: 7 }, 0), (read(line(0, 1, 0)), 20)];
    check(Config { copy_hold_max: Some(Cycles(100)), ..paper(BASELINE) }, &operations);
}

#[test]
fn a_thread_begins_with_its_row_open_in_a_rank_that_just_entered_power_down() {
    let power = PowerPolicy { power_down_after: Some(Cycles(1)), self_refresh_after: None };
    let here = line(0, 0, 0);
    check(Config { power, ..paper(BASELINE) }, &[(read(here), 0), (page(here, line(0, 1, 0)), 22)]);
}

#[test]
fn an_epoch_begins_with_the_last_cycle() {
    check(Config { epoch: Some(Cycles(1)), ..paper(BASELINE) }, &[(read(line(0, 0, 0)), 0)]);
}
