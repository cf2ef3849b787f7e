//! `rowclone-sim explain timeline`: the first commands of a run, with the rule that set the cycle of each.

mod lanes;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use dram_core::{Rule, Scope, Timings, rules_of};
use dram_spec::{Channel, Command, CommandEvent, Cycle, Cycles, EventSink, IssueCause, Operands, RequestId, System};
use memctrl::{Completion, Request};
use report::table::Align::{Left, Right};
use report::table::{TextColumn, listed, wrapped};
use report::timeline::Window;
use rowclone_sim::quantity::counted;

use crate::args::ExplainTimelineArgs;
use crate::experiment::{self, Wanted};
use crate::instant::{self, Instant};
use crate::interrupt;
use crate::output;
use crate::requests::{self, Taken};
use rowclone_config::{Failure, Scenario, SystemConfig, Variant};
use rowclone_sim::{Observer, SharedObserver};

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
        let listed = first_commands(&scenario, variant, request, args)?;
        text += if index > 0 { "\n" } else { "" };
        let (name, policy, bin) = (&scenario.name, variant.label("/"), scenario.system.memory.system().bin.full_name());
        let commands =
            if listed.is_empty() { "no command".to_owned() } else { counted(listed.len() as u64, "command") };
        let title = format!("{name}, policy {policy}, {bin}, tCK {} ns: {commands}", clock.t_ck_ns());
        let _ = writeln!(text, "{}", wrapped(&title, width));
        if let Some(Taken { number, at, operation }) = request {
            let title = format!("request {number}, accepted in cycle {}: {operation}", at.0);
            let _ = writeln!(text, "{}", wrapped(&title, width));
        }
        if !listed.is_empty() {
            text += &listing(&scenario.system, &listed, width);
            text += &lanes::drawing(&scenario.system, &listed, width);
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
) -> Result<Vec<Listed>, Failure> {
    let system = scenario.system.memory.system();
    let from = request.map(|request| Instant::Cycle(request.at.0)).or(args.from);
    let stop = interrupt::flag();
    let first = RefCell::new(FirstCommands {
        system,
        timings: Timings::new(system),
        history: VecDeque::new(),
        taken: Vec::new(),
        window: instant::window(from, args.to, system.clock())?,
        count: args.count.get(),
        number: 0,
        listed: Vec::new(),
        stop: &stop,
    });
    let wanted = Wanted { observer: Some(&first as SharedObserver<'_>), ..Wanted::new(&stop) };
    let played = experiment::run(scenario, variant, wanted, None);
    let first = first.into_inner();
    if first.is_full() {
        // The window set the flag, not the user.
        stop.store(false, Ordering::Relaxed);
    } else {
        played?;
    }
    Ok(first.listed)
}

/// A command of a run, with the reason why it was not issued earlier.
struct Listed {
    /// Number among all commands of the run, from 0.
    number: u64,
    event: CommandEvent,
    reason: String,
}

/// Number of clocks of history; no rule reaches back further.
const HISTORY: Cycles = Cycles(2048);

/// Observes a run, lists the first `count` commands of a window, and stops the run after the last of them.
struct FirstCommands<'a> {
    system: &'a System,
    timings: Timings,
    /// The latest commands, with their numbers.
    history: VecDeque<(u64, CommandEvent)>,
    /// The latest accepted requests, with the cycles of their acceptance.
    taken: Vec<(Cycle, RequestId)>,
    window: Window,
    count: usize,
    /// Number of the next command.
    number: u64,
    listed: Vec<Listed>,
    stop: &'a AtomicBool,
}

impl FirstCommands<'_> {
    fn is_full(&self) -> bool {
        self.listed.len() == self.count || self.history.back().is_some_and(|(_, last)| last.at >= self.window.to)
    }

    /// Reason for the cycle of a command: `tRAS 20 after #1`.
    fn reason(&self, event: &CommandEvent) -> String {
        if let Some(rule) = rules_of(self.system).map(|(rule, _)| rule).find(|rule| event.held_by == Some(rule.name)) {
            return self.of_rule(event, rule);
        }
        if let Some(read) = self.read_of(event) {
            return format!("the data of #{read}");
        }
        // The controller accepted the request in this cycle, or in the cycle before.
        let is_new = |request| self.taken.iter().any(|&(at, other)| at + Cycles(1) >= event.at && other == request);
        let reason = match (event.cause, event.command) {
            (IssueCause::Power, Command::PowerDownExit { .. } | Command::SelfRefreshExit { .. }) => {
                "arrival of the request"
            }
            (IssueCause::Power | IssueCause::RowPolicy, _) => "end of the idle time",
            (IssueCause::Refresh, _) => "refresh due",
            (cause, _) if cause.request().is_some_and(is_new) => "arrival of the request",
            _ => "other commands had priority",
        };
        reason.to_owned()
    }

    /// A rule that ended in the cycle of a command, its distance, and the earlier command.
    fn of_rule(&self, event: &CommandEvent, rule: &Rule) -> String {
        // Cycle of a command from which the distance counts: its last on the bus where the standard counts from there.
        let counts_from_last = self.system.counts_from_second_cycle() && rule.scope != Scope::Channel;
        let last = |event: &CommandEvent| event.at + Cycles(self.system.bus_cycles(event.kind()).0 - 1);
        let reference = |event: &CommandEvent| if counts_from_last { last(event) } else { event.at };
        let distance = rule.cycles(&self.timings);
        // At most one command is issued per clock, so the cycle identifies it.
        let mut earlier = self.history.iter().rev().filter(|(_, earlier)| earlier.channel == event.channel);
        let found = earlier.find_map(|(number, earlier)| {
            let clocks = if rule.has_own_time() { self.timings.own_time(earlier.effect)? } else { distance };
            (reference(earlier) + clocks == reference(event)).then_some((*number, clocks))
        });
        let clocks = found.map_or(distance, |(_, clocks)| clocks);
        let after = found.map_or(String::new(), |(number, _)| format!(" after #{number}"));
        // Only formulas of FPM are printed. Sums and the long names of pairs are left to `explain rules`, because a
        // line must fit into the terminal.
        let (name, formula) = (rule.name, rule.formula());
        let is_printed = formula != name && !name.contains('-') && !formula.contains(' ');
        let formula = if is_printed { format!(" ({formula})") } else { String::new() };
        format!("{name} {clocks}{after}{formula}")
    }

    /// The RD whose data the WR of a copy follows without a clock between them.
    fn read_of(&self, event: &CommandEvent) -> Option<u64> {
        let (Command::Write { .. }, IssueCause::Copy { .. }) = (&event.command, event.cause) else { return None };
        let needed = event.at + self.timings.write_latency();
        let arrives = |earlier: &CommandEvent| {
            matches!(earlier.command, Command::Read { .. }) && earlier.at + self.timings.read_data() == needed
        };
        self.history.iter().find_map(|(number, earlier)| arrives(earlier).then_some(*number))
    }
}

