use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::geometry::{PAPER_ROW_BYTES, RawGeometry, native_row_bytes};
use crate::standard::{Chip, Standard};
use crate::standard::{Density, Width};
use crate::subarrays::RowsPerSubarray;

/// The paper's rows on `channels` channels, one rank.
fn paper(channels: u64) -> Geometry {
    Geometry::try_from(RawGeometry {
        standard: Standard::Ddr3,
        channels,
        ranks: 1,
        density: Density::Gb2,
        width: Width::X8,
        row_bytes: PAPER_ROW_BYTES,
        rows_per_subarray: 512.into(),
    })
    .unwrap()
}

fn raw_map(fields: &[&str], xor: &[(&str, u32, &[u32])]) -> RawAddressMap {
    let hash =
        |&(field, bit, bits): &(&str, u32, &[u32])| RawXor { field: field.into(), bit, address_bits: bits.into() };
    let fields = fields.iter().map(|&field| field.to_owned()).collect::<Vec<_>>();
    RawAddressMap { fields: fields.into(), xor: xor.iter().map(hash).collect() }
}

fn arb_geometry() -> impl Strategy<Value = Geometry> {
    let chips =
        select(Standard::ALL.to_vec()).prop_flat_map(|standard| (Just(standard), select(standard.definition().chips)));
    let numbers = proptest::collection::vec(128..=1024_u64, 1..=8);
    let rows = prop_oneof![
        3 => (7..=10_u32).prop_map(|bits| RowsPerSubarray::from(1 << bits)),
        1 => numbers.prop_map(RowsPerSubarray::from_iter),
    ];
    (0..4_u32, 0..3_u32, chips, any::<bool>(), rows).prop_map(
        |(channels, ranks, (standard, chip), native, rows_per_subarray)| {
            let Chip { density, width, .. } = chip;
            let row_bytes = if native { native_row_bytes(standard, density, width) } else { PAPER_ROW_BYTES };
            let ranks = (1 << ranks).min(64 / u64::from(standard.definition().rank_banks_max));
            let channels = 1 << channels;
            let raw = RawGeometry { standard, channels, ranks, density, width, row_bytes, rows_per_subarray };
            // The last subarray may be too small.
            let other = RawGeometry { rows_per_subarray: 576.into(), ..raw };
            Geometry::try_from(raw).or_else(|_| Geometry::try_from(other)).unwrap()
        },
    )
}

/// Any order of the fields, each divided into up to two parts, with the row whole or divided at the
/// subarray, and up to three hashes that do not make the map singular.
fn arb_map() -> impl Strategy<Value = AddressMap> {
    let order = Just(vec!["row", "subarray", "rank", "bank_group", "bank", "column", "channel"]).prop_shuffle();
    let cuts = proptest::collection::vec((any::<bool>(), any::<Index>(), any::<Index>()), 7);
    let hashes = proptest::collection::vec(
        (select(vec!["bank", "channel", "rank"]), 0..3_u32, proptest::collection::vec(any::<Index>(), 1..4)),
        0..4,
    );
    let splits = (any::<bool>(), any::<bool>()).prop_map(|(bank, row)| Split { bank, row });
    (arb_geometry(), order, splits, cuts, hashes).prop_map(|(geometry, order, split, cuts, hashes)| {
        let split = Split { row: split.row && geometry.subarray_row_bits().is_some(), ..split };
        let layout = Layout::new(&geometry);
        let mut fields: Vec<String> = Vec::new();
        for (name, (cut, width, place)) in order.into_iter().zip(cuts) {
            if name == "subarray" && !split.row || name == "bank_group" && !split.bank {
                continue;
            }
            let bits = layout.place(Field::from_name(name).unwrap(), split).1;
            fields.push(name.to_owned());
            if cut && bits > 0 {
                fields.insert(place.index(fields.len() + 1), format!("{name}:{}", width.index(bits as usize + 1)));
            }
        }
        fields.push("offset".to_owned());
        let mut raw = RawAddressMap { fields: fields.into(), xor: Vec::new() };
        for (field, bit, address_bits) in hashes {
            let span = (layout.end - layout.column) as usize;
            let bits: BTreeSet<u32> =
                address_bits.iter().map(|index| layout.column + index.index(span) as u32).collect();
            raw.xor.push(RawXor { field: field.to_owned(), bit, address_bits: bits.into_iter().collect() });
            if AddressMap::new(geometry, &raw).is_err() {
                raw.xor.pop();
            }
        }
        AddressMap::new(geometry, &raw).unwrap()
    })
}

