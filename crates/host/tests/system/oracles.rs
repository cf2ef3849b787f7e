//! The comparison with a flat memory reports wrong bytes of a read, a lost write, and a changed
//! zero row.
//!
//! Each defect is introduced between the source and the controller, or by commands to a device;
//! controller and device themselves are correct.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dram_core::{Cells, Device};
use dram_spec::RequestId;
use dram_spec::address::MapPreset;
use dram_spec::geometry::ReservedRow;
use dram_spec::{
    AddressMap, BankId, Channel, Column, Command, Cycle, Density, Location, PhysicalAddress, Row, System, Width,
};
use host::comparison::compare;
use host::{CheckedSource, Contents, FlatMemory, MemoryCheck, Sequence};
use memctrl::policy::copy::ROWCLONE;
use memctrl::{Completion, Config, Controller, Request, RequestSource};
use rowclone::Operation;

use crate::common::paper;

/// A source whose requests and completions are altered in transit.
struct Altered<S> {
    source: S,
    request: fn(&mut Request),
    completion: fn(&mut Completion),
}

impl<S: RequestSource> RequestSource for Altered<S> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let mut request = self.source.take(now)?;
        (self.request)(&mut request);
        Some(request)
    }

    fn complete(&mut self, mut completion: Completion) {
        (self.completion)(&mut completion);
        self.source.complete(completion);
    }
}

const fn sound_request(_: &mut Request) {}
const fn sound_completion(_: &mut Completion) {}

/// Result of the comparison after sequential operations.
fn found(operations: &[Operation], request: fn(&mut Request), completion: fn(&mut Completion)) -> MemoryCheck {
    let config = paper(ROWCLONE);
    let contents = Contents::new(1, config.planner.map().clone());
    let sequence = Sequence::new(operations.iter().map(|&operation| (operation, None)), Some(contents.clone()));
    let source = CheckedSource::new(sequence, FlatMemory::new(contents.clone()));
    let mut source = Altered { source, request, completion };
    let channels = config.system.geometry.channels();
    let mut controller = Controller::new(&Config { contents: Some(Arc::new(contents)), ..config });
    controller.run(&mut source, &mut (), &AtomicBool::new(false)).unwrap();
    source.source.finish(&controller, channels).1
}

/// The first byte of row 64 of bank 0.
const HERE: PhysicalAddress = PhysicalAddress(0x0040_0000);

const fn write(address: PhysicalAddress, bytes: u64) -> Operation {
    Operation::Write { address, bytes }
}

const fn read(address: PhysicalAddress, bytes: u64) -> Operation {
    Operation::Read { address, bytes }
}

fn data(completion: &mut Completion) -> &mut Vec<u8> {
    completion.data.as_mut().unwrap()
}

#[test]
fn correct_runs_compare_equal() {
    let operations = [
        write(HERE, 300),
        read(HERE, 300),
        Operation::Copy { src: HERE, dst: PhysicalAddress(0x0080_0000), bytes: 4096 },
    ];
    assert_eq!(found(&operations, sound_request, sound_completion), MemoryCheck::Equal);
}

/// Of three reads, the second and the third return a wrong byte: the second is reported, with the
/// offset.
#[test]
fn a_wrong_byte_of_a_read_is_reported() {
    let reads = [read(HERE, 64), read(HERE, 300), read(HERE, 300)];
    let last = |completion: &mut Completion| match completion.id {
        RequestId(0) => {}
        _ => data(completion)[299] ^= 0x10,
    };
    assert_eq!(found(&reads, sound_request, last), MemoryCheck::Read { id: RequestId(1), at: 299 });
}

#[test]
fn a_read_that_returns_too_little_is_reported() {
    let read = [read(HERE, 64)];
    let found = |completion| found(&read, sound_request, completion);
    assert_eq!(found(|completion| data(completion).truncate(63)), MemoryCheck::Read { id: RequestId(0), at: 63 });
    assert_eq!(found(|completion| completion.data = None), MemoryCheck::Read { id: RequestId(0), at: 0 });
}

/// Replaces the second write by a read of another row.
fn lose_the_second(request: &mut Request) {
    if request.id == RequestId(1) {
        request.operation = read(PhysicalAddress(0), 64);
        request.payload = None;
    }
}

