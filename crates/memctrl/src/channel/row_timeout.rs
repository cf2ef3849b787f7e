//! PREs of rows that no access needs, by the row policy. Rule 26 of `docs/controller.md`.

use dram_spec::Command;

use super::offer::{Choice, Offer, Tier, View};
use crate::policy::row::RowPolicy;

/// The first row that the policy closes.
pub(crate) fn offer(view: &View<'_>, policy: RowPolicy) -> Offer {
    let mut best = Offer::NOTHING;
    for index in view.device.open_banks().intersection(view.free) {
        let Some(from) = policy.closes_from(view.device, view.queues, index) else { continue };
        let bank = view.topology().bank(index);
        let hold = view.device.earliest(&Command::Precharge { bank }).expect("a rank that can be used is awake");
        let at = hold.until().max(from).max(view.from);
        let tie = index.get() as u64;
        best = best.or(Offer { tie, ..Offer::new(at, Tier::Timeout, Choice::Timeout(index)) });
    }
    best
}