/// Addresses of all lines of a location's row.
fn lines_of_row(map: &AddressMap, location: Location) -> Vec<u64> {
    let column = |column| Location { column: Column(column), offset: 0, ..location };
    (0..map.geometry().columns()).map(|c| map.address(column(c)).unwrap().0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn locate_and_address_are_inverse(map in arb_map(), places in proptest::collection::vec(any::<Index>(), 50)) {
        let bytes = map.geometry().bytes();
        for place in places {
            let address = PhysicalAddress(place.index(bytes as usize) as u64);
            let location = map.locate(address).unwrap();
            prop_assert!(map.geometry().holds(location.channel, location.bank, location.row, location.column));
            prop_assert_eq!(u64::from(location.offset), address.0 % LINE_BYTES);
            prop_assert_eq!(map.address(location), Some(address));
        }
        prop_assert_eq!(map.locate(PhysicalAddress(bytes)), None);
        prop_assert_eq!(map.locate(PhysicalAddress(u64::MAX)), None);
    }

    #[test]
    fn granularity_is_the_smallest_block_of_whole_rows(map in arb_map(), place in any::<Index>()) {
        let address = PhysicalAddress(place.index(map.geometry().bytes() as usize) as u64);
        let lines = lines_of_row(&map, map.locate(address).unwrap());
        let blocks = |bytes: u64| lines.iter().map(|line| line / bytes).collect::<BTreeSet<_>>().len();
        prop_assert!(map.granularity() >= map.geometry().row_bytes());
        prop_assert_eq!(blocks(map.granularity()), 1);
        prop_assert!(map.granularity() == map.geometry().row_bytes() || blocks(map.granularity() / 2) > 1);
    }

    #[test]
    fn one_decode_answers_for_a_run_and_for_no_more(map in arb_map(), place in any::<Index>()) {
        let address = place.index(map.geometry().bytes() as usize) as u64;
        let is_run = |bytes: u64| {
            let base = address / bytes * bytes;
            let first = map.locate(PhysicalAddress(base)).unwrap();
            (0..bytes / LINE_BYTES).all(|line| {
                let here = map.locate(PhysicalAddress(base + line * LINE_BYTES)).unwrap();
                here == Location { column: Column(first.column.0 + line as u16), ..first }
            })
        };
        prop_assert!(is_run(map.run_bytes()));
        prop_assert!(map.run_bytes() == map.geometry().row_bytes() || !is_run(2 * map.run_bytes()));
    }

    #[test]
    fn runs_of_a_row_are_a_stride_apart(map in arb_map(), place in any::<Index>()) {
        let Stride { bytes, span } = map.stride();
        let run = map.run_bytes();
        prop_assert!(run <= bytes && bytes <= span && span <= map.granularity());
        let address = place.index(map.geometry().bytes() as usize) as u64 / span * span;
        let mut rows = BTreeSet::new();
        for lane in (0..bytes).step_by(run.max(bytes / 64) as usize) {
            let first = map.locate(PhysicalAddress(address + lane)).unwrap();
            for offset in (0..span).step_by(bytes.max(span / 64) as usize) {
                let column = Column(first.column.0 + (offset / bytes * run / LINE_BYTES) as u16);
                let found = map.locate(PhysicalAddress(address + lane + offset));
                prop_assert_eq!(found, Some(Location { column, ..first }));
            }
            prop_assert!(rows.insert((first.channel, first.bank, first.row)), "two lanes in {first}");
        }
    }

    #[test]
    fn frame_answers_are_those_of_a_search_through_its_lines(map in arb_map(), place in any::<Index>()) {
        let frame = place.index((map.geometry().bytes() / FRAME_BYTES) as usize) as u64;
        let mut subarrays = BTreeSet::new();
        let mut frames = BTreeSet::new();
        for line in (0..FRAME_BYTES).step_by(LINE_BYTES as usize) {
            let location = map.locate(PhysicalAddress(frame * FRAME_BYTES + line)).unwrap();
            let subarray = map.geometry().subarray(location.row);
            subarrays.insert(SubarrayId { channel: location.channel, bank: location.bank, subarray });
            frames.extend(lines_of_row(&map, location).iter().map(|line| line / FRAME_BYTES));
        }
        prop_assert_eq!(map.frame_subarrays(frame), Vec::from_iter(subarrays));
        prop_assert_eq!(map.frames_sharing_rows(frame), Vec::from_iter(frames));
    }

    #[test]
    fn the_inverse_of_a_random_matrix_inverts_it(
        rows in proptest::collection::vec(any::<u64>(), 1..12),
        input in any::<u64>(),
    ) {
        let mask = (1 << rows.len()) - 1;
        let rows: Vec<u64> = rows.into_iter().map(|row| row & mask).collect();
        let input = input & mask;
        let output = |input: u64| -> u64 {
            rows.iter().enumerate().map(|(bit, row)| u64::from((row & input).count_ones() & 1) << bit).sum()
        };
        match matrix::inverse(&rows, 0..rows.len()) {
            Ok(inverse) => {
                let ones = (0..rows.len()).filter(|bit| output(input) >> bit & 1 == 1);
                let back = ones.fold(0, |sum, bit| sum ^ inverse[bit]);
                prop_assert_eq!(back, input);
            }
            Err(_) => prop_assert!((1..=mask).any(|other| output(other) == 0), "refused, but one to one"),
        }
    }
}

#[test]
fn consecutive_addresses_go_where_the_preset_says() {
    use MapPreset::{BankInterleaved, LineInterleaved, RowInterleaved};
    let places = |preset, step: u64| -> Vec<(u8, u8, u32, u16)> {
        let map = AddressMap::preset(paper(2), preset);
        (0..4)
            .map(|i| map.locate(PhysicalAddress(i * step)).unwrap())
            .map(|at| (at.channel.0, at.bank.bank, at.row.0, at.column.0))
            .collect()
    };
    assert_eq!(places(RowInterleaved, 64), [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 0, 2), (0, 0, 0, 3)]);
    assert_eq!(places(RowInterleaved, 4096), [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (1, 1, 0, 0)]);
    assert_eq!(places(LineInterleaved, 64), [(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 1)]);
    assert_eq!(places(LineInterleaved, 8192), [(0, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 0), (0, 3, 0, 0)]);
    assert_eq!(places(BankInterleaved, 64), [(0, 0, 0, 0), (0, 1, 0, 0), (0, 2, 0, 0), (0, 3, 0, 0)]);
    assert_eq!(places(BankInterleaved, 512), [(0, 0, 0, 0), (1, 0, 0, 0), (0, 0, 0, 1), (1, 0, 0, 1)]);
}

