//! When a thread begins, is preempted, or begins a new term. Rules 20 to 22 of
//! `docs/controller.md`.

use dram_spec::{BankIndex, BankSet, Cycle, PerBank, Row};

use super::thread::PortThread;

/// State of the channel that the port queries.
pub(crate) trait Surroundings {
    /// Open row of a bank.
    fn open_row(&self, bank: BankIndex) -> Option<Row>;

    /// Cycle in which the oldest queued read of a bank was queued.
    fn oldest_read(&self, bank: BankIndex) -> Option<Cycle>;
}

/// Changes of the channel that affect the start and the end of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Situation {
    /// Number of reads issued in banks in which threads are not done.
    pub(crate) reads_issued: u64,
    /// The banks with an unused row.
    pub(crate) unused: BankSet,
    /// The banks of ranks in which no thread may begin.
    pub(crate) urgent: BankSet,
    /// The banks of ranks that must refresh.
    pub(crate) must: BankSet,
}

/// Reason for the end of a thread's term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermEnd {
    /// A rank of its banks must refresh, or is urgent and the thread waits for another channel: the
    /// thread is preempted.
    Refresh,
    /// The term has ended, and a read is queued in a bank that the thread holds: the thread is
    /// preempted.
    Reads,
    /// The term has ended: the thread begins another one.
    Time,
}

/// Reason why the term of a running thread ends now; none if it does not. The first thread that
/// awaits its first column step is exempt; `is_exempt_known` is whether an earlier thread is.
pub(crate) fn term_end(
    thread: &PortThread,
    is_exempt_known: bool,
    now: Cycle,
    Situation { urgent, must, .. }: Situation,
    around: &impl Surroundings,
) -> Option<TermEnd> {
    // The thread that would read the data may wait for the refresh of its own rank, which may wait for a thread of the
    // same sort.
    let waits = thread.remaining().intersects(urgent) && thread.awaits_data();
    if (waits || thread.remaining().intersects(must)) && !thread.is_copying() {
        return Some(TermEnd::Refresh);
    }
    if now < thread.term_end() || (!is_exempt_known && thread.awaits_first_column()) {
        return None;
    }
    let is_read_queued = thread.held().into_iter().any(|bank| around.oldest_read(bank).is_some());
    Some(if is_read_queued { TermEnd::Reads } else { TermEnd::Time })
}

/// Whether no read has precedence in the banks of a thread; `released` is when a thread last released
/// each bank.
pub(super) fn may_begin(
    thread: &PortThread,
    banks: BankSet,
    released: &PerBank<Option<Cycle>>,
    around: &impl Surroundings,
) -> bool {
    banks.into_iter().all(|bank| {
        let since = released[bank].map_or(thread.dispatched(), |released| released.max(thread.dispatched()));
        around.oldest_read(bank).is_none_or(|read| read > since)
    })
}
