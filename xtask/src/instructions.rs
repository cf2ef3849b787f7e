//! Instructions that a request, and the reading of a trace's record, cost the host machine, against what they may cost.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use super::{check_cost, succeed};

/// A stream of the example `streams`, and what is measured of it.
struct Stream {
    name: &'static str,
    /// Requests of the shorter of two runs; the longer one has twice as many.
    requests: u64,
    /// Units that are counted, per request.
    per_request: u64,
    /// How it is called.
    unit: &'static str,
    /// The most instructions that a unit may cost.
    most: Option<u64>,
}

const fn stream(name: &'static str, requests: u64, per_request: u64, unit: &'static str, most: Option<u64>) -> Stream {
    Stream { name, requests, per_request, unit, most }
}

/// Long enough that the queues are full and the distributions have their buckets in both runs.
const STREAMS: [Stream; 5] = [
    stream("sequential", 50_000, 1, "read", Some(600)),
    stream("page-copies-by-line", 51_200, 1, "read or write", Some(600)),
    stream("page-copies", 400, 128, "line read or written", Some(600)),
    stream("random", 50_000, 1, "read or write", Some(1500)),
    stream("fpm-copies", 10_000, 1, "copy", None),
];

/// A file of a trace that is read: its format with the ending of its compression, and the most instructions that a record may cost.
type TraceFile = (&'static str, Option<u64>);

/// The limit is that of reading plain text; decompression is reported beside it.
const TRACES: [TraceFile; 5] =
    [("native", Some(400)), ("rc", Some(400)), ("cpu", Some(400)), ("rc.gz", None), ("rc.zst", None)];

/// Records of the shorter of two traces; the longer one has twice as many.
const TRACE_RECORDS: u64 = 200_000;

/// What was counted of one subject.
struct Cost {
    name: String,
    unit: &'static str,
    instructions: u64,
    most: Option<u64>,
}

/// Counts under callgrind, and names the subjects that exceed a limit.
#[expect(clippy::print_stderr, reason = "a chore reports on the terminal what it found")]
pub fn check() -> ExitCode {
    let costs = [
        ("too many instructions", streams().map(exceeding)),
        ("too many instructions", traces().map(exceeding)),
        ("`--check` costs too much", check_cost::check()),
    ];
    let mut code = ExitCode::SUCCESS;
    for (what, outcome) in costs {
        let line = match outcome {
            Ok(names) if names.is_empty() => continue,
            Ok(names) => format!("{what}: {}", names.join(", ")),
            Err(why) => why,
        };
        eprintln!("{line}");
        code = ExitCode::FAILURE;
    }
    code
}

/// Prints the costs; returns the names of those above their limits.
#[expect(clippy::print_stdout, reason = "a chore prints what it measured")]
fn exceeding(costs: Vec<Cost>) -> Vec<String> {
    for Cost { name, unit, instructions, most } in &costs {
        let most = most.map_or("no limit".to_string(), |most| format!("at most {most}"));
        println!("{name:20} {instructions:6} instructions per {unit} ({most})");
    }
    let exceeds = |cost: &Cost| cost.most.is_some_and(|most| cost.instructions > most);
    costs.into_iter().filter(exceeds).map(|cost| cost.name).collect()
}

/// What requests cost the simulator.
fn streams() -> Result<Vec<Cost>, String> {
    let example = build(&["-p", "host", "--example", "streams"], "streams")?;
    let cost = |stream: &Stream| {
        let Stream { name, requests, per_request, unit, most } = *stream;
        let count = |requests: u64| callgrind(Command::new(&example).arg(name).arg(requests.to_string()));
        let instructions = per_unit(requests, per_request, count)?;
        Ok(Cost { name: name.to_owned(), unit, instructions, most })
    };
    STREAMS.iter().map(cost).collect()
}

/// What records cost the readers of traces. The files are written before, and not under valgrind.
fn traces() -> Result<Vec<Cost>, String> {
    let example = build(&["-p", "trace-io", "--example", "traces"], "traces")?;
    let directory = PathBuf::from("target/instructions");
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let cost = |(name, most): &TraceFile| {
        let format = name.split('.').next().unwrap_or(name);
        let count = |records: u64| {
            let file = directory.join(format!("{records}-{name}"));
            succeed(Command::new(&example).args(["write", format, &records.to_string()]).arg(&file), "a trace")?;
            callgrind(Command::new(&example).arg("read").arg(file))
        };
        let instructions = per_unit(TRACE_RECORDS, 1, count)?;
        Ok(Cost { name: format!("read {name}"), unit: "record", instructions, most: *most })
    };
    TRACES.iter().map(cost).collect()
}

/// Builds a program, optimised; returns its path. `what` selects it, `name` is the name of its target.
pub fn build(what: &[&str], name: &str) -> Result<PathBuf, String> {
    let words = ["build", "--release", "--message-format", "json"];
    let output = Command::new("cargo").args(words).args(what).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`cargo` cannot be started: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built = artifacts.filter(|message| message["target"]["name"] == name);
    let path = built.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.filter(|_| output.status.success()).ok_or_else(|| format!("`{name}` cannot be built"))
}

/// Instructions per unit: the difference of two runs, one twice as long, leaves out start and end.
fn per_unit(length: u64, units: u64, count: impl Fn(u64) -> Result<u64, String>) -> Result<u64, String> {
    let more = count(2 * length)?.saturating_sub(count(length)?);
    Ok(more.div_ceil(length * units))
}

/// Instructions of one run of a program.
pub fn callgrind(run: &Command) -> Result<u64, String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(run.get_program()).args(run.get_args());
    let output = valgrind.output().map_err(|error| {
        format!("`valgrind` cannot be started: {error}; install it (`apt-get install valgrind`) to count instructions")
    })?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{valgrind:?}: {}\n{told}", output.status));
    }
    collected(&told).ok_or_else(|| format!("{valgrind:?}: no count of instructions\n{told}"))
}

/// The count that callgrind tells at its end: `==123== Collected : 456`.
fn collected(told: &str) -> Option<u64> {
    let line = told.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_count_is_found_in_what_callgrind_tells() {
        let told = "==7== Events    : Ir\n==7== Collected : 324209239\n==7==\n==7== I   refs:      324,209,239\n";
        assert_eq!(collected(told), Some(324_209_239));
        assert_eq!(collected("==7== I   refs:      324,209,239\n"), None);
    }
}
