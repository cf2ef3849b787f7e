//! Instructions of runs, trace readers, `--check` and cores, compared with their limits.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde_json::Value;

use super::{check_cost, run_cost, succeed};

/// A trace file to read: its format with the suffix of its compression, and the maximum
/// instructions per record.
type TraceFile = (&'static str, Option<u64>);

/// The limit applies to plain text; decompression is reported without a limit.
const TRACES: [TraceFile; 13] = [
    ("native", Some(400)),
    ("rc", Some(400)),
    ("cpu", Some(400)),
    ("ramulator-dram", Some(400)),
    ("ramulator2-ls", Some(400)),
    // Five numbers.
    ("ramulator2-rw", Some(500)),
    ("dramsim3", Some(400)),
    ("stl", Some(400)),
    ("rstl", Some(400)),
    // Four lines: an access and, on average, three instructions.
    ("lackey", Some(1600)),
    // A line of 110 bytes. A recording has some thousands, each for a page.
    ("perf", Some(1600)),
    ("rc.gz", None),
    ("rc.zst", None),
];

/// Records of the shorter of two traces. The longer one has twice the number.
const TRACE_RECORDS: u64 = 200_000;

/// A recording of a program, and the maximum instructions per recorded instruction.
const RECORDINGS: [(&str, u64); 2] = [("xz", 40), ("sort", 40)];

/// Instructions of the shorter of two readings of a recording.
const RECORDED_INSTRUCTIONS: u64 = 4_000_000;

/// Programs on a core, and the maximum instructions per simulated instruction with generated steps and
/// with program text.
const CORE_PROGRAMS: [(&str, [u64; 2]); 2] = [("resident", [120, 300]), ("misses", [250, 450])];

/// Loads and stores of the shorter of two programs, each with three other instructions.
const CORE_ACCESSES: u64 = 250_000;
const INSTRUCTIONS_PER_ACCESS: u64 = 4;

/// Values of the committed version, a row each: name and value, with `UPDATE_INSTRUCTIONS=1` written anew.
const RECORDED: &str = "xtask/instructions.csv";

/// A value may exceed the recorded one by this factor: another version of the compiler changes it by less.
const GROWTH: f64 = 1.03;

/// Measured instructions per unit, or a ratio of instructions.
#[derive(Clone)]
pub struct Cost {
    pub name: String,
    pub unit: &'static str,
    pub value: f64,
    pub limit: Option<f64>,
}

/// Counts instructions with callgrind; prints each value with its limit, and fails where a value has grown.
///
/// A limit is a target of the project, and its miss is printed. A miss alone does not fail, as it would hide growth.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn check() -> ExitCode {
    let measured = [run_cost::measure, traces, recordings, cores, check_cost::measure].map(|measure| {
        let costs = measure()?;
        for cost in &costs {
            println!("{}", row(cost));
        }
        Ok(costs)
    });
    let outcome = measured.into_iter().collect::<Result<Vec<_>, String>>().and_then(|costs| compare(&costs.concat()));
    match outcome {
        Ok(missed) => {
            println!("{missed} values are above their limits");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn row(Cost { name, unit, value, limit }: &Cost) -> String {
    let limit = limit.map_or("no limit".to_string(), |limit| {
        format!("limit {limit}{}", if *value > limit { ", missed" } else { "" })
    });
    format!("{name:45} {value:8} {unit} ({limit})")
}

/// Compares values with the recorded ones; returns how many are above their limits.
fn compare(costs: &[Cost]) -> Result<usize, String> {
    if std::env::var_os("UPDATE_INSTRUCTIONS").is_some() {
        let rows = costs.iter().map(|Cost { name, value, .. }| format!("{name},{value}\n"));
        let text = format!("name,value\n{}", rows.collect::<String>());
        std::fs::write(RECORDED, text).map_err(|error| format!("{RECORDED}: {error}"))?;
    }
    let text = std::fs::read_to_string(RECORDED).map_err(|error| format!("{RECORDED}: {error}"))?;
    let problems: Vec<_> = costs.iter().filter_map(|cost| growth(cost, &text)).collect();
    if problems.is_empty() {
        return Ok(costs.iter().filter(|cost| cost.limit.is_some_and(|limit| cost.value > limit)).count());
    }
    Err(problems.join("\n"))
}

/// What is wrong with a value beside the rows of recorded ones.
fn growth(Cost { name, value, .. }: &Cost, recorded: &str) -> Option<String> {
    let mut rows = recorded.lines().filter_map(|line| line.rsplit_once(','));
    let Some(recorded) = rows.find(|row| row.0 == name).and_then(|row| row.1.parse::<f64>().ok()) else {
        return Some(format!("{RECORDED} has no value of `{name}`; `UPDATE_INSTRUCTIONS=1` writes it"));
    };
    (*value > recorded * GROWTH).then(|| format!("{name}: {value}, recorded {recorded}"))
}

/// Instructions per record of the trace readers. The files are written in advance, without
/// valgrind.
fn traces() -> Result<Vec<Cost>, String> {
    let example = build(&["-p", "rowclone-trace-io", "--example", "traces"], "traces")?;
    let directory = directory()?;
    let cost = |(name, most): &TraceFile| {
        let format = name.split('.').next().unwrap_or(name);
        let count = |records: u64| {
            let file = directory.join(format!("{records}-{name}"));
            succeed(Command::new(&example).args(["write", format, &records.to_string()]).arg(&file), "a trace")?;
            callgrind(Command::new(&example).args(["read", format]).arg(file))
        };
        let instructions = per_unit(TRACE_RECORDS, 1, count)?;
        let limit = most.map(|most| most as f64);
        Ok(Cost { name: format!("read {name}"), unit: "instructions per record", value: instructions as f64, limit })
    };
    TRACES.iter().map(cost).collect()
}

/// Instructions per recorded instruction of the reader of recordings.
fn recordings() -> Result<Vec<Cost>, String> {
    let example = build(&["-p", "rowclone-trace-io", "--example", "traces"], "traces")?;
    let cost = |&(program, most): &(&str, u64)| {
        let file = format!("traces/recorded/{program}.rct.zst");
        let count =
            |instructions: u64| callgrind(Command::new(&example).args(["recording", &instructions.to_string(), &file]));
        let instructions = per_unit(RECORDED_INSTRUCTIONS, 1, count)?;
        Ok(Cost {
            name: format!("read {program}.rct.zst"),
            unit: "instructions per recorded instruction",
            value: instructions as f64,
            limit: Some(most as f64),
        })
    };
    RECORDINGS.iter().map(cost).collect()
}

/// Instructions per simulated instruction of a program on a core.
fn cores() -> Result<Vec<Cost>, String> {
    let example = build(&["-p", "rowclone-host", "--example", "cores"], "cores")?;
    let directory = directory()?;
    let cost = |program: &str, is_text: bool, most: u64| {
        let count = |accesses: u64| {
            let run = || {
                let mut run = Command::new(&example);
                run.args([program, &accesses.to_string()]);
                run
            };
            if !is_text {
                return callgrind(&run());
            }
            let file = directory.join(format!("{accesses}-{program}.program"));
            succeed(run().arg(&file).arg("write"), "a program trace")?;
            callgrind(run().arg(&file))
        };
        let instructions = per_unit(CORE_ACCESSES, INSTRUCTIONS_PER_ACCESS, count)?;
        let name = format!("cores {program}{}", if is_text { " text" } else { "" });
        let unit = "instructions per simulated instruction";
        Ok(Cost { name, unit, value: instructions as f64, limit: Some(most as f64) })
    };
    let both =
        |&(program, [most, most_text]): &(&'static str, [u64; 2])| [(program, false, most), (program, true, most_text)];
    CORE_PROGRAMS.iter().flat_map(both).map(|(program, is_text, most)| cost(program, is_text, most)).collect()
}

/// Directory of the traces and scenarios.
pub fn directory() -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let directory = target.join("instructions");
    std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(directory)
}

/// Builds an optimized program; returns its path. `what` selects it, `name` is the name of its
/// target.
pub fn build(what: &[&str], name: &str) -> Result<PathBuf, String> {
    let words = ["build", "--release", "--message-format", "json"];
    // What is measured is the profile, as users build it.
    let mut cargo = Command::new("cargo");
    let output = cargo.args(words).args(what).env_remove("CARGO_INCREMENTAL").stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`cargo` cannot be started: {error}"))?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let artifacts = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut built = artifacts.filter(|message| message["target"]["name"] == name);
    let path = built.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.filter(|_| output.status.success()).ok_or_else(|| format!("`{name}` cannot be built"))
}

/// Instructions per unit: the difference of two runs, one twice as long, which excludes start and
/// end.
pub fn per_unit(length: u64, units: u64, count: impl Fn(u64) -> Result<u64, String>) -> Result<u64, String> {
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
    let messages = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{valgrind:?}: {}\n{messages}", output.status));
    }
    collected(&messages).ok_or_else(|| format!("{valgrind:?}: no count of instructions\n{messages}"))
}

/// Parses the total of callgrind's output: `==123== Collected : 456`.
fn collected(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Cost, collected, growth};

    #[test]
    fn growth_above_the_recorded_value_is_a_problem() {
        let cost = |value| Cost { name: "read, from a trace".to_string(), unit: "", value, limit: Some(50.0) };
        let recorded = "name,value\nread,10\nread, from a trace,100\n";
        assert_eq!(growth(&cost(102.0), recorded), None);
        assert!(growth(&cost(104.0), recorded).is_some());
        assert!(growth(&cost(1.0), "name,value\nread,1\n").is_some(), "not recorded");
    }

    #[test]
    fn the_total_of_callgrind_is_parsed() {
        let output = "==7== Events    : Ir\n==7== Collected : 324209239\n==7==\n==7== I   refs:      324,209,239\n";
        assert_eq!(collected(output), Some(324_209_239));
        assert_eq!(collected("==7== I   refs:      324,209,239\n"), None);
    }
}
