//! The `[[operation]]` tables of a scenario.

use dram_spec::Cycle;
use host::{ListedOperation, OperationKind, OperationSpec, SpecError};
use rowclone::PlanError;
use rowclone_sim::CYCLES_MAX;

use crate::document::Document;
use crate::key::{Holds, Key};
use crate::section::Section;
use crate::{Failure, SystemConfig};

/// Keys of `[[operation]]`.
#[rustfmt::skip]
pub(crate) const KEYS: &[Key] = &[
    Key::new("operation", Holds::Tables, "", "operations, one after another; either these or `workload`").or(""),
    Key::new("operation.kind", Holds::Name(|| OperationKind::NAMES.into()), "\"copy\"", "the operation; a copy is a `memmove`, an init a `memset`"),
    Key::new("operation.src", Holds::Place, "\"same-subarray\"", "source of a copy").or("of a copy, required"),
    Key::new("operation.dst", Holds::Address, "0x0040_0000", "destination; of a read, the address that it reads"),
    Key::new("operation.bytes", Holds::Bytes(1, u64::MAX), "4096", "length").values("at least 1, to the end of the usable memory, or a size"),
    Key::new("operation.value", Holds::Count(0, 255), "255", "value of each byte of an init").or("of an init, required"),
    Key::new("operation.at_cycle", Holds::Clocks(0, CYCLES_MAX), "1000", "clock of its arrival, not before the previous one's").or("when all before it are done"),
];

/// The operations of a scenario, at least one, each of them possible on the system.
pub(crate) fn check_operations(document: &Document, system: &SystemConfig) -> Result<Vec<ListedOperation>, Failure> {
    let tables = document.root().tables("operation");
    if tables.is_empty() {
        return Err(document.fault("operation", "`operation` is empty").with_help("add an `[[operation]]`"));
    }
    let mut operations = Vec::with_capacity(tables.len());
    let mut latest = (0, Cycle::ZERO);
    for (index, table) in tables.iter().enumerate() {
        check_keys(table)?;
        let spec = OperationSpec {
            kind: table.of("kind"),
            src: table.get("src"),
            dst: table.of("dst"),
            bytes: table.of("bytes"),
            value: table.get("value").unwrap_or(0),
            at: table.get("at_cycle"),
        };
        if let Some(at) = spec.at {
            if at < latest.1 {
                let key = table.key("at_cycle");
                let message = format!("`{key}` is {}, before operation {} at cycle {}", at.0, latest.0, latest.1.0);
                return Err(document.fault(&key, message).with_help("list operations in the order of their cycles"));
            }
            latest = (index, at);
        }
        operations.push(spec.resolve(system.memory.planner()).map_err(|error| impossible(table, &error))?);
    }
    Ok(operations)
}

/// Checks that the operation of a table has the keys of its kind.
fn check_keys(table: &Section<'_>) -> Result<(), Failure> {
    let kind: OperationKind = table.of("kind");
    for (name, owner, article) in [("src", OperationKind::Copy, "a copy"), ("value", OperationKind::Init, "an init")] {
        if kind != owner {
            let why = format!(", but a `{}` has no `{name}`", kind.name());
            table.without(&[name], &why, &format!("leave `{name}` out, or change `kind`"))?;
        } else if !table.has(name) {
            let message = format!("`{}` is missing, and {article} needs one", table.key(name));
            let help = match owner {
                OperationKind::Copy => {
                    format!("add `src = \"same-subarray\"`, another placement, or an address to `{}`", table.key(""))
                }
                _ => format!("add for example `value = 255` to `{}`", table.key("")),
            };
            return Err(table.fault(name, message).with_help(help));
        }
    }
    Ok(())
}

/// The error of an operation that the system does not permit.
fn impossible(table: &Section<'_>, error: &SpecError) -> Failure {
    let name = match error {
        SpecError::Placement(_)
        | SpecError::Plan(PlanError::PastEnd { operand: "src", .. } | PlanError::Reserved { operand: "src", .. }) => {
            "src"
        }
        SpecError::Plan(PlanError::ZeroBytes) => "bytes",
        SpecError::Plan(_) | SpecError::OtherMemory => "dst",
    };
    // The planner names the location of a read or write `address`; here the key is `dst`.
    let message = error.to_string().replacen("`address`", "`dst`", 1);
    table.fault(name, format!("`{}`: {message}", table.key(name))).with_help(error.help())
}
