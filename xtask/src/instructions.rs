//! Instructions that a request costs the host machine, against what it may cost.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

/// A stream of the example `streams`, and what is measured of it.
struct Stream {
    name: &'static str,
    /// Requests of the shorter of two runs; the longer one has twice as many.
    requests: u64,
    /// What is counted: so many a request.
    per_request: u64,
    /// How it is called.
    unit: &'static str,
    /// The most instructions that one of it may cost.
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

/// Counts under callgrind, and names the streams that cost too much.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a chore tells on the terminal what it found")]
pub fn check() -> ExitCode {
    let counted = build().and_then(|example| {
        let cost = |stream: &Stream| per_unit(&example, stream);
        STREAMS.iter().map(|stream| Ok((stream, cost(stream)?))).collect::<Result<Vec<_>, String>>()
    });
    let counted = match counted {
        Ok(counted) => counted,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    for (stream, cost) in &counted {
        let most = stream.most.map_or("no limit".to_string(), |most| format!("at most {most}"));
        println!("{:20} {cost:6} instructions a {} ({most})", stream.name, stream.unit);
    }
    let exceeds = |(stream, cost): &(&Stream, u64)| stream.most.is_some_and(|most| *cost > most);
    let dear: Vec<_> = counted.iter().filter(|one| exceeds(one)).map(|(stream, _)| stream.name).collect();
    if dear.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("too many instructions: {}", dear.join(", "));
    ExitCode::FAILURE
}

/// Builds the example; where it is.
fn build() -> Result<PathBuf, String> {
    let words = ["build", "--release", "-p", "host", "--example", "streams", "--message-format", "json"];
    let output = Command::new("cargo").args(words).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`cargo` cannot be started: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut examples = artifacts.filter(|message| message["target"]["name"] == "streams");
    let path = examples.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.filter(|_| output.status.success()).ok_or_else(|| "the example `streams` cannot be built".to_string())
}

/// What one more costs: the difference of two runs leaves out how they begin and end.
fn per_unit(example: &Path, stream: &Stream) -> Result<u64, String> {
    let count = |requests| instructions(example, stream.name, requests);
    let more = count(2 * stream.requests)?.saturating_sub(count(stream.requests)?);
    Ok(more.div_ceil(stream.requests * stream.per_request))
}

/// Instructions of one run.
fn instructions(example: &Path, name: &str, requests: u64) -> Result<u64, String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(example).arg(name);
    let output = valgrind.arg(requests.to_string()).output().map_err(|error| {
        format!("`valgrind` cannot be started: {error}; install it (`apt-get install valgrind`) to count instructions")
    })?;
    let told = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name} under valgrind: {}\n{told}", output.status));
    }
    collected(&told).ok_or_else(|| format!("{name} under valgrind: no count of instructions\n{told}"))
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
