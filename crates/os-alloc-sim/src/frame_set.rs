//! The allocatable frames of a memory, and the grains in which they are allocated.

use dram_spec::address::FRAME_BYTES;

use crate::bits::Bits;
use crate::frame::{Frame, FrameMap};

dram_spec::named! {
    /// What an allocator allocates, and a kernel copies and zeroes, as one.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum CopyUnit {
        /// A page of 4 KiB, as by Linux. Where pages share a row, a copy of one is reported as
        /// `shared-row`.
        #[default]
        Page = "page",
        /// A row set: the smallest aligned block of pages that fills whole rows, the least that FPM can
        /// copy.
        RowSet = "row-set",
    }
}

impl CopyUnit {
    /// Frames of the unit, a power of two. A row set above 16 MiB, which FPM cannot copy, is replaced
    /// by a page.
    pub fn frames(self, map: &FrameMap) -> u32 {
        match self {
            CopyUnit::Page => 1,
            CopyUnit::RowSet => map.unit().unwrap_or(1),
        }
    }
}

/// Sharing of rows by frames, under a map and a choice of [`CopyUnit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum RowSharing {
    /// A frame is a whole row or several: frames share no row.
    None,
    /// The frames of a row set share rows and are allocated together.
    RowSet {
        /// Frames per row set.
        frames: u32,
    },
    /// The frames of a row set share rows and are allocated one by one; FPM serves no copy of less
    /// than a row set.
    Page {
        /// Frames per row set.
        frames: u32,
    },
    /// The smallest block of whole rows exceeds 16 MiB: frames are allocated one by one, and FPM
    /// serves none.
    TooLarge {
        /// Frames per block.
        frames: u32,
    },
}

impl RowSharing {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Memory that cannot be allocated because of the reserved rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    /// Bytes of the reserved rows.
    pub row_bytes: u64,
    /// Frames that lie in a reserved row, at least partly.
    pub reserved_frames: u64,
    /// Unreserved frames that cannot be allocated because another frame of their unit is reserved.
    pub lost_frames: u64,
}

impl Reservation {
    /// Bytes that cannot be allocated.
    pub const fn bytes(&self) -> u64 {
        (self.reserved_frames + self.lost_frames) * FRAME_BYTES
    }
}

/// The allocatable frames of a memory: all but those in reserved rows. They are allocated in
/// grains.
///
/// A grain is 2^k consecutive frames, aligned to its size: a row set if it is
/// the copy unit, else one frame.
#[derive(Clone, Debug)]
pub struct FrameSet {
    grains: Bits,
    count: u32,
    end: u32,
    grain_order: u8,
    sharing: RowSharing,
    reservation: Reservation,
}

impl FrameSet {
    /// Creates the set of all unreserved frames of a memory.
    pub fn new(map: &FrameMap, copy_unit: CopyUnit) -> FrameSet {
        let sharing = match (map.unit(), copy_unit) {
            (Some(1), _) => RowSharing::None,
            (Some(frames), CopyUnit::RowSet) => RowSharing::RowSet { frames },
            (Some(frames), CopyUnit::Page) => RowSharing::Page { frames },
            (None, _) => RowSharing::TooLarge { frames: map.granularity() },
        };
        let grain_order = copy_unit.frames(map).trailing_zeros() as u8;
        let (end, size) = (map.frames() >> grain_order, 1 << grain_order);
        let mut reservation =
            Reservation { row_bytes: map.address_map().geometry().reserved_bytes(), ..<_>::default() };
        // Where the reserved rows are the end of the memory, no frame below them needs a look at the map.
        let usable = match map.address_map() {
            map if map.scatters_reserved_rows() => 0,
            map => (map.usable_end().0 / FRAME_BYTES) as u32 >> grain_order,
        };
        let (mut grains, mut count) = (Bits::below(usable as usize, end as usize), usable);
        for grain in usable..end {
            let first = Frame(grain << grain_order);
            let reserved = (0..size).filter(|&frame| map.is_reserved(first.plus(frame))).count() as u64;
            if reserved == 0 {
                grains.insert(grain);
                count += 1;
            } else {
                reservation.reserved_frames += reserved;
                reservation.lost_frames += u64::from(size) - reserved;
            }
        }
        FrameSet { grains, count, end, grain_order, sharing, reservation }
    }

