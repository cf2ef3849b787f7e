//! PREs of rows that no access needs, some time after their last command. Rule 26 of
//! `docs/controller.md`.

use dram_spec::{Command, Cycle, Cycles};

use super::offer::{Choice, Offer, Tier, View};

/// The first row that may be closed `after` the last command to its bank.
pub(crate) fn offer(view: &View<'_>, after: Cycles) -> Offer {
    let mut best = Offer::NOTHING;
    for index in view.device.open_banks().intersection(view.free) {
        if view.device.row_in(index).is_some_and(|row| view.queues.has_any(index, row)) {
            continue;
        }
        let bank = view.topology.bank(index);
        let last = view.device.last_in_bank(bank).unwrap_or(Cycle::ZERO);
        let hold = view.device.earliest(&Command::Precharge { bank }).expect("a rank that can be used is awake");
        let at = hold.until().max(last + after).max(view.from);
        let tie = index.get() as u64;
        best = best.or(Offer { tie, ..Offer::new(at, Tier::Timeout, Choice::Timeout(index)) });
    }
    best
}
