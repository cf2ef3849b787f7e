//! What must hold of the measurements, whatever the published figures.

use super::{CopyCost, IoatTable, MeasuredRow};

/// A rule, and whether it holds.
pub type RuleResult = (String, bool);

const KIB: u64 = 1024;

/// The rules of copies alone.
pub fn of_copies(copies: &[CopyCost]) -> Vec<RuleResult> {
    if copies.is_empty() {
        return Vec::new();
    }
    let all = |holds: fn(&CopyCost) -> bool| copies.iter().all(holds);
    let rules = [
        (
            "DMA is slower than the cold copy below 4 KiB, and faster from 16 KiB on",
            all(|row| {
                let is_faster = row.dma_cycles < row.cold_cycles;
                (row.bytes >= 4 * KIB || !is_faster) && (row.bytes < 16 * KIB || is_faster)
            }),
        ),
        ("DMA is slower than the warm copy at all sizes", all(|row| row.dma_cycles > row.warm_cycles)),
        (
            "the overlappable share rises with size, to more than 85 % at 64 KiB",
            copies.is_sorted_by(|a, b| a.overlappable() < b.overlappable())
                && all(|row| row.bytes != 64 * KIB || row.overlappable() > 0.85),
        ),
        (
            "start-up is below the cold copy from 4 KiB on, and below the warm one at 64 KiB",
            all(|row| {
                let is_below_warm = row.bytes != 64 * KIB || row.start_up_cycles < row.warm_cycles;
                (row.bytes < 4 * KIB || row.start_up_cycles < row.cold_cycles) && is_below_warm
            }),
        ),
    ];
    rules.map(|(rule, holds)| (rule.to_owned(), holds)).into()
}

/// The rules of received packets.
pub fn of_measurements(table: &IoatTable) -> Vec<RuleResult> {
    let rows = |group: &str| -> Vec<&MeasuredRow> {
        table.measurements.iter().filter(|row| row.group == group && row.case != "120 connections").collect()
    };
    let mut rules = Vec::new();
    for group in ["receive", "receive and send"] {
        let points: Vec<f64> = rows(group).iter().map(|row| row.points()).collect();
        if !points.is_empty() {
            let rule = format!("{group}: the difference in points grows with the ports");
            rules.push((rule, points.is_sorted_by(|a, b| a < b)));
        }
    }
    let many = table.measurements.iter().find(|row| row.case == "120 connections");
    if let (Some(many), Some(one)) = (many, rows("receive").last()) {
        let rule = "the benefit with 120 connections is at least that with one per port".to_owned();
        rules.push((rule, many.benefit() >= one.benefit()));
    }
    for group in ["options, receive", "options, both"] {
        let benefits: Vec<f64> = rows(group).iter().take(4).map(|row| row.benefit()).collect();
        if let [first, .., last] = benefits[..] {
            let rule = format!("{group}: the benefit rises from 1 to 4, and falls with no option");
            rules.push((rule, first < last && benefits.is_sorted()));
        }
    }
    rules
}
