//! When a running thread gives its banks up, or begins a new term. Rules 21 and 22 of `docs/controller.md`.

use dram_spec::{BankSet, Cycle, Cycles};

use super::port::Surroundings;
use super::thread::Thread;

/// Why a thread is preempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Preemption {
    /// A rank of its banks must refresh, or is urgent and the thread waits for another channel.
    Refresh,
    /// A read is queued in a bank that it holds, and its term is over.
    Reads,
}

/// Whether a running thread is preempted now; else begins a new term if the present one is over.
pub(crate) fn preemption(
    thread: &mut Thread,
    remaining: BankSet,
    is_exempt: bool,
    term: Option<Cycles>,
    now: Cycle,
    around: &impl Surroundings,
) -> Option<Preemption> {
    // The thread that would read the data may wait for the refresh of its own rank, which may wait for a thread of the same sort.
    let waits = remaining.intersects(around.urgent()) && thread.awaits_data();
    if (waits || remaining.intersects(around.must())) && !thread.is_copying() {
        return Some(Preemption::Refresh);
    }
    if now < thread.term_end() || is_exempt {
        return None;
    }
    if thread.held().into_iter().any(|bank| around.oldest_read(bank).is_some()) {
        return Some(Preemption::Reads);
    }
    thread.begin_term(now, term);
    None
}
