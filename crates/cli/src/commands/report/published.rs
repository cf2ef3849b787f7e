//! Which of our operations have the setting of a published row: only those are set beside it.

use dram_spec::address::FRAME_BYTES;
use report::page::{Beside, PublishedFigures};
use report::table3::PUBLISHED;

use super::results_json::{OperationJson, RunJson};

/// The setting of the published table, in the words of a result's line about its system: the clock, one rank, a page a row.
const SETTING: [&str; 3] = ["DDR3-1066G 8-8-8, ", " x 1 rank, ", " rows of 4 KiB, "];

/// Where the source lies, the mechanism, and the published row.
#[rustfmt::skip]
const ROWS: [(&str, &str, &str); 7] = [
    ("copy 4 KiB, same-bank",     "channel", "copy/channel"),
    ("copy 4 KiB, same-subarray", "channel", "copy/channel"),
    ("copy 4 KiB, same-subarray", "fpm",     "copy/fpm"),
    ("copy 4 KiB, other-bank",    "psm",     "copy/psm"),
    ("copy 4 KiB, same-bank",     "psm2",    "copy/psm2"),
    ("zero 4 KiB",                "channel", "zero/channel"),
    ("zero 4 KiB",                "fpm",     "zero/fpm"),
];

/// Said under every comparison.
pub(super) const NOTES: [&str; 3] = [
    "Latencies are those of the legal sequences of commands, and no parameter was fitted to them.",
    "Energies depend on a calibrated choice: of the shipped current sets, `2 Gb x8 -25E` comes nearest to the published \
     energies and is the default by selection, which is no validation. Both count what is above standby.",
    "The published energies of FPM are the baseline's divided by the published ratios, for the printed ones are rounded.",
];

/// The operations of a run that were done alone on the published system.
pub(super) fn of_a_run(results: &[RunJson]) -> PublishedFigures {
    let rows = results.iter().filter(|result| has_the_setting(&result.system)).flat_map(|result| {
        let operations = result.operations.iter().enumerate();
        let alone = operations.filter(|(index, _)| is_alone(&result.operations, *index));
        alone.filter_map(|(_, operation)| beside(result, operation))
    });
    let rows: Vec<Beside> = rows.collect();
    let notes = if rows.is_empty() { vec![none()] } else { NOTES.map(str::to_owned).into() };
    PublishedFigures { rows, notes }
}

/// Why nothing is beside ours.
pub(super) fn none() -> String {
    format!(
        "Nothing here has the setting of the published table: one operation of {FRAME_BYTES} bytes, alone on DDR3-1066 8-8-8 \
         with one rank and rows of 4 KiB. `rowclone-sim reproduce table3` simulates it."
    )
}

/// The name of a system is its owner's: only what follows it counts.
fn has_the_setting(system: &str) -> bool {
    system.rsplit_once(" (").is_some_and(|(_, line)| SETTING.iter().all(|part| line.contains(part)))
}

/// Whether no other operation was under way in the meantime.
fn is_alone(operations: &[OperationJson], index: usize) -> bool {
    let stretch = |operation: &OperationJson| {
        (operation.arrival_cycle, operation.arrival_cycle.saturating_add(operation.latency_cycles))
    };
    let (from, to) = stretch(&operations[index]);
    let apart = |other: &OperationJson| {
        let (other_from, other_to) = stretch(other);
        other_to <= from || to <= other_from
    };
    operations.iter().enumerate().all(|(other, operation)| other == index || apart(operation))
}

fn beside(result: &RunJson, operation: &OperationJson) -> Option<Beside> {
    let id = published_row(&operation.label, &operation.mechanism)?;
    let (_, published) = PUBLISHED.iter().find(|(row, _)| *row == id)?;
    Some(Beside {
        id: id.to_owned(),
        run: format!("{}, {}", operation.label, result.variant()),
        published_ns: published.latency_ns,
        simulated_ns: operation.latency_ns,
        published_nj: published.energy_nj,
        simulated_nj: operation.energy_nj,
    })
}

/// The published row of an operation that was done so.
fn published_row(label: &str, mechanism: &str) -> Option<&'static str> {
    ROWS.iter().find(|row| row.0 == label && row.1 == mechanism).map(|row| row.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_published_one_and_every_published_one_has_a_row() {
        let known: Vec<&str> = PUBLISHED.iter().map(|(id, _)| *id).collect();
        assert!(ROWS.iter().all(|(_, _, id)| known.contains(id)));
        assert!(known.iter().all(|known| ROWS.iter().any(|(_, _, id)| id == known)));
    }

    #[test]
    fn the_setting_is_that_of_the_system_and_not_of_its_name() {
        let line = "DDR3-1066G 8-8-8, 2 channels x 1 rank, 2 Gb x8 chips, rows of 4 KiB, 512 rows a subarray, 4 GiB)";
        assert!(has_the_setting(&format!("paper ({line}")));
        let other = line.replace("8-8-8", "7-7-7");
        assert!(!has_the_setting(&format!("{line} ({other}")));
    }
}
