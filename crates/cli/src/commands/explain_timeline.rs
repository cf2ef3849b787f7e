//! `rowclone-sim explain timeline`: the first commands of a run, with the rule that set the cycle of each.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use dram_spec::{Channel, Command, Cycles, Operands};
use report::table::Align::{Left, Right};
use report::table::{Column, listed, wrapped};
use rowclone_sim::quantity::counted;

use super::lanes;
use crate::args::ExplainTimelineArgs;
use crate::binding::{Bindings, Bound, Wait};
use crate::instant::{self, Instant};
use crate::interrupt;
use crate::output;
use crate::requests::{self, Taken};
use rowclone_config::{Failure, Scenario, SystemConfig, Variant};
use rowclone_sim::Shared;
use rowclone_sweep::experiment::{self, Wanted};

/// Draws the first commands under each policy.
///
/// # Errors
/// An error of the scenario; an interruption by the user.
pub fn run(args: &ExplainTimelineArgs) -> Result<String, Failure> {
    let scenario = args.scenario.read()?;
    let (clock, width) = (scenario.system.memory.system().clock(), output::width());
    let mut text = String::new();
    for (index, variant) in scenario.variants().into_iter().enumerate() {
        let request = args.request.map(|number| requests::nth(&scenario, variant, Some(number))).transpose()?;
        let bound = first_commands(&scenario, variant, request, args)?;
        text += if index > 0 { "\n" } else { "" };
        let (name, policy, bin) = (&scenario.name, variant.label("/"), scenario.system.memory.system().bin.full_name());
        let commands = if bound.is_empty() { "no command".to_owned() } else { counted(bound.len() as u64, "command") };
        let title = format!("{name}, policy {policy}, {bin}, tCK {} ns: {commands}", clock.t_ck_ns());
        let _ = writeln!(text, "{}", wrapped(&title, width));
        if let Some(Taken { number, at, operation }) = request {
            let title = format!("request {number}, taken in cycle {}: {operation}", at.0);
            let _ = writeln!(text, "{}", wrapped(&title, width));
        }
        if !bound.is_empty() {
            text += &listing(&scenario.system, &bound, width);
            text += &lanes::drawing(&scenario.system, &bound, width);
        }
    }
    Ok(text)
}

/// Plays the scenario until the window has its commands.
fn first_commands(
    scenario: &Scenario,
    variant: Variant,
    request: Option<Taken>,
    args: &ExplainTimelineArgs,
) -> Result<Vec<Bound>, Failure> {
    let from = request.map(|request| Instant::Cycle(request.at.0)).or(args.from);
    let window = instant::window(from, args.to, scenario.system.memory.system().clock())?;
    let stop = interrupt::flag();
    let enough = || stop.store(true, Ordering::Relaxed);
    let bindings = RefCell::new(Bindings::new(scenario.system.memory.system(), window, args.count.get(), &enough));
    let wanted = Wanted { observer: Some(&bindings as Shared<'_>), ..Wanted::new(&stop) };
    let played = experiment::run(scenario, variant, wanted, None);
    let bindings = bindings.into_inner();
    if bindings.is_full() {
        // The window set the flag, not the user.
        stop.store(false, Ordering::Relaxed);
    } else {
        played?;
    }
    Ok(bindings.bound)
}

/// One command per line; its number counts from 0.
fn listing(system: &SystemConfig, bound: &[Bound], width: usize) -> String {
    let clock = system.memory.system().clock();
    let columns: [Column<'_, Bound>; 6] = [
        ("#", Right, &|bound| bound.number.to_string()),
        ("cycle", Right, &|bound| bound.at.to_string()),
        ("ns", Right, &|bound| format!("{:.2}", clock.ns(Cycles(bound.at.0)))),
        ("bank", Left, &|bound| place(system, bound.channel, &bound.command)),
        ("command", Left, &command_text),
        ("what set its time", Left, &|bound| reason(&bound.wait)),
    ];
    listed(&columns, bound, width)
}

/// `r0 b3`, or `c1 r0 b3` where there are several channels.
pub(super) fn place(system: &SystemConfig, channel: Channel, command: &Command) -> String {
    let of_rank = match command.bank() {
        Some(bank) => format!("r{} b{}", bank.rank, bank.bank),
        None => format!("r{}", command.rank()),
    };
    if system.memory.system().geometry.channels() > 1 { format!("c{} {of_rank}", channel.0) } else { of_rank }
}

/// A command without its bank, with its effect.
fn command_text(bound: &Bound) -> String {
    let name = bound.command.mnemonic();
    match bound.command.operands() {
        Operands::Row(_, row) => format!("{name} {}", bound.effect.with_row(row)),
        Operands::Line(_, column) => format!("{name} col {}", column.0),
        Operands::Lines((_, src_column), (dst, dst_column)) if src_column == dst_column => {
            format!("{name} col {} -> b{}", src_column.0, dst.bank)
        }
        Operands::Lines((_, src_column), (dst, dst_column)) => {
            format!("{name} col {} -> b{} col {}", src_column.0, dst.bank, dst_column.0)
        }
        Operands::Bank(_) | Operands::BankSet(_) | Operands::Rank(_) => name.to_owned(),
    }
}

/// `tRAS 20 after #1`.
fn reason(wait: &Wait) -> String {
    match wait {
        Wait::Rule { name, clocks, formula, after } => {
            let after = after.map_or(String::new(), |number| format!(" after #{number}"));
            // Only formulas of FPM are printed. Sums and the long names of pairs are left to `explain rules`, because a
            // line must fit into the terminal.
            let is_printed = formula != name && !name.contains('-') && !formula.contains(' ');
            let formula = if is_printed { format!(" ({formula})") } else { String::new() };
            format!("{name} {clocks}{after}{formula}")
        }
        Wait::Data { after } => format!("the data of #{after}"),
        Wait::Request => "nothing: it arrived then".to_owned(),
        Wait::Refresh => "nothing: refresh due then".to_owned(),
        Wait::Idle => "nothing: its idle time was over".to_owned(),
        Wait::Turn => "other commands went first".to_owned(),
    }
}
