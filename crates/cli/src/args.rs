//! The command line.

mod check;
mod compare;
mod convert;
mod explain;
mod plot;
mod programs;
mod record;
mod report;
mod sweep;
mod system;
mod trace;

use std::ffi::OsStr;
use std::ops::RangeBounds;
use std::path::{Path, PathBuf, absolute};

use clap::builder::{PossibleValue, PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use dram_spec::{SpeedBin, Standard};
use rowclone_config::{Failure, Scenario, Source, file, overrides::quoted, preset::SYSTEMS};
use serde::Serialize;
use trace_io::recording::Detail;

use crate::instant::Instant;
use crate::{flags, formats};

pub use check::CheckArgs;
pub use compare::CompareArgs;
pub use convert::ConvertArgs;
pub use explain::{Explain, ExplainAddressArgs, ExplainRequestArgs, ExplainRulesArgs, ExplainTimelineArgs};
pub use plot::PlotArgs;
pub use programs::{MachineArgs, ProgramsArgs, compared, copies, method};
pub use record::{GuestArgs, RecordArgs, Recorder};
pub use report::ReportArgs;
pub use sweep::{CollectArgs, SlurmArgs, SweepArgs, SweepCommand};
pub use system::TraceSystemArgs;
pub use trace::{FindCopiesArgs, TraceCommand, TraceHeadArgs, TraceInfoArgs, TraceVerifyArgs};

/// A parser of whole numbers in a range.
pub fn count(range: impl RangeBounds<u64>) -> RangedU64ValueParser<u64> {
    RangedU64ValueParser::new().range(range)
}

/// The key of a scenario for a system of the command line, whose path is not that of the scenario's folder.
///
/// # Errors
/// The argument is neither a file that can be read nor a preset.
fn key_of_system(argument: &Path) -> Result<String, Failure> {
    let value = match Source::of_argument(argument, SYSTEMS)? {
        Source::Preset(preset) => preset.name.to_owned(),
        Source::File(path) => {
            let path =
                file::open(&path).and_then(|_| absolute(&path)).map_err(|error| Failure::reading(&path, &error))?;
            path.to_string_lossy().into_owned()
        }
    };
    Ok(format!("system={}", toml::Value::from(value)))
}

/// A scenario or a trace, and what to change in it.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file (docs/input.md lists its keys), or a recording of a program (docs/recordings.md),
    /// which runs on the machine of the RowClone paper unless `--set machine=MACHINE` gives another; one of page faults
    /// is played as a trace
    #[arg(value_name = "SCENARIO.toml", required_unless_present = "trace")]
    pub scenario: Option<PathBuf>,
    /// Plays a memory trace instead of a scenario, under `baseline` and `rowclone`: any format of docs/formats.md,
    /// plain, gzip or Zstandard; `-` is standard input. A recording is played as without this option
    #[arg(long, value_name = "FILE", conflicts_with = "scenario")]
    pub trace: Option<PathBuf>,
    /// The memory system: a TOML file, or a name of `rowclone-sim systems` [default: that of the scenario; of a trace,
    /// that of the RowClone paper]
    #[arg(long, value_name = "SYSTEM")]
    pub system: Option<PathBuf>,
    /// Where the pages of the trace lie: `as-recorded` at their addresses, or `allocator`, which places them [default:
    /// as-recorded]
    #[arg(long, value_name = "NAME", requires = "trace", conflicts_with = "scenario")]
    pub placement: Option<String>,
    /// Copies of recordings that the copier of a policy executes: `kernel`, `library` or `all` [default: that of the
    /// scenario, or kernel]
    #[arg(long, value_name = "NAME", value_parser = ["kernel", "library", "all"])]
    pub copies: Option<String>,
    /// Sets a key of the scenario, after `system.` of its system file, or after `machine.` of its machine file:
    /// `seed=7`, `operation.0.bytes=8192`, `system.geometry.ranks=2`, `machine.cores.mshrs=16`; the last value of a key
    /// counts
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl ScenarioArgs {
    /// Reads and checks the scenario.
    ///
    /// # Errors
    /// Those of [`Scenario::read`] and [`Scenario::of_trace`].
    pub fn read(&self) -> Result<Scenario, Failure> {
        let ScenarioArgs { scenario, trace, system, placement, copies, set } = self;
        let copies = copies.as_ref().map(|name| format!("workload.copies={name}"));
        let set: Vec<String> = copies.into_iter().chain(set.iter().cloned()).collect();
        let given = trace.as_deref().or(scenario.as_deref()).unwrap_or(Path::new(""));
        let detail = recorded_detail(given)?;
        if detail == Some(Detail::Accesses) {
            if system.is_some() || placement.is_some() {
                let message =
                    format!("{}: a recording runs on cores, and has no `--system` or `--placement`", given.display());
                return Err(Failure::new(message).with_help("name a machine: `--set machine=ddr4-desktop`"));
            }
            return Scenario::of_recording(given, &set);
        }
        if let Some(trace) = trace.as_deref().or_else(|| detail.and(scenario.as_deref())) {
            let set = &set;
            let trace = file::spool(trace).map_err(|error| Failure::reading(trace, &error))?;
            return Scenario::of_trace(&trace, system.as_deref(), placement.as_deref(), set);
        }
        let path = scenario.as_deref().unwrap_or(Path::new(""));
        let system = system.as_deref().map(key_of_system).transpose()?;
        let set: Vec<String> = system.into_iter().chain(set).collect();
        Scenario::read(path, &set).map_err(|error| formats::trace_for_scenario(path).unwrap_or(error))
    }

    /// A text about keys, in flags if a trace is played.
    pub fn words(&self, text: &str) -> String {
        if self.trace.is_some() { flags::replaced(text, flags::of_trace_run) } else { text.to_owned() }
    }

    /// An error of the command in flags, if a trace is played, else in keys of the scenario.
    pub fn in_flags(&self, error: Failure) -> Failure {
        if self.trace.is_some() { flags::in_flags(error, flags::of_trace_run) } else { error }
    }

    /// The arguments as a shell takes them.
    pub fn command_line(&self) -> String {
        let ScenarioArgs { scenario, trace, system, placement, copies, set } = self;
        let path = |path: &PathBuf| quoted(&path.display().to_string());
        let options = [
            ("--trace", trace.as_ref().map(path)),
            ("--system", system.as_ref().map(path)),
            ("--placement", placement.as_deref().map(quoted)),
            ("--copies", copies.as_deref().map(quoted)),
        ];
        let options = options.into_iter().filter_map(|(option, value)| Some(format!("{option} {}", value?)));
        let sets = set.iter().map(|set| format!("--set {}", quoted(set)));
        let words: Vec<String> = scenario.iter().map(path).chain(options).chain(sets).collect();
        words.join(" ")
    }
}

/// What a file has, if it is a recording: accesses for cores, or page faults, which are played as a memory trace.
fn recorded_detail(path: &Path) -> Result<Option<Detail>, Failure> {
    let metadata = if path.is_file() { rowclone_config::programs::recorded(path)? } else { None };
    Ok(metadata.map(|metadata| metadata.detail))
}

/// How results of a run are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunFormat {
    /// Tables of text
    #[default]
    Table,
    /// All numbers, for programs
    Json,
    /// One line per result, for spreadsheets (`--out` also writes one line per operation)
    Csv,
}

