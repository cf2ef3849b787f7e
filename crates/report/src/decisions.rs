//! Decisions of a run: parts and bytes per mechanism and reason, the reasons in words, and all decisions in one cell.

use memctrl::policy::copy::FIRST_CHOICE;
use memctrl::stats::PartTally;
use rowclone::MECHANISMS;
use serde::{Deserialize, Deserializer};

/// Text in place of a reason for FPM, which has none.
const NO_REASON: &str = "-";

/// Parts that one mechanism served for one reason, with the fields of `results.json`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Served {
    /// Policy, and placement where there is one.
    #[serde(skip)]
    pub run: String,
    /// `copy` or `init`.
    pub operation: String,
    /// The mechanism.
    pub mechanism: String,
    /// Reason why no better mechanism served the bytes; empty where FPM did.
    #[serde(deserialize_with = "text_or_null")]
    pub reason: String,
    /// Parts.
    pub count: u64,
    /// Bytes.
    pub bytes: u64,
    /// Share of all bytes of such operations, 0 to 1.
    pub share_of_bytes: f64,
}

fn text_or_null<'de, D: Deserializer<'de>>(value: D) -> Result<String, D::Error> {
    Option::<String>::deserialize(value).map(Option::unwrap_or_default)
}

/// Sentences for the reasons of `results.json`; `docs/planner.md` describes them.
#[rustfmt::skip]
const REASONS: [(&str, &str); 25] = [
    ("policy",               "the policy admits no mechanism inside the DRAM"),
    ("fastest",              "by the first choice of the policy"),
    ("soonest",              "it was expected to be done sooner than by any other"),
    ("cheapest",             "it was expected to take less energy than any other"),
    ("overlap",              "source and destination overlap, closer than the granularity"),
    ("line-misaligned",      "source and destination differ by a part of a line"),
    ("partial-line",         "the operation covers only a part of a line"),
    ("other-channel",        "source and destination lie in different channels"),
    ("other-rank",           "source and destination lie in different ranks"),
    ("other-bank",           "source and destination lie in different banks"),
    ("other-subarray",       "source and destination lie in different subarrays of a bank"),
    ("same-bank",            "source and destination lie in the same bank"),
    ("same-bank-group",      "source and destination lie in the same bank group"),
    ("same-subarray",        "source and destination lie in the same subarray"),
    ("same-row",             "source and destination lie in the same row"),
    ("partial-row",          "the operation covers only a part of the row"),
    ("interleaved",          "the address map spreads each row over others, and the operation covers no whole row"),
    ("columns-differ",       "source and destination begin at different places of a row"),
    ("faulty-row",           "a row was remapped"),
    ("no-temporary-row",     "the temporary rows of all other banks of the rank were remapped"),
    ("no-zero-row",          "the zero rows of all other banks of the rank were remapped"),
    ("psm-suffices",         "the zeros come from another bank by one PSM"),
    ("first-row-is-written", "the first row of a value must be written in each rank"),
    ("no-source",            "no sound row of the subarray holds the value yet"),
    ("not-offered",          "the chips do not offer the mechanism"),
];

/// Sentence of a reason of a decision; empty if there is none.
pub(crate) fn sentence(reason: &str) -> &str {
    REASONS.iter().find(|(name, _)| *name == reason).map_or("", |(_, sentence)| sentence)
}

/// The text of a cell: `copy fpm - 12 49152; init channel partial-row 1 64`: operation, mechanism, reason (`-` of FPM),
/// parts, bytes.
pub fn cell(copies: &PartTally, inits: &PartTally) -> String {
    let decisions = [("copy", copies), ("init", inits)].into_iter().flat_map(|(operation, tally)| {
        tally.iter().map(move |(mechanism, reason, parts)| {
            let reason = if reason == FIRST_CHOICE { NO_REASON } else { reason };
            format!("{operation} {} {reason} {} {}", mechanism.name(), parts.count, parts.bytes)
        })
    });
    decisions.collect::<Vec<_>>().join("; ")
}

/// Parses a cell; the decisions have no shares. None if the text is no such cell.
pub fn read(cell: &str, run: &str) -> Option<Vec<Served>> {
    cell.split("; ").filter(|_| !cell.is_empty()).map(|text| decision(text, run)).collect()
}

fn decision(text: &str, run: &str) -> Option<Served> {
    let [operation, mechanism, reason, count, bytes] = text.split(' ').collect::<Vec<_>>().try_into().ok()?;
    let known = MECHANISMS.iter().any(|known| known.name() == mechanism) && ["copy", "init"].contains(&operation);
    known.then_some(Served {
        run: run.to_owned(),
        operation: operation.to_owned(),
        mechanism: mechanism.to_owned(),
        reason: if reason == NO_REASON { String::new() } else { reason.to_owned() },
        count: count.parse().ok()?,
        bytes: bytes.parse().ok()?,
        share_of_bytes: 0.0,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use memctrl::policy::copy::{BY_POLICY, POLICIES, WITH_CORES};
    use memctrl::stats::Parts;
    use rowclone::{FPM, Mechanism, PSM, Reason};

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let copies = PartTally::from_iter([
            (FPM, "fastest", Parts { count: 12, bytes: 49_152 }),
            (Mechanism::CHANNEL, "partial-line", Parts { count: 1, bytes: 3 }),
        ]);
        let inits = PartTally::from_iter([(PSM, "policy", Parts { count: 2, bytes: 8192 })]);
        let text = cell(&copies, &inits);
        assert_eq!(text, "copy fpm - 12 49152; copy channel partial-line 1 3; init psm policy 2 8192");
        let read = read(&text, "rowclone").unwrap();
        assert_eq!(read.len(), 3);
        assert_eq!((read[2].operation.as_str(), read[2].mechanism.as_str(), read[2].count), ("init", "psm", 2));
        assert_eq!((read[0].bytes, read[0].reason.as_str()), (49_152, ""));
    }

    #[test]
    fn an_empty_cell_has_no_decisions_and_a_malformed_cell_is_refused() {
        let none = PartTally::default();
        assert_eq!(read(&cell(&none, &none), ""), Some(Vec::new()));
        for wrong in
            ["copy", "copy fpm fastest 1", "move fpm fastest 1 2", "copy dma fastest 1 2", "copy fpm fastest 1 -2"]
        {
            assert_eq!(read(wrong, ""), None, "{wrong}");
        }
    }

    /// The reasons of the planner and of the policies. Reads and writes have no parts.
    #[test]
    fn each_reason_has_one_sentence() {
        let of_policies = POLICIES.into_iter().chain(WITH_CORES).map(|policy| policy.preference().0);
        let of_parts = Reason::NAMES.iter().copied().filter(|name| *name != Reason::NotACopy.name());
        let expected: BTreeSet<&str> = of_parts.chain(of_policies).chain([FIRST_CHOICE, BY_POLICY]).collect();
        let names: BTreeSet<&str> = REASONS.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, expected);
        assert_eq!(names.len(), REASONS.len());
        assert!(REASONS.iter().all(|(name, sentence)| !sentence.is_empty() && super::sentence(name) == *sentence));
        assert_eq!(sentence("of a later version"), "");
    }
}
