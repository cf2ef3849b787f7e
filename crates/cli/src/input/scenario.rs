//! A scenario: a system, policies, and what to do on it.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use dram_spec::{Cycle, Cycles, PhysicalAddress};
use host::{Kind, OperationSpec, Place, SpecError, UnusableRecords};
use memctrl::Policy;
use rowclone::PlanError;
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use trace_io::ramulatorsharp::Format;

use crate::CliError;

use super::document::{Document, Example};
use super::{Overrides, SystemConfig, number, suggestion};

/// What to run, checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its file.
    pub path: PathBuf,
    /// What reports call it: the file's name without `.toml`.
    pub name: String,
    /// The memory system.
    pub system: SystemConfig,
    /// Under which policies to run it: at least one, each once.
    pub policies: Vec<Policy>,
    /// What memory contents and written data are made from.
    pub seed: u64,
    /// Figures leave out what happens before this cycle.
    pub warm_up: Cycles,
    /// Figures are also given for each stretch of so many cycles.
    pub epoch: Option<Cycles>,
    /// What to do.
    pub workload: Workload,
}

/// What a scenario does.
#[derive(Clone, Debug)]
pub enum Workload {
    /// These operations, at least one; each can be done on the system.
    Operations(Vec<OperationSpec>),
    /// What a recorded trace holds.
    Trace {
        /// Its file.
        path: PathBuf,
        /// How it is written; found out from its first record where it is not said.
        format: Option<Format>,
        /// What to do with records that the system cannot take.
        unusable: UnusableRecords,
    },
}

/// Every key of a scenario, with a value that it may have; tables have none.
pub const EXAMPLES: &[Example] = &[
    ("system", "\"../configs/ddr3-1066-paper.toml\""),
    ("policies", "[\"channel\", \"rule\"]"),
    ("seed", "1"),
    ("warm_up_cycles", "100_000"),
    ("epoch_cycles", "1_000_000"),
    ("operation", ""),
    ("operation.kind", "\"copy\""),
    ("operation.src", "\"same-subarray\""),
    ("operation.dst", "0x0040_0000"),
    ("operation.bytes", "4096"),
    ("operation.value", "255"),
    ("operation.at_cycle", "1000"),
    ("workload", ""),
    ("workload.file", "\"recorded.gz\""),
    ("workload.format", "\"rc\""),
    ("workload.unusable_records", "\"skip\""),
];

const FORMATS: [(&str, Format); 2] = [("rc", Format::Rc), ("cpu", Format::Cpu)];
const UNUSABLE: [(&str, UnusableRecords); 2] = [("refuse", UnusableRecords::Refuse), ("skip", UnusableRecords::Skip)];

/// The last cycle at which an operation may arrive: 2^40, about half an hour of memory; its idle refreshes are played one by one.
const AT_CYCLE_MAX: u64 = 1 << 40;
/// The shortest epoch: each is kept, and a run has many cycles.
const EPOCH_MIN: u64 = 100;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    system: String,
    policies: Vec<String>,
    seed: u64,
    warm_up_cycles: Option<u64>,
    epoch_cycles: Option<u64>,
    operation: Option<Vec<RawOperation>>,
    workload: Option<RawWorkload>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawOperation {
    kind: String,
    src: Option<RawPlace>,
    dst: RawPlace,
    bytes: u64,
    value: Option<u64>,
    at_cycle: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawWorkload {
    file: String,
    format: Option<String>,
    unusable_records: Option<String>,
}

/// An address as a number, or a string that holds one or names a placement.
#[derive(Debug)]
enum RawPlace {
    Number(u64),
    Text(String),
}

impl<'de> Deserialize<'de> for RawPlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RawPlace, D::Error> {
        struct NumberOrText;
        impl Visitor<'_> for NumberOrText {
            type Value = RawPlace;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an address (a whole number, or a string such as \"0x400000\") or, for `src`, a placement")
            }
            fn visit_u64<E>(self, number: u64) -> Result<RawPlace, E> {
                Ok(RawPlace::Number(number))
            }
            fn visit_str<E>(self, text: &str) -> Result<RawPlace, E> {
                Ok(RawPlace::Text(text.to_owned()))
            }
        }
        deserializer.deserialize_any(NumberOrText)
    }
}

