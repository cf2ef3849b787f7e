//! How the runs of a row lie in the memory.

/// How the runs of a row follow each other in the memory.
///
/// Within each aligned block of `span` bytes, the runs that lie a multiple of `bytes` apart follow each other in one
/// row, in the order of their addresses; those that do not lie in different rows. Both are powers of two; they are the
/// bytes of a run where the runs of a row are not equally far apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stride {
    /// From a run of a row to the next one.
    pub bytes: u64,
    /// The block.
    pub span: u64,
}

impl Stride {
    /// `rows` has the address bits that feed each bit of the word, whose lowest `columns` are offset and column.
    pub(super) fn new(run_bytes: u64, rows: &[u64], columns: u32) -> Stride {
        let run = run_bytes.trailing_zeros();
        let columns = &rows[..columns as usize];
        let Some(next) = columns.get(run as usize).map(|row| row.trailing_zeros()) else {
            return Stride { bytes: run_bytes, span: run_bytes };
        };
        let between = (1 << next) - run_bytes;
        let counts_up = |&(number, &row): &(u32, &u64)| {
            let bit = 1 << (next + number);
            row == bit && rows.iter().filter(|&&row| row & bit != 0).count() == 1
        };
        let bits = (0..).zip(&columns[run as usize..]).take_while(counts_up).count();
        if bits == 0 || columns.iter().any(|row| row & between != 0) {
            return Stride { bytes: run_bytes, span: run_bytes };
        }
        Stride { bytes: 1 << next, span: 1 << (next as usize + bits) }
    }
}
