//! `rowclone-sim explain energy`: the energy of operations by command and price.

use std::fmt::Write as _;

use dram_spec::{Burst, ChipEnergy, CommandCounts, CommandKind, Picojoule, RefreshMode};
use energy::{Cause, Component, Currents, Prices, pins};
use report::NO_CURRENT_SET;
use report::table::Align::{Left, Right};
use report::table::{fitted, wrapped};
use rowclone_sim::quantity::grouped;

use rowclone_sim::{MemorySystem, mechanisms};

use crate::args::ExplainRequestArgs;
use crate::interrupt;
use crate::output;
use crate::requests;
use rowclone_config::Failure;

/// A memory system with a current set.
struct Priced<'a> {
    memory: &'a MemorySystem,
    currents: &'a Currents,
    prices: &'a Prices,
}

/// Prices each operation of a scenario, or one request of a workload, on an idle memory under each policy.
///
/// # Errors
/// An error of the scenario; a workload without the request.
pub fn run(args: &ExplainRequestArgs) -> Result<String, Failure> {
    let scenario = args.scenario.read()?;
    let operations = requests::chosen(&scenario, args.request)?;
    let memory = &scenario.system.memory;
    let (stop, width) = (interrupt::flag(), output::width());
    let Some(priced) = Priced::of(memory) else { return Ok(no_currents(memory, width)) };
    let mut text = unit_prices(&priced, width);
    for (label, operation) in operations {
        for &policy in &scenario.policies {
            let (completion, commands) = memory.alone(policy, operation, Some(&stop))?;
            let (mechanisms, latency) = (mechanisms(&completion), completion.latency());
            let taken = if mechanisms.is_empty() { String::new() } else { format!(", {mechanisms}") };
            let title = format!("{label}, policy {}{taken}: {} clocks", policy.name(), grouped(latency.0));
            let _ = write!(text, "\n{}\n", wrapped(&title, width));
            text += &shares(priced.prices, &commands, width);
        }
    }
    Ok(text)
}

