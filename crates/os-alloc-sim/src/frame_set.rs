//! The frames that there are to hand out, and in which portions.

use dram_spec::address::FRAME_BYTES;

use crate::bits::Bits;
use crate::frame::{Frame, FrameMap};

/// What becomes of frames that are smaller than a row, and so share it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Units {
    /// The frames of a unit (the minimum copy granularity) are handed out together, to one owner: a page is a unit.
    #[default]
    Together,
    /// Frames are handed out one by one; a copy of less than a unit is reported as kept from FPM by its neighbours.
    Marked,
}

impl Units {
    /// Both.
    pub const ALL: [Units; 2] = [Units::Together, Units::Marked];

    /// The name that a user writes.
    pub const fn name(self) -> &'static str {
        match self {
            Units::Together => "together",
            Units::Marked => "marked",
        }
    }

    /// The choice of that name.
    pub fn from_name(name: &str) -> Option<Units> {
        Units::ALL.into_iter().find(|units| units.name() == name)
    }
}

/// What a map and the choice of [`Units`] come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// A frame is a whole row: there is nothing to share.
    None,
    /// So many frames share rows, and are handed out together.
    Together {
        /// Frames of a unit.
        frames: u32,
    },
    /// So many frames share rows; each is handed out alone, and marked as preventing FPM.
    Marked {
        /// Frames of a unit.
        frames: u32,
    },
    /// The smallest block of whole rows is above 16 MiB: frames are handed out alone, and all prevent FPM.
    TooLarge {
        /// Frames of that block.
        frames: u32,
    },
}

impl Sharing {
    /// The name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Sharing::None => "none",
            Sharing::Together { .. } => "together",
            Sharing::Marked { .. } => "marked",
            Sharing::TooLarge { .. } => "too-large",
        }
    }
}

/// Memory that nobody can have, because of the reserved rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reservation {
    /// Bytes of the reserved rows.
    pub row_bytes: u64,
    /// Frames that have a part in a reserved row.
    pub reserved_frames: u64,
    /// Sound frames that are lost with them: of units that are handed out together, one of which is reserved.
    pub lost_frames: u64,
}

impl Reservation {
    /// Bytes that nobody can have.
    pub const fn bytes(&self) -> u64 {
        (self.reserved_frames + self.lost_frames) * FRAME_BYTES
    }
}

/// The frames that may be handed out: all of the memory but those in reserved rows, in portions called grains.
///
/// A grain is 2^k consecutive frames, aligned to its size: a unit if units are handed out together, else one frame.
#[derive(Clone, Debug)]
pub struct FrameSet {
    grains: Bits,
    count: u32,
    end: u32,
    grain_order: u8,
    sharing: Sharing,
    reservation: Reservation,
}

impl FrameSet {
    /// The frames of a memory.
    pub fn new(map: &FrameMap, units: Units) -> FrameSet {
        let sharing = match (map.unit(), units) {
            (Some(1), _) => Sharing::None,
            (Some(frames), Units::Together) => Sharing::Together { frames },
            (Some(frames), Units::Marked) => Sharing::Marked { frames },
            (None, _) => Sharing::TooLarge { frames: map.granularity() },
        };
        let grain_order = match sharing {
            Sharing::Together { frames } => frames.trailing_zeros() as u8,
            Sharing::None | Sharing::Marked { .. } | Sharing::TooLarge { .. } => 0,
        };
        let (end, size) = (map.frames() >> grain_order, 1 << grain_order);
        let mut reservation =
            Reservation { row_bytes: map.address_map().geometry().reserved_bytes(), ..<_>::default() };
        let (mut grains, mut count) = (Bits::new(end as usize), 0);
        for grain in 0..end {
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

    /// Takes a frame, with all of its grain, out for good: for memory that somebody else uses. Whether it was there.
    pub fn withhold(&mut self, frame: Frame) -> bool {
        let there = self.grains.remove(self.grain(frame));
        self.count -= u32::from(there);
        there
    }

    /// Whether a frame may be handed out.
    pub fn contains(&self, frame: Frame) -> bool {
        self.grains.contains(self.grain(frame))
    }

    /// How many frames may be handed out.
    pub const fn frames(&self) -> u64 {
        (self.count as u64) << self.grain_order
    }

    /// The order of a grain: it is 2 to this power frames.
    pub const fn grain_order(&self) -> u8 {
        self.grain_order
    }

    /// Frames of a grain.
    pub const fn grain_frames(&self) -> u32 {
        1 << self.grain_order
    }

    /// What becomes of frames that share a row.
    pub const fn sharing(&self) -> Sharing {
        self.sharing
    }

    /// Memory that nobody can have, because of the reserved rows.
    pub const fn reservation(&self) -> Reservation {
        self.reservation
    }

    /// The grains that may be handed out, by their first frames, rising.
    pub fn grains(&self) -> impl DoubleEndedIterator<Item = Frame> {
        self.grains.iter().map(|grain| self.frame(grain))
    }

    /// The number of a frame's grain.
    pub(crate) const fn grain(&self, frame: Frame) -> u32 {
        frame.0 >> self.grain_order
    }

    /// The first frame of a grain.
    pub(crate) const fn frame(&self, grain: u32) -> Frame {
        Frame(grain << self.grain_order)
    }

    /// One past the number of the memory's last grain.
    pub(crate) const fn end(&self) -> u32 {
        self.end
    }

    /// The grains that may be handed out, as a set of numbers.
    pub(crate) const fn numbers(&self) -> &Bits {
        &self.grains
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::maps;

    #[test]
    fn every_frame_is_handed_out_reserved_or_lost() {
        for (map, units) in maps().into_iter().flat_map(|map| Units::ALL.map(|units| (map.clone(), units))) {
            let (bytes, rows) = (map.geometry().bytes(), map.geometry().reserved_bytes());
            let set = FrameSet::new(&FrameMap::new(map), units);
            assert_eq!(set.frames() * FRAME_BYTES + set.reservation().bytes(), bytes);
            assert!(set.reservation().reserved_frames * FRAME_BYTES >= rows);
            if units == Units::Marked {
                assert_eq!(set.reservation().lost_frames, 0);
            }
        }
    }

    /// 2 channels x 8 banks x (16 subarrays + 1) rows of 4 KB; with 8 KB, 8 subarrays, and two frames a row.
    #[test]
    fn presets_lose_no_more_than_the_reserved_rows() {
        use dram_spec::{AddressMap, address::Preset};
        for (row_bytes, frames) in [(4096, 16 * 17), (8192, 16 * 9 * 2)] {
            for preset in Preset::ALL {
                let map = FrameMap::new(AddressMap::preset(crate::fixture::geometry(row_bytes), preset));
                for units in Units::ALL {
                    let reservation = FrameSet::new(&map, units).reservation();
                    assert_eq!((reservation.reserved_frames, reservation.lost_frames), (frames, 0), "{preset:?}");
                }
            }
        }
    }
}