impl Scenario {
    /// Reads and checks a scenario and its system; `sets` are the `--set` of the command line.
    ///
    /// # Errors
    /// A file cannot be read, something in it is wrong, or an operation cannot be done on this system.
    pub fn read(path: &Path, sets: &[String]) -> Result<Scenario, CliError> {
        let mut overrides = Overrides::parse(sets)?;
        let for_system = overrides.take_prefix("system");
        let mut document = Document::read(path, EXAMPLES)?;
        document.apply(&overrides)?;
        let RawScenario { system, policies, seed, warm_up_cycles, epoch_cycles, operation, workload } =
            document.decode()?;
        let policies = check_policies(&document, &policies)?;
        document.within("warm_up_cycles", warm_up_cycles.unwrap_or(0), 0, AT_CYCLE_MAX)?;
        document.within("epoch_cycles", epoch_cycles.unwrap_or(EPOCH_MIN), EPOCH_MIN, AT_CYCLE_MAX)?;
        let workload = match (operation, workload) {
            (Some(_), Some(_)) => {
                let message = "has both `[workload]` and `[[operation]]`";
                let help = "leave one of them out: a scenario plays a trace, or a list of operations";
                return Err(document.fault("workload", message).with_help(help));
            }
            (None, None) => {
                let help = "add an `[[operation]]`, or a recorded trace as `[workload]`";
                return Err(document.fault("", "has neither `[[operation]]` nor `[workload]`").with_help(help));
            }
            (Some(operations), None) => Workload::Operations(check_operations(&document, operations)?),
            (None, Some(workload)) => check_workload(&document, workload)?,
        };
        let system = SystemConfig::read(&document.linked("system", &system)?, &for_system)?;
        if let Workload::Operations(operations) = &workload {
            check_places(&document, operations, &system)?;
        }
        let name = document.path().file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (warm_up, epoch) = (Cycles(warm_up_cycles.unwrap_or(0)), epoch_cycles.map(Cycles));
        Ok(Scenario { path: document.path().to_owned(), name, system, policies, seed, warm_up, epoch, workload })
    }
}

fn check_policies(document: &Document, found: &[String]) -> Result<Vec<Policy>, CliError> {
    let known = Policy::ALL.map(|policy| (policy.name(), policy));
    let mut policies = Vec::with_capacity(found.len());
    let mut seen = BTreeSet::new();
    for (index, name) in found.iter().enumerate() {
        let key = format!("policies.{index}");
        let policy = document.choice(&key, name, &known)?;
        if !seen.insert(policy) {
            let message = format!("`policies` lists \"{name}\" twice");
            return Err(document.fault(&key, message).with_help("list each policy once"));
        }
        policies.push(policy);
    }
    if policies.is_empty() {
        let all = Policy::ALL.map(|policy| format!("\"{}\"", policy.name())).join(", ");
        let help = format!("try `policies = [{all}]`");
        return Err(document.fault("policies", "`policies` is empty").with_help(help));
    }
    Ok(policies)
}

fn check_operations(document: &Document, raw: Vec<RawOperation>) -> Result<Vec<OperationSpec>, CliError> {
    if raw.is_empty() {
        let help = "add an `[[operation]]`";
        return Err(document.fault("operation", "`operation` is empty").with_help(help));
    }
    let mut operations = Vec::with_capacity(raw.len());
    let mut latest = (0, 0);
    for (index, raw) in raw.into_iter().enumerate() {
        let operation = check_operation(document, index, raw)?;
        if let Some(Cycle(at)) = operation.at {
            if at < latest.1 {
                let key = format!("operation.{index}.at_cycle");
                let message = format!("`{key}` is {at}, before operation {} at cycle {}", latest.0, latest.1);
                return Err(document.fault(&key, message).with_help("list operations in the order of their cycles"));
            }
            latest = (index, at);
        }
        operations.push(operation);
    }
    Ok(operations)
}