/// The remaining write is to the same row, or the lost write is the only one of its row.
#[test]
fn a_lost_write_is_reported() {
    for lost in [PhysicalAddress(HERE.0 + 128), PhysicalAddress(0x0080_0000)] {
        let operations = [write(HERE, 64), write(lost, 64)];
        let MemoryCheck::Cells(mismatch) = found(&operations, lose_the_second, sound_completion) else {
            panic!("the loss of the write to {lost} is not found");
        };
        assert!((lost.0..lost.0 + 64).contains(&mismatch.address.0), "{lost}: {mismatch:?}");
    }
}

/// A payload with one byte altered in transit.
#[test]
fn a_wrong_byte_of_a_write_is_reported() {
    let flip = |request: &mut Request| {
        let mut bytes = request.payload.as_deref().unwrap().to_vec();
        bytes[70] ^= 1;
        request.payload = Some(bytes.into());
    };
    let MemoryCheck::Cells(mismatch) = found(&[write(HERE, 128)], flip, sound_completion) else { panic!("not found") };
    assert_eq!((mismatch.address, mismatch.expected ^ mismatch.found), (PhysicalAddress(HERE.0 + 70), 1));
}

const BANK: BankId = BankId { rank: 0, bank: 2 };

/// Opens a row of a bank and copies it over others, with a flat memory; `change` may then write to
/// the cells. Returns the result of the comparison.
fn after(rows: &[Row], change: impl FnOnce(&mut Device, &mut FlatMemory)) -> Option<(Location, u8, u8)> {
    let system = System::paper(1, Density::Gb2, Width::X8);
    let map = AddressMap::new(system.geometry, &MapPreset::RowInterleaved.raw()).unwrap();
    let contents = Contents::new(1, map);
    let cells = Cells::new(Channel(0), system.geometry, Arc::new(contents.clone()));
    let (mut device, mut flat) = (Device::new(&system, Some(cells)), FlatMemory::new(contents));
    for &row in rows {
        let activate = Command::Activate { bank: BANK, row };
        let at = device.earliest(&activate).unwrap().until();
        device.issue(at, &activate);
    }
    change(&mut device, &mut flat);
    let mismatch = compare(&flat, &[device.cells().unwrap()]);
    mismatch.map(|found| (found.location, found.expected, found.found))
}

/// A row of `Contents` is copied over the zero row of its subarray, or a line is written there.
#[test]
fn a_changed_zero_row_is_reported() {
    let geometry = System::paper(1, Density::Gb2, Width::X8).geometry;
    let zero = geometry.zero_row(0);
    assert_eq!(geometry.reserved(zero), Some(ReservedRow::Zero));
    assert_eq!(after(&[zero], |_, _| {}), None, "it holds zeros at reset");

    let copied = after(&[Row(5), zero], |_, _| {});
    let (at, expected, found) = copied.expect("a copy over the zero row is found");
    assert_eq!((at.bank, at.row, expected), (BANK, zero, 0));
    assert_ne!(found, 0);

    let mut line = [0; 64];
    line[9] = 3;
    let written = after(&[zero], |device, _| device.write_line(BANK, zero, Column(7), &line));
    let location = Location { channel: Channel(0), bank: BANK, row: zero, column: Column(7), offset: 9 };
    assert_eq!(written, Some((location, 0, 3)));
}

/// The contents of a temporary row belong to no copy's result.
#[test]
fn a_temporary_row_may_hold_anything() {
    let temporary = System::paper(1, Density::Gb2, Width::X8).geometry.temporary_row();
    assert_eq!(after(&[temporary], |device, _| device.write_line(BANK, temporary, Column(0), &[7; 64])), None);
}

/// A command stream without its copy activation: the flat memory made the copy, and the cells did
/// not.
#[test]
fn a_missing_copy_is_reported() {
    let map =
        AddressMap::new(System::paper(1, Density::Gb2, Width::X8).geometry, &MapPreset::RowInterleaved.raw()).unwrap();
    let row =
        |row| map.address(Location { channel: Channel(0), bank: BANK, row: Row(row), column: Column(0), offset: 0 });
    let (src, dst) = (row(5).unwrap(), row(6).unwrap());
    let copy = |_: &mut Device, flat: &mut FlatMemory| {
        flat.apply(&Operation::Copy { src, dst, bytes: 4096 }, None);
    };
    assert_eq!(after(&[Row(5), Row(6)], copy), None);
    let (at, ..) = after(&[Row(5)], copy).expect("found");
    assert_eq!((at.bank, at.row), (BANK, Row(6)));
}
