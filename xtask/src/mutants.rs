//! Mutation runs: cargo-mutants on each crate, in runs that can be stopped and resumed.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::str::FromStr;

use clap::Parser;

/// Crates that are mutated by default.
const PACKAGES: [&str; 9] = [
    "rowclone-dram-spec",
    "rowclone-dram-core",
    "rowclone-energy",
    "rowclone",
    "rowclone-protocol-check",
    "rowclone-os-alloc-sim",
    "rowclone-trace-io",
    "rowclone-host",
    "rowclone-memctrl",
];

/// Address space of each process, which stops mutants that allocate without bound.
const ADDRESS_SPACE_KIB: u64 = 8 << 20;

/// Minimum timeout of a mutant's tests, in seconds. cargo-mutants allows five times the duration of
/// the unchanged tests.
const LEAST_TIMEOUT_SECONDS: u64 = 60;

/// Equal random cases for every mutant, and no search for a smaller failing case, as one failure is
/// enough.
const ENVIRONMENT: [(&str, &str); 3] =
    [("PROPTEST_RNG_SEED", "1"), ("PROPTEST_MAX_SHRINK_ITERS", "0"), ("RUST_BACKTRACE", "0")];

/// Changes the code in one place at a time, and lists the changes that no test detects.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask mutants")]
struct Arguments {
    /// A crate to mutate; can be repeated [default: the model crates]
    #[arg(short, long, value_name = "NAME")]
    package: Vec<String>,
    /// Tests one of N equal shares of each crate's mutants: 0/4, 1/4, 2/4 or 3/4
    #[arg(long, value_name = "K/N", default_value = "0/1")]
    shard: Shard,
    /// Mutants tested at the same time
    #[arg(short, long, value_name = "J", default_value_t = 1)]
    jobs: u32,
    /// Tests the survivors and the timeouts of earlier runs again
    #[arg(long)]
    again: bool,
    /// Prints each mutant with its outcome so far, and tests none
    #[arg(long)]
    list: bool,
}

/// A share of the mutants: every `of`th from number `index`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shard {
    index: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if index < of => Ok(Shard { index, of }),
            _ => Err("write `K/N` with K from 0 to N - 1, such as 0/4".to_string()),
        }
    }
}

impl Shard {
    fn holds(self, number: usize) -> bool {
        number % self.of == self.index
    }
}

/// Outcome of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MutantOutcome {
    /// A test failed.
    Caught,
    /// All tests passed.
    Survived,
    /// The tests exceeded the timeout.
    Timeout,
    /// The mutant does not compile.
    Unviable,
}

impl MutantOutcome {
    const ALL: [MutantOutcome; 4] =
        [MutantOutcome::Caught, MutantOutcome::Survived, MutantOutcome::Timeout, MutantOutcome::Unviable];

    /// Name in the state file, and of cargo-mutants' list of these mutants.
    const fn name(self) -> &'static str {
        match self {
            MutantOutcome::Caught => "caught",
            MutantOutcome::Survived => "missed",
            MutantOutcome::Timeout => "timeout",
            MutantOutcome::Unviable => "unviable",
        }
    }
}

/// The mutants of one crate, with their outcomes in all runs.
struct Campaign {
    package: String,
    /// Directory of the state file, and of cargo-mutants' output.
    directory: PathBuf,
    /// All mutants of the crate, by their names in cargo-mutants, in its order.
    mutants: Vec<String>,
    outcomes: BTreeMap<String, MutantOutcome>,
}

/// Runs cargo-mutants on each crate, and prints the totals and the survivors.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn run(words: impl Iterator<Item = String>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(std::iter::once("cargo xtask mutants".to_string()).chain(words)) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let campaigns = installed().and_then(|()| {
        packages(&arguments).into_iter().map(|package| campaign(package, &arguments)).collect::<Result<Vec<_>, _>>()
    });
    match campaigns {
        Ok(campaigns) => {
            let lines = if arguments.list {
                campaigns.iter().flat_map(Campaign::listing).collect()
            } else {
                report(&campaigns)
            };
            println!("{}", lines.join("\n"));
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("mutants: {why}");
            ExitCode::FAILURE
        }
    }
}

fn packages(arguments: &Arguments) -> Vec<&str> {
    if arguments.package.is_empty() {
        PACKAGES.to_vec()
    } else {
        arguments.package.iter().map(String::as_str).collect()
    }
}

fn installed() -> Result<(), String> {
    match Command::new("cargo").args(["mutants", "--version"]).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(_) => Err("cargo-mutants is not installed: run `cargo install cargo-mutants --locked`".to_string()),
        Err(error) => Err(format!("`cargo` cannot be started: {error}")),
    }
}

fn campaign(package: &str, arguments: &Arguments) -> Result<Campaign, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let mut campaign = Campaign::load(package, &target.join("mutants"))?;
    if !arguments.list {
        campaign.test(arguments)?;
    }
    Ok(campaign)
}