    /// Removes the grain of a frame permanently; returns whether the set had it.
    pub fn withhold(&mut self, frame: Frame) -> bool {
        let there = self.grains.remove(self.grain(frame));
        self.count -= u32::from(there);
        there
    }

    /// Whether a frame may be allocated.
    pub fn contains(&self, frame: Frame) -> bool {
        self.grains.contains(self.grain(frame))
    }

    /// Allocatable frames.
    pub const fn frames(&self) -> u64 {
        (self.count as u64) << self.grain_order
    }

    /// Allocatable grains.
    pub(crate) const fn grain_count(&self) -> u32 {
        self.count
    }

    /// Order of a grain: a grain is 2^order frames.
    pub const fn grain_order(&self) -> u8 {
        self.grain_order
    }

    /// Frames per grain.
    pub const fn grain_frames(&self) -> u32 {
        1 << self.grain_order
    }

    /// Sharing of rows by frames.
    pub const fn sharing(&self) -> RowSharing {
        self.sharing
    }

    /// Memory that cannot be allocated because of the reserved rows.
    pub const fn reservation(&self) -> Reservation {
        self.reservation
    }

    /// The allocatable grains, by their first frames, ascending.
    pub fn grains(&self) -> impl Iterator<Item = Frame> {
        self.grains.iter().map(|grain| self.frame(grain))
    }

    /// First frame of the grain that contains a frame.
    pub const fn first_of_grain(&self, frame: Frame) -> Frame {
        self.frame(self.grain(frame))
    }

    /// Index of a frame's grain.
    pub(crate) const fn grain(&self, frame: Frame) -> u32 {
        frame.0 >> self.grain_order
    }

    /// First frame of a grain.
    pub(crate) const fn frame(&self, grain: u32) -> Frame {
        Frame(grain << self.grain_order)
    }

    /// Number of grains of the memory, allocatable or not.
    pub(crate) const fn end(&self) -> u32 {
        self.end
    }

    /// Indices of the allocatable grains, ascending.
    pub(crate) fn ascending(&self) -> Vec<u32> {
        let mut grains = Vec::with_capacity(self.count as usize);
        self.grains.iter().for_each(|grain| grains.push(grain));
        grains
    }

    /// Indices of the allocatable grains, descending.
    pub(crate) fn descending(&self) -> Vec<u32> {
        let mut grains = self.ascending();
        grains.reverse();
        grains
    }

    /// The allocatable grains, as a set of indices.
    pub(crate) const fn numbers(&self) -> &Bits {
        &self.grains
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::maps;

    #[test]
    fn every_frame_is_allocatable_reserved_or_lost() {
        for (map, copy_unit) in
            maps().into_iter().flat_map(|map| CopyUnit::ALL.map(|copy_unit| (map.clone(), copy_unit)))
        {
            let (bytes, rows) = (map.geometry().bytes(), map.geometry().reserved_bytes());
            let set = FrameSet::new(&FrameMap::new(map), copy_unit);
            assert_eq!(set.frames() * FRAME_BYTES + set.reservation().bytes(), bytes);
            assert!(set.reservation().reserved_frames * FRAME_BYTES >= rows);
            if copy_unit == CopyUnit::Page {
                assert_eq!(set.reservation().lost_frames, 0);
            }
        }
    }

    /// 2 channels x 8 banks x (16 subarrays + 1) rows of 4 KB; with 8 KB, 8 subarrays, and two
    /// frames per row.
    #[test]
    fn presets_lose_only_the_reserved_rows() {
        use dram_spec::{AddressMap, address::MapPreset};
        for (row_bytes, frames) in [(4096, 16 * 17), (8192, 16 * 9 * 2)] {
            for preset in MapPreset::ALL {
                let map = FrameMap::new(AddressMap::preset(crate::fixture::geometry(row_bytes), preset));
                for copy_unit in CopyUnit::ALL {
                    let reservation = FrameSet::new(&map, copy_unit).reservation();
                    assert_eq!((reservation.reserved_frames, reservation.lost_frames), (frames, 0), "{preset:?}");
                }
            }
        }
    }
}