impl EventSink for FirstCommands<'_> {
    fn command(&mut self, event: &CommandEvent) {
        if self.is_full() {
            return;
        }
        let (number, event) = (self.number, *event);
        self.number += 1;
        if self.window.from <= event.at && event.at < self.window.to {
            self.listed.push(Listed { number, event, reason: self.reason(&event) });
        }
        self.history.push_back((number, event));
        while self.history.front().is_some_and(|(_, earlier)| event.at.since(earlier.at) > HISTORY) {
            self.history.pop_front();
        }
        if self.is_full() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Observer for FirstCommands<'_> {
    fn taken(&mut self, now: Cycle, request: &Request) {
        self.taken.retain(|(taken, _)| *taken + Cycles(1) >= now);
        self.taken.push((now, request.id));
    }

    fn done(&mut self, _: &Completion) {}
}

/// One command per line; its number counts from 0.
fn listing(system: &SystemConfig, commands: &[Listed], width: usize) -> String {
    let clock = system.memory.system().clock();
    let columns: [TextColumn<'_, Listed>; 6] = [
        ("#", Right, &|listed| listed.number.to_string()),
        ("cycle", Right, &|listed| listed.event.at.to_string()),
        ("ns", Right, &|listed| format!("{:.2}", clock.ns(Cycles(listed.event.at.0)))),
        ("bank", Left, &|listed| place(system, listed.event.channel, &listed.event.command)),
        ("command", Left, &|listed| command_text(&listed.event)),
        ("reason for its cycle", Left, &|listed| listed.reason.clone()),
    ];
    listed(&columns, commands, width)
}

/// `r0 b3`, or `c1 r0 b3` where there are several channels.
fn place(system: &SystemConfig, channel: Channel, command: &Command) -> String {
    let of_rank = match command.bank() {
        Some(bank) => format!("r{} b{}", bank.rank, bank.bank),
        None => format!("r{}", command.rank()),
    };
    if system.memory.system().geometry.channels() > 1 { format!("c{} {of_rank}", channel.0) } else { of_rank }
}

/// A command without its bank, with its effect.
fn command_text(event: &CommandEvent) -> String {
    let name = event.command.mnemonic();
    match event.command.operands() {
        Operands::Row(_, row) => format!("{name} {}", event.effect.with_row(row)),
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
