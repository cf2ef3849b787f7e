//! CSV: one line a policy, and one line an operation.

use std::collections::BTreeSet;

use crate::run_report::{RunReport, cause_key};

/// One line a policy: the scalars of the JSON, then energy by cause, then segments by mechanism.
///
/// # Errors
/// The writer's.
pub fn policies(reports: &[RunReport]) -> Result<String, csv::Error> {
    let causes = energy::Cause::ALL.map(cause_key);
    let kinds: BTreeSet<&str> = reports.iter().flat_map(|report| report.commands.keys().copied()).collect();
    let mechanisms = rowclone::Mechanism::ALL.map(rowclone::Mechanism::name);
    let mut writer = csv::Writer::from_writer(Vec::new());
    #[rustfmt::skip]
    let fixed = [
        "schema_version", "scenario", "policy", "seed", "currents", "makespan_cycles", "makespan_ns", "operations_done",
        "copy_latency_mean_ns", "copy_latency_p50_ns", "copy_latency_p99_ns", "copy_latency_max_ns", "energy_nj",
        "energy_operation_nj", "channel_bytes",
    ];
    let header = fixed.into_iter().map(String::from);
    let header = header.chain(causes.iter().map(|cause| format!("energy_{cause}_nj")));
    let header = header.chain(kinds.iter().map(|kind| format!("commands_{}", kind.replace(' ', "_"))));
    writer.write_record(header.chain(mechanisms.iter().map(|mechanism| format!("segments_{mechanism}"))))?;
    for report in reports {
        let latency = &report.copy_latency_ns;
        let mut cells = vec![
            report.schema_version.to_string(),
            report.scenario.clone(),
            report.policy.to_string(),
            report.seed.to_string(),
            report.currents.clone(),
            report.makespan_cycles.to_string(),
            report.makespan_ns.to_string(),
            report.operations_done.to_string(),
        ];
        cells.extend([latency.mean, latency.p50, latency.p99, latency.max].map(|ns| ns.to_string()));
        cells.extend([report.energy_nj, report.energy_operation_nj].map(|nj| nj.to_string()));
        cells.push(report.channel_bytes.to_string());
        cells.extend(causes.iter().map(|cause| report.energy_by_cause_nj.get(cause).unwrap_or(&0.0).to_string()));
        cells.extend(kinds.iter().map(|kind| report.commands.get(kind).unwrap_or(&0).to_string()));
        cells.extend(mechanisms.iter().map(|mechanism| {
            let served = report.segments.iter().filter(|row| row.mechanism == *mechanism);
            served.map(|row| row.count).sum::<u64>().to_string()
        }));
        writer.write_record(cells)?;
    }
    text(writer)
}

/// One line an operation and policy.
///
/// # Errors
/// The writer's.
pub fn operations(reports: &[RunReport]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    #[rustfmt::skip]
    writer.write_record([
        "policy", "operation", "mechanism", "reasons", "arrival_cycle", "latency_cycles", "latency_ns", "energy_nj",
        "channel_bytes", "speedup_same_pair", "energy_ratio_same_pair", "speedup_same_bank", "energy_ratio_same_bank",
    ])?;
    for report in reports {
        for row in &report.operations {
            let ratios = [&row.against_same_pair, &row.against_same_bank].map(|against| {
                let cell = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
                [cell(against.as_ref().map(|a| a.speedup)), cell(against.as_ref().map(|a| a.energy_ratio))]
            });
            let cells = [
                report.policy.to_string(),
                row.label.clone(),
                row.mechanism.clone(),
                row.reasons.join("; "),
                row.arrival_cycle.to_string(),
                row.latency_cycles.to_string(),
                row.latency_ns.to_string(),
                row.energy_nj.to_string(),
                row.channel_bytes.to_string(),
            ];
            writer.write_record(cells.into_iter().chain(ratios.into_iter().flatten()))?;
        }
    }
    text(writer)
}

fn text(writer: csv::Writer<Vec<u8>>) -> Result<String, csv::Error> {
    let bytes = writer.into_inner().map_err(|error| csv::Error::from(error.into_error()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
