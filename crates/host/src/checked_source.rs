//! A request source that checks the simulated memory against a flat memory.

use dram_core::LineBytes;
use dram_spec::{Channel, Cycle, RequestId};
use memctrl::{Completion, Controller, Request, RequestSource};
use rowclone::Operation;
use rustc_hash::FxHashMap;

use crate::comparison::{Mismatch, compare, compare_lines};
use crate::flat_memory::{Expected, FlatMemory};

/// Result of the comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryCheck {
    /// The cells and the data of all reads equal the flat memory.
    Equal,
    /// A byte of the cells differs.
    Cells(Mismatch),
    /// The data of a read differ.
    Read {
        /// Request of the read.
        id: RequestId,
        /// Offset of the first byte that differs.
        at: usize,
    },
}

/// Forwards a source's requests, and applies each to a flat memory in order of arrival.
pub struct CheckedSource<S> {
    source: S,
    flat: FlatMemory,
    expected: FxHashMap<RequestId, Expected>,
    wrong_read: Option<(RequestId, usize)>,
}

impl<S: RequestSource> CheckedSource<S> {
    /// Wraps a source. `flat` must be at reset.
    pub fn new(source: S, flat: FlatMemory) -> CheckedSource<S> {
        CheckedSource { source, flat, expected: FxHashMap::default(), wrong_read: None }
    }

    /// Compares all changed lines, and returns the source and the result.
    pub fn finish(self, controller: &Controller, channels: u8) -> (S, MemoryCheck) {
        let cells: Option<Vec<_>> = (0..channels).map(|index| controller.device(Channel(index)).cells()).collect();
        let mismatch = cells.and_then(|cells| compare(&self.flat, &cells));
        self.found(mismatch)
    }

    /// Compares all written lines with those of a memory without cells, and returns the source and the result.
    pub fn finish_with_lines(self, line: impl Fn(u64) -> LineBytes) -> (S, MemoryCheck) {
        let mismatch = compare_lines(&self.flat, line);
        self.found(mismatch)
    }

    fn found(self, mismatch: Option<Mismatch>) -> (S, MemoryCheck) {
        let found = match (self.wrong_read, mismatch) {
            (Some((id, at)), _) => MemoryCheck::Read { id, at },
            (None, Some(mismatch)) => MemoryCheck::Cells(mismatch),
            (None, None) => MemoryCheck::Equal,
        };
        (self.source, found)
    }
}

impl<S: RequestSource> RequestSource for CheckedSource<S> {
    fn next_arrival(&self) -> Option<Cycle> {
        self.source.next_arrival()
    }

    fn take(&mut self, now: Cycle) -> Option<Request> {
        let request = self.source.take(now)?;
        match (request.operation, &request.payload) {
            (Operation::Read { address, bytes }, _) => {
                self.expected.insert(request.id, self.flat.expected(address, bytes));
            }
            (Operation::Write { address, .. }, Some(payload)) => self.flat.write_shared(address, payload),
            (operation, _) => {
                self.flat.apply(&operation, None);
            }
        }
        Some(request)
    }

    fn wants_accesses(&self) -> bool {
        self.source.wants_accesses()
    }

    fn data_read(&mut self, id: RequestId, data: &[u8]) {
        if let Some(expected) = self.expected.remove(&id) {
            let differs = self.flat.difference(&expected, data);
            self.wrong_read = self.wrong_read.or(differs.map(|at| (id, at)));
        }
    }

    fn complete(&mut self, completion: Completion) {
        self.data_read(completion.id, completion.data.as_deref().unwrap_or_default());
        self.source.complete(completion);
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::MapPreset;
    use dram_spec::{AddressMap, Density, PhysicalAddress, System, Width};

    use super::*;
    use crate::Contents;

    /// A source with one read, of three bytes across two lines or of one line.
    struct OneRead(Option<Operation>);

    impl RequestSource for OneRead {
        fn next_arrival(&self) -> Option<Cycle> {
            self.0.map(|_| Cycle::ZERO)
        }

        fn take(&mut self, arrival: Cycle) -> Option<Request> {
            Some(Request {
                id: RequestId(7),
                source: dram_spec::SourceId::default(),
                arrival: Some(arrival),
                operation: self.0.take()?,
                payload: None,
            })
        }

        fn complete(&mut self, _: Completion) {}
    }

    #[test]
    fn a_wrong_byte_of_a_read_is_found() {
        let system = System::paper(1, Density::Gb1, Width::X8);
        let contents = Contents::new(1, AddressMap::preset(system.geometry, MapPreset::RowInterleaved));
        for (address, bytes) in [(PhysicalAddress(63), 3), (PhysicalAddress(64), 64)] {
            let sound = FlatMemory::new(contents.clone()).read(address, bytes);
            let wrong = |at: usize| (0..).zip(&sound).map(|(index, byte)| byte ^ u8::from(index == at)).collect();
            let cases: [(Vec<u8>, Option<usize>); 4] =
                [(sound.clone(), None), (wrong(2), Some(2)), (sound[1..].to_vec(), Some(0)), (Vec::new(), Some(0))];
            for (data, found) in cases {
                let operation = Operation::Read { address, bytes };
                let mut checked = CheckedSource::new(OneRead(Some(operation)), FlatMemory::new(contents.clone()));
                let Request { id, operation, .. } = checked.take(Cycle::ZERO).unwrap();
                let data = Some(data);
                let first_command = None;
                let (arrival, done) = (Cycle::ZERO, Cycle::ZERO);
                let source = dram_spec::SourceId::default();
                checked.complete(Completion {
                    id,
                    source,
                    operation,
                    arrival,
                    first_command,
                    done,
                    served: memctrl::stats::PartTally::default(),
                    data,
                });
                assert_eq!(checked.wrong_read, found.map(|at| (RequestId(7), at)));
            }
        }
    }
}
