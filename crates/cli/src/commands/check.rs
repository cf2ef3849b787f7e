//! `check`: an independent check of a command trace, also of one from another simulator.

use std::path::Path;
use std::process::ExitCode;

use dram_spec::{Cycle, Dialect, Issued};
use protocol_check::{Checker, Rule, Violation, ViolationReport};
use report::table::Align::{Left, Right};
use report::table::{TextColumn, listed};
use serde_json::{Map, Value, json};
use trace_io::commands;

use crate::args::CheckArgs;
use crate::command_trace::CommandTrace;
use crate::interrupt;
use crate::output;
use rowclone_config::Failure;

/// Exit code if the trace violates a rule.
const VIOLATIONS: u8 = 1;

/// What the check of a trace without rows leaves out.
const ROWLESS: &str = "the trace has no rows and columns: the rules of banks, ranks and buses are checked, but not \
    whether \
    rows, columns and subarrays exist or match";

/// Result of the check of a trace.
struct Verdict {
    format: &'static commands::CommandFormat,
    dialect: Dialect,
    commands: u64,
    end: Cycle,
    report: ViolationReport,
}

/// Checks a trace.
///
/// # Errors
/// The trace cannot be read, is no command trace, or ends before its last command.
pub fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let verdict = check(args)?;
    output::print(args.format.render(|| table(&verdict), &json(&args.file, &verdict))?)?;
    Ok(if verdict.report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(VIOLATIONS) })
}

fn check(args: &CheckArgs) -> Result<Verdict, Failure> {
    let stop = interrupt::flag();
    let choice = ("--input-format", args.input_format);
    let mut trace = CommandTrace::open(&args.file, choice, &args.system)?;
    let dialect = args.dialect.unwrap_or(trace.dialect());
    let mut checker = Checker::new(&trace.system, dialect).keeping(args.limit);
    let (mut commands, mut last) = (0, Cycle::ZERO);
    while let Some(Issued { at, channel, command }) = trace.next()? {
        Failure::if_raised(&stop)?;
        checker.push(at, channel, &command);
        commands += 1;
        last = last.max(at);
    }
    // A trace that was cut short is checked as far as it goes.
    let end = trace.end().unwrap_or(last);
    if end < last {
        let (name, help) = trace.end_name();
        let message = format!("{name} is {end}, but a command was issued in cycle {last}");
        return Err(Failure::at(&args.file, message).with_help(help));
    }
    checker.finish_ranks(end, |channel, rank| trace.holds(channel, rank));
    Ok(Verdict { format: trace.format, dialect, commands, end, report: checker.into_report() })
}

fn table(Verdict { format, commands, report, .. }: &Verdict) -> String {
    let commands = count(*commands, "command");
    let note = if format.has_rows { String::new() } else { format!("note: {ROWLESS}\n") };
    if report.is_clean() {
        return format!("{note}{commands}, no violation\n");
    }
    let text: String =
        report.violations().iter().map(|violation| without_rows(format, violation.to_string()) + "\n").collect();
    let unnamed = report.total() - report.violations().len() as u64;
    let more = if unnamed > 0 {
        format!("... and {unnamed} more, in the counts below; `--limit` lists more\n")
    } else {
        String::new()
    };
    let columns: [TextColumn<'_, (Rule, u64)>; 3] = [
        ("rule", Left, &|(rule, _)| rule.name().to_owned()),
        ("violations", Right, &|(_, violations)| violations.to_string()),
        ("source", Left, &|(rule, _)| rule.source_in(report.standard()).to_owned()),
    ];
    let counts = listed(&columns, &report.counts().collect::<Vec<_>>(), usize::MAX);
    format!("{note}{text}{more}\n{counts}\n{commands}, {}\n", count(report.total(), "violation"))
}

/// A text about commands. Rows and columns that a trace lacks are read as 0, and must not be printed.
fn without_rows(format: &commands::CommandFormat, text: String) -> String {
    if format.has_rows { text } else { text.replace(" row 0", "").replace(" col 0", "") }
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn json(file: &Path, verdict: &Verdict) -> Value {
    let Verdict { format, dialect, commands, end, report } = verdict;
    let counts: Map<String, Value> =
        report.counts().map(|(rule, count)| (rule.name().to_owned(), Value::from(count))).collect();
    json!({
        "file": file.display().to_string(),
        "format": format.name,
        "note": (!format.has_rows).then_some(ROWLESS),
        "dialect": dialect.name(),
        "commands": commands,
        "end_cycle": end.0,
        "violations_total": report.total(),
        "violations_by_rule": counts,
        "violations_listed": report.violations().len(),
        "violations": report.violations().iter().map(|violation| violation_json(format, violation)).collect::<Vec<_>>(),
    })
}

fn violation_json(format: &commands::CommandFormat, violation: &Violation) -> Value {
    let Violation { rule, at, channel, rank, command, earlier, bound, clocks_short, source } = violation;
    let issued = |issued: &Option<Issued>| match issued {
        Some(Issued { at, command, .. }) => {
            json!({ "cycle": at.0, "command": without_rows(format, command.to_string()) })
        }
        None => Value::Null,
    };
    json!({
        "rule": rule.name(),
        "cycle": at.0,
        "channel": channel.0,
        "rank": rank,
        "command": command.map(|issued| without_rows(format, issued.command.to_string())),
        "earlier": issued(earlier),
        "bound_clocks": bound.map(|bound| bound.0),
        "found_clocks": violation.found().map(|found| found.0),
        "clocks_short": clocks_short,
        "source": source,
    })
}
