//! The `[[operation]]` tables of a scenario.

use std::fmt;

use dram_spec::{Cycle, PhysicalAddress};
use host::{Kind, OperationSpec, Place, SpecError};
use rowclone::PlanError;
use rowclone_sim::CYCLES_MAX;
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};

use crate::CliError;

use super::document::Document;
use super::{SystemConfig, number, suggestion};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOperation {
    kind: String,
    src: Option<RawPlace>,
    dst: RawPlace,
    bytes: u64,
    value: Option<u64>,
    at_cycle: Option<u64>,
}

/// An address as a number, or a string that holds one or names a placement.
#[derive(Debug)]
pub(super) enum RawPlace {
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

impl RawPlace {
    /// Where only an address will do.
    pub(super) fn address(&self, document: &Document, key: &str) -> Result<PhysicalAddress, CliError> {
        match self {
            RawPlace::Number(address) => Ok(PhysicalAddress(*address)),
            RawPlace::Text(text) => number::parse(text).map(PhysicalAddress).ok_or_else(|| {
                let message = format!("`{key}` is {text:?}, which is no address");
                let last = key.rsplit('.').next().unwrap_or(key);
                let help = format!("write for example `{last} = 0x0040_0000`; placements are for `src`");
                document.fault(key, message).with_help(help)
            }),
        }
    }
}

pub(super) fn check_operations(document: &Document, raw: Vec<RawOperation>) -> Result<Vec<OperationSpec>, CliError> {
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
    let dst = dst.address(document, &key("dst"))?;
    document.within(&key("bytes"), bytes, 1, u64::MAX)?;
    if let Some(at) = at_cycle {
        document.within(&key("at_cycle"), at, 0, CYCLES_MAX)?;
    }
    Ok(OperationSpec { kind, src, dst, bytes, value, at: at_cycle.map(Cycle) })
}

fn irrelevant(document: &Document, key: &str, kind: Kind) -> CliError {
    let name = key.rsplit('.').next().unwrap_or(key);
    let message = format!("`{key}` is given, but a `{}` has no `{name}`", kind.name());
    document.fault(key, message).with_help(format!("leave `{name}` out, or change `kind`"))
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

/// That each operation can be done on this system; it is resolved again when it runs.
pub(super) fn check_places(
    document: &Document,
    operations: &[OperationSpec],
    system: &SystemConfig,
) -> Result<(), CliError> {
    for (index, operation) in operations.iter().enumerate() {
        operation.resolve(system.memory.planner()).map_err(|error| {
            let key = format!("operation.{index}.{}", faulty_key(&error));
            // The planner says `address` of what a read or a write touches; here the key is `dst`.
            let message = error.to_string().replacen("`address`", "`dst`", 1);
            document.fault(&key, format!("`{key}`: {message}")).with_help(error.help())
        })?;
    }
    Ok(())
}
