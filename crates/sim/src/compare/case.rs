//! Cases of a comparison of copiers.

use host::machine::SourceState;

use super::receive::Delivery;

/// What is done with the bytes of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum CaseOperation {
    /// They are copied; the lines of the source have a state.
    Copy(SourceState),
    /// They are zeroed.
    Zero,
    /// They are received as a message, which the adapter delivers in some way.
    Receive(Delivery),
}

impl CaseOperation {
    /// All operations, in the order of reports.
    pub fn all() -> Vec<CaseOperation> {
        let copies = SourceState::ALL.into_iter().map(CaseOperation::Copy);
        let messages = Delivery::ALL.into_iter().map(CaseOperation::Receive);
        copies.chain([CaseOperation::Zero]).chain(messages).collect()
    }

    /// Name in reports, without the state.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// State of the source of a copy, or place where a message is delivered; empty for a zeroing.
    pub const fn state(self) -> &'static str {
        match self {
            CaseOperation::Copy(state) => state.name(),
            CaseOperation::Zero => "",
            CaseOperation::Receive(delivery) => delivery.name(),
        }
    }
}

/// An operation on a number of bytes, of which a share is read afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Operation.
    pub operation: CaseOperation,
    /// Bytes, at least 1.
    pub bytes: u64,
    /// Percent of the destination's lines that the program reads afterwards, 0 to 100.
    pub read_percent: u64,
}

impl Case {
    /// Sizes: 64 B to 4 MiB in steps of a factor of 4.
    pub const SIZES: [u64; 9] = [64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];
    /// Shares of the destination that are read, in percent.
    pub const READS: [u64; 3] = [0, 50, 100];

    /// All cases of some operations, sizes and shares, ordered by operation, share and size.
    pub fn all(operations: &[CaseOperation], sizes: &[u64], reads: &[u64]) -> Vec<Case> {
        let mut cases = Vec::new();
        for &operation in operations {
            for &read_percent in reads {
                cases.extend(sizes.iter().map(|&bytes| Case { operation, bytes, read_percent }));
            }
        }
        cases
    }
}
