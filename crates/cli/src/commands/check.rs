//! `check`: an independent check of a command log, also of one from another simulator.

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use dram_spec::{Cycle, Dialect, EventSink, Issued};
use protocol_check::{Checker, Report, Rule, Violation};
use report::table::Align::{Left, Right};
use report::table::{Column, listed};
use serde_json::{Map, Value, json};
use trace_io::Text;
use trace_io::command_log::{LogError, LogReader};

use crate::args::{CheckArgs, Format};
use crate::interrupt;
use crate::output;
use rowclone_config::Failure;
use rowclone_config::file::located;

/// The log breaks a rule.
const VIOLATIONS: u8 = 1;

/// Result of the check of a log.
struct Verdict {
    dialect: Dialect,
    commands: u64,
    end: Cycle,
    report: Report,
}

/// Judges a log.
///
/// # Errors
/// The log cannot be read, is no command log, or ends before its last command.
pub fn run(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let CheckArgs { file, dialect, format } = args;
    let verdict = judge(file, *dialect)?;
    output::print(match format {
        Format::Table => table(&verdict),
        Format::Json => format!("{:#}\n", json(file, &verdict)),
    })?;
    Ok(if verdict.report.is_clean() { ExitCode::SUCCESS } else { ExitCode::from(VIOLATIONS) })
}

fn judge(file: &Path, dialect: Option<Dialect>) -> Result<Verdict, Failure> {
    let unreadable = |source: std::io::Error| Failure::reading(file, &source);
    let stop = interrupt::flag();
    let mut log = LogReader::new(Text::new(File::open(file).map_err(unreadable)?).map_err(unreadable)?)
        .map_err(|error| fault(file, &error))?;
    let header = log.header().clone();
    let dialect = dialect.unwrap_or(header.dialect);
    let mut checker = Checker::new(&header.system, dialect);
    let (mut commands, mut last) = (0, Cycle::ZERO);
    for issued in &mut log {
        let Issued { at, channel, command } = issued.map_err(|error| fault(file, &error))?;
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::interrupted());
        }
        checker.push(at, channel, &command);
        commands += 1;
        last = last.max(at);
    }
    // A log that was cut short is judged as far as it goes.
    let end = header.end.unwrap_or(last);
    if end < last {
        return Err(Failure::at(file, format_args!("`end_cycle` is {end}, but a command stands at cycle {last}"))
            .with_help("correct it, or write `# end_cycle = unknown`"));
    }
    checker.finish(end);
    Ok(Verdict { dialect, commands, end, report: checker.into_report() })
}

/// An error of the log, with its file.
fn fault(file: &Path, error: &LogError) -> Failure {
    Failure::new(located(file, &error.to_string())).with_help(error.help())
}

fn table(Verdict { commands, report, .. }: &Verdict) -> String {
    let commands = count(*commands, "command");
    if report.is_clean() {
        return format!("{commands}, no violation\n");
    }
    let text: String = report.violations().iter().map(|violation| violation.to_string() + "\n").collect();
    let unnamed = report.total() - report.violations().len() as u64;
    let more = if unnamed > 0 { format!("... and {unnamed} more, in the counts below\n") } else { String::new() };
    let columns: [Column<'_, (Rule, u64)>; 3] = [
        ("rule", Left, &|(rule, _)| rule.name().to_owned()),
        ("violations", Right, &|(_, violations)| violations.to_string()),
        ("source", Left, &|(rule, _)| rule.source().to_owned()),
    ];
    let counts = listed(&columns, &report.counts().collect::<Vec<_>>(), usize::MAX);
    format!("{text}{more}\n{counts}\n{commands}, {}\n", count(report.total(), "violation"))
}

fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn json(file: &Path, verdict: &Verdict) -> Value {
    let Verdict { dialect, commands, end, report } = verdict;
    let counts: Map<String, Value> =
        report.counts().map(|(rule, count)| (rule.name().to_owned(), Value::from(count))).collect();
    json!({
        "file": file.display().to_string(),
        "dialect": dialect.name(),
        "commands": commands,
        "end_cycle": end.0,
        "violations_total": report.total(),
        "violations_by_rule": counts,
        "violations": report.violations().iter().map(violation_json).collect::<Vec<_>>(),
    })
}

fn violation_json(violation: &Violation) -> Value {
    let Violation { rule, at, channel, rank, command, earlier, bound, clocks_short } = violation;
    let issued = |issued: &Option<Issued>| match issued {
        Some(Issued { at, command, .. }) => json!({ "cycle": at.0, "command": command.to_string() }),
        None => Value::Null,
    };
    json!({
        "rule": rule.name(),
        "cycle": at.0,
        "channel": channel.0,
        "rank": rank,
        "command": command.map(|issued| issued.command.to_string()),
        "earlier": issued(earlier),
        "bound_clocks": bound.map(|bound| bound.0),
        "found_clocks": violation.found().map(|found| found.0),
        "clocks_short": clocks_short,
        "source": rule.source(),
    })
}
