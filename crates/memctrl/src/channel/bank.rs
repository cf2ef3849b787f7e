//! What a channel keeps of each bank.

use dram_spec::Cycle;

use super::access::AccessKind;
use super::candidate::Candidate;

/// A bank, as far as its accesses and threads go. The device has the rest of its state.
#[derive(Clone, Debug)]
pub(crate) struct Bank {
    rank: u8,
    /// Rises with everything that can change the candidate.
    version: u64,
    /// The candidate, and the version that it was computed from.
    candidate: (u64, Option<Candidate>),
    /// The kind of access that the open row was opened for, while the row is unused.
    unused: Option<AccessKind>,
    /// Accesses that the open row has served.
    served: u32,
    /// When a thread last released the bank.
    released: Option<Cycle>,
}

/// A candidate that was computed before.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cached {
    /// It must be computed again.
    Outdated,
    /// It still holds; none if the bank has no candidate.
    Valid(Option<Candidate>),
}

impl Bank {
    /// A closed bank of a rank.
    pub(crate) fn new(rank: u8) -> Bank {
        Bank { rank, version: 0, candidate: (0, None), unused: None, served: 0, released: None }
    }

    #[inline]
    pub(crate) fn rank(&self) -> u8 {
        self.rank
    }

    /// The candidate as last computed; `shared` rises with everything that can change the candidates of all banks.
    #[inline]
    pub(crate) fn candidate(&self, shared: u64) -> Cached {
        // Both versions only rise: their sum is the same only if both are.
        if self.candidate.0 == self.version + shared { Cached::Valid(self.candidate.1) } else { Cached::Outdated }
    }

    #[inline]
    pub(crate) fn set_candidate(&mut self, shared: u64, candidate: Option<Candidate>) {
        self.candidate = (self.version + shared, candidate);
    }

    /// The queues of the bank have changed such that another access may be preferred.
    #[inline]
    pub(crate) fn changed(&mut self) {
        self.version += 1;
    }

    pub(crate) fn unused(&self) -> Option<AccessKind> {
        self.unused
    }

    pub(crate) fn served(&self) -> u32 {
        self.served
    }

    pub(crate) fn released(&self) -> Option<Cycle> {
        self.released
    }

    /// A row was opened, for an access of a kind or for a thread.
    #[inline]
    pub(crate) fn opened(&mut self, kind: Option<AccessKind>) {
        (self.unused, self.served) = (kind, 0);
        self.version += 1;
    }

    /// The open row has served an access.
    #[inline]
    pub(crate) fn has_served(&mut self) {
        self.unused = None;
        self.served += 1;
        self.version += 1;
    }

    /// The row was closed.
    #[inline]
    pub(crate) fn closed(&mut self) {
        (self.unused, self.served) = (None, 0);
        self.version += 1;
    }

    /// A thread released the bank.
    pub(crate) fn was_released(&mut self, now: Cycle) {
        self.released = Some(now);
        self.version += 1;
    }
}
