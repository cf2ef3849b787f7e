//! When a rank is refreshed, and whether a segment may still begin before that.

use dram_core::{Device, P, Timings};
use dram_spec::{Cycle, Cycles};

/// How refresh is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshPolicy {
    /// How many REF may be owed while work waits: 0 (a REF that is due goes before any segment that has not begun) to 8
    /// (JEDEC's limit).
    pub postpone_max: u64,
}

/// Whether the REF that a rank owes goes before its waiting work.
pub(crate) fn is_urgent(policy: RefreshPolicy, device: &Device, rank: u8, now: Cycle) -> bool {
    device.refresh(rank).owed(now) > policy.postpone_max
}

/// How long work on a channel may take at most, however its commands interleave.
///
/// A column access costs at most a turnaround from write to read or back; a stay at a row, its activation and precharge
/// behind those of every other bank.
pub(crate) fn longest(accesses: usize, visits: usize, timings: &Timings) -> Cycles {
    let n = |parameter| timings.get(parameter).0;
    let turnaround = n(P::Cwl) + n(P::Burst) + n(P::Wtr);
    let stay = n(P::Rc) + n(P::Faw) + n(P::Rp) + n(P::Cwl) + n(P::Burst) + n(P::Wr);
    Cycles(accesses as u64 * turnaround + visits as u64 * stay)
}

/// How long a segment takes at most that has the channel to itself.
pub(crate) fn longest_alone(accesses: usize, visits: usize, timings: &Timings) -> Cycles {
    let stays = longest(0, visits, timings);
    Cycles(accesses as u64 * timings.get(P::Ccd).0) + stays
}