impl<'a> Priced<'a> {
    /// A system; none if it has no current set.
    fn of(memory: &'a MemorySystem) -> Option<Priced<'a>> {
        Some(Priced { memory, currents: memory.currents()?, prices: memory.prices()? })
    }
}

/// Reason why a system has no energies.
fn no_currents(memory: &MemorySystem, columns: usize) -> String {
    let fitting = energy::fitting(memory.system().standard(), memory.system().geometry.width());
    wrapped(&format!("{NO_CURRENT_SET}: no energy is computed. `device.currents` gives one: {fitting}"), columns)
}

/// Energies of single commands, with their formulas, and the background model.
fn unit_prices(priced: &Priced<'_>, columns: usize) -> String {
    let Priced { memory, currents, prices } = priced;
    let (chips, width) = (memory.system().geometry.chips(), memory.system().geometry.width());
    let needs = |kind| memory.planner().mechanisms().any(|mechanism| mechanism.commands().contains(&kind));
    let is_issued = |kind| match kind {
        CommandKind::RefreshSameBank => memory.system().refresh_mode.same_bank,
        _ => kind.is_in_all_standards() || needs(kind),
    };
    let rows = priced_kinds().filter(|&(kind, _)| is_issued(kind)).filter_map(|(kind, component)| {
        let price = prices.events().of(kind, component);
        Some((name(kind, component), formula(priced, kind, component)?, price))
    });
    let cells: Vec<_> = rows.map(|(what, how, price)| vec![what.to_string(), how, nj(price)]).collect();
    let title = format!(
        "Prices with the currents of `{}` (measured in bin {}), {chips} {width} chips per rank, at {}",
        currents.name(),
        currents.bin().name,
        memory.system().bin.full_name()
    );
    let table = fitted(&[("component", Left), ("formula", Left), ("nJ", Right)], &cells, columns);
    format!("{}\n{table}\n{}", wrapped(&title, columns), notes(priced, columns))
}

/// The background model, what is not modeled, and the note of the current set.
fn notes(priced: &Priced<'_>, columns: usize) -> String {
    let Priced { memory, currents, prices } = priced;
    let (raw, rho, banks) = (currents.raw(), prices.background_rho(), memory.system().geometry.banks());
    let shared = currents.shared_standby_ma(rho);
    let mut text = wrapped(
        &format!(
            "background rho {rho}: a chip in active standby draws {} mA, and {} mA per open bank, of {banks}; with all \
             banks closed, {} mA",
            short(shared),
            short((raw.idd3n_ma - shared) / f64::from(banks)),
            raw.idd2n_ma
        ),
        columns,
    );
    if let (Some(volts), Some(standby)) = (raw.vpp_v, raw.ipp3n_ma) {
        text += &wrapped(&format!("VPP: {standby} mA of a chip at {volts} V in every state but self-refresh"), columns);
    }
    if !prices.has_refresh() {
        text += &wrapped("refresh: the set has neither IDD5B nor IDD5R, so no refresh can be priced", columns);
    }
    if !prices.io_is_modeled() {
        let standard = memory.system().standard().name();
        text += &wrapped(&format!("I/O: not modeled for {standard}, and part of no energy here"), columns);
    }
    text
}

/// Kinds of commands that take energy, with the components that they take, in the order of the tables.
fn priced_kinds() -> impl Iterator<Item = (CommandKind, Component)> {
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

/// How a price follows from the currents, or from the power of the pins; `None` if it equals another one, is not
/// modeled, or is of a command that the standard does not have. A single rank has no idle one.
fn formula(priced: &Priced<'_>, kind: CommandKind, component: Component) -> Option<String> {
    let system = priced.memory.system();
    if component == Component::Core {
        return core_formula(priced, kind);
    }
    let powers = system.standard().definition().pin_powers?;
    let burst_ns = short(system.clock().ns(system.burst()));
    let io = |milliwatts: f64, pins: u64| Some(format!("{milliwatts} mW x {pins} pins x {burst_ns} ns"));
    let (read_pins, write_pins) = (pins::read_pins(&system.geometry), pins::write_pins(&system.geometry));
    let is_idle = component == Component::IdleRankIo;
    match kind.burst()? {
        _ if is_idle && system.geometry.ranks() == 1 => None,
        Burst::Read if is_idle => io(powers.idle_read_termination_mw, read_pins),
        Burst::Write if is_idle => io(powers.idle_write_termination_mw, write_pins),
        Burst::Read => io(powers.read_driver_mw, read_pins),
        Burst::Write => io(powers.write_termination_mw, write_pins),
    }
}

/// Formula of a price within the chips, with the times of the set's own bin.
fn core_formula(priced: &Priced<'_>, kind: CommandKind) -> Option<String> {
    let (currents, chips) = (priced.currents, priced.memory.system().geometry.chips());
    let (raw, bin) = (currents.raw(), currents.bin());
    let ns = |min| bin.clock.ns(bin.clock.at_least(min));
    let (v, idd2n, idd3n) = (raw.vdd_v, raw.idd2n_ma, raw.idd3n_ma);
    let (mode, normal) = (priced.memory.system().refresh_mode, &currents.standard().definition().refresh_modes[0]);
    let burst = |ma: f64| {
        format!("{v} V x ({ma} - {idd3n}) mA x {} ns x {chips}", short(bin.clock.ns(bin.standard.definition().burst)))
    };
    match kind.chip_energy() {
        ChipEnergy::Zero => None,
        ChipEnergy::Activation => {
            let (t_rc, t_ras, idd0) = (ns(bin.t_rc), ns(bin.t_ras), raw.idd0_ma);
            let (open, rest) = (currents.one_bank_standby_ma(priced.prices.background_rho()), t_rc - t_ras);
            let [rc, ras, open, rest] = [t_rc, t_ras, open, rest].map(short);
            let vdd = format!("{v} V x ({idd0} x {rc} - {open} x {ras} - {idd2n} x {rest}) mA ns x {chips}");
            Some(vdd + &vpp_formula(priced, raw.ipp0_ma, t_rc))
        }
        ChipEnergy::CopyActivation => Some("as an activation".to_owned()),
        ChipEnergy::Read => Some(burst(raw.idd4r_ma)),
        ChipEnergy::Write => Some(burst(raw.idd4w_ma)),
        ChipEnergy::Transfer => Some("mean of read and write; no pin moves".to_owned()),
        ChipEnergy::Refresh => refresh_formula(priced, mode),
        // The refresh that an SRE starts is that of normal refresh.
        ChipEnergy::NormalRefresh if mode == normal => None,
        ChipEnergy::NormalRefresh => refresh_formula(priced, normal),
        ChipEnergy::RefreshSameBank => same_bank_formula(priced),
        ChipEnergy::Chosen(energy) => Some(energy.to_string()),
    }
}

/// The part of VPP in a formula; nothing if the set has no current beside standby.
fn vpp_formula(priced: &Priced<'_>, ma: Option<f64>, ns: f64) -> String {
    let (raw, chips) = (priced.currents.raw(), priced.memory.system().geometry.chips());
    match (raw.vpp_v, ma, raw.ipp3n_ma) {
        (Some(volts), Some(ma), Some(standby)) if ma > standby => {
            format!(" + {volts} V x ({ma} - {standby}) mA x {} ns x {chips}", short(ns))
        }
        _ => String::new(),
    }
}

/// Formula of a REF of a refresh mode.
fn refresh_formula(priced: &Priced<'_>, mode: &RefreshMode) -> Option<String> {
    let (currents, chips) = (priced.currents, priced.memory.system().geometry.chips());
    let raw = currents.raw();
    let ns = |clocks| currents.bin().clock.ns(clocks);
    let (t_rfc, t_refi) =
        (ns(currents.t_rfc(&currents.standard().definition().refresh_modes[0])), ns(currents.t_refi()));
    let above =
        |ma: f64, ns: f64| format!("{} V x ({ma} - {}) mA x {} ns x {chips}", raw.vdd_v, raw.idd3n_ma, short(ns));
    let vpp = vpp_formula(priced, raw.ipp5b_ma, t_rfc) + &vpp_formula(priced, raw.ipp5r_ma, t_refi);
    let vdd = match (raw.idd5b_ma, raw.idd5r_ma) {
        (Some(burst), _) => above(burst, t_rfc),
        (None, Some(regular)) => above(regular, t_refi),
        (None, None) => return None,
    };
    Some(match raw.idd5f_ma.filter(|_| mode.divisor > 1) {
        Some(fine) if vpp.is_empty() => above(fine, ns(currents.t_rfc(mode))),
        Some(fine) => format!(
            "{} + ({}) / {}",
            above(fine, ns(currents.t_rfc(mode))),
            vpp.trim_start_matches(" + "),
            mode.divisor
        ),
        None if mode.divisor == 1 => vdd + &vpp,
        None => format!("({vdd}{vpp}) / {} REF per tREFI", mode.divisor),
    })
}

/// Formula of a `REFsb`, in a standard that has it.
fn same_bank_formula(priced: &Priced<'_>) -> Option<String> {
    let (currents, system) = (priced.currents, priced.memory.system());
    if !system.standard().definition().refresh_modes.iter().any(|mode| mode.same_bank) || !priced.prices.has_refresh() {
        return None;
    }
    let (raw, mode, chips) = (currents.raw(), system.refresh_mode, system.geometry.chips());
    let (v, idd2n, clock) = (raw.vdd_v, raw.idd2n_ma, currents.bin().clock);
    let banks = currents.chip().banks_per_group;
    Some(match raw.idd5c_ma {
        Some(ma) => {
            let t_rfc_sb = short(clock.ns(clock.at_least(currents.chip().t_rfc_sb)));
            let vpp = currents.refresh().is_some_and(|refresh| refresh.vpp.0 > 0.0);
            let vpp =
                if vpp { format!(" + VPP of a refresh / {}", u64::from(banks) * mode.divisor) } else { String::new() };
            format!("{v} V x ({ma} - {idd2n}) mA x {t_rfc_sb} ns x {chips}{vpp}")
        }
        None => format!(
            "(refresh + {v} V x ({} - {idd2n}) mA x {} ns x {chips}) / {banks} banks of a group",
            raw.idd3n_ma,
            short(clock.ns(currents.t_rfc(mode)))
        ),
    })
}

/// Energy of an operation: commands and states with their counts, prices and products.
fn shares(prices: &Prices, commands: &CommandCounts, width: usize) -> String {
    let dynamic =
        priced_kinds().filter(|&(kind, component)| Cause::of(kind, component).is_some_and(Cause::in_operation));
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
    fitted(&[("component", Left), ("count", Right), ("nJ each", Right), ("nJ", Right), ("share", Right)], &cells, width)
}

/// A number with at most four decimals.
fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
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
        let table = shares(memory.prices().unwrap(), &commands, 120);
        let lines: Vec<Vec<&str>> = table.lines().map(cells).collect();
        let nj = |cells: &[&str], at: usize| cells[at].parse::<f64>().expect("a number");
        let spent: Vec<&Vec<&str>> = lines.iter().filter(|cells| cells.len() == 5 && cells[1] == "1").collect();
        let sum: f64 = spent.iter().map(|cells| nj(cells, 3)).sum();
        let total = memory.prices().unwrap().operation(&commands).operation().nj();
        assert!((sum - total).abs() < 0.001 * spent.len() as f64, "{sum} of {total}\n{table}");
        for (kind, component) in
            priced_kinds().filter(|&(kind, _)| Cause::of(kind, Component::Core) != Some(Cause::Refresh))
        {
            let name = name(kind, component);
            assert_eq!(spent.iter().filter(|cells| cells[0] == name).count(), 1, "{name}\n{table}");
        }
    }

    /// Each price has a line with its formula, except the refresh that an SRE starts, and REFsb where there is none.
    #[test]
    fn every_price_has_its_formula() {
        let memory = SystemBuilder::default().ranks(2).build().expect("two ranks are possible");
        let table = unit_prices(&Priced::of(&memory).expect("it has a current set"), 160);
        for (kind, component) in
            priced_kinds().filter(|&(kind, _)| kind != CommandKind::SelfRefreshEnter && kind.is_in_all_standards())
        {
            let name = name(kind, component);
            assert_eq!(table.lines().filter(|line| cells(line).first() == Some(&name)).count(), 1, "{name}\n{table}");
        }
    }
}
