//! Random memory systems, and operations on them that exercise every rule.

use std::collections::BTreeSet;

use dram_spec::address::{AddressMap, Fields, MapPreset, RawAddressMap, RawXor};
use dram_spec::{
    BankId, Channel, Column, Density, Geometry, Location, PhysicalAddress, RawGeometry, Row, RowsPerSubarray, Standard,
    Width,
};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::{FaultyRows, Operation};

pub(super) fn arb_geometry() -> impl Strategy<Value = Geometry> {
    let rows = prop_oneof![
        3 => select(vec![128, 512]).prop_map(RowsPerSubarray::from),
        1 => proptest::collection::vec(128..=1024_u64, 1..=8).prop_map(RowsPerSubarray::from_iter),
    ];
    (0..3_u32, 0..2_u32, any::<bool>(), rows).prop_map(|(channels, ranks, small_rows, rows_per_subarray)| {
        let raw = RawGeometry {
            standard: Standard::Ddr3,
            channels: 1 << channels,
            ranks: 1 << ranks,
            density: Density::Gb1,
            width: Width::X8,
            row_bytes: if small_rows { 4096 } else { 8192 },
            rows_per_subarray,
        };
        // The last subarray may be too small.
        let other = RawGeometry { rows_per_subarray: 576.into(), ..raw };
        Geometry::try_from(raw).or_else(|_| Geometry::try_from(other)).unwrap()
    })
}

/// Rows, banks and channels in any order above and between the columns, and hashes of any bits
/// above the line offset.
pub(super) fn arb_map() -> impl Strategy<Value = AddressMap> {
    let preset = select(MapPreset::ALL.to_vec()).prop_map(MapPreset::raw);
    let high = Just(vec!["row", "subarray", "rank", "bank", "channel"]).prop_shuffle();
    let custom = (high, any::<bool>(), 0..=4_usize, 0..=5_u32, any::<bool>()).prop_map(
        |(mut fields, split, below, low_columns, rows_stay_high)| {
            fields.retain(|&field| split || field != "subarray");
            let low = fields.split_off(fields.len().saturating_sub(below));
            // Usually no row bits are below the columns: otherwise no operation here is long enough
            // for whole rows.
            let (rows, low): (Vec<_>, Vec<_>) =
                low.into_iter().partition(|&field| rows_stay_high && matches!(field, "row" | "subarray"));
            fields.extend(rows);
            fields.push("column");
            fields.extend(low);
            let mut fields: Vec<String> = fields.into_iter().map(str::to_owned).collect();
            fields.extend([format!("column:{low_columns}"), "offset".to_owned()]);
            RawAddressMap { fields: fields.into(), xor: Vec::new() }
        },
    );
    let hash = (select(vec!["bank", "channel", "rank"]), 0..3_u32, any::<[Index; 2]>());
    let hashes = proptest::collection::vec(hash, 0..3);
    (arb_geometry(), prop_oneof![preset, custom], hashes).prop_map(|(geometry, mut raw, hashes)| {
        if let (Fields::List(fields), None) = (&mut raw.fields, geometry.subarray_row_bits()) {
            fields.retain(|field| field != "subarray");
        }
        let address_bits = geometry.bytes().trailing_zeros() - 6;
        for (field, bit, bits) in hashes {
            let bits: BTreeSet<u32> = bits.map(|bit| 6 + bit.index(address_bits as usize) as u32).into();
            raw.xor.push(RawXor { field: field.into(), bit, address_bits: bits.into_iter().collect() });
            if AddressMap::new(geometry, &raw).is_err() {
                raw.xor.pop();
            }
        }
        AddressMap::new(geometry, &raw).unwrap()
    })
}

/// Place of a destination relative to its source.
#[derive(Clone, Copy, Debug)]
enum Aim {
    Subarray,
    Bank,
    Rank,
    Channel,
    Memory,
    /// At this distance in bytes.
    Near(i64),
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Bytes(u64),
    Lines(u64),
    Rows(u64),
    Granules(u64),
}

const MOST_BYTES: u64 = 128 << 10;

fn arb_size() -> impl Strategy<Value = Size> {
    prop_oneof![
        1 => (1..300_u64).prop_map(Size::Bytes),
        1 => (1..200_u64).prop_map(Size::Lines),
        1 => (1..5_u64).prop_map(Size::Rows),
        4 => (1..5_u64).prop_map(Size::Granules),
        1 => (1..20_000_u64).prop_map(Size::Bytes),
    ]
}

