//! Instructions that a request, and the reading of a trace's record, cost the host machine, against what they may cost.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use super::succeed;

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

/// Counts under callgrind, and names what costs too much.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore tells on the terminal what it found")]
pub fn check() -> ExitCode {
    let counted = streams().and_then(|mut costs| {
        costs.extend(traces()?);
        Ok(costs)
    });
    let costs = match counted {
        Ok(costs) => costs,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    for Cost { name, unit, instructions, most } in &costs {
        let most = most.map_or("no limit".to_string(), |most| format!("at most {most}"));
        println!("{name:20} {instructions:6} instructions per {unit} ({most})");
    }
    let exceeds = |cost: &&Cost| cost.most.is_some_and(|most| cost.instructions > most);
    let dear: Vec<_> = costs.iter().filter(exceeds).map(|cost| cost.name.as_str()).collect();
    if dear.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("too many instructions: {}", dear.join(", "));
    ExitCode::FAILURE
}

/// What requests cost the simulator.
fn streams() -> Result<Vec<Cost>, String> {
    let example = build("host", "streams")?;
    let cost = |stream: &Stream| {
        let Stream { name, requests, per_request, unit, most } = *stream;
        let count = |requests: u64| {
            instructions(Command::new("valgrind").args(CALLGRIND).arg(&example).arg(name).arg(requests.to_string()))
        };
        let instructions = per_unit(requests, per_request, count)?;
        Ok(Cost { name: name.to_owned(), unit, instructions, most })
    };
    STREAMS.iter().map(cost).collect()
}

/// What records cost the readers of traces. The files are written before, and not under valgrind.
fn traces() -> Result<Vec<Cost>, String> {
    let example = build("trace-io", "traces")?;
    let directory = PathBuf::from("target/instructions");
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let cost = |(name, most): &TraceFile| {
        let format = name.split('.').next().unwrap_or(name);
        let count = |records: u64| {
            let file = directory.join(format!("{records}-{name}"));
            succeed(Command::new(&example).args(["write", format, &records.to_string()]).arg(&file), "a trace")?;
            instructions(Command::new("valgrind").args(CALLGRIND).arg(&example).arg("read").arg(file))
        };
        let instructions = per_unit(TRACE_RECORDS, 1, count)?;
        Ok(Cost { name: format!("read {name}"), unit: "record", instructions, most: *most })
    };
    TRACES.iter().map(cost).collect()
}

/// Builds an example; where it is.
fn build(package: &str, example: &str) -> Result<PathBuf, String> {
    let words = ["build", "--release", "-p", package, "--example", example, "--message-format", "json"];
    let output = Command::new("cargo").args(words).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`cargo` cannot be started: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut examples = artifacts.filter(|message| message["target"]["name"] == example);
    let path = examples.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.filter(|_| output.status.success()).ok_or_else(|| format!("the example `{example}` cannot be built"))
}

/// What one more costs: the difference of two runs, one twice as long, leaves out how they begin and end.
fn per_unit(length: u64, units: u64, count: impl Fn(u64) -> Result<u64, String>) -> Result<u64, String> {
    let more = count(2 * length)?.saturating_sub(count(length)?);
    Ok(more.div_ceil(length * units))
}

const CALLGRIND: [&str; 2] = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];

/// Instructions of one run under valgrind.
fn instructions(valgrind: &mut Command) -> Result<u64, String> {
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
