//! `rowclone-sim explain energy`: where each nanojoule of an operation comes from.

use std::fmt::Write as _;

use dram_spec::{CommandCounts, CommandKind, Picojoule};
use energy::{Cause, Component, Currents, Prices, pins};
use report::table::Align::{Left, Right};
use report::table::{fitted, wrapped};
use rowclone_sim::quantity::grouped;

use rowclone_sim::{MemorySystem, mechanisms};

use crate::args::ExplainRequestArgs;
use crate::interrupt;
use crate::output;
use crate::requests;
use rowclone_config::Failure;

/// Prices each operation of a scenario, or one request of a workload, on an idle memory under each policy.
///
/// # Errors
/// Anything wrong with the scenario; a workload without the request.
pub fn run(args: &ExplainRequestArgs) -> Result<String, Failure> {
    let scenario = args.scenario.read()?;
    let operations = requests::chosen(&scenario, args.request)?;
    let prices = scenario.system.memory.prices();
    let (stop, width) = (interrupt::flag(), output::width());
    let mut text = unit_prices(&scenario.system.memory, width);
    for (label, operation) in operations {
        for &policy in &scenario.policies {
            let (completion, commands) = scenario.system.memory.alone(policy, operation, Some(&stop))?;
            let (mechanisms, latency) = (mechanisms(&completion), completion.latency());
            let taken = if mechanisms.is_empty() { String::new() } else { format!(", {mechanisms}") };
            let title = format!("{label}, policy {}{taken}: {} clocks", policy.name(), grouped(latency.0));
            let _ = write!(text, "\n{}\n", wrapped(&title, width));
            text += &shares(prices, &commands, width);
        }
    }
    Ok(text)
}

/// Energies of single commands, with their formulas.
fn unit_prices(memory: &MemorySystem, columns: usize) -> String {
    let (currents, prices, width) = (memory.currents(), memory.prices(), memory.system().geometry.width());
    let chips = memory.system().geometry.chips();
    let needs = |kind| memory.planner().mechanisms().any(|mechanism| mechanism.commands().contains(&kind));
    let is_issued = |kind| match kind {
        CommandKind::RefreshSameBank => memory.system().refresh_mode.same_bank,
        _ => kind.is_in_all_standards() || needs(kind),
    };
    let rows = priced().filter(|&(kind, _)| is_issued(kind)).filter_map(|(kind, component)| {
        let price = prices.events().of(kind, component);
        Some((name(kind, component), formula(memory, kind, component)?, price))
    });
    let cells: Vec<_> = rows.map(|(what, how, price)| vec![what.to_string(), how, nj(price)]).collect();
    let title = format!(
        "Prices with the currents of `{}` (measured in bin {}), {chips} {width} chips per rank, at {}",
        currents.name(),
        currents.bin().name,
        memory.system().bin.full_name()
    );
    format!("{}\n{}", wrapped(&title, columns), fitted(&[("one", Left), ("how", Left), ("nJ", Right)], &cells, columns))
}

/// Kinds of commands that take energy, with the components that they take, in the order of the tables.
fn priced() -> impl Iterator<Item = (CommandKind, Component)> {
    let kinds = |component| CommandKind::ALL.into_iter().map(move |kind| (kind, component));
    Component::ALL.into_iter().flat_map(kinds).filter(|&(kind, component)| Cause::of(kind, component).is_some())
}

/// Name of a component of the energy of a command.
const fn name(kind: CommandKind, component: Component) -> &'static str {
    match (component, kind) {
        (Component::Io, CommandKind::Read) => "read I/O",
        (Component::Io, CommandKind::Write) => "write I/O",
        (Component::IdleRankIo, CommandKind::Read) => "idle rank, read",
        (Component::IdleRankIo, CommandKind::Write) => "idle rank, write",
        (_, CommandKind::Activate) => "activation with its precharge",
        (_, CommandKind::CopyActivate) => "copy activation",
        (_, CommandKind::Read) => "read",
        (_, CommandKind::Write) => "write",
        (_, CommandKind::Refresh) => "refresh",
        (_, kind) => kind.name(),
    }
}

/// How a price follows from the currents, or from the power of the pins; `None` if it equals another one.
/// A single rank has no idle one.
fn formula(memory: &MemorySystem, kind: CommandKind, component: Component) -> Option<String> {
    let geometry = memory.system().geometry;
    let burst_ns = memory.system().clock().ns(memory.system().burst());
    let io = |milliwatts: f64, pins: u64| Some(format!("{milliwatts} mW x {pins} pins x {burst_ns} ns"));
    let (read_pins, write_pins) = (pins::read_pins(&geometry), pins::write_pins(&geometry));
    match (component, kind) {
        (Component::Core, _) => core_formula(memory.currents(), kind, geometry.chips()),
        (Component::IdleRankIo, _) if geometry.ranks() == 1 => None,
        (Component::Io, CommandKind::Read) => io(pins::READ_DRIVER_MW, read_pins),
        (Component::Io, CommandKind::Write) => io(pins::WRITE_TERMINATION_MW, write_pins),
        (Component::IdleRankIo, CommandKind::Read) => io(pins::IDLE_READ_TERMINATION_MW, read_pins),
        (Component::IdleRankIo, CommandKind::Write) => io(pins::IDLE_WRITE_TERMINATION_MW, write_pins),
        (
            Component::Io | Component::IdleRankIo,
            CommandKind::Activate
            | CommandKind::CopyActivate
            | CommandKind::DroppedActivate
            | CommandKind::Precharge
            | CommandKind::Transfer
            | CommandKind::MoveRowBuffer
            | CommandKind::Refresh
            | CommandKind::RefreshSameBank
            | CommandKind::PowerDownEnter
            | CommandKind::SelfRefreshEnter
            | CommandKind::WakeUp,
        ) => None,
    }
}

