//! Which way the copy or the zeroing of a frame can go.

use rowclone::{Extent, Mechanism};

use crate::frame::{Frame, FrameMap};

/// Whether an operation covers all rows of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// It covers them, and takes each from one row.
    Whole,
    /// It leaves out a frame that shares them, or takes them from more than one row.
    Shared,
    /// No operation does: the smallest block of whole rows is above 16 MiB.
    TooLarge,
}

impl FrameMap {
    /// The mechanism of frame number `at` of a copy of consecutive frames under the paper's rule, in a memory without faulty rows.
    pub fn copied(&self, src: Frame, dst: Frame, frames: u32, at: u32) -> (Mechanism, Rows) {
        let (src_frame, dst_frame) = (src.plus(at), dst.plus(at));
        // The rows are whole if all frames that share them are copied too, each from a frame at the same difference.
        let difference = src_frame.0 ^ dst_frame.0;
        let alike = |other: Frame| other.0 >= dst.0 && (other.0 - dst.0 + src.0) ^ other.0 == difference;
        let rows = self.rows(dst, frames, dst_frame, alike);
        // The frames lie at the same columns of their rows, or no row is copied as a whole.
        let is_aligned = self.place(src_frame).column == self.place(dst_frame).column;
        let extent = if rows == Rows::Whole && is_aligned { Extent::WholeRow } else { Extent::PartOfRow };
        let mechanism = self.planner.copy_mechanism(self.row(src_frame), self.row(dst_frame), extent);
        (mechanism, rows)
    }

    /// The mechanism of frame number `at` of a zeroing of consecutive frames under the paper's rule, in a memory without faulty rows.
    pub fn zeroed(&self, dst: Frame, frames: u32, at: u32) -> (Mechanism, Rows) {
        let rows = self.rows(dst, frames, dst.plus(at), |_| true);
        let extent = if rows == Rows::Whole { Extent::WholeRow } else { Extent::PartOfRow };
        (self.planner.zero_mechanism(self.row(dst.plus(at)), extent), rows)
    }

    fn rows(&self, dst: Frame, frames: u32, frame: Frame, alike: impl Fn(Frame) -> bool) -> Rows {
        let covered = |other: Frame| other.0 >= dst.0 && other.0 - dst.0 < frames;
        if self.unit().is_none() {
            Rows::TooLarge
        } else if self.sharing(frame).all(|other| covered(other) && alike(other)) {
            Rows::Whole
        } else {
            Rows::Shared
        }
    }
}