#[test]
fn presets_publish_the_granularity_and_the_run_of_their_interleaving() {
    let of = |channels, preset| {
        let map = AddressMap::preset(paper(channels), preset);
        (map.granularity(), map.run_bytes(), map.stride().bytes, map.stride().span)
    };
    assert_eq!(of(1, MapPreset::RowInterleaved), (4096, 4096, 4096, 4096));
    assert_eq!(of(2, MapPreset::RowInterleaved), (4096, 4096, 4096, 4096));
    assert_eq!(of(1, MapPreset::LineInterleaved), (4096, 4096, 4096, 4096), "one channel leaves nothing to interleave");
    assert_eq!(of(2, MapPreset::LineInterleaved), (8192, 64, 128, 8192), "row size x channels");
    assert_eq!(of(2, MapPreset::BankInterleaved), (65_536, 64, 1024, 65_536), "row size x channels x banks");
}

/// `DRAMSys`' two DIMM maps, in which the byte of the 64-bit word is bits 0-2 and the column bits
/// 3-12.
#[test]
fn published_maps_put_the_bank_above_or_below_the_row() {
    let geometry = Geometry::try_from(RawGeometry { channels: 1, row_bytes: 8192, ..paper(1).raw() }).unwrap();
    let address = |fields: &[&str], bank: u8, row: u32| {
        let bank = BankId { rank: 0, bank };
        let map = AddressMap::new(geometry, &raw_map(fields, &[])).unwrap();
        map.address(Location { bank, row: Row(row), ..Location::default() }).unwrap().0
    };
    let (brc, rbc) = (["bank", "row", "column", "offset"], ["row", "bank", "column", "offset"]);
    assert_eq!((address(&brc, 1, 0), address(&brc, 0, 1)), (1 << 28, 1 << 13));
    assert_eq!((address(&rbc, 1, 0), address(&rbc, 0, 1)), (1 << 13, 1 << 16));
}

