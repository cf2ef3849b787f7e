//! Page frames and their places in the address map.

use std::ops::Range;

use derive_more::Display;
use dram_spec::address::FRAME_BYTES;
use dram_spec::{AddressMap, Location, PhysicalAddress, SubarrayId};
use rowclone::{FaultyRows, MAX_WINDOW_BYTES, Planner, RowAddress};

/// A page frame: 4 KiB of physical memory, numbered from 0.
///
/// 32 bits reach 16 TiB; the largest geometry has 512 GiB.
#[derive(Clone, Copy, Debug, Display, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[display("frame {_0}")]
pub struct Frame(pub u32);

impl Frame {
    /// Address of the first byte.
    #[inline]
    pub const fn address(self) -> PhysicalAddress {
        PhysicalAddress(self.0 as u64 * FRAME_BYTES)
    }

    /// The frame that follows `frames` frames later.
    #[must_use]
    pub const fn plus(self, frames: u32) -> Frame {
        Frame(self.0 + frames)
    }
}

/// The subarray and the row neighbors of each frame, from the address map.
///
/// All queries of the address map go through this type. Maps are linear over XOR: the XOR of two
/// bytes' locations depends only on the XOR of their addresses. Therefore the location of a frame's
/// first byte determines that of every line, and copies between frames with the same XOR difference
/// have the same structure. Only the subarrays of rows do not follow from XOR where their size is no power of
/// two.
#[derive(Clone, Debug)]
pub struct FrameMap {
    /// Classifies copies, for a memory with this map and without faulty rows.
    pub(crate) planner: Planner,
    /// Locations of the frames of the lowest [`LOW_BITS`] bits. The location of any frame is that of its lowest bits
    /// `^` that of the others.
    low: Vec<Location>,
    /// Locations of the frames whose lowest [`LOW_BITS`] bits are 0.
    high: Vec<Location>,
    /// XOR masks from a frame number to those that share its rows; 0 first.
    shared: Vec<u32>,
    /// XOR masks from the row of a frame's first byte to all rows of the frame.
    rows: Vec<u32>,
    /// Those of them that decide how a frame is copied: the first, unless rows of a frame may lie in different
    /// subarrays, as their size is no power of two.
    pub(crate) compared_rows: Vec<u32>,
}

/// Bits of a frame number that one table decodes; half of those of a large memory.
const LOW_BITS: u32 = 10;

impl FrameMap {
    /// Creates the frame map of an address map.
    pub fn new(map: AddressMap) -> FrameMap {
        let shared = map.frames_sharing_rows(0).into_iter().map(|frame| frame as u32).collect();
        let runs = (0..FRAME_BYTES).step_by(map.run_bytes().min(FRAME_BYTES) as usize);
        let mut rows: Vec<u32> =
            runs.filter_map(|offset| map.locate(PhysicalAddress(offset))).map(|location| location.row.0).collect();
        rows.sort_unstable();
        rows.dedup();
        let compared = if map.geometry().subarray_row_bits().is_some() { 1 } else { rows.len() };
        let compared_rows = rows[..compared].to_vec();
        let bits = (map.geometry().bytes() / FRAME_BYTES).trailing_zeros();
        let (low, high) = (locations(&map, 0..bits.min(LOW_BITS)), locations(&map, LOW_BITS..bits));
        FrameMap { planner: Planner::new(map, FaultyRows::default()), low, high, shared, rows, compared_rows }
    }

    /// The address map.
    pub fn address_map(&self) -> &AddressMap {
        self.planner.map()
    }

    /// Frames of the memory, including reserved ones: a power of two.
    pub fn frames(&self) -> u32 {
        (self.address_map().geometry().bytes() / FRAME_BYTES) as u32
    }

    /// Frames of the minimum copy granularity: the smallest aligned block of whole rows, which is
    /// the least that FPM can copy. 1 if a frame is a whole row.
    pub fn granularity(&self) -> u32 {
        self.address_map().granularity().div_ceil(FRAME_BYTES) as u32
    }

    /// Frames per unit, or `None` if a unit would exceed 16 MiB: FPM then serves no copy.
    pub fn unit(&self) -> Option<u32> {
        if self.address_map().granularity() > MAX_WINDOW_BYTES { None } else { Some(self.granularity()) }
    }

    /// Whether a frame lies in a reserved row, at least partly, and so cannot be allocated.
    pub fn is_reserved(&self, frame: Frame) -> bool {
        let row = self.place(frame).row;
        self.rows.iter().any(|other| self.address_map().geometry().reserved(dram_spec::Row(row.0 ^ other)).is_some())
    }

    /// The subarray of a frame's first byte. FPM can copy whole units within one subarray.
    ///
    /// # Panics
    ///
    /// If the frame lies past the end of the memory.
    pub fn subarray(&self, frame: Frame) -> SubarrayId {
        let Location { channel, bank, row, .. } = self.place(frame);
        SubarrayId { channel, bank, subarray: self.address_map().geometry().subarray(row) }
    }

    /// The frames that share a row with a frame, including the frame, which is first.
    pub(crate) fn sharing(&self, frame: Frame) -> impl Iterator<Item = Frame> {
        self.shared.iter().map(move |other| Frame(frame.0 ^ other))
    }

    /// The row of a frame's first byte.
    pub(crate) fn row(&self, frame: Frame) -> RowAddress {
        let Location { channel, bank, row, .. } = self.place(frame);
        RowAddress { channel, bank, row }
    }

    /// Location of a frame's first byte.
    pub(crate) fn place(&self, frame: Frame) -> Location {
        self.low[frame.0 as usize % (1 << LOW_BITS)] ^ self.high[frame.0 as usize >> LOW_BITS]
    }
}

