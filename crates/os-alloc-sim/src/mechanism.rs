//! The planner's classification of copies and zeroings of frames.

use dram_spec::Row;
use dram_spec::address::FRAME_BYTES;
use rowclone::{Classification, Extent, RowAddress};

use crate::frame::{Frame, FrameMap};

impl FrameMap {
    /// Classifies frame number `at` of a copy of consecutive frames under the paper's rule, in a
    /// memory without faulty rows; of rows with different mechanisms, the one that is last in the rule counts.
    ///
    /// # Panics
    /// Never: a frame has a row.
    pub fn copied(&self, src: Frame, dst: Frame, frames: u32, at: u32) -> Classification {
        let (src_frame, dst_frame) = (src.plus(at), dst.plus(at));
        // The operation copies whole rows to whole rows only if all frames that share the
        // destination row have the same address difference to their sources.
        let difference = src_frame.0 ^ dst_frame.0;
        let has_same_difference = |other: Frame| (other.0 - dst.0 + src.0) ^ other.0 == difference;
        let is_aligned = || self.place(src_frame).column == self.place(dst_frame).column;
        let extent = match self.extent(dst, frames, dst_frame) {
            Extent::WholeRow if !is_aligned() || !self.sharing(dst_frame).all(has_same_difference) => {
                Extent::OtherColumns
            }
            extent => extent,
        };
        let (src, dst) = (self.row(src_frame), self.row(dst_frame));
        let pairs = self.compared_rows.iter().map(|&other| (with_row(src, other), with_row(dst, other)));
        let classified = pairs.map(|(src, dst)| self.planner.classify_copy(src, dst, extent));
        classified.max_by_key(|found| found.mechanism.rank()).expect("a frame has a row")
    }

    /// Classifies frame number `at` of a zeroing of consecutive frames under the paper's rule, in a
    /// memory without faulty rows.
    pub fn zeroed(&self, dst: Frame, frames: u32, at: u32) -> Classification {
        let frame = dst.plus(at);
        self.planner.classify_zero(self.row(frame), self.extent(dst, frames, frame))
    }

    /// Share of a frame's rows that an operation on consecutive frames covers.
    fn extent(&self, first: Frame, frames: u32, frame: Frame) -> Extent {
        let is_covered = |other: &Frame| other.0 >= first.0 && other.0 - first.0 < frames;
        let sharing = self.sharing(frame).count() as u64;
        let covered = self.sharing(frame).filter(is_covered).count() as u64;
        if covered == sharing && self.unit().is_some() {
            return Extent::WholeRow;
        }
        let row_bytes = self.address_map().geometry().row_bytes();
        Extent::PartOfRow { covered: row_bytes * covered / sharing, operation_bytes: u64::from(frames) * FRAME_BYTES }
    }
}

/// The row whose number differs by an XOR mask.
const fn with_row(at: RowAddress, other: u32) -> RowAddress {
    RowAddress { row: Row(at.row.0 ^ other), ..at }
}