impl RunFormat {
    /// Checks that `--details` is given for tables only.
    ///
    /// # Errors
    /// The format has all numbers.
    pub fn check_details(self, details: bool) -> Result<(), Failure> {
        if !details || self == RunFormat::Table {
            return Ok(());
        }
        let error = Failure::new("`--details` is given, and the results are not printed as tables");
        Err(error.with_help("leave out `--details`: JSON and CSV have all numbers"))
    }
}

/// How everything else is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Tables of text
    #[default]
    Table,
    /// JSON, for programs
    Json,
}

impl OutputFormat {
    /// The output of a command: tables of text, or JSON.
    ///
    /// # Errors
    /// The value cannot be represented in JSON.
    pub fn render(self, table: impl FnOnce() -> String, json: &impl Serialize) -> Result<String, Failure> {
        match self {
            OutputFormat::Table => Ok(table()),
            OutputFormat::Json => Ok(serde_json::to_string_pretty(json).map_err(Failure::new)? + "\n"),
        }
    }
}

/// `run`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim run traces/page-copy.toml\n  \
    rowclone-sim run traces/fork.toml --details\n  \
    rowclone-sim run --trace traces/samples/forkset-rc.gz --placement allocator\n  \
    rowclone-sim run traces/page-copy.toml --set system.device.bin=1600K --format json\n  \
    rowclone-sim run traces/page-copy.toml --set 'policies=[\"rowclone\"]' --commands page-copy.csv --check\n  \
    rowclone-sim run traces/mixed.toml --timeline mixed.pftrace --from 50us --to 60us")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub struct RunArgs {
    /// What to run.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Format of the results
    #[arg(long, value_enum, default_value_t)]
    pub format: RunFormat,
    /// Also writes the results into this directory: report.txt, results.json, results.csv, operations.csv, and with
    /// epochs epochs.csv
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Writes a command log to this file; with several policies, one file per policy, named after it
    #[arg(long, value_name = "FILE")]
    pub commands: Option<PathBuf>,
    /// Writes a timeline for Perfetto to this file; with several policies, one file per policy, named after it
    #[arg(long, value_name = "FILE")]
    pub timeline: Option<PathBuf>,
    /// Start of the timeline: a cycle, or a time such as 90ns, 7.8us or 1ms [default: the beginning]
    #[arg(long, value_name = "CYCLE", requires = "timeline")]
    pub from: Option<Instant>,
    /// End of the timeline [default: the end]
    #[arg(long, value_name = "CYCLE", requires = "timeline")]
    pub to: Option<Instant>,
    /// Checks every command against the rules, and the memory against a flat array; exits with 1 on a violation or a
    /// difference
    #[arg(long)]
    pub check: bool,
    /// Accepts a run that skips more than 1 % of the records of its trace, which otherwise exits with 1
    #[arg(long)]
    pub allow_skipped: bool,
    /// Replaces existing files
    #[arg(long)]
    pub force: bool,
    /// Prints all tables, in the width of the terminal
    #[arg(long, conflicts_with = "quiet")]
    pub details: bool,
    /// Prints only errors
    #[arg(long)]
    pub quiet: bool,
    /// Does not run the reference of the ratios unless the scenario lists it, nor programs alone; the ratios are then
    /// empty
    #[arg(long)]
    pub no_baseline: bool,
}

