//! The data path compared with a plain map of rows, under any legal commands; and the detection of
//! each defect.
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dram_core::{Background, Cells, Defect, Defective, Device, Effect, LineBytes, RowOrigin};
use dram_spec::geometry::PAPER_ROW_BYTES;
use dram_spec::{
    AutoPrecharge, BankId, Channel, Column, Command, Density, Geometry, RawGeometry, Refresh, Row, SpeedBin, Standard,
    System, Width,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

struct Numbered;

impl Background for Numbered {
    fn line(&self, _: Channel, bank: BankId, row: Row, column: Column) -> LineBytes {
        let number = u64::from(bank.bank) << 48 | u64::from(row.0) << 16 | u64::from(column.0);
        let mut line = [0; 64];
        line.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&number.wrapping_mul(0x9E37_79B9).to_le_bytes()));
        line
    }
}

fn system() -> System {
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels: 1,
        ranks: 1,
        density: Density::Gb1,
        width: Width::X8,
        row_bytes: PAPER_ROW_BYTES,
        rows_per_subarray: 128.into(),
    };
    System { refresh: Refresh::Off, ..System::new(SpeedBin::named("1066G").unwrap(), Geometry::try_from(raw).unwrap()) }
}

/// A requested command, which is executed only if the state permits it.
#[derive(Clone, Debug)]
enum Requested {
    Activate(u8, u32),
    Precharge(u8),
    Write(u8, u16, u8),
    Transfer(u8, u16, u8, u16),
}

fn arb_requests() -> impl Strategy<Value = Vec<Requested>> {
    let (bank, column) = (0u8..3, 0u16..64);
    // Rows of two subarrays, so that some copy activations are dropped.
    let row = prop_oneof![0u32..4, 128u32..131];
    let request = prop_oneof![
        4 => (bank.clone(), row).prop_map(|(bank, row)| Requested::Activate(bank, row)),
        2 => bank.clone().prop_map(Requested::Precharge),
        2 => (bank.clone(), column.clone(), any::<u8>()).prop_map(|(b, c, v)| Requested::Write(b, c, v)),
        2 => (bank.clone(), column.clone(), bank, column).prop_map(|(s, a, d, b)| Requested::Transfer(s, a, d, b)),
    ];
    proptest::collection::vec(request, 1..40)
}

/// The reference: every row as its lines.
#[derive(Default)]
struct Rows {
    rows: BTreeMap<(u8, u32), Vec<LineBytes>>,
    open: BTreeMap<u8, u32>,
}

impl Rows {
    fn row(&mut self, bank: u8, row: u32) -> &mut Vec<LineBytes> {
        self.rows.entry((bank, row)).or_insert_with(|| {
            let bank = BankId { rank: 0, bank };
            (0..64).map(|column| Numbered.line(Channel(0), bank, Row(row), Column(column))).collect()
        })
    }

    fn apply(&mut self, request: &Requested) {
        match *request {
            Requested::Activate(bank, row) => match self.open.get(&bank).copied() {
                None => {
                    self.open.insert(bank, row);
                }
                Some(open) if open / 128 == row / 128 => {
                    let moved = self.row(bank, open).clone();
                    *self.row(bank, row) = moved;
                    self.open.insert(bank, row);
                }
                Some(_) => {}
            },
            Requested::Precharge(bank) => {
                self.open.remove(&bank);
            }
            Requested::Write(bank, column, value) => {
                let row = self.open[&bank];
                self.row(bank, row)[usize::from(column)] = [value; 64];
            }
            Requested::Transfer(src, src_column, dst, dst_column) => {
                let (src_row, dst_row) = (self.open[&src], self.open[&dst]);
                let line = self.row(src, src_row)[usize::from(src_column)];
                self.row(dst, dst_row)[usize::from(dst_column)] = line;
            }
        }
    }
}