/// Replaces coordinates of a location as `aim` permits.
fn aimed(map: &AddressMap, src: u64, aim: Aim, random: u64) -> u64 {
    let geometry = map.geometry();
    let from = map.locate(PhysicalAddress(src)).unwrap();
    let row = |within: u32| Row((random >> 8) as u32 % within);
    let subarray = geometry.rows_of_subarray(geometry.subarray(from.row));
    let bank = |from: BankId| BankId { bank: (random % 8) as u8, ..from };
    let to = match aim {
        Aim::Subarray => Location { row: Row(subarray.start + row(subarray.len() as u32).0), ..from },
        Aim::Bank => Location { row: row(geometry.rows_per_bank()), ..from },
        Aim::Rank => Location { row: row(geometry.rows_per_bank()), bank: bank(from.bank), ..from },
        Aim::Channel => Location {
            row: row(geometry.rows_per_bank()),
            bank: BankId { rank: (random >> 4) as u8 % geometry.ranks(), ..bank(from.bank) },
            ..from
        },
        Aim::Memory => return random % geometry.bytes(),
        Aim::Near(distance) => return src.checked_add_signed(distance).unwrap_or(src),
    };
    map.address(to).unwrap().0
}

/// A planner's input: a map, remapped rows near the operation, and an operation.
pub(super) fn arb_case() -> impl Strategy<Value = (AddressMap, FaultyRows, Operation)> {
    let aim = prop_oneof![
        3 => Just(Aim::Subarray),
        2 => Just(Aim::Bank),
        2 => Just(Aim::Rank),
        1 => Just(Aim::Channel),
        1 => Just(Aim::Memory),
        2 => (-200..200_i64).prop_map(Aim::Near),
        2 => (-200..200_i64).prop_map(|lines| Aim::Near(lines * 64)),
        2 => (-5..5_i64).prop_map(|rows| Aim::Near(rows * 8192)),
    ];
    let nudge = || prop_oneof![6 => Just(0_u64), 2 => (0..64_u64).prop_map(|lines| lines * 64), 1 => 0..200_u64];
    let remapped = proptest::collection::vec((any::<u8>(), any::<u8>()), 0..6);
    (arb_map(), any::<u64>(), aim, any::<u64>(), arb_size(), (nudge(), nudge()), 0..8_u8, remapped).prop_map(
        |(map, src, aim, random, size, nudges, kind, remapped)| {
            let unit = map.granularity().min(MOST_BYTES);
            let base = src % map.geometry().bytes() / unit * unit;
            let bytes = match size {
                Size::Bytes(bytes) => bytes,
                Size::Lines(lines) => lines * 64,
                Size::Rows(rows) => rows * map.geometry().row_bytes(),
                Size::Granules(granules) => (granules * unit).min(MOST_BYTES),
            };
            let src = PhysicalAddress(base + nudges.0);
            let dst = PhysicalAddress(aimed(&map, base, aim, random) + nudges.0 + nudges.1);
            let operation = match kind {
                0 => Operation::Init { dst, bytes, value: 0 },
                1 => Operation::Init { dst, bytes, value: 0xa5 },
                2 if random.is_multiple_of(2) => Operation::Read { address: dst, bytes },
                2 => Operation::Write { address: dst, bytes },
                _ => Operation::Copy { src, dst, bytes },
            };
            let faulty = faulty_near(&map, &operation, &remapped);
            (map, faulty, operation)
        },
    )
}

/// Rows that the operation uses or may use: destinations, sources, zero rows and temporary rows.
fn faulty_near(map: &AddressMap, operation: &Operation, remapped: &[(u8, u8)]) -> FaultyRows {
    let geometry = map.geometry();
    let rows = remapped.iter().filter_map(|&(kind, place)| {
        let step = operation.bytes() * u64::from(place) / 256;
        let start = if kind % 2 == 0 { operation.target() } else { operation.src().unwrap_or(operation.target()) };
        let Location { channel, bank, row, .. } = map.locate(PhysicalAddress(start.0 + step))?;
        let other = BankId { bank: (bank.bank + kind / 16 % 3) % 8, ..bank };
        Some(match kind / 4 % 4 {
            0 => (channel, other, geometry.zero_row(geometry.subarray(row))),
            1 => (channel, other, geometry.temporary_row()),
            _ => (channel, bank, row),
        })
    });
    rows.collect()
}

/// The paper's memory system: rows of 4 KB, 2 Gb x8 chips, one rank, 512 rows per subarray.
pub(super) fn paper(channels: u64, row_bytes: u64) -> Geometry {
    let (density, width) = (Density::Gb2, Width::X8);
    Geometry::try_from(RawGeometry {
        standard: Standard::Ddr3,
        channels,
        ranks: 1,
        density,
        width,
        row_bytes,
        rows_per_subarray: 512.into(),
    })
    .unwrap()
}

/// Address of a line of the first rank.
/// A row-interleaved map whose field `row` is the whole row number, so that consecutive rows of a bank share a subarray
/// and reserved rows lie between usable ones.
pub(super) fn whole_rows() -> RawAddressMap {
    let fields = ["row", "rank", "bank", "channel", "column", "offset"];
    RawAddressMap { fields: fields.map(str::to_owned).to_vec().into(), xor: Vec::new() }
}

pub(super) fn at(map: &AddressMap, channel: u8, bank: u8, row: u32, column: u16) -> PhysicalAddress {
    let bank = BankId { rank: 0, bank };
    map.address(Location { channel: Channel(channel), bank, row: Row(row), column: Column(column), offset: 0 }).unwrap()
}
