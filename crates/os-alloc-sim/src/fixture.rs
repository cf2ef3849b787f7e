//! Memories used by the tests.

use std::sync::LazyLock;

use dram_spec::address::{MapPreset, RawAddressMap, RawXor};
use dram_spec::{AddressMap, Density, Geometry, RawGeometry, RowsPerSubarray, Standard, Width};

use crate::age::Aged;
use crate::allocator::{Policy, PolicyError};
use crate::frame::{Frame, FrameMap};
use crate::frame_set::{CopyUnit, FrameSet};
use crate::kernel::{Kernel, ZeroOnFree};

/// Two channels of eight banks with the fewest possible subarrays: 1 GiB with rows of 4 KB, 2 GiB
/// with rows of 8 KB.
pub(crate) fn geometry(row_bytes: u64) -> Geometry {
    let (channels, density) = (2, Density::Gb1);
    let raw = RawGeometry {
        standard: Standard::Ddr3,
        channels,
        ranks: 1,
        density,
        width: Width::X16,
        row_bytes,
        rows_per_subarray: 1024.into(),
    };
    Geometry::try_from(raw).unwrap()
}

/// [`geometry`] with other subarrays.
pub(crate) fn with_rows(row_bytes: u64, rows: impl Into<RowsPerSubarray>) -> Geometry {
    Geometry::try_from(RawGeometry { rows_per_subarray: rows.into(), ..geometry(row_bytes).raw() }).unwrap()
}

/// One channel and rank of 16 banks of 65,536 rows of 8 KB.
pub(crate) fn ddr4(rows: impl Into<RowsPerSubarray>) -> Geometry {
    let raw = RawGeometry {
        standard: Standard::Ddr4,
        channels: 1,
        ranks: 1,
        density: Density::Gb8,
        width: Width::X8,
        row_bytes: 8192,
        rows_per_subarray: rows.into(),
    };
    Geometry::try_from(raw).unwrap()
}

/// Maps of all kinds: presets, hashes, row bits within a frame, columns above the row, and subarrays whose
/// size is no power of two.
pub(crate) fn maps() -> Vec<AddressMap> {
    let hashed = |field: &str, bit, address_bits: &[u32]| RawXor {
        field: field.to_owned(),
        bit,
        address_bits: address_bits.to_vec(),
    };
    let fields = |fields: &[&str]| fields.iter().map(|field| (*field).to_owned()).collect::<Vec<_>>().into();
    let mut maps: Vec<AddressMap> = Vec::new();
    for row_bytes in [4096, 8192] {
        let geometry = geometry(row_bytes);
        maps.extend(MapPreset::ALL.map(|preset| AddressMap::preset(geometry, preset)));
        let raws = [
            RawAddressMap {
                xor: vec![hashed("bank", 0, &[18]), hashed("channel", 0, &[8, 20])],
                ..MapPreset::RowInterleaved.raw()
            },
            RawAddressMap { xor: vec![hashed("bank", 1, &[22])], ..MapPreset::BankInterleaved.raw() },
            RawAddressMap {
                fields: fields(&["row", "column:1", "bank", "row:2", "channel", "column", "offset"]),
                xor: Vec::new(),
            },
            RawAddressMap {
                fields: fields(&["row", "bank", "channel", "column:3", "row:2", "column", "offset"]),
                xor: Vec::new(),
            },
            RawAddressMap { fields: fields(&["column:1", "row", "bank", "channel", "column", "offset"]), xor: vec![] },
        ];
        maps.extend(raws.iter().map(|raw| AddressMap::new(geometry, raw).unwrap()));
        if row_bytes == 4096 {
            // Boundaries within a frame and within a unit of four rows.
            maps.push(AddressMap::new(with_rows(row_bytes, [641, 1022, 767]), &raws[3]).unwrap());
        }
    }
    maps.push(AddressMap::preset(with_rows(4096, [640, 640, 768]), MapPreset::RowInterleaved));
    // 8192 = 14 x 576 + 128.
    maps.push(AddressMap::preset(with_rows(8192, 576), MapPreset::LineInterleaved));
    maps
}

/// A memory, and a subset of its frames: two aligned blocks of 1024, and every 509th frame.
pub(crate) fn few(map: AddressMap, copy_unit: CopyUnit) -> (FrameMap, FrameSet) {
    let map = FrameMap::new(map);
    let mut set = FrameSet::new(&map, copy_unit);
    let order = set.grain_order();
    let every = if order > 5 { 7 } else { 509 };
    for frame in (0..map.frames()).filter(|frame| frame / 2048 != 3 && !(frame >> order).is_multiple_of(every)) {
        set.withhold(Frame(frame));
    }
    (map, set)
}

/// Subsets of all kinds of memories. They are built once, as building takes longer than the tests.
pub(crate) fn memories() -> &'static [(FrameMap, FrameSet)] {
    static MEMORIES: LazyLock<Vec<(FrameMap, FrameSet)>> = LazyLock::new(|| {
        let both = |map: AddressMap| CopyUnit::ALL.map(|copy_unit| few(map.clone(), copy_unit));
        maps().into_iter().flat_map(both).collect()
    });
    &MEMORIES
}

impl Kernel {
    /// Creates a kernel without processes, with the frames of a set free.
    pub(crate) fn new(
        map: FrameMap,
        set: FrameSet,
        policy: Policy,
        seed: u64,
        zero_on_free: ZeroOnFree,
    ) -> Result<Kernel, PolicyError> {
        let allocator = policy.allocator(&map, &set, seed)?;
        let fresh = Aged::fresh(&set);
        Ok(Kernel::aged(map, set, allocator, fresh, zero_on_free))
    }
}
