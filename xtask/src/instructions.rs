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

/// Measured instructions of one subject.
struct Cost {
    name: String,
    unit: &'static str,
    instructions: u64,
    most: Option<u64>,
}

/// Counts instructions with callgrind; reports the subjects that exceed a limit.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn check() -> ExitCode {
    let costs = [
        ("above the limit", run_cost::check()),
        ("above the limit", traces().map(exceeding)),
        ("above the limit", recordings().map(exceeding)),
        ("above the limit", cores().map(exceeding)),
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

/// Prints the instruction counts; returns the names of those above their limits.
#[expect(clippy::print_stdout, reason = "the task prints its measurements")]
fn exceeding(costs: Vec<Cost>) -> Vec<String> {
    for Cost { name, unit, instructions, most } in &costs {
        let most = most.map_or("no limit".to_string(), |most| format!("at most {most}"));
        println!("{name:20} {instructions:6} instructions per {unit} ({most})");
    }
    let exceeds = |cost: &Cost| cost.most.is_some_and(|most| cost.instructions > most);
    costs.into_iter().filter(exceeds).map(|cost| cost.name).collect()
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
        Ok(Cost { name: format!("read {name}"), unit: "record", instructions, most: *most })
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
            unit: "recorded instruction",
            instructions,
            most: Some(most),
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
        Ok(Cost { name, unit: "simulated instruction", instructions, most: Some(most) })
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
    let output = Command::new("cargo").args(words).args(what).stderr(Stdio::inherit()).output();
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
    use super::collected;

    #[test]
    fn the_total_of_callgrind_is_parsed() {
        let output = "==7== Events    : Ir\n==7== Collected : 324209239\n==7==\n==7== I   refs:      324,209,239\n";
        assert_eq!(collected(output), Some(324_209_239));
        assert_eq!(collected("==7== I   refs:      324,209,239\n"), None);
    }
}