#[test]
fn the_lowest_listed_part_holds_the_lowest_bits() {
    let fields = ["row", "column:2", "rank", "bank", "column", "channel", "column:1", "offset"];
    let map = AddressMap::new(paper(2), &raw_map(&fields, &[])).unwrap();
    let column = |bit: u32| map.locate(PhysicalAddress(1 << bit)).unwrap().column.0;
    assert_eq!((column(6), column(8), column(10), column(14), column(15)), (1, 2, 8, 16, 32));
    assert_eq!(map.locate(PhysicalAddress(1 << 7)).unwrap().channel, Channel(1));
}

#[test]
fn subarray_is_the_high_bits_of_the_row() {
    let map = AddressMap::preset(paper(2), MapPreset::RowInterleaved);
    let row = |bit: u32| map.locate(PhysicalAddress(1 << bit)).unwrap().row.0;
    assert_eq!((row(16), row(22), row(23)), (512, 512 << 6, 1), "7 bits of subarray above channel and bank");
}

/// 2 channels x 8 banks x (128 zero rows + 1 temporary row) of 4 KB are 8,454,144 bytes, the end of the 4 GiB.
#[test]
fn reserved_rows_are_the_end_of_the_memory_under_presets() {
    let hashed = [("bank", 0, [16_u32].as_slice()), ("channel", 0, &[13])];
    for (preset, xor) in MapPreset::ALL.into_iter().flat_map(|preset| [(preset, &hashed[..0]), (preset, &hashed)]) {
        let map = AddressMap::new(paper(2), &RawAddressMap { xor: raw_map(&[], xor).xor, ..preset.raw() }).unwrap();
        let usable = (4 << 30) - 8_454_144;
        assert_eq!((map.geometry().usable_bytes(), map.usable_end()), (usable, PhysicalAddress(usable)));
        assert!(!map.scatters_reserved_rows());
        for address in (0..4 << 30).step_by(4096) {
            let row = map.locate(PhysicalAddress(address)).unwrap().row;
            assert_eq!(map.geometry().reserved(row).is_some(), address >= usable, "{address:#x} of {preset:?}");
        }
    }
}

/// With the whole row number above the bank, each 32 MiB end with 16 zero rows.
#[test]
fn a_map_with_whole_rows_on_top_scatters_reserved_rows() {
    for fields in [&["row", "bank", "channel", "column", "offset"], &["bank", "row", "channel", "column", "offset"]] {
        let map = AddressMap::new(paper(2), &raw_map(fields, &[])).unwrap();
        assert!(map.scatters_reserved_rows());
        assert_eq!(map.usable_end(), PhysicalAddress(4 << 30));
        assert_eq!(map.geometry().usable_bytes(), (4 << 30) - 8_454_144);
    }
}

