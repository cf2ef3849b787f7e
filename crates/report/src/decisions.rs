//! Decisions of a run in one cell: parts and bytes per mechanism and reason.

use memctrl::policy::copy::FIRST_CHOICE;
use memctrl::stats::PartTally;
use rowclone::MECHANISMS;

use crate::page::Served;

/// Text in place of a reason for FPM, which has none.
const NO_REASON: &str = "-";

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
    use memctrl::stats::Parts;
    use rowclone::{FPM, Mechanism, PSM};

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
    fn nothing_is_read_from_nothing_and_from_anything_else() {
        let none = PartTally::default();
        assert_eq!(read(&cell(&none, &none), ""), Some(Vec::new()));
        for wrong in
            ["copy", "copy fpm fastest 1", "move fpm fastest 1 2", "copy dma fastest 1 2", "copy fpm fastest 1 -2"]
        {
            assert_eq!(read(wrong, ""), None, "{wrong}");
        }
    }
}