fn check_operation(document: &Document, index: usize, raw: RawOperation) -> Result<OperationSpec, CliError> {
    let RawOperation { kind, src, dst, bytes, value, at_cycle } = raw;
    let key = |name: &str| format!("operation.{index}.{name}");
    let kind = document.choice(&key("kind"), &kind, &Kind::NAMES)?;
    let src = match (kind, src) {
        (Kind::Copy, Some(src)) => Some(source(document, &key("src"), src)?),
        (Kind::Copy, None) => {
            let message = format!("`{}` is missing, and a copy needs one", key("src"));
            let help =
                format!("add `src = \"same-subarray\"`, another placement, or an address to `operation.{index}`");
            return Err(document.fault(&key("src"), message).with_help(help));
        }
        (_, Some(_)) => return Err(irrelevant(document, &key("src"), kind)),
        (_, None) => None,
    };
    let value = match (kind, value) {
        (Kind::Init, Some(value)) => {
            document.within(&key("value"), value, 0, u64::from(u8::MAX))?;
            value as u8
        }
        (Kind::Init, None) => {
            let message = format!("`{}` is missing, and an init needs one", key("value"));
            let help = format!("add for example `value = 255` to `operation.{index}`");
            return Err(document.fault(&key("value"), message).with_help(help));
        }
        (_, Some(_)) => return Err(irrelevant(document, &key("value"), kind)),
        (_, None) => 0,
    };
    let dst = destination(document, &key("dst"), dst)?;
    document.within(&key("bytes"), bytes, 1, u64::MAX)?;
    if let Some(at) = at_cycle {
        document.within(&key("at_cycle"), at, 0, AT_CYCLE_MAX)?;
    }
    Ok(OperationSpec { kind, src, dst, bytes, value, at: at_cycle.map(Cycle) })
}

fn irrelevant(document: &Document, key: &str, kind: Kind) -> CliError {
    let name = key.rsplit('.').next().unwrap_or(key);
    let message = format!("`{key}` is given, but a `{}` has no `{name}`", kind.name());
    document.fault(key, message).with_help(format!("leave `{name}` out, or change `kind`"))
}

fn destination(document: &Document, key: &str, raw: RawPlace) -> Result<PhysicalAddress, CliError> {
    match raw {
        RawPlace::Number(address) => Ok(PhysicalAddress(address)),
        RawPlace::Text(text) => number::parse(&text).map(PhysicalAddress).ok_or_else(|| {
            let message = format!("`{key}` is {text:?}, which is no address");
            document.fault(key, message).with_help("write for example `dst = 0x0040_0000`; placements are for `src`")
        }),
    }
}

fn source(document: &Document, key: &str, raw: RawPlace) -> Result<Place, CliError> {
    match raw {
        RawPlace::Number(address) => Ok(Place::Address(PhysicalAddress(address))),
        RawPlace::Text(text) => {
            let address = || number::parse(&text).map(|address| Place::Address(PhysicalAddress(address)));
            Place::named(&text).or_else(address).ok_or_else(|| {
                let message = format!("`{key}` is {text:?}, which is neither an address nor a placement");
                let names = Place::RELATIONS.map(|(name, _)| name);
                document.fault(key, message).with_help(suggestion::choices(&text, "placements", &names))
            })
        }
    }
}

fn check_workload(document: &Document, raw: RawWorkload) -> Result<Workload, CliError> {
    let RawWorkload { file, format, unusable_records } = raw;
    let format = format.map(|found| document.choice("workload.format", &found, &FORMATS)).transpose()?;
    let unusable = unusable_records
        .map(|found| document.choice("workload.unusable_records", &found, &UNUSABLE))
        .transpose()?
        .unwrap_or_default();
    Ok(Workload::Trace { path: document.linked("workload.file", &file)?, format, unusable })
}

/// That each operation can be done on this system; it is resolved again when it runs.
/// The key of an operation that an error is about.
fn faulty_key(error: &SpecError) -> &'static str {
    match error {
        SpecError::Placement(_)
        | SpecError::Plan(PlanError::PastEnd { operand: "src", .. } | PlanError::Reserved { operand: "src", .. }) => {
            "src"
        }
        SpecError::Plan(PlanError::ZeroBytes) => "bytes",
        SpecError::Plan(PlanError::PastEnd { .. } | PlanError::Reserved { .. }) => "dst",
    }
}

fn check_places(document: &Document, operations: &[OperationSpec], system: &SystemConfig) -> Result<(), CliError> {
    for (index, operation) in operations.iter().enumerate() {
        operation.resolve(&system.planner).map_err(|error| {
            let key = format!("operation.{index}.{}", faulty_key(&error));
            // The planner says `address` of what a read or a write touches; here the key is `dst`.
            let message = error.to_string().replacen("`address`", "`dst`", 1);
            document.fault(&key, format!("`{key}`: {message}")).with_help(error.help())
        })?;
    }
    Ok(())
}