#[test]
fn a_hashed_bank_bit_is_the_parity_of_the_bits_it_names() {
    let raw = RawAddressMap {
        xor: raw_map(&[], &[("bank", 0, &[16, 17]), ("channel", 0, &[18])]).xor,
        ..MapPreset::RowInterleaved.raw()
    };
    let map = AddressMap::new(paper(2), &raw).unwrap();
    let at = |address| {
        let location = map.locate(PhysicalAddress(address)).unwrap();
        (location.channel.0, location.bank.bank, location.row.0)
    };
    assert_eq!(at(1 << 13), (0, 1, 0));
    assert_eq!(at(1 << 16), (0, 1, 512));
    assert_eq!(at(1 << 16 | 1 << 17), (0, 0, 3 * 512));
    assert_eq!(at(1 << 18), (1, 0, 4 * 512));
}

#[test]
fn an_impossible_map_says_what_would_work() {
    let check = |fields: &[&str], xor: &[(&str, u32, &[u32])], key: &str, message: &str, help: &str| {
        let error = AddressMap::new(paper(2), &raw_map(fields, xor)).unwrap_err();
        assert_eq!((error.key(), error.to_string().as_str(), error.help().as_str()), (key, message, help));
    };
    let fields = |message: &str, help: &str, fields: &[&str]| check(fields, &[], "fields", message, help);
    fields(
        "`fields` lists `colum`, which is no field of an address",
        "the fields are `row`, `subarray`, `rank`, `bank_group`, `bank`, `column`, `channel` and `offset`",
        &["row", "bank", "colum", "channel", "offset"],
    );
    fields(
        "`fields` lists `column:six`, whose width is not a number of bits from 0 to 63",
        "try `\"column\"`, or a width such as `\"column:3\"`",
        &["row", "bank", "column:six", "channel", "offset"],
    );
    fields(
        "`fields` does not list `channel`, which needs 1 address bits in this geometry",
        "add `\"channel\"` to `fields`",
        &["row", "bank", "column", "offset"],
    );
    fields(
        "`fields` does not list `row`, which needs 9 address bits in this geometry",
        "add `\"row\"` to `fields`",
        &["subarray", "bank", "column", "channel", "offset"],
    );
    fields(
        "`fields` gives `column` 5 address bits, but it needs 6 in this geometry",
        "try `\"column\"` without a width for one of its parts, or widths that add up to 6",
        &["row", "bank", "column:3", "channel", "column:2", "offset"],
    );
    fields(
        "`fields` gives `column` 7 address bits, but it needs 6 in this geometry",
        "try `\"column\"` without a width for one of its parts, or widths that add up to 6",
        &["row", "bank", "column:7", "channel", "column", "offset"],
    );
    fields(
        "`fields` lists `column` without a width more than once",
        "give all parts of `column` but one a width: `\"column:1\"`",
        &["row", "bank", "column", "channel", "column", "offset"],
    );
    fields(
        "`fields` does not end with one whole `offset`: a line must be 64 consecutive bytes",
        "write `\"offset\"` once, as the last of `fields`",
        &["row", "bank", "column", "offset", "channel"],
    );
    let list = ["row", "bank", "channel", "column", "offset"];
    let xor = |message: &str, help: &str, xor: &[(&str, u32, &[u32])]| check(&list, xor, "xor", message, help);
    xor(
        "`xor` hashes `row`, but only bank, channel and rank can be hashed",
        "try `field = \"bank\"`",
        &[("row", 0, &[20])],
    );
    xor(
        "`xor` hashes bit 3 of `bank`, which has 3 bits in this geometry",
        "try a bit from 0 to 2",
        &[("bank", 3, &[20])],
    );
    xor(
        "`xor` hashes bit 0 of `rank`, which has 0 bits in this geometry",
        "leave this entry out: there is but one rank in this geometry",
        &[("rank", 0, &[20])],
    );
    xor(
        "`xor` hashes bit 0 of `bank` twice",
        "list all its address bits in one entry",
        &[("bank", 0, &[20]), ("bank", 0, &[21])],
    );
    xor(
        "`xor` hashes bit 0 of `bank` with no address bit",
        "leave this entry out, or try `address_bits = [16]`",
        &[("bank", 0, &[])],
    );
    xor("`xor` lists address bit 20 twice for bit 0 of `bank`", "list 20 once", &[("bank", 0, &[20, 20])]);
    xor(
        "`xor` hashes bit 0 of `bank` with address bit 5, but must use bits 6 to 31",
        "choose address bits from 6 to 31",
        &[("bank", 0, &[5])],
    );
    xor(
        "`xor` at bit 1 of `bank` makes the map send different addresses to the same place",
        "hash with address bits that feed the row: try `address_bits = [16]`",
        &[("bank", 0, &[14]), ("bank", 1, &[13])],
    );
}