/// Locations of the frames that have no other bits than these, in the order of the frames.
fn locations(map: &AddressMap, bits: Range<u32>) -> Vec<Location> {
    bits.fold(vec![Location::default()], |known, bit| {
        let place = map.locate(Frame(1 << bit).address()).expect("the memory has this bit");
        known.iter().copied().chain(known.iter().map(|&other| other ^ place)).collect()
    })
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;

    use super::*;
    use crate::fixture::{ddr4, geometry, maps};
    use crate::{CopyUnit, Found, FrameAllocator, FrameRequest, FrameSet, Near, SubarrayAware};

    #[test]
    fn a_frame_is_reserved_if_and_only_if_one_of_its_lines_is() {
        for map in maps() {
            let frames = FrameMap::new(map.clone());
            for frame in (0..frames.frames()).step_by(7).chain(frames.frames() - 600..frames.frames()).map(Frame) {
                let lines = (0..FRAME_BYTES).step_by(64);
                let line = |offset: u64| map.locate(PhysicalAddress(frame.address().0 + offset)).unwrap().row;
                let reserved = lines.map(line).any(|row| map.geometry().reserved(row).is_some());
                assert_eq!(frames.is_reserved(frame), reserved, "{frame} of {:?}", map.parts());
            }
        }
    }

    /// `place`, `sharing` and `subarray`, computed from XOR masks, agree with the map's answer for each frame.
    #[test]
    fn rows_and_subarrays_are_those_of_the_address_map() {
        for map in maps() {
            let frames = FrameMap::new(map.clone());
            for frame in (0..frames.frames()).step_by(97).map(Frame) {
                assert_eq!(Some(frames.place(frame)), map.locate(frame.address()));
                let mut sharing: Vec<u64> = frames.sharing(frame).map(|frame| u64::from(frame.0)).collect();
                sharing.sort_unstable();
                assert_eq!(sharing, map.frames_sharing_rows(u64::from(frame.0)));
                assert!(map.frame_subarrays(u64::from(frame.0)).contains(&frames.subarray(frame)));
            }
        }
    }

    #[test]
    fn units_are_the_minimum_copy_granularity() {
        let unit = |preset, row_bytes| FrameMap::new(AddressMap::preset(geometry(row_bytes), preset)).unit();
        assert_eq!(unit(MapPreset::RowInterleaved, 4096), Some(1));
        assert_eq!(unit(MapPreset::RowInterleaved, 8192), Some(2));
        assert_eq!(unit(MapPreset::LineInterleaved, 4096), Some(2));
        assert_eq!(unit(MapPreset::BankInterleaved, 4096), Some(16));
    }

    /// DDR4 with 16 banks of 65,536 rows of 8 KB, two frames each: row r of bank b holds frames 32 r + 2 b and the
    /// next one. Rows 639, 1279 and 2047 are zero rows; the last zero row follows the temporary row.
    #[test]
    fn pools_follow_the_rows_of_a_pattern() {
        let map = FrameMap::new(AddressMap::preset(ddr4([640, 640, 768]), MapPreset::RowInterleaved));
        let at = |row: u32, bank: u32| Frame(32 * row + 2 * bank);
        let pool = |row, bank| (map.subarray(at(row, bank)).bank.bank, map.subarray(at(row, bank)).subarray);
        let rows = [0, 638, 640, 1278, 1280, 2046, 2048, 65_533];
        assert_eq!(rows.map(|row| pool(row, 0).1), [0, 0, 1, 1, 2, 2, 3, 95]);
        assert_eq!(pool(1280, 15), (15, 2));
        let reserved = [639, 1279, 2047, 2687, 65_534, 65_535];
        assert!(reserved.iter().all(|&row| map.is_reserved(at(row, 3)) && map.is_reserved(at(row, 3).plus(1))));
        assert!(rows.iter().chain(&[511, 1023]).all(|&row| !map.is_reserved(at(row, 3))));
        let set = FrameSet::new(&map, CopyUnit::Page);
        assert_eq!(set.reservation().reserved_frames, 16 * (96 + 1) * 2);
        assert_eq!(set.reservation().lost_frames, 0);
    }

    /// Of the second subarray of bank 0, 639 rows of two frames can be allocated; then another pool provides.
    #[test]
    fn a_pool_provides_the_rows_of_its_subarray() {
        let map = FrameMap::new(AddressMap::preset(ddr4([640, 640, 768]), MapPreset::RowInterleaved));
        let mut aware = SubarrayAware::new(&map, &FrameSet::new(&map, CopyUnit::Page), Near::Subarray, None);
        let mut near = || aware.allocate(FrameRequest::near(Frame(32 * 700))).unwrap();
        for grant in (0..639 * 2).map(|_| near()) {
            let Frame(frame) = grant.frame;
            assert!((640..1279).contains(&(frame / 32)) && frame % 32 < 2 && grant.found == Found::SourcePool);
        }
        assert_ne!(near().found, Found::SourcePool);
    }

    /// 113 subarrays of 576 rows, and one of 448, from row 65,088 on.
    #[test]
    fn a_cut_last_subarray_is_a_pool() {
        let map = FrameMap::new(AddressMap::preset(ddr4(576), MapPreset::RowInterleaved));
        let pools = [65_086, 65_088, 65_533].map(|row| map.subarray(Frame(32 * row)).subarray);
        assert_eq!(pools, [112, 113, 113]);
        let reserved = [65_087, 65_088, 65_533, 65_534, 65_535].map(|row| map.is_reserved(Frame(32 * row)));
        assert_eq!(reserved, [true, false, false, true, true]);
    }
}
