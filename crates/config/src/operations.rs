//! The `[[operation]]` tables of a scenario.

use dram_spec::{Cycle, PhysicalAddress};
use host::{OperationKind, OperationSpec, Place, SpecError};
use rowclone::PlanError;
use rowclone_sim::CYCLES_MAX;

use crate::document::Document;
use crate::document::Section;
use crate::key::{Holds, Key};
use crate::{Failure, SystemConfig, quantity, suggestion};

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

/// The address that a key of a table holds.
pub(crate) fn address(table: &Section<'_>, name: &str) -> Result<PhysicalAddress, Failure> {
    if let Some(text) = table.text(name) {
        return quantity::address(text).map(PhysicalAddress).ok_or_else(|| {
            let message = format!("`{}` is {text:?}, which is no address", table.key(name));
            table
                .fault(name, message)
                .with_help(format!("write for example `{name} = 0x0040_0000`; placements are for `src`"))
        });
    }
    Ok(PhysicalAddress(table.of(name)))
}

/// The operations of a scenario, at least one.
pub(crate) fn check_operations(document: &Document) -> Result<Vec<OperationSpec>, Failure> {
    let tables = document.root().tables("operation");
    if tables.is_empty() {
        return Err(document.fault("operation", "`operation` is empty").with_help("add an `[[operation]]`"));
    }
    let mut operations = Vec::with_capacity(tables.len());
    let mut latest = (0, 0);
    for (index, table) in tables.iter().enumerate() {
        let operation = check_operation(table)?;
        if let Some(Cycle(at)) = operation.at {
            if at < latest.1 {
                let key = table.key("at_cycle");
                let message = format!("`{key}` is {at}, before operation {} at cycle {}", latest.0, latest.1);
                return Err(document.fault(&key, message).with_help("list operations in the order of their cycles"));
            }
            latest = (index, at);
        }
        operations.push(operation);
    }
    Ok(operations)
}

fn check_operation(table: &Section<'_>) -> Result<OperationSpec, Failure> {
    let kind: OperationKind = table.of("kind");
    for (name, owner, article) in [("src", OperationKind::Copy, "a copy"), ("value", OperationKind::Init, "an init")] {
        let key = table.key(name);
        match (kind == owner, table.has(name)) {
            (true, false) => {
                let message = format!("`{key}` is missing, and {article} needs one");
                let help = match owner {
                    OperationKind::Copy => format!(
                        "add `src = \"same-subarray\"`, another placement, or an address to `{}`",
                        table.key("")
                    ),
                    _ => format!("add for example `value = 255` to `{}`", table.key("")),
                };
                return Err(table.fault(name, message).with_help(help));
            }
            (false, _) => {
                let why = format!(", but a `{}` has no `{name}`", kind.name());
                table.without(&[name], &why, &format!("leave `{name}` out, or change `kind`"))?;
            }
            (true, true) => {}
        }
    }
    let src = if kind == OperationKind::Copy { Some(source(table)?) } else { None };
    let value = table.get::<u64>("value").unwrap_or(0) as u8;
    let (dst, bytes, at) = (address(table, "dst")?, table.of("bytes"), table.get("at_cycle").map(Cycle));
    Ok(OperationSpec { kind, src, dst, bytes, value, at })
}

fn source(table: &Section<'_>) -> Result<Place, Failure> {
    let Some(text) = table.text("src") else { return Ok(Place::Address(PhysicalAddress(table.of("src")))) };
    let address = || quantity::address(text).map(|address| Place::Address(PhysicalAddress(address)));
    Place::named(text).or_else(address).ok_or_else(|| {
        let message = format!("`{}` is {text:?}, which is neither an address nor a placement", table.key("src"));
        let names = Place::RELATIONS.map(|(name, _)| name);
        table.fault("src", message).with_help(suggestion::choices(text, "placements", &names))
    })
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

/// Checks that each operation is possible on the system; it is resolved again when it runs.
pub(crate) fn check_places(
    document: &Document,
    operations: &[OperationSpec],
    system: &SystemConfig,
) -> Result<(), Failure> {
    for (index, operation) in operations.iter().enumerate() {
        operation.resolve(system.memory.planner()).map_err(|error| {
            let key = format!("operation.{index}.{}", faulty_key(&error));
            // The planner names the location of a read or write `address`; here the key is `dst`.
            let message = error.to_string().replacen("`address`", "`dst`", 1);
            document.fault(&key, format!("`{key}`: {message}")).with_help(error.help())
        })?;
    }
    Ok(())
}