/// Executes the permitted commands on both; returns whether their rows are then equal, and the
/// number of dropped activations.
fn same_after(requests: &[Requested], defect: Option<Defect>) -> (bool, u64) {
    let system = system();
    let cells = Cells::new(Channel(0), system.geometry, Arc::new(Defective(Numbered, defect)));
    let (mut device, mut plain) = (Device::new(&system, Some(cells)), Rows::default());
    for request in requests {
        let id = |bank| BankId { rank: 0, bank };
        let command = match *request {
            Requested::Activate(bank, row) => Command::Activate { bank: id(bank), row: Row(row) },
            Requested::Precharge(bank) => Command::Precharge { bank: id(bank) },
            Requested::Write(bank, column, _) => {
                Command::Write { bank: id(bank), column: Column(column), auto_precharge: AutoPrecharge::No }
            }
            Requested::Transfer(src, src_column, dst, dst_column) => Command::Transfer {
                src: id(src),
                src_column: Column(src_column),
                dst: id(dst),
                dst_column: Column(dst_column),
            },
        };
        let Ok(hold) = device.earliest(&command) else { continue };
        let before = device.dropped();
        let effect = device.issue(hold.until(), &command);
        assert_eq!(matches!(effect, Effect::Dropped { .. }), device.dropped() > before);
        if let Requested::Write(bank, column, value) = *request {
            let row = device.open_row(id(bank)).unwrap();
            device.write_line(id(bank), row, Column(column), &[value; 64]);
        }
        plain.apply(request);
        for bank in 0..3 {
            let open = device.open_row(id(bank));
            assert_eq!(open, plain.open.get(&bank).map(|&row| Row(row)));
            if let Some(row) = open {
                let read = device.read_line(id(bank), row, Column(1));
                assert_eq!(read, device.cells().map(|cells| cells.line(id(bank), row, Column(1))));
            }
        }
    }
    let cells = device.cells().unwrap();
    // Rows that either has changed, and the first rows of both subarrays.
    let changed = cells.changed().map(|(bank, row, _)| (bank.bank, row.0));
    let mut rows: BTreeSet<_> = changed.chain(plain.rows.keys().copied()).collect();
    rows.extend([(0, 0), (0, 128)]);
    let same = rows.into_iter().all(|(bank, row)| {
        let id = BankId { rank: 0, bank };
        plain.row(bank, row).iter().zip(0..).all(|(line, column)| cells.line(id, Row(row), Column(column)) == *line)
    });
    (same, device.dropped())
}

proptest! {
    #[test]
    fn rows_hold_what_a_plain_map_holds(requests in arb_requests()) {
        prop_assert!(same_after(&requests, None).0);
    }
}

#[test]
fn each_defect_of_the_data_path_is_noticed_and_drops_do_occur() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_requests();
    let cases: Vec<_> = (0..500).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
    assert!(cases.iter().any(|requests| same_after(requests, None).1 > 0), "no activation is ever dropped");
    for defect in [Defect::FpmLosesALine, Defect::FpmCrossesSubarrays, Defect::TransferSwapsColumns] {
        assert!(cases.iter().any(|requests| !same_after(requests, Some(defect)).0), "{defect:?} goes unnoticed");
    }
}

/// A row is listed once it is written or filled, with its lines by column; other rows are not
/// listed.
#[test]
fn changed_rows_are_listed_with_their_lines() {
    let system = system();
    let cells = Cells::new(Channel(0), system.geometry, Arc::new(Numbered));
    let mut device = Device::new(&system, Some(cells));
    let bank = BankId { rank: 0, bank: 2 };
    let mut issue = |command| {
        let at = device.earliest(&command).unwrap().until();
        device.issue(at, &command);
    };
    issue(Command::Activate { bank, row: Row(7) });
    for column in [5, 2, 3] {
        issue(Command::Write { bank, column: Column(column), auto_precharge: AutoPrecharge::No });
    }
    for column in [5, 2, 3] {
        device.write_line(bank, Row(7), Column(column), &[column as u8; 64]);
    }
    device.write_line(bank, Row(7), Column(5), &[50; 64]);
    let listed: Vec<_> = device.cells().unwrap().changed().collect();
    let [(at, Row(7), stored)] = listed[..] else { panic!("one row was written: {listed:?}") };
    assert_eq!((at, stored.origin()), (bank, RowOrigin::Row(bank, Row(7))));
    let lines: Vec<_> = stored.written().iter().map(|&(Column(column), line)| (column, line[63])).collect();
    assert_eq!(lines, [(2, 2), (3, 3), (5, 50)], "each column once, with what was written last");
}

/// With the defect, bank 3 reads from its temporary row what a copy activation and a TRANSFER move to
/// that of bank 2; other rows are separate.
#[test]
fn a_shared_temporary_row_is_shared_by_the_banks_and_no_other_row_is() {
    let system = system();
    let temporary = system.geometry.temporary_row();
    let [from, bank, other] = [1, 2, 3].map(|bank| BankId { rank: 0, bank });
    for (defect, row, is_shared) in [
        (Some(Defect::SharedTemporaryRow), temporary, true),
        (Some(Defect::SharedTemporaryRow), Row(4), false),
        (None, temporary, false),
    ] {
        let cells = Cells::new(Channel(0), system.geometry, Arc::new(Defective(Numbered, defect)));
        let mut device = Device::new(&system, Some(cells));
        let before = Row(row.0 - 1);
        for command in [
            Command::Activate { bank: from, row: Row(9) },
            Command::Activate { bank, row: before },
            Command::Activate { bank, row },
            Command::Transfer { src: from, src_column: Column(7), dst: bank, dst_column: Column(5) },
        ] {
            device.issue(device.earliest(&command).unwrap().until(), &command);
        }
        let cells = device.cells().unwrap();
        let moved_row = Numbered.line(Channel(0), bank, before, Column(0));
        let moved_line = Numbered.line(Channel(0), from, Row(9), Column(7));
        for (column, moved) in [(Column(0), moved_row), (Column(5), moved_line)] {
            assert_eq!(cells.line(bank, row, column), moved, "{defect:?} {row:?}");
            assert_eq!(cells.line(other, row, column) == moved, is_shared, "{defect:?} {row:?}");
        }
    }
}
