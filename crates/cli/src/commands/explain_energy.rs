//! `rowclone-sim explain energy`: where each nanojoule of an operation comes from.

use std::fmt::Write as _;

use dram_spec::Picojoule;
use dram_spec::datasheet::BURST;
use energy::{Counts, Currents, Prices, pins};
use report::table::Align::{Left, Right};
use report::table::{fitted, wrapped};
use rowclone_sim::quantity::grouped;

use rowclone_sim::mechanisms;

use crate::args::ExplainRequestArgs;
use crate::interrupt;
use crate::output;
use crate::requests;
use rowclone_config::{Failure, SystemConfig};

/// Prices each operation of a scenario, or one request of a workload, on an idle memory under each policy.
///
/// # Errors
/// Anything wrong with the scenario; a workload without the request.
pub fn run(args: &ExplainRequestArgs) -> Result<String, Failure> {
    let scenario = args.scenario.read()?;
    let operations = requests::chosen(&scenario, args.request)?;
    let prices = scenario.system.memory.prices();
    let (stop, width) = (interrupt::flag(), output::width());
    let mut text = unit_prices(&scenario.system, prices, width);
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
fn unit_prices(system: &SystemConfig, prices: &Prices, columns: usize) -> String {
    let currents = system.memory.currents();
    let events = prices.events();
    let width = system.memory.system().geometry.width();
    let chips = width.chips();
    let burst_ns = system.memory.system().clock().ns(BURST);
    let io = |milliwatts: f64, pins: u64| format!("{milliwatts} mW x {pins} pins x {burst_ns} ns");
    let (read_pins, write_pins) = (pins::read_pins(width), pins::write_pins(width));
    let mut rows = core_prices(currents, prices, chips);
    rows.extend([
        ("read I/O", io(pins::READ_DRIVER_MW, read_pins), events.read_io),
        ("write I/O", io(pins::WRITE_TERMINATION_MW, write_pins), events.write_io),
    ]);
    if system.memory.system().geometry.ranks() > 1 {
        rows.extend([
            ("idle rank, read", io(pins::IDLE_READ_TERMINATION_MW, read_pins), events.idle_rank_read),
            ("idle rank, write", io(pins::IDLE_WRITE_TERMINATION_MW, write_pins), events.idle_rank_write),
        ]);
    }
    let cells: Vec<_> = rows.into_iter().map(|(what, how, price)| vec![what.to_string(), how, nj(price)]).collect();
    let title = format!(
        "Prices with the currents of `{}` (measured in bin {}), {chips} {width} chips per rank, at DDR3-{}",
        currents.name(),
        currents.bin().name,
        system.memory.system().bin.name
    );
    format!("{}\n{}", wrapped(&title, columns), fitted(&[("one", Left), ("how", Left), ("nJ", Right)], &cells, columns))
}

/// The prices that the set's own bin decides.
fn core_prices(currents: &Currents, prices: &Prices, chips: u64) -> Vec<(&'static str, String, Picojoule)> {
    let (raw, bin, events) = (currents.raw(), currents.bin(), prices.events());
    let ns = |min| bin.clock.ns(bin.clock.at_least(min));
    let (t_rc, t_ras, t_rfc) = (ns(bin.t_rc), ns(bin.t_ras), ns(currents.density().t_rfc()));
    let (v, idd0, idd2n, idd3n) = (raw.vdd_v, raw.idd0_ma, raw.idd2n_ma, raw.idd3n_ma);
    let burst = |ma: f64| format!("{v} V x ({ma} - {idd3n}) mA x {} ns x {chips}", bin.clock.ns(BURST));
    let rest = t_rc - t_ras;
    vec![
        (
            "activation with its precharge",
            format!("{v} V x ({idd0} x {t_rc} - {idd3n} x {t_ras} - {idd2n} x {rest}) mA ns x {chips}"),
            events.activate,
        ),
        ("copy activation", "as an activation".to_string(), events.activate),
        ("read", burst(raw.idd4r_ma), events.read),
        ("write", burst(raw.idd4w_ma), events.write),
        ("TRANSFER", "mean of read and write; no pin moves".to_string(), events.transfer),
        ("refresh", format!("{v} V x ({} - {idd3n}) mA x {t_rfc} ns x {chips}", raw.idd5b_ma), events.refresh),
    ]
}

/// An operation's energy: how many of what, at which price.
fn shares(prices: &Prices, commands: &Counts, width: usize) -> String {
    let events = prices.events();
    let (reads, writes) = (commands.reads, commands.writes);
    let rows = [
        ("activation with its precharge", commands.activates, events.activate),
        ("copy activation", commands.copy_activates, events.activate),
        ("read", reads, events.read),
        ("write", writes, events.write),
        ("TRANSFER", commands.transfers, events.transfer),
        ("read I/O", reads, events.read_io),
        ("write I/O", writes, events.write_io),
        ("idle rank, read", reads, events.idle_rank_read),
        ("idle rank, write", writes, events.idle_rank_write),
    ];
    let total = prices.operation(commands).operation();
    let spent = rows.into_iter().filter(|(_, count, price)| *count > 0 && price.0 > 0.0);
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
