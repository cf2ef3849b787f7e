//! Tests of geometries.

use super::*;

fn raw() -> RawGeometry {
    RawGeometry {
        standard: Standard::Ddr3,
        channels: 2,
        ranks: 1,
        density: Density::Gb2,
        width: Width::X8,
        row_bytes: 4096,
        rows_per_subarray: 512.into(),
    }
}

#[test]
fn the_papers_system_is_four_gibibytes() {
    let geometry = Geometry::try_from(raw()).unwrap();
    assert_eq!(geometry.bytes(), 4 << 30);
    assert_eq!((geometry.rows_per_bank(), geometry.subarrays_per_bank()), (65_536, 128));
    assert_eq!((geometry.columns(), geometry.page_bytes()), (64, 512));
}

/// Row lengths from Ramulator 1's organization table.
#[test]
fn chips_have_the_rows_and_pages_of_their_datasheets() {
    use Density::{Gb1, Gb2, Gb4, Gb8};
    use Width::{X4, X8, X16};
    let cases = [
        (Gb1, X4, 16, 14),
        (Gb2, X4, 16, 15),
        (Gb4, X4, 16, 16),
        (Gb8, X4, 32, 16),
        (Gb1, X8, 8, 14),
        (Gb2, X8, 8, 15),
        (Gb4, X8, 8, 16),
        (Gb8, X8, 16, 16),
        (Gb1, X16, 8, 13),
        (Gb2, X16, 8, 14),
        (Gb4, X16, 8, 15),
        (Gb8, X16, 8, 16),
    ];
    for (density, width, kib, row_bits) in cases {
        let row_bytes = native_row_bytes(Standard::Ddr3, density, width);
        let geometry = Geometry::try_from(RawGeometry { density, width, row_bytes, ..raw() }).unwrap();
        assert_eq!((row_bytes, geometry.rows_per_bank()), (kib << 10, 1 << row_bits), "{density} {width}");
    }
}

#[test]
fn an_impossible_geometry_says_what_would_work() {
    let check = |raw: RawGeometry, message: &str, help: &str| {
        let error = Geometry::try_from(raw).unwrap_err();
        assert_eq!((error.to_string().as_str(), error.help().as_str()), (message, help));
    };
    check(
        RawGeometry { channels: 3, ..raw() },
        "`channels` is 3, but must be a power of two from 1 to 8",
        "try `channels = 4`",
    );
    check(RawGeometry { ranks: 0, ..raw() }, "`ranks` is 0, but must be a power of two from 1 to 4", "try `ranks = 1`");
    check(
        RawGeometry { row_bytes: 2048, ..raw() },
        "`row_bytes` is 2048, but a rank of 2 Gb x8 chips has rows of 8192 bytes",
        "try `row_bytes = 8192`, or the RowClone paper's `row_bytes = 4096`",
    );
    check(
        RawGeometry { rows_per_subarray: [640, 127].into(), ..raw() },
        "`rows_per_subarray` is [640, 127], but must be a whole number from 128 to 1024, or a list of 1 to 8 of them",
        "try `rows_per_subarray = [640, 128]`",
    );
    check(
        RawGeometry { rows_per_subarray: 257.into(), ..raw() },
        "`rows_per_subarray` is 257, which leaves 1 of the 65536 rows of a bank for its last subarray, but that \
         needs 2: the zero row and the temporary row",
        "try `rows_per_subarray = 258`",
    );
}

#[test]
fn each_subarray_reserves_one_row_and_each_bank_one_more() {
    let geometry = Geometry::try_from(raw()).unwrap();
    let reserved = (0..geometry.rows_per_bank()).filter(|&row| geometry.reserved(Row(row)).is_some()).count();
    assert_eq!(reserved, 129);
    assert_eq!(geometry.reserved_bytes(), 129 * 4096 * 16);
    assert_eq!(geometry.reserved(geometry.zero_row(7)), Some(ReservedRow::Zero));
    assert_eq!(geometry.reserved(geometry.temporary_row()), Some(ReservedRow::Temporary));
    assert_eq!(geometry.reserved(Row(0)), None);
}

/// 32 times 640, 640 and 768 rows: 96 zero rows, and the temporary row of the bank.
#[test]
fn subarrays_of_a_pattern_have_their_zero_rows_and_hops() {
    let geometry = Geometry::try_from(RawGeometry { rows_per_subarray: [640, 640, 768].into(), ..raw() }).unwrap();
    assert_eq!((geometry.subarrays_per_bank(), geometry.subarray_row_bits()), (96, None));
    assert_eq!([0, 1, 2, 95].map(|subarray| geometry.zero_row(subarray).0), [639, 1279, 2047, 65_535]);
    assert_eq!(geometry.temporary_row(), Row(65_534));
    let hops = |from, to| geometry.subarray_distance(Row(from), Row(to));
    assert_eq!((hops(0, 639), hops(639, 640), hops(1279, 2048), hops(2048, 0)), (0, 1, 2, 3));
    let reserved = (0..geometry.rows_per_bank()).filter(|&row| geometry.reserved(Row(row)).is_some()).count();
    assert_eq!((reserved, geometry.reserved_bytes()), (97, 97 * 4096 * 16));
    let at = [511, 639, 640, 1279, 65_534].map(|row| geometry.reserved(Row(row)));
    let zero = Some(ReservedRow::Zero);
    assert_eq!(at, [None, zero, None, zero, Some(ReservedRow::Temporary)]);
}

/// 113 x 576 rows, and a last subarray of 448.
#[test]
fn a_cut_last_subarray_has_its_zero_row_and_the_temporary_row() {
    let geometry = Geometry::try_from(RawGeometry { rows_per_subarray: 576.into(), ..raw() }).unwrap();
    assert_eq!((geometry.subarrays_per_bank(), geometry.rows_of_subarray(113)), (114, 65_088..65_536));
    assert_eq!((geometry.zero_row(112), geometry.zero_row(113)), (Row(65_087), Row(65_535)));
    assert_eq!(geometry.reserved(Row(65_534)), Some(ReservedRow::Temporary));
    assert_eq!(geometry.reserved_bytes(), 115 * 4096 * 16);
}
