//! Records of finished runs: one line of JSON in a journal each.

use std::time::Duration;

use report::{Cell, CellColumn};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::digest::Digest;

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub(super) digest: Digest,
    /// Duration of the run on this computer.
    pub(super) wall: Duration,
    /// Cells of the result, or the error of the run.
    pub(super) outcome: Result<Vec<Cell>, String>,
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalLine {
    digest: String,
    wall_ns: u64,
    /// Cells as text; none if the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cells: Option<Vec<String>>,
    /// Error of a failed run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Part of a line that a starting sweep reads; cells are skipped.
#[derive(Deserialize)]
struct RecordDigest<'a> {
    digest: &'a str,
    error: Option<IgnoredAny>,
}

impl Record {
    /// Writes the line: a JSON object. A truncated line is invalid JSON.
    pub(super) fn line(&self) -> String {
        let (cells, error) = match &self.outcome {
            Ok(cells) => (Some(cells.iter().map(ToString::to_string).collect()), None),
            Err(error) => (None, Some(error.clone())),
        };
        let wall_ns = u64::try_from(self.wall.as_nanos()).unwrap_or(u64::MAX);
        let line = JournalLine { digest: self.digest.to_string(), wall_ns, cells, error };
        format!("{}\n", serde_json::to_string(&line).expect("texts and numbers are JSON"))
    }

    /// Digest of the run of a line, and whether the run failed; none if the line is incomplete.
    pub(super) fn key(line: &str) -> Option<(Digest, bool)> {
        let RecordDigest { digest, error } = serde_json::from_str(line).ok()?;
        Some((digest.parse().ok()?, error.is_some()))
    }

    /// Parses a line; none if it is incomplete, or if its run has other columns.
    pub(super) fn parse(line: &str, columns: &[CellColumn]) -> Option<Record> {
        let JournalLine { digest, wall_ns, cells, error } = serde_json::from_str(line).ok()?;
        let outcome = match (cells, error) {
            (Some(texts), None) if texts.len() == columns.len() => {
                let cells = columns.iter().zip(&texts).map(|(column, text)| column.kind.parse(text));
                Ok(cells.collect::<Option<Vec<Cell>>>()?)
            }
            (None, Some(error)) => Err(error),
            _ => return None,
        };
        Some(Record { digest: digest.parse().ok()?, wall: Duration::from_nanos(wall_ns), outcome })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use report::CellKind;
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn columns() -> [CellColumn; 3] {
        [
            CellColumn::new("a", CellKind::Text),
            CellColumn::new("b", CellKind::Number),
            CellColumn::new("c", CellKind::Count),
        ]
    }

    fn arb_record() -> impl Strategy<Value = Record> {
        let number = any::<f64>().prop_filter("only numbers are written", |number| number.is_finite());
        let cells = (".*", proptest::option::of(number), any::<Option<u64>>());
        let done = cells.prop_map(|(a, b, c)| Ok(vec![Cell::Text(a), Cell::Number(b), Cell::Count(c)]));
        let outcome = prop_oneof![done, any::<String>().prop_map(Err)];
        (any::<u64>(), any::<u64>(), outcome).prop_map(|(seed, wall, outcome)| {
            let digest = Digest::finish(Sha256::new_with_prefix(seed.to_string()));
            Record { digest, wall: Duration::from_nanos(wall), outcome }
        })
    }

    proptest! {
        #[test]
        fn a_record_is_one_line_and_reads_back_to_the_last_bit(record in arb_record()) {
            let line = record.line();
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(Record::key(&line), Some((record.digest, record.outcome.is_err())));
            prop_assert_eq!(Record::parse(&line, &columns()), Some(record));
        }

        #[test]
        fn a_line_that_was_cut_off_is_none(record in arb_record(), cut in any::<prop::sample::Index>()) {
            let line = record.line();
            let mut at = cut.index(line.len() - 1);
            while !line.is_char_boundary(at) {
                at -= 1;
            }
            prop_assert_eq!(Record::key(&line[..at]), None);
            prop_assert_eq!(Record::parse(&line[..at], &columns()), None);
        }
    }

    #[test]
    fn a_line_of_other_columns_is_none() {
        let digest = Digest::finish(Sha256::new());
        let line = Record { digest, wall: Duration::ZERO, outcome: Ok(vec![1_u64.into()]) }.line();
        assert_eq!(Record::parse(&line, &columns()), None);
        assert!(Record::key(&line).is_some());
    }
}
