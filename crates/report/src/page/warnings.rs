//! Warnings of a page, which are its first section.

use std::collections::BTreeMap;

use super::data::{Finding, Page, Subject, Weight};
use super::words::whole;
use rowclone_sim::quantity::grouped;

/// Distinct findings with the number of their runs, the most severe first, then by first appearance.
pub(super) fn all(page: &Page) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    let mut places: BTreeMap<(Weight, String), usize> = BTreeMap::new();
    for finding in of_the_table(page).into_iter().chain(page.findings.iter().cloned()) {
        let place = *places.entry((finding.weight, finding.text.clone())).or_insert(found.len());
        if place == found.len() {
            found.push(finding);
        } else {
            found[place].runs += finding.runs;
        }
    }
    found.sort_by_key(|finding| finding.weight);
    found
}

/// Findings in the rows.
fn of_the_table(page: &Page) -> Vec<Finding> {
    let runs = &page.runs;
    let alone = page.subject == Subject::Sweep; // What a scenario has to warn of stands in its results.
    let (mut found, mut dropped) = (Vec::new(), 0);
    for row in 0..runs.len() {
        let error = runs.text(row, "error");
        if error.is_empty() {
            let text = runs.text(row, "warnings");
            let said = text.split("; ").filter(|text| alone && !text.is_empty());
            found.extend(said.map(|text| Finding { weight: Weight::Warning, text: text.to_owned(), runs: 1 }));
            dropped += u64::from(runs.number(row, "dropped_activations").is_some_and(|count| count > 0.0));
        } else {
            found.push(Finding { weight: Weight::Error, text: error, runs: 1 });
        }
    }
    if dropped > 0 {
        let text = "the chips dropped copy activations: they went to another subarray".to_owned();
        found.push(Finding { weight: Weight::Violation, text, runs: dropped });
    }
    let missing = missing_points(page);
    if missing > 0 {
        let text = format!("{} points before the last one are not in the table", grouped(missing));
        found.push(Finding { weight: Weight::Warning, text, runs: 0 });
    }
    found
}

/// Number of missing points: those from 0 to the largest number that have no row.
fn missing_points(page: &Page) -> u64 {
    let points: std::collections::BTreeSet<u64> =
        (0..page.runs.len()).filter_map(|row| page.runs.number(row, "point")).filter_map(whole).collect();
    points.last().map_or(0, |last| (last + 1).saturating_sub(points.len() as u64))
}