impl Campaign {
    /// Lists the mutants of a crate, and loads the outcomes of earlier runs, including stopped
    /// ones.
    fn load(package: &str, state: &Path) -> Result<Campaign, String> {
        let output = Command::new("cargo").args(["mutants", "--list", "--package", package]).output();
        let output = output.map_err(|error| format!("`cargo` cannot be started: {error}"))?;
        if !output.status.success() {
            return Err(format!("the mutants of {package}: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let mutants = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        let directory = state.join(package);
        let mut campaign = Campaign { package: package.to_owned(), directory, mutants, outcomes: BTreeMap::new() };
        campaign.outcomes = parsed(&read(&campaign.state_file())?);
        campaign.add_outcomes()?;
        Ok(campaign)
    }

    fn state_file(&self) -> PathBuf {
        self.directory.join("outcomes.tsv")
    }

    /// Adds the outcomes of cargo-mutants' last run, and writes the state.
    fn add_outcomes(&mut self) -> Result<(), String> {
        for outcome in MutantOutcome::ALL {
            let list = read(&self.directory.join(format!("mutants.out/{}.txt", outcome.name())))?;
            self.outcomes.extend(list.lines().map(|mutant| (mutant.to_owned(), outcome)));
        }
        let lines: Vec<String> =
            self.outcomes.iter().map(|(mutant, outcome)| format!("{}\t{mutant}\n", outcome.name())).collect();
        write(&self.state_file(), &lines.concat())
    }

    /// The mutants of a shard that a run must test.
    fn untested(&self, shard: Shard, again: bool) -> Vec<&str> {
        let open = |mutant: &str| match self.outcomes.get(mutant) {
            None => true,
            Some(MutantOutcome::Survived | MutantOutcome::Timeout) => again,
            Some(MutantOutcome::Caught | MutantOutcome::Unviable) => false,
        };
        let in_shard = self.mutants.iter().enumerate().filter(|(number, _)| shard.holds(*number));
        in_shard.map(|(_, mutant)| mutant.as_str()).filter(|mutant| open(mutant)).collect()
    }

    /// Tests the remaining mutants of the shard. `cargo mutants --iterate` skips mutants listed as
    /// caught in a previous run.
    fn test(&mut self, arguments: &Arguments) -> Result<(), String> {
        let untested = self.untested(arguments.shard, arguments.again);
        if untested.is_empty() {
            return Ok(());
        }
        let skipped = self.mutants.iter().filter(|mutant| !untested.contains(&mutant.as_str()));
        let skipped: Vec<&str> = skipped.flat_map(|mutant| [mutant, "\n"]).collect();
        let output = self.directory.join("mutants.out");
        if output.exists() {
            fs::remove_dir_all(&output).map_err(|error| format!("{}: {error}", output.display()))?;
        }
        write(&output.join("previously_caught.txt"), &skipped.concat())?;
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -v {ADDRESS_SPACE_KIB} && exec \"$@\""), "sh"]);
        command.args(["cargo", "mutants", "--package", &self.package, "--iterate", "--output"]).arg(&self.directory);
        // Unit tests and integration tests: no documentation tests, no examples.
        command.args(["--profile", "mutants", "--cargo-arg=--tests", "--jobs", &arguments.jobs.to_string()]);
        command.args(["--minimum-test-timeout", &LEAST_TIMEOUT_SECONDS.to_string()]).envs(ENVIRONMENT);
        let status = command.status().map_err(|error| format!("`sh` cannot be started: {error}"))?;
        self.add_outcomes()?;
        // 2: some mutants survived; 3: some timed out.
        match status.code() {
            Some(0 | 2 | 3) => Ok(()),
            Some(4) => Err(format!("the tests of {} fail without any mutation", self.package)),
            _ => Err(format!("cargo-mutants on {}: {status}", self.package)),
        }
    }

    /// Number of mutants, with each outcome and without.
    fn totals(&self) -> String {
        let count = |outcome| self.mutants.iter().filter(|&one| self.outcomes.get(one).copied() == outcome).count();
        let [caught, survived, timeout, unviable] = MutantOutcome::ALL.map(|outcome| count(Some(outcome)));
        let counts = [self.mutants.len(), caught, unviable, timeout, survived, count(None)];
        row(&self.package, counts.map(|count| count.to_string()))
    }

    fn survivors(&self) -> impl Iterator<Item = String> {
        let survived = |mutant: &&String| self.outcomes.get(*mutant) == Some(&MutantOutcome::Survived);
        self.mutants.iter().filter(survived).map(|mutant| format!("survived: {mutant}"))
    }

    /// Each mutant with its outcome.
    fn listing(&self) -> Vec<String> {
        let outcome = |mutant| self.outcomes.get(mutant).map_or("untested", |outcome| outcome.name());
        self.mutants.iter().map(|mutant| format!("{:8}  {mutant}", outcome(mutant))).collect()
    }
}

/// A row of the table of totals.
fn row(name: &str, cells: [impl AsRef<str>; 6]) -> String {
    let cells = cells.map(|cell| format!("{:>9}", cell.as_ref()));
    format!("{name:24} {}", cells.join(" "))
}

