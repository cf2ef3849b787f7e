//! Page frames, and all that the address map says of them.

use std::fmt;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{AddressMap, Location, PhysicalAddress, SubarrayId};
use rowclone::{FaultyRows, MAX_WINDOW_BYTES, Planner, RowAddress};

/// A page frame: 4 KiB of physical memory, counted from 0.
///
/// 32 bits reach 16 TiB; the largest geometry has 512 GiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame(pub u32);

impl Frame {
    /// Its first byte.
    pub const fn address(self) -> PhysicalAddress {
        PhysicalAddress(self.0 as u64 * FRAME_BYTES)
    }

    /// The frame so many frames on.
    #[must_use]
    pub const fn plus(self, frames: u32) -> Frame {
        Frame(self.0 + frames)
    }
}

/// As a listing prints it: `frame 17`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.0)
    }
}

/// What the address map says of frames: in which subarrays they lie, and with which others they share rows.
///
/// This is the one place of the crate that asks where a frame lies. Maps are linear: the locations of two bytes differ
/// by what depends on the exclusive or of their addresses alone. So the first byte of a frame speaks for all of it:
/// two copies between frames with the same difference are alike, line by line.
#[derive(Clone, Debug)]
pub struct FrameMap {
    /// Plans the copies of a memory with that map and without faulty rows.
    pub(crate) planner: Planner,
    /// What to XOR a frame number with to get those that share its rows; 0 first.
    shared: Vec<u32>,
    /// What to XOR the row of a frame's first byte with to get all its rows.
    rows: Vec<u32>,
}

impl FrameMap {
    /// The frames of a memory.
    pub fn new(map: AddressMap) -> FrameMap {
        let shared = map.frames_sharing_rows(0).into_iter().map(|frame| frame as u32).collect();
        let runs = (0..FRAME_BYTES).step_by(map.run_bytes().min(FRAME_BYTES) as usize);
        let mut rows: Vec<u32> =
            runs.filter_map(|offset| map.locate(PhysicalAddress(offset))).map(|location| location.row.0).collect();
        rows.sort_unstable();
        rows.dedup();
        FrameMap { planner: Planner::new(map, FaultyRows::default()), shared, rows }
    }

    /// The address map.
    pub fn address_map(&self) -> &AddressMap {
        self.planner.map()
    }

    /// Frames of the memory, reserved ones included: a power of two.
    pub fn frames(&self) -> u32 {
        (self.address_map().geometry().bytes() / FRAME_BYTES) as u32
    }

    /// Frames of the minimum copy granularity: the smallest aligned block that consists of whole rows, and so the least
    /// that FPM can copy. 1 where a frame is a whole row.
    pub fn granularity(&self) -> u32 {
        self.address_map().granularity().div_ceil(FRAME_BYTES) as u32
    }

    /// Frames of a unit, or `None` where a unit would have more than 16 MiB: no copy is served by FPM then.
    pub fn unit(&self) -> Option<u32> {
        if self.address_map().granularity() > MAX_WINDOW_BYTES { None } else { Some(self.granularity()) }
    }

    /// Whether a reserved row takes a part of a frame, so that nobody may have it.
    pub fn is_reserved(&self, frame: Frame) -> bool {
        let row = self.place(frame).row;
        self.rows.iter().any(|other| self.address_map().geometry().reserved(dram_spec::Row(row.0 ^ other)).is_some())
    }

    /// The subarray of a frame's first byte. Whole units of the same one can be copied to each other by FPM.
    ///
    /// # Panics
    ///
    /// If the memory does not have the frame.
    pub fn subarray(&self, frame: Frame) -> SubarrayId {
        let Location { channel, bank, row, .. } = self.place(frame);
        SubarrayId { channel, bank, subarray: self.address_map().geometry().subarray(row) }
    }

    /// The frames that have a row in common with a frame, itself first.
    pub(crate) fn sharing(&self, frame: Frame) -> impl Iterator<Item = Frame> {
        self.shared.iter().map(move |other| Frame(frame.0 ^ other))
    }

    /// The row of a frame's first byte.
    pub(crate) fn row(&self, frame: Frame) -> RowAddress {
        let Location { channel, bank, row, .. } = self.place(frame);
        RowAddress { channel, bank, row }
    }

    /// Where the first byte of a frame lies.
    pub(crate) fn place(&self, frame: Frame) -> Location {
        let place = self.address_map().locate(frame.address());
        place.unwrap_or_else(|| panic!("{frame} lies past the end of the memory"))
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::Preset;

    use super::*;
    use crate::fixture::{geometry, maps};

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

    /// What `sharing` and `subarray` make of one question each must be what the map answers frame by frame.
    #[test]
    fn rows_and_subarrays_are_those_of_the_address_map() {
        for map in maps() {
            let frames = FrameMap::new(map.clone());
            for frame in (0..frames.frames()).step_by(97).map(Frame) {
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
        assert_eq!(unit(Preset::RowInterleaved, 4096), Some(1));
        assert_eq!(unit(Preset::RowInterleaved, 8192), Some(2));
        assert_eq!(unit(Preset::LineInterleaved, 4096), Some(2));
        assert_eq!(unit(Preset::BankInterleaved, 4096), Some(16));
    }
}