/// Formula of a price within the chips, with the times of the set's own bin.
fn core_formula(currents: &Currents, kind: CommandKind, chips: u64) -> Option<String> {
    let (raw, bin) = (currents.raw(), currents.bin());
    let ns = |min| bin.clock.ns(bin.clock.at_least(min));
    let (t_rc, t_ras, t_rfc) = (ns(bin.t_rc), ns(bin.t_ras), ns(currents.chip().t_rfc[0]));
    let (v, idd0, idd2n, idd3n) = (raw.vdd_v, raw.idd0_ma, raw.idd2n_ma, raw.idd3n_ma);
    let burst = |ma: f64| {
        format!("{v} V x ({ma} - {idd3n}) mA x {} ns x {chips}", bin.clock.ns(bin.standard.definition().burst))
    };
    let rest = t_rc - t_ras;
    match kind {
        CommandKind::Activate => {
            Some(format!("{v} V x ({idd0} x {t_rc} - {idd3n} x {t_ras} - {idd2n} x {rest}) mA ns x {chips}"))
        }
        CommandKind::CopyActivate => Some("as an activation".to_owned()),
        CommandKind::Read => Some(burst(raw.idd4r_ma)),
        CommandKind::Write => Some(burst(raw.idd4w_ma)),
        CommandKind::MoveRowBuffer => Some("5.7 nJ x row bytes / 8192, a hop (chosen)".to_owned()),
        CommandKind::Transfer => Some("mean of read and write; no pin moves".to_owned()),
        CommandKind::Refresh => Some(format!("{v} V x ({} - {idd3n}) mA x {t_rfc} ns x {chips}", raw.idd5b_ma)),
        // The refresh that an SRE starts costs as much as a REF.
        CommandKind::SelfRefreshEnter => None,
        CommandKind::RefreshSameBank => Some("refresh of a rank / banks of a group".to_owned()),
        CommandKind::DroppedActivate | CommandKind::Precharge | CommandKind::PowerDownEnter | CommandKind::WakeUp => {
            None
        }
    }
}

/// An operation's energy: how many of what, at which price.
fn shares(prices: &Prices, commands: &CommandCounts, width: usize) -> String {
    let dynamic = priced().filter(|&(kind, component)| Cause::of(kind, component).is_some_and(Cause::in_operation));
    let rows =
        dynamic.map(|(kind, component)| (name(kind, component), commands[kind], prices.events().of(kind, component)));
    let spent = rows.filter(|(_, count, price)| *count > 0 && price.0 > 0.0);
    let total = prices.operation(commands).operation();
    let mut cells: Vec<_> = spent
        .map(|(what, count, price)| {
            let share = price * count as f64;
            let percent = format!("{:.1} %", share.0 / total.0 * 100.0);
            vec![what.to_string(), grouped(count), nj(price), nj(share), percent]
        })
        .collect();
    cells.push(vec!["dynamic energy".into(), String::new(), String::new(), nj(total), "100.0 %".into()]);
    fitted(&[("what", Left), ("count", Right), ("nJ each", Right), ("nJ", Right), ("share", Right)], &cells, width)
}

fn nj(energy: Picojoule) -> String {
    format!("{:.3}", energy.nj())
}

#[cfg(test)]
mod tests {
    use rowclone_sim::SystemBuilder;

    use super::*;

    /// Cells of a line of a table, which at least two spaces separate.
    fn cells(line: &str) -> Vec<&str> {
        line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect()
    }

    /// One command of each kind: each of its components is a line of the table, under a name of its own,
    /// and the lines add up to the dynamic energy.
    #[test]
    fn the_shares_of_every_kind_add_up_to_the_dynamic_energy() {
        let memory = SystemBuilder::default().ranks(2).build().expect("two ranks are possible");
        let commands = CommandCounts::new(1);
        let table = shares(memory.prices(), &commands, 120);
        let lines: Vec<Vec<&str>> = table.lines().map(cells).collect();
        let nj = |cells: &[&str], at: usize| cells[at].parse::<f64>().expect("a number");
        let spent: Vec<&Vec<&str>> = lines.iter().filter(|cells| cells.len() == 5 && cells[1] == "1").collect();
        let sum: f64 = spent.iter().map(|cells| nj(cells, 3)).sum();
        let total = memory.prices().operation(&commands).operation().nj();
        assert!((sum - total).abs() < 0.001 * spent.len() as f64, "{sum} of {total}\n{table}");
        for (kind, component) in priced().filter(|&(kind, _)| Cause::of(kind, Component::Core) != Some(Cause::Refresh))
        {
            let name = name(kind, component);
            assert_eq!(spent.iter().filter(|cells| cells[0] == name).count(), 1, "{name}\n{table}");
        }
    }

    /// Each price has a line with its formula, except the refresh that an SRE starts.
    #[test]
    fn every_price_has_its_formula() {
        let memory = SystemBuilder::default().ranks(2).build().expect("two ranks are possible");
        let table = unit_prices(&memory, 160);
        for (kind, component) in priced().filter(|&(kind, _)| kind != CommandKind::SelfRefreshEnter) {
            let name = name(kind, component);
            assert_eq!(table.lines().filter(|line| cells(line).first() == Some(&name)).count(), 1, "{name}\n{table}");
        }
    }
}
