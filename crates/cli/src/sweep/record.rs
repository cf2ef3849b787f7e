//! What is kept of a finished run: one line of a journal, which tells by itself whether it is whole.

use std::time::Duration;

use report::{Cell, Column};

use super::digest::Digest;

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Record {
    pub(super) digest: Digest,
    /// How long it took here.
    pub(super) wall: Duration,
    /// What it did, or why it could not be done.
    pub(super) outcome: Result<Vec<Cell>, String>,
}

const DONE: &str = "done";
const FAILED: &str = "failed";

impl Record {
    /// Its line: a checksum of the rest, digest, wall-clock time in ns, `done` or `failed`, then cells or the error; tabs between.
    pub(super) fn line(&self) -> String {
        let mut rest = format!("{}\t{}", self.digest, self.wall.as_nanos());
        let (word, fields) = match &self.outcome {
            Ok(cells) => (DONE, cells.iter().map(ToString::to_string).collect()),
            Err(error) => (FAILED, vec![error.clone()]),
        };
        rest.push('\t');
        rest.push_str(word);
        for field in fields {
            rest.push('\t');
            rest.push_str(&escape(&field));
        }
        format!("{:08x}\t{rest}\n", crc32fast::hash(rest.as_bytes()))
    }

    /// Whose line it is, and whether it failed; nothing of a line that is not whole.
    pub(super) fn key(line: &str) -> Option<(Digest, bool)> {
        let mut fields = whole(line)?.split('\t');
        let digest = fields.next()?.parse().ok()?;
        Some((digest, fields.nth(1)? == FAILED))
    }

    /// Reads a line; nothing if it is not whole, or not of a run with these columns.
    pub(super) fn parse(line: &str, columns: &[Column]) -> Option<Record> {
        let mut fields = whole(line)?.split('\t');
        let digest = fields.next()?.parse().ok()?;
        let wall = Duration::from_nanos(fields.next()?.parse().ok()?);
        let outcome = match fields.next()? {
            DONE => {
                let fields: Vec<String> = fields.map(unescape).collect();
                let cells = columns.iter().zip(&fields).map(|(column, field)| column.kind.parse(field));
                Ok(cells.collect::<Option<Vec<Cell>>>().filter(|_| fields.len() == columns.len())?)
            }
            FAILED => Err(unescape(fields.next()?)),
            _ => return None,
        };
        Some(Record { digest, wall, outcome })
    }
}

/// What follows the checksum, if it is what the checksum is of.
fn whole(line: &str) -> Option<&str> {
    let (checksum, rest) = line.trim_end_matches('\n').split_once('\t')?;
    (u32::from_str_radix(checksum, 16).ok()? == crc32fast::hash(rest.as_bytes())).then_some(rest)
}

fn escape(field: &str) -> String {
    field.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(field: &str) -> String {
    let (mut text, mut characters) = (String::with_capacity(field.len()), field.chars());
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use report::Kind;
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn columns() -> [Column; 3] {
        [Column::new("a", Kind::Text), Column::new("b", Kind::Number), Column::new("c", Kind::Count)]
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
