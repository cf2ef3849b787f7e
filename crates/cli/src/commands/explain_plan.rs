//! `rowclone-sim explain plan`: the mechanisms that are possible for each part of an operation, and the reasons against
//! the others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dram_spec::Picojoule;
use memctrl::policy::copy::{CopyPolicy, FASTEST};
use memctrl::price::energy;
use memctrl::{Completion, Durations};
use report::table::{Align, fitted, wrapped, wrapped_lines};
use rowclone::{FPM, Mechanism, Operation, Part, Planner, RowAddress};
use rowclone_sim::quantity::{bytes, grouped};

use rowclone_sim::price_table;

use crate::args::ExplainRequestArgs;
use crate::interrupt;
use crate::output;
use crate::requests;
use rowclone_config::{Failure, SystemConfig};

/// Explains the plan of each operation of a scenario, or of one request of a workload.
///
/// # Errors
/// An error of the scenario; a workload without the request.
pub fn run(args: &ExplainRequestArgs) -> Result<String, Failure> {
    let scenario = args.scenario.read()?;
    let operations = requests::chosen(&scenario, args.request)?;
    let (stop, width) = (interrupt::flag(), output::width());
    let (weighing, fixed): (Vec<&'static dyn CopyPolicy>, Vec<&'static dyn CopyPolicy>) =
        scenario.policies.iter().copied().partition(|policy| policy.weighs());
    let map = scenario.system.memory.map();
    let (row, granularity) = (bytes(map.geometry().row_bytes()), bytes(map.granularity()));
    let mut text = format!("Rows of {row}, minimum copy granularity {granularity}\n");
    for (label, operation) in operations {
        let _ = write!(text, "\n{}\n", wrapped(&format!("{label}: {operation}"), width));
        text += &plan(scenario.system.memory.planner(), &fixed, &operation, width);
        if !weighing.is_empty() {
            text += &estimates(&scenario.system, &operation, width);
        }
        for &policy in &weighing {
            let (completion, _) = scenario.system.memory.alone(policy, operation, Some(&stop))?;
            text += &wrapped_lines(&weighed(policy, &completion), width);
        }
    }
    Ok(text)
}

/// Estimates of `fastest` and `least-energy`: clocks on idle banks, and energy if the system has a current set, of each
/// possible mechanism of a part.
fn estimates(system: &SystemConfig, operation: &Operation, width: usize) -> String {
    let durations = Durations::new(&system.memory.config(FASTEST));
    let table = system.memory.prices().map(price_table);
    let mut rows = Vec::new();
    for block in system.memory.planner().blocks(operation) {
        for (index, part) in block.parts().iter().enumerate().take(SHOWN_MOST - rows.len()) {
            let mut cells = vec![rows.len().to_string(), part.bytes().to_string()];
            for mechanism in system.memory.planner().mechanisms() {
                if part.allows(mechanism).is_err() {
                    cells.push("-".to_string());
                    continue;
                }
                let programs = block.programs_of(index, mechanism, system.memory.controller().staging_lines);
                let clocks = programs.iter().map(|program| durations.of(program)).max();
                let clocks = grouped(clocks.unwrap_or_default().0);
                let sum = |table| programs.iter().map(|program| energy(program, table)).sum::<Picojoule>().nj();
                cells.push(table.as_ref().map_or(clocks.clone(), |table| format!("{clocks} / {:.1}", sum(table))));
            }
            rows.push(cells);
        }
    }
    let mechanisms = system.memory.planner().mechanisms().map(|mechanism| (mechanism.name(), Align::Right));
    let columns: Vec<_> = [("part", Align::Left), ("bytes", Align::Right)].into_iter().chain(mechanisms).collect();
    if rows.is_empty() {
        return String::new();
    }
    let title = match table {
        Some(_) => "\nEstimates, clocks on idle banks / nJ of dynamic energy:\n\n",
        None => "\nEstimates, clocks on idle banks (no current set):\n\n",
    };
    title.to_owned() + &fitted(&columns, &rows, width)
}

/// Choice of a policy that depends on the state of the memory.
fn weighed(policy: &'static dyn CopyPolicy, completion: &Completion) -> String {
    let mut served: BTreeMap<Mechanism, u64> = BTreeMap::new();
    for (mechanism, _, parts) in completion.served.iter() {
        *served.entry(mechanism).or_default() += parts.count;
    }
    if served.is_empty() {
        return String::new();
    }
    let parts = served.iter().map(|(mechanism, count)| format!("{count} by {}", mechanism.name()));
    let parts = parts.collect::<Vec<_>>().join(", ");
    format!("\nThe choice of {} depends on the state of the memory; on an idle memory, parts: {parts}\n", policy.name())
}

/// Maximum number of parts that are printed; further parts are counted.
const SHOWN_MOST: usize = 64;

/// The parts of an operation, numbered from 0: their locations, the possible mechanisms, and the choice of each policy.
fn plan(planner: &Planner, policies: &[&'static dyn CopyPolicy], operation: &Operation, width: usize) -> String {
    let mut rows = Vec::new();
    let (mut why, mut fixes) = (BTreeSet::new(), BTreeSet::new());
    let mut parts = 0;
    for block in planner.blocks(operation) {
        for part in block.parts() {
            for mechanism in planner.mechanisms() {
                if let Err(reason) = part.allows(mechanism) {
                    why.insert(format!("{} - {}: {reason}", mechanism.name(), reason.name()));
                    fixes.extend(reason.help().filter(|_| mechanism == FPM));
                }
            }
            if parts < SHOWN_MOST {
                rows.push(cells(parts, part, planner, policies));
            }
            parts += 1;
        }
    }
    let mechanisms = planner.mechanisms().map(|mechanism| (mechanism.name(), Align::Left));
    let places = [("part", Align::Left), ("bytes", Align::Right), ("to", Align::Left), ("from", Align::Left)];
    let chosen: Vec<String> = policies.iter().map(|policy| format!("{} takes", policy.name())).collect();
    let chosen = chosen.iter().map(|name| (name.as_str(), Align::Left));
    let columns: Vec<_> = places.into_iter().chain(mechanisms).chain(chosen).collect();
    let mut text = fitted(&columns, &rows, width);
    if parts > SHOWN_MOST {
        let _ = writeln!(text, "… and {} parts more", parts - SHOWN_MOST);
    }
    if parts == 0 {
        text += "nothing to do: source and destination are the same bytes\n";
    }
    for (title, lines) in [("Why not:", &why), ("What would make FPM possible:", &fixes)] {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{title}");
            for line in lines {
                text += &wrapped(&format!("- {line}"), width);
            }
        }
    }
    text
}

fn cells(number: usize, part: &Part, planner: &Planner, policies: &[&'static dyn CopyPolicy]) -> Vec<String> {
    let verdict = |mechanism| match part.allows(mechanism) {
        Ok(()) => "yes".to_string(),
        Err(reason) => reason.name().to_string(),
    };
    let from = part.src().map_or("-".to_string(), place);
    let mut cells = vec![number.to_string(), part.bytes().to_string(), place(part.dst()), from];
    cells.extend(planner.mechanisms().map(verdict));
    cells.extend(policies.iter().map(|policy| policy.preferred(part).name().to_string()));
    cells
}

/// `c0 r0 b3 row 17`.
fn place(RowAddress { channel, bank, row }: RowAddress) -> String {
    format!("c{} r{} b{} row {}", channel.0, bank.rank, bank.bank, row.0)
}
