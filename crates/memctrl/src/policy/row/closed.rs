//! Closed rows: the last queued access to a row closes the row, by RDA or WRA.

use crate::queues::Queues;

/// Name in the configuration.
pub(super) const NAME: &str = "closed";

/// Whether the access at a place of the pool closes its row.
#[inline]
pub(super) fn closes(queues: &Queues, place: u16) -> bool {
    let access = queues.get(place);
    !queues.has_other(access.bank(), place, access.row())
}
