//! When a rank is refreshed, and when all else gives way to it.

use dram_core::{Device, P};
use dram_spec::{BankId, Cycle};

/// How refresh is scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefreshPolicy {
    /// How many REF may be owed while work waits: 0 (a REF that is due goes before any segment that has not begun) to 8
    /// (JEDEC's limit).
    pub postpone_max: u64,
}

/// From when on a rank must be made free for its REF, so that it is still in time; with refresh off, so that no row
/// stays open longer than tRAS may last. Never with refresh off and all banks closed.
///
/// A bank needs at most a row cycle, a copy activation, and a write's recovery until it is closed; 8 banks of 4 ranks share the
/// command bus with what else goes on; and a rank in power-down is woken first.
pub fn yield_from(device: &Device, rank: u8) -> Option<Cycle> {
    let n = |parameter| device.timings().get(parameter).0;
    let close = n(P::Rc) + n(P::Ras) + n(P::Cwl) + n(P::Burst) + n(P::Wr) + n(P::Rp) + n(P::Xp);
    let bus = 2 * 64;
    let must_close = || (0..8).filter_map(|bank| device.close_by(BankId { rank, bank })).min();
    let by = device.refresh(rank).deadline().or_else(must_close)?;
    Some(Cycle(by.0.saturating_sub(close + bus)))
}