/// The totals of each crate, then the survivors.
fn report(campaigns: &[Campaign]) -> Vec<String> {
    let header = row("crate", ["mutants", "caught", "unviable", "timeouts", "survivors", "untested"]);
    let totals = campaigns.iter().map(Campaign::totals);
    std::iter::once(header).chain(totals).chain(campaigns.iter().flat_map(Campaign::survivors)).collect()
}

/// Parses a state file. Invalid outcomes are omitted, so that their mutants are tested again.
fn parsed(text: &str) -> BTreeMap<String, MutantOutcome> {
    let outcome = |name: &str| MutantOutcome::ALL.into_iter().find(|outcome| outcome.name() == name);
    let lines = text.lines().filter_map(|line| line.split_once('\t'));
    lines.filter_map(|(name, mutant)| Some((mutant.to_owned(), outcome(name)?))).collect()
}

/// Text of a file; empty if the file does not exist.
fn read(path: &Path) -> Result<String, String> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let fault = |error: io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).map_err(fault)?;
    fs::write(path, text).map_err(fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &str) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from(std::iter::once("mutants").chain(words.split_whitespace()))
    }

    fn campaign(outcomes: &str) -> Campaign {
        let mutants = ["a.rs:1:1: x", "a.rs:2:1: y", "a.rs:3:1: z", "b.rs:1:1: x", "b.rs:2:1: y"];
        Campaign {
            package: "some".to_owned(),
            directory: PathBuf::new(),
            mutants: mutants.map(str::to_owned).into(),
            outcomes: parsed(outcomes),
        }
    }

    #[test]
    fn without_arguments_all_mutants_of_the_model_crates_are_tested() {
        let arguments = arguments("").unwrap();
        assert_eq!(packages(&arguments), PACKAGES);
        assert_eq!((arguments.shard, arguments.jobs), (Shard { index: 0, of: 1 }, 1));
        assert!(!arguments.again && !arguments.list);
    }

    #[test]
    fn packages_and_a_shard_are_taken_from_the_command_line() {
        let arguments = arguments("--package energy -p rowclone --shard 3/4 --jobs 2 --again").unwrap();
        assert_eq!(packages(&arguments), ["energy", "rowclone"]);
        assert_eq!((arguments.shard, arguments.jobs, arguments.again), (Shard { index: 3, of: 4 }, 2, true));
        for wrong in
            ["--shard 4/4", "--shard 0/0", "--shard 2", "--shard a/b", "--jobs many", "--packages energy", "energy"]
        {
            assert!(super::tests::arguments(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_shards_cover_all_mutants() {
        let (all, shards) = (campaign(""), [0, 1, 2].map(|index| Shard { index, of: 3 }));
        let mut found: Vec<_> = shards.into_iter().flat_map(|shard| all.untested(shard, false)).collect();
        found.sort_unstable();
        assert_eq!(found, all.mutants);
        assert_eq!(all.untested(shards[1], false), ["a.rs:2:1: y", "b.rs:2:1: y"]);
    }

    #[test]
    fn a_run_resumes_where_the_last_one_stopped() {
        let campaign = campaign("caught\ta.rs:1:1: x\nmissed\ta.rs:2:1: y\nunviable\ta.rs:3:1: z\nso\tb.rs:1:1: x\n");
        let whole = Shard { index: 0, of: 1 };
        assert_eq!(campaign.untested(whole, false), ["b.rs:1:1: x", "b.rs:2:1: y"]);
        assert_eq!(
            campaign.untested(whole, true),
            ["a.rs:2:1: y", "b.rs:1:1: x", "b.rs:2:1: y"],
            "including the survivor"
        );
        let second = Shard { index: 1, of: 2 };
        assert_eq!(campaign.untested(second, false), ["b.rs:1:1: x"], "outcomes do not change a mutant's shard");
    }

    #[test]
    fn the_report_counts_the_mutants_that_exist_and_names_the_survivors() {
        let campaign =
            campaign("caught\ta.rs:1:1: x\nmissed\ta.rs:2:1: y\ntimeout\tb.rs:1:1: x\nmissed\tgone.rs:1:1: x\n");
        let lines = report(&[campaign]);
        assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), ["some", "5", "1", "0", "1", "1", "2"]);
        assert_eq!(lines[2..], ["survived: a.rs:2:1: y"]);
    }

    #[test]
    fn outcomes_persist_after_the_run() {
        let directory = std::env::temp_dir().join(format!("rowclone-sim-mutants-{}", std::process::id()));
        let mut first = Campaign { directory: directory.clone(), ..campaign("") };
        write(&directory.join("mutants.out/caught.txt"), "a.rs:1:1: x\n").unwrap();
        first.add_outcomes().unwrap();
        write(&directory.join("mutants.out/caught.txt"), "").unwrap();
        write(&directory.join("mutants.out/missed.txt"), "a.rs:2:1: y\n").unwrap();
        first.add_outcomes().unwrap();
        let found = parsed(&read(&first.state_file()).unwrap());
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(found, parsed("caught\ta.rs:1:1: x\nmissed\ta.rs:2:1: y\n"));
    }
}
