//! `rowclone-sim explain plan`: what the planner offers for each part of an operation, and why not more.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use dram_core::Timings;
use dram_spec::Picojoule;
use energy::Prices;
use memctrl::policy::copy::CopyPolicy;
use memctrl::{Completion, estimate};
use report::table::{Align, aligned};
use rowclone::{FPM, MECHANISMS, Mechanism, Operation, Part, Planner};
use rowclone_sim::quantity::{bytes, grouped};

use rowclone_sim::price_table;

use crate::args::ExplainRequestArgs;
use crate::interrupt;
use crate::requests;
use rowclone_config::{Failure, SystemConfig};

/// Explains the plan of each operation of a scenario, or of one request of a workload.
///
/// # Errors
/// Anything wrong with the scenario; a workload without the request.
pub fn run(args: &ExplainRequestArgs) -> Result<String, Failure> {
    let scenario = args.scenario.read()?;
    let operations = requests::chosen(&scenario, args.request)?;
    let prices = scenario.system.memory.prices();
    let stop = interrupt::flag();
    let (weighing, fixed): (Vec<&'static dyn CopyPolicy>, Vec<&'static dyn CopyPolicy>) =
        scenario.policies.iter().copied().partition(|policy| policy.weighs());
    let map = scenario.system.memory.map();
    let (row, granularity) = (bytes(map.geometry().row_bytes()), bytes(map.granularity()));
    let mut text = format!("Rows of {row}, minimum copy granularity {granularity}\n");
    for (label, operation) in operations {
        let _ = write!(text, "\n{label}: {operation}\n\n");
        text += &plan(scenario.system.memory.planner(), &fixed, &operation);
        if !weighing.is_empty() {
            text += &estimates(&scenario.system, prices, &operation);
        }
        for &policy in &weighing {
            let (completion, _) = scenario.system.memory.alone(policy, operation, Some(&stop))?;
            text += &weighed(policy, &completion);
        }
    }
    Ok(text)
}

/// Estimates of `fastest` and `least-energy`: clocks on idle banks and energy, of each possible mechanism of a part.
fn estimates(system: &SystemConfig, prices: &Prices, operation: &Operation) -> String {
    let (timings, table) = (Timings::new(system.memory.system()), price_table(prices));
    let mut rows = Vec::new();
    for block in system.memory.planner().blocks(operation) {
        for (index, part) in block.parts().iter().enumerate().take(SHOWN_MOST - rows.len()) {
            let mut cells = vec![part.dst().to_string(), part.bytes().to_string()];
            for mechanism in MECHANISMS {
                if part.allows(mechanism).is_err() {
                    cells.push("-".to_string());
                    continue;
                }
                let programs = block.programs_of(index, mechanism, system.memory.controller().staging_lines);
                let clocks = programs.iter().map(|program| estimate::duration(program, &timings)).max();
                let energy: Picojoule = programs.iter().map(|program| estimate::energy(program, &table)).sum();
                cells.push(format!("{} / {:.1}", grouped(clocks.unwrap_or_default().0), energy.nj()));
            }
            rows.push(cells);
        }
    }
    let mechanisms = MECHANISMS.map(|mechanism| (mechanism.name(), Align::Right));
    let columns: Vec<_> = [("to", Align::Left), ("bytes", Align::Right)].into_iter().chain(mechanisms).collect();
    if rows.is_empty() {
        return String::new();
    }
    "\nEstimates, clocks on idle banks / nJ of dynamic energy:\n\n".to_string() + &aligned(&columns, &rows)
}

/// Choice of a policy that depends on the state of the memory.
fn weighed(policy: &'static dyn CopyPolicy, completion: &Completion) -> String {
    let mut served: BTreeMap<Mechanism, u64> = BTreeMap::new();
    for (mechanism, _, segments) in completion.served.iter() {
        *served.entry(mechanism).or_default() += segments.count;
    }
    if served.is_empty() {
        return String::new();
    }
    let parts = served.iter().map(|(mechanism, count)| format!("{count} by {}", mechanism.name()));
    let parts = parts.collect::<Vec<_>>().join(", ");
    format!("\n{} weighs the state of the memory; alone on an idle one, parts: {parts}\n", policy.name())
}

/// More parts than this are counted, and not shown.
const SHOWN_MOST: usize = 64;

fn plan(planner: &Planner, policies: &[&'static dyn CopyPolicy], operation: &Operation) -> String {
    let mut rows = Vec::new();
    let (mut why, mut fixes) = (BTreeSet::new(), BTreeSet::new());
    let mut parts = 0;
    for block in planner.blocks(operation) {
        for part in block.parts() {
            parts += 1;
            for mechanism in MECHANISMS {
                if let Err(reason) = part.allows(mechanism) {
                    why.insert(format!("{} - {}: {reason}", mechanism.name(), reason.name()));
                    fixes.extend(reason.help().filter(|_| mechanism == FPM));
                }
            }
            if parts <= SHOWN_MOST {
                rows.push(cells(part, policies));
            }
        }
    }
    let mechanisms = MECHANISMS.map(|mechanism| (mechanism.name(), Align::Left));
    let columns = [("to", Align::Left), ("from", Align::Left), ("bytes", Align::Right)].into_iter().chain(mechanisms);
    let chosen: Vec<String> = policies.iter().map(|policy| format!("{} takes", policy.name())).collect();
    let columns: Vec<_> = columns.chain(chosen.iter().map(|name| (name.as_str(), Align::Left))).collect();
    let mut text = aligned(&columns, &rows);
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
                let _ = writeln!(text, "- {line}");
            }
        }
    }
    text
}

fn cells(part: &Part, policies: &[&'static dyn CopyPolicy]) -> Vec<String> {
    let verdict = |mechanism| match part.allows(mechanism) {
        Ok(()) => "yes".to_string(),
        Err(reason) => reason.name().to_string(),
    };
    let from = part.src().map_or("-".to_string(), |src| src.to_string());
    let mut cells = vec![part.dst().to_string(), from, part.bytes().to_string()];
    cells.extend(MECHANISMS.map(verdict));
    cells.extend(policies.iter().map(|policy| policy.preferred(part).name().to_string()));
    cells
}