#[test]
fn coordinates_outside_the_geometry_have_no_address() {
    let map = AddressMap::preset(paper(2), MapPreset::RowInterleaved);
    let address = |change: fn(&mut Location)| {
        let mut location = Location::default();
        change(&mut location);
        map.address(location)
    };
    assert_eq!(address(|_| ()), Some(PhysicalAddress(0)));
    assert_eq!(address(|at| at.channel = Channel(2)), None);
    assert_eq!(address(|at| at.bank.rank = 1), None);
    assert_eq!(address(|at| at.bank.bank = 8), None);
    assert_eq!(address(|at| at.row = Row(65_536)), None);
    assert_eq!(address(|at| at.column = Column(64)), None);
    assert_eq!(address(|at| at.offset = 64), None);
}

#[test]
fn frames_past_the_end_lie_nowhere() {
    let map = AddressMap::preset(paper(1), MapPreset::RowInterleaved);
    let end = map.geometry().bytes() / FRAME_BYTES;
    assert_eq!(map.frames_sharing_rows(end - 1), [end - 1]);
    assert_eq!((map.frames_sharing_rows(end), map.frame_subarrays(u64::MAX)), (vec![], vec![]));
}

#[test]
fn every_preset_has_its_name() {
    for preset in MapPreset::ALL {
        assert_eq!(MapPreset::from_name(preset.name()), Some(preset));
    }
    assert_eq!(MapPreset::from_name("page-interleaved"), None);
}

/// A pattern of 640, 640 and 768 rows on the paper's memory.
fn of_pattern(channels: u64) -> Geometry {
    Geometry::try_from(RawGeometry { rows_per_subarray: [640, 640, 768].into(), ..paper(channels).raw() }).unwrap()
}

/// With 640, 640 and 768 rows, the row number of an address is the same as under a list without `subarray`, and the
/// reserved rows lie where the numbers of the pattern say: the first is row 639 of each bank, at 639 x 64 KiB.
#[test]
fn presets_have_the_whole_row_number_where_subarrays_are_no_field() {
    let lists = [
        &["row", "rank", "bank", "channel", "column", "offset"][..],
        &["row", "rank", "column", "channel", "bank", "offset"],
        &["row", "rank", "bank", "column", "channel", "offset"],
        &["row", "rank", "bank", "column", "bank_group", "channel", "offset"],
    ];
    for (preset, list) in MapPreset::ALL.into_iter().zip(lists) {
        let map = AddressMap::preset(of_pattern(2), preset);
        assert_eq!(map, AddressMap::new(of_pattern(2), &raw_map(list, &[])).unwrap());
        assert!(map.scatters_reserved_rows());
        assert_eq!(map.usable_end(), PhysicalAddress(4 << 30));
        assert_eq!(map.geometry().usable_bytes(), (4 << 30) - 97 * 16 * 4096);
        let row = |address: u64| map.locate(PhysicalAddress(address)).unwrap().row;
        let first = (0..4 << 30).step_by(4096).find(|&address| map.geometry().reserved(row(address)).is_some());
        assert_eq!(first, Some(639 << 16));
    }
}

#[test]
fn a_list_cannot_name_a_subarray_that_is_no_field() {
    let error =
        AddressMap::new(of_pattern(1), &raw_map(&["row", "subarray", "bank", "column", "offset"], &[])).unwrap_err();
    assert_eq!(error.key(), "fields");
    let message =
        "`fields` lists `subarray`, but with `rows_per_subarray = [640, 640, 768]` no address bits select the subarray";
    assert_eq!(error.to_string(), message);
    let help =
        "leave `subarray` out: `row` is then the whole row number; or take a power of two for `rows_per_subarray`";
    assert_eq!(error.help(), help);
}
