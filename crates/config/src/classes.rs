//! Classes of instructions of a core: latencies, units and pairing.

use host::machine::{ClassSettings, ClassUnits, Classes, Order};
use trace_io::program::InstructionClass;

use crate::Failure;
use crate::document::Section;

/// The classes of the table `cores`, whose keys were checked.
pub(crate) fn check_classes(cores: &Section<'_>, order: Order) -> Result<Classes, Failure> {
    let mut classes = Classes::PLAIN;
    let tables = cores.tables("classes");
    let class_of = |table: &Section<'_>| table.of::<InstructionClass>("class");
    for (index, table) in tables.iter().enumerate() {
        let class = class_of(table);
        if let Some(first) = tables[..index].iter().position(|other| class_of(other) == class) {
            let message =
                format!("`cores.classes.{index}` and `cores.classes.{first}` both have the class `{}`", class.name());
            return Err(table.fault("class", message).with_help("leave one of them out, or name another class"));
        }
        *classes.of_mut(class) = settings(table, class)?;
    }
    for table in &tables {
        check_shared_units(table, class_of(table), &classes)?;
    }
    check_pairing(cores, order, &mut classes)?;
    Ok(classes)
}

/// The settings of a class without its pairing.
fn settings(table: &Section<'_>, class: InstructionClass) -> Result<ClassSettings, Failure> {
    let plain = *Classes::PLAIN.of(class);
    let latency = table.get("latency").unwrap_or(plain.latency);
    table.within("latency", latency, plain.latency, 1000)?;
    table.not_both("units", "units_of", ": a class has units of its own, or uses those of another class")?;
    let units = match (table.get("units"), table.get("units_of")) {
        (Some(units), _) => ClassUnits::Own(units),
        (None, Some(other)) => ClassUnits::Of(other),
        (None, None) => ClassUnits::Unlimited,
    };
    if units == ClassUnits::Unlimited {
        table.without(&["interval"], ", but the class has no units", "add for example `units = 1`, or leave it out")?;
    }
    Ok(ClassSettings { latency, units, interval: table.get("interval").unwrap_or(plain.interval), ..plain })
}

/// Checks that the units that a class shares are those of a class with units of its own.
fn check_shared_units(table: &Section<'_>, class: InstructionClass, classes: &Classes) -> Result<(), Failure> {
    let ClassUnits::Of(other) = classes.of(class).units else { return Ok(()) };
    if matches!(classes.of(other).units, ClassUnits::Own(_)) {
        return Ok(());
    }
    let message = format!("`{}` is \"{}\", a class without `units`", table.key("units_of"), other.name());
    let with_units = InstructionClass::ALL.into_iter().find(|it| matches!(classes.of(*it).units, ClassUnits::Own(_)));
    let help = match with_units {
        Some(class) => format!("try `units_of = \"{}\"`", class.name()),
        None => format!("give the class `{}` a number of `units`", other.name()),
    };
    Err(table.fault("units_of", message).with_help(help))
}

/// Sets which classes share a cycle of dispatch.
fn check_pairing(cores: &Section<'_>, order: Order, classes: &mut Classes) -> Result<(), Failure> {
    if !cores.has("pairing") {
        return Ok(());
    }
    if order == Order::OutOfOrder {
        let help = "write `order = \"in-order\"`, or leave it out";
        cores.without(&["pairing"], ", but the cores are out-of-order", help)?;
    }
    let paired = cores.get::<Vec<_>>("pairing").unwrap_or_default();
    for class in InstructionClass::ALL {
        classes.of_mut(class).is_paired = paired.contains(&class);
    }
    Ok(())
}
