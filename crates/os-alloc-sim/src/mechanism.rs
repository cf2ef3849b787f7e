//! Which way the copy or the zeroing of a frame can go.

use crate::frame::{Frame, FrameMap};

/// The way that a copy or a zeroing can go: what the paper's rule makes of where the frames lie.
///
/// It agrees, frame by frame, with what the planner offers for the operation in a memory without faulty rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mechanism {
    /// Fast parallel mode: whole rows, within their subarrays.
    Fpm,
    /// Pipelined serial mode: another bank of the same rank. Zeroing of a part of a row, too.
    Psm,
    /// Twice that: the same bank, but another subarray, or not the whole row.
    Psm2,
    /// Over the channel: another rank or channel, or within one row.
    Channel,
}

impl Mechanism {
    /// All, in the order in which reports list them.
    pub const ALL: [Mechanism; 4] = [Mechanism::Fpm, Mechanism::Psm, Mechanism::Psm2, Mechanism::Channel];

    /// The name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Mechanism::Fpm => "fpm",
            Mechanism::Psm => "psm",
            Mechanism::Psm2 => "psm2",
            Mechanism::Channel => "channel",
        }
    }
}

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
    /// How frame number `at` of a copy of consecutive frames goes.
    pub fn copied(&self, src: Frame, dst: Frame, frames: u32, at: u32) -> (Mechanism, Rows) {
        let (src_frame, dst_frame) = (src.plus(at), dst.plus(at));
        // The rows are whole if all frames that share them are copied too, each from a frame at the same difference.
        let difference = src_frame.0 ^ dst_frame.0;
        let alike = |other: Frame| other.0 >= dst.0 && (other.0 - dst.0 + src.0) ^ other.0 == difference;
        let rows = self.rows(dst, frames, dst_frame, alike);
        let (from, to) = (self.place(src_frame), self.place(dst_frame));
        let subarrays_differ = self.subarray(src_frame) != self.subarray(dst_frame);
        let mechanism = if from.channel != to.channel || from.bank.rank != to.bank.rank {
            Mechanism::Channel
        } else if from.bank != to.bank {
            Mechanism::Psm
        } else if from.row == to.row {
            Mechanism::Channel
        } else if rows != Rows::Whole || subarrays_differ || from.column != to.column {
            Mechanism::Psm2
        } else {
            Mechanism::Fpm
        };
        (mechanism, rows)
    }

    /// How frame number `at` of a zeroing of consecutive frames goes.
    pub fn zeroed(&self, dst: Frame, frames: u32, at: u32) -> (Mechanism, Rows) {
        let rows = self.rows(dst, frames, dst.plus(at), |_| true);
        (if rows == Rows::Whole { Mechanism::Fpm } else { Mechanism::Psm }, rows)
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
