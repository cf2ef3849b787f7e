//! Mechanisms of copies and of initializations, which the controller counts together.

use dram_spec::Cycle;
use memctrl::stats::{PartTally, Parts};
use memctrl::{Completion, Request, RequestSource};
use rowclone::{Mechanism, Operation};
use serde::Serialize;

use crate::figures::reason_of;

/// A source, and a tally of what is done for it from some cycle on.
pub struct Served<S> {
    source: S,
    from: Cycle,
    copies: PartTally,
    inits: PartTally,
}

/// Parts of copies, and of initializations.
#[derive(Clone, Debug, Default)]
pub struct ServedTally {
    /// Parts of copies.
    pub copies: PartTally,
    /// Parts of initializations.
    pub inits: PartTally,
}

/// Segments of copies, or of initializations, served by a mechanism for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServedRow {
    /// `copy`, or `init`.
    pub operation: &'static str,
    /// `channel`, `psm`, `psm2` or `fpm`.
    pub mechanism: &'static str,
    /// Why no better mechanism: a planner's reason, or the policy's; none where FPM served.
    pub reason: Option<&'static str>,
    /// Segments.
    pub count: u64,
    /// Bytes of operations.
    pub bytes: u64,
    /// `bytes` as a share of all bytes of these operations, 0 to 1.
    pub share_of_bytes: f64,
}

impl ServedRow {
    /// Rows of one kind of operation.
    pub(crate) fn of(operation: &'static str, tally: &PartTally) -> Vec<ServedRow> {
        let all: u64 = tally.iter().map(|(_, _, segments)| segments.bytes).sum();
        let row = |(mechanism, reason, segments): (Mechanism, &'static str, Parts)| ServedRow {
            operation,
            mechanism: mechanism.name(),
            reason: reason_of(reason),
            count: segments.count,
            bytes: segments.bytes,
            share_of_bytes: segments.bytes as f64 / all as f64,
        };
        tally.iter().map(row).collect()
    }
}

impl<S> Served<S> {
    /// Counts completions at or after `from`.
    pub fn new(source: S, from: Cycle) -> Served<S> {
        Served { source, from, copies: PartTally::default(), inits: PartTally::default() }
    }

    /// Returns the source and the counts.
    pub fn finish(self) -> (S, ServedTally) {
        let Served { source, from: _, copies, inits } = self;
        (source, ServedTally { copies, inits })
    }
}

impl<S: RequestSource> RequestSource for Served<S> {
    #[inline]
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    #[inline]
    fn take(&mut self, now: Cycle) -> Option<Request> {
        self.source.take(now)
    }

    #[inline]
    fn complete(&mut self, completion: Completion) {
        if completion.done >= self.from {
            match completion.operation {
                Operation::Copy { .. } => self.copies += &completion.served,
                Operation::Init { .. } => self.inits += &completion.served,
                Operation::Read { .. } | Operation::Write { .. } => {}
            }
        }
        self.source.complete(completion);
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{PhysicalAddress, RequestId, SourceId};
    use memctrl::policy::copy::FIRST_CHOICE;
    use rowclone::{FPM, PSM};

    use super::*;

    fn tally(parts: &[(Mechanism, &'static str, u64, u64)]) -> PartTally {
        parts.iter().map(|&(mechanism, reason, count, bytes)| (mechanism, reason, Parts { count, bytes })).collect()
    }

    /// 3,072 of 12,288 bytes are a quarter. Rows are in the order of mechanisms.
    #[test]
    fn rows_have_their_share_of_the_bytes_of_their_operation() {
        let rows = ServedRow::of(
            "init",
            &tally(&[(PSM, "other-subarray", 5, 3_072), (FPM, FIRST_CHOICE, 2, 8_192), (PSM, "other-bank", 7, 1_024)]),
        );
        let row = |mechanism, reason, count, bytes, share_of_bytes| ServedRow {
            operation: "init",
            mechanism,
            reason,
            count,
            bytes,
            share_of_bytes,
        };
        assert_eq!(
            rows,
            [
                row("fpm", None, 2, 8_192, 8_192.0 / 12_288.0),
                row("psm", Some("other-bank"), 7, 1_024, 1_024.0 / 12_288.0),
                row("psm", Some("other-subarray"), 5, 3_072, 0.25),
            ]
        );
        assert_eq!(ServedRow::of("copy", &PartTally::default()), []);
    }

    /// A source that counts its completions.
    struct Counted(u64);

    impl RequestSource for Counted {
        fn next_arrival(&self) -> Option<Cycle> {
            Some(Cycle(42))
        }

        fn take(&mut self, _: Cycle) -> Option<Request> {
            None
        }

        fn complete(&mut self, _: Completion) {
            self.0 += 1;
        }
    }

    /// Completions at 99 are before the count, at 100 and later in it.
    #[test]
    fn copies_and_initializations_are_counted_apart_from_the_first_cycle_on() {
        let mut served = Served::new(Counted(0), Cycle(100));
        let (src, dst) = (PhysicalAddress(0), PhysicalAddress(4096));
        let copy = Operation::Copy { src, dst, bytes: 64 };
        let init = Operation::Init { dst, bytes: 64, value: 0 };
        let read = Operation::Read { address: src, bytes: 64 };
        let completions = [(copy, 99, 1), (copy, 100, 2), (init, 100, 4), (copy, 101, 8), (read, 101, 16)];
        for (operation, done, count) in completions {
            served.complete(Completion {
                id: RequestId(0),
                source: SourceId(0),
                operation,
                arrival: Cycle::ZERO,
                first_command: None,
                done: Cycle(done),
                served: tally(&[(FPM, FIRST_CHOICE, count, 10 * count)]),
                data: None,
            });
        }
        assert_eq!(served.next_arrival(), Some(Cycle(42)));
        let (source, ServedTally { copies, inits }) = served.finish();
        assert_eq!(source.0, 5, "the source gets every completion");
        assert_eq!(copies, tally(&[(FPM, FIRST_CHOICE, 10, 100)]));
        assert_eq!(inits, tally(&[(FPM, FIRST_CHOICE, 4, 40)]));
    }
}
