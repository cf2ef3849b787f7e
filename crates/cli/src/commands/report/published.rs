//! Comparison with published rows, for operations that have the setting of such a row.

use std::path::Path;

use dram_spec::address::FRAME_BYTES;
use report::page::{Beside, PublishedFigures, Runs};
use report::published_copies::PUBLISHED;
use rowclone::{MECHANISMS, Mechanism};
use rowclone_sim::OperationRow;

use super::results_json::RunJson;
use crate::commands::run::summary;
use rowclone_config::{Library, ResolvedScenario, Workload};
use rowclone_sweep as sweep;

/// Setting of the published table, in the words of the system description of a result: the clock, one rank, and a row
/// per page.
const SETTING: [&str; 3] = ["DDR3-1066G 8-8-8, ", " x 1 rank, ", " rows of 4 KiB, "];

/// Location of the source, mechanism, and published row.
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

/// Note under each comparison.
const NOTES: [&str; 3] = [
    "Latencies are those of the legal sequences of commands, and no parameter was fitted to them.",
    "Energies depend on a calibrated choice: of the shipped current sets, `2 Gb x8 -25E` comes nearest to the \
        published \
     energies and is the default by selection, which is no validation. Both are dynamic energies.",
    "The published energies of FPM are the baseline's divided by the published ratios, for the printed ones are \
        rounded.",
];

/// Operations of the run that were executed alone on the published system.
pub(super) fn of_a_run(results: &[RunJson]) -> PublishedFigures {
    let rows = results.iter().filter(|result| has_the_setting(&result.system)).flat_map(|result| {
        let operations = result.operations.iter().enumerate();
        let alone = operations.filter(|(index, _)| is_alone(&result.operations, *index));
        alone.filter_map(|(_, operation)| {
            let OperationRow { label, mechanism, latency_ns, energy_nj, .. } = operation;
            set_beside(label, mechanism, format!("{label}, {}", result.variant()), *latency_ns, (*energy_nj)?)
        })
    });
    with_notes(rows.collect(), Vec::new())
}

/// Rows of a sweep that consist of one operation on the published system.
///
/// A table does not contain the systems of its rows. The scenario contains them if its file is present and still gives
/// the rows their digests.
pub(super) fn of_a_sweep(runs: &Runs) -> PublishedFigures {
    let (library, mut rows, mut unknown) = (Library::default(), Vec::new(), 0_u64);
    for row in (0..runs.len()).filter(|&row| runs.number(row, "requests") == Some(1.0)) {
        let Some(mechanism) = mechanism(runs, row) else { continue };
        match label(&library, &runs.text(row, "rerun"), &runs.text(row, "digest")) {
            Some(Label::Matching(label)) => {
                let figure = |column| runs.number(row, column).unwrap_or_default();
                let run = format!("{label}, {}, point {}", runs.variant(row), runs.text(row, "point"));
                let Some(nj) = runs.number(row, "dynamic_energy_nj") else { continue };
                let ns = figure("copy_latency_mean_ns");
                rows.extend(set_beside(&label, mechanism.name(), run, ns, nj));
            }
            Some(Label::Other) => {}
            None => unknown += 1,
        }
    }
    let note = (unknown > 0).then(|| {
        format!(
            "The systems of {unknown} runs of one operation are unknown: their scenario was not found from the \
                directory in which this \
             page was made, or was changed since."
        )
    });
    with_notes(rows, note.into_iter().collect())
}

/// Mechanism of the only operation of a row; none if several mechanisms served it, or it was no copy.
fn mechanism(runs: &Runs, row: usize) -> Option<Mechanism> {
    let served_all = |mechanism: &Mechanism| {
        ["copies", "inits"]
            .iter()
            .any(|operations| runs.number(row, &format!("{operations}_by_{}_share", mechanism.name())) == Some(1.0))
    };
    MECHANISMS.into_iter().find(served_all)
}

/// Operation of a row, as in the list of operations of a result.
enum Label {
    /// The system is the published one.
    Matching(String),
    /// The system is another one.
    Other,
}

/// Setting of the scenario of a row; none if the scenario differs from the one of the run.
fn label(library: &Library, rerun: &str, digest: &str) -> Option<Label> {
    let words = shlex::split(rerun)?;
    let (path, sets) = (words.get(2)?, words.get(3..)?);
    let sets: Vec<String> = sets.iter().filter(|word| *word != "--set").cloned().collect();
    let resolved = ResolvedScenario::read(library, Path::new(path), &sets).ok()?;
    let [variant] = resolved.scenario.variants()[..] else { return None };
    if sweep::digest_of_operations(&resolved, variant).to_string() != digest {
        return None;
    }
    match &resolved.scenario.workload {
        Workload::Operations(listed) if listed.len() == 1 && has_the_setting(&summary(&resolved.scenario.system)) => {
            Some(Label::Matching(rowclone_sim::label(listed[0].spec())))
        }
        _ => Some(Label::Other),
    }
}

fn with_notes(rows: Vec<Beside>, more: Vec<String>) -> PublishedFigures {
    let none = format!(
        "Nothing here has the setting of the published table: one operation of {FRAME_BYTES} bytes, alone on DDR3-1066 \
            8-8-8 \
         with one rank and rows of 4 KiB. `rowclone-sim reproduce table3` simulates it."
    );
    let notes = if rows.is_empty() { vec![none] } else { NOTES.map(str::to_owned).into() };
    PublishedFigures { rows, notes: notes.into_iter().chain(more).collect() }
}

/// The user chooses the name of a system; the setting is the text after it.
fn has_the_setting(system: &str) -> bool {
    system.rsplit_once(" (").is_some_and(|(_, line)| SETTING.iter().all(|part| line.contains(part)))
}

/// Whether no other operation was in progress during the operation.
fn is_alone(operations: &[OperationRow], index: usize) -> bool {
    let end = |operation: &OperationRow| operation.arrival_cycle.saturating_add(operation.latency_cycles);
    let this = &operations[index];
    let apart = |other: &OperationRow| end(other) <= this.arrival_cycle || end(this) <= other.arrival_cycle;
    operations.iter().enumerate().all(|(other, operation)| other == index || apart(operation))
}

fn set_beside(label: &str, mechanism: &str, run: String, simulated_ns: f64, simulated_nj: f64) -> Option<Beside> {
    let (.., id) = *ROWS.iter().find(|row| row.0 == label && row.1 == mechanism)?;
    let (_, published) = PUBLISHED.iter().find(|(row, _)| *row == id)?;
    let (published_ns, published_nj) = (published.latency_ns, published.energy_nj);
    Some(Beside { id: id.to_owned(), run, published_ns, simulated_ns, published_nj, simulated_nj })
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
        let line = "DDR3-1066G 8-8-8, 2 channels x 1 rank, 2 Gb x8 chips, rows of 4 KiB, 512 rows per subarray, 4 GiB)";
        assert!(has_the_setting(&format!("paper ({line}")));
        let other = line.replace("8-8-8", "7-7-7");
        assert!(!has_the_setting(&format!("{line} ({other}")));
    }
}