/// A value of an option: its name, its description, and its meaning.
type Named<T> = (&'static str, &'static str, T);

/// The parser of an option with described values.
fn named<T: Clone + Send + Sync + 'static>(values: &'static [Named<T>]) -> impl TypedValueParser<Value = T> {
    one_of(values.iter().map(|(name, help, meaning)| (PossibleValue::new(name).help(*help), meaning.clone())))
}

/// The parser of an option with these values, each with its meaning.
fn one_of<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (impl Into<PossibleValue>, T)>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<(PossibleValue, T)> = values.into_iter().map(|(name, meaning)| (name.into(), meaning)).collect();
    let names = PossibleValuesParser::new(values.iter().map(|(name, _)| name.clone()));
    let meaning =
        move |found| values.iter().find(|(name, _)| name.get_name() == found).map(|(_, meaning)| meaning.clone());
    names.map(move |found: String| meaning(found).expect("clap has checked it"))
}

/// Instructions per clock.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "must be above 0".to_owned())
}

/// The parser of a speed bin, with or without replaced timing parameters. Its help lists all bins, and an error those
/// that may be meant.
#[derive(Clone, Copy, Debug)]
struct BinParser;

impl TypedValueParser for BinParser {
    type Value = &'static SpeedBin;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let named =
            |name: &str| SpeedBin::named(name).ok_or_else(|| format!("no such bin: {}", Standard::bins_in_words(name)));
        TypedValueParser::parse_ref(&named, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Standard::all_bins().map(|bin| PossibleValue::new(bin.name))))
    }
}

/// `systems`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rowclone-sim systems\n  \
    rowclone-sim systems --format json")]
pub struct SystemsArgs {
    /// Format of the list
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// `completions`.
#[derive(Debug, Args)]
#[command(after_help = "Example for bash; other shells read completions from other directories:\n  \
    rowclone-sim completions bash > ~/.local/share/bash-completion/completions/rowclone-sim")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}
