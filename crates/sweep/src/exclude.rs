//! Points that a sweep excludes: `when = ["bytes < 4096", "bin = 1600K"]`.

use std::cmp::Ordering;

use toml::Value;

use rowclone_config::Failure;
use rowclone_config::document::Section;
use rowclone_config::scenario_keys::without_unit;

use super::axis::{Axis, AxisColumn};
use super::value::compare;

/// A set of excluded points: those for which all conditions hold.
#[derive(Clone, Debug)]
pub struct Exclude {
    conditions: Vec<Condition>,
}

/// A comparison of two values of a point. Columns count over all axes.
#[derive(Clone, Debug)]
struct Condition {
    left: usize,
    /// Orders of the left side to the right side for which it holds; `None` is that of values without an order.
    orders: &'static [Option<Ordering>],
    right: Side,
}

#[derive(Clone, Debug)]
enum Side {
    Column(usize),
    Value(Value),
}

const LESS: Option<Ordering> = Some(Ordering::Less);
const EQUAL: Option<Ordering> = Some(Ordering::Equal);
const GREATER: Option<Ordering> = Some(Ordering::Greater);

/// The signs and their orders. Longer signs first, because `<` is a prefix of `<=`.
const OPERATORS: [(&str, &[Option<Ordering>]); 6] = [
    ("<=", &[LESS, EQUAL]),
    (">=", &[GREATER, EQUAL]),
    ("!=", &[LESS, GREATER, None]),
    ("=", &[EQUAL]),
    ("<", &[LESS]),
    (">", &[GREATER]),
];

impl Exclude {
    /// Reads the exclusion of a table `[[exclude]]`.
    pub(super) fn check(table: &Section<'_>, axes: &[Axis]) -> Result<Exclude, Failure> {
        let (place, when) = (table.key("when"), table.of::<Value>("when"));
        let texts = match &when {
            Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<Vec<_>>>(),
            other => other.as_str().map(|text| vec![text]),
        };
        let Some(texts) = texts.filter(|texts| !texts.is_empty()) else {
            let message = format!("`{place}` is {when}, but must be a condition, or a list of them");
            return Err(table.fault("when", message).with_help("write for example `when = \"bytes < 4096\"`"));
        };
        let conditions = texts.into_iter().map(|text| {
            let fault = |(what, help): (String, String)| {
                table.fault("when", format!("`{place}`: \"{text}\" {what}")).with_help(help)
            };
            Condition::parse(text, axes).map_err(fault)
        });
        Ok(Exclude { conditions: conditions.collect::<Result<_, _>>()? })
    }

    /// Whether a point with these values is excluded.
    pub(super) fn holds(&self, values: &[&Value]) -> bool {
        self.conditions.iter().all(|Condition { left, orders, right }| {
            let right = match right {
                Side::Column(column) => values[*column],
                Side::Value(value) => value,
            };
            orders.contains(&compare(values[*left], right))
        })
    }
}

impl Condition {
    /// Parses a condition. An error has the message after the text, and the help.
    fn parse(text: &str, axes: &[Axis]) -> Result<Condition, (String, String)> {
        let at = |(at, _)| Some((at, OPERATORS.into_iter().find(|(sign, _)| text[at..].starts_with(sign))?));
        let Some((at, (sign, orders))) = text.char_indices().find_map(at) else {
            let help = "write a column, one of = != < <= > >=, and a value or another column".to_owned();
            return Err(("compares nothing".to_owned(), help));
        };
        let (name, other) = (text[..at].trim(), text[at + sign.len()..].trim());
        let columns: Vec<&AxisColumn> = axes.iter().flat_map(|axis| &axis.columns).collect();
        let place = |name: &str| columns.iter().position(|column| column.name == name);
        let named = || {
            let names = columns.iter().map(|column| format!("`{}`", column.name));
            format!("the columns are {}", names.collect::<Vec<_>>().join(", "))
        };
        let left = place(name).ok_or_else(|| (format!("names `{name}`, which is no axis"), named()))?;
        let right = match place(other) {
            Some(column) => Side::Column(column),
            None if other.is_empty() => return Err((format!("has no value after `{sign}`"), named())),
            None => Side::Value(without_unit(&columns[left].key, value(other))),
        };
        // An order needs values that have one; equality with a value needs a value that the axis has.
        let values: Vec<Vec<&Value>> = axes.iter().flat_map(Axis::values).collect();
        let against = match &right {
            Side::Column(column) => values[*column][0],
            Side::Value(value) => value,
        };
        let found: Vec<_> = values[left].iter().map(|value| compare(value, against)).collect();
        let is_order = sign.contains(['<', '>']);
        let what = if is_order && found.contains(&None) {
            "orders values that have no order"
        } else if !is_order && matches!(right, Side::Value(_)) && !found.contains(&EQUAL) {
            "compares with a value that the axis never has"
        } else {
            return Ok(Condition { left, orders, right });
        };
        let shown = values[left].iter().take(8).map(ToString::to_string).collect::<Vec<_>>();
        Err((what.to_owned(), format!("`{name}` has the values {}", shown.join(", "))))
    }
}

/// Parses a TOML value; any other text is a string.
fn value(text: &str) -> Value {
    let table = toml::from_str::<toml::Table>(&format!("value = {text}"));
    table.ok().and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes() -> Vec<Axis> {
        let axis = |key: &str, values: Vec<Value>| {
            Axis::new(vec![(key.to_owned(), key.to_owned())], values.into_iter().map(|value| vec![value]).collect())
        };
        vec![
            axis("bytes", vec![64.into(), 4096.into()]),
            axis("stride", vec![64.into(), 8192.into()]),
            axis("bin", vec!["800D".into(), "1600K".into()]),
            axis("operation.0.bytes", vec!["64B".into(), "4KiB".into()]),
            axis("warm_up_cycles", vec!["50ns".into(), "0.1us".into()]),
            axis("system.device.density_gb", vec!["1Gb".into(), 8.into()]),
        ]
    }

    /// The points among eight for which a condition holds, as `bytes/stride/bin`.
    fn holding(text: &str) -> Vec<String> {
        let axes = axes();
        let exclude = Exclude { conditions: vec![Condition::parse(text, &axes).unwrap()] };
        let points = (0..8).map(|index| [index / 4, index / 2 % 2, index % 2]);
        let values = |steps: [usize; 3]| steps.into_iter().zip(&axes).map(|(step, axis)| &axis.steps[step].values[0]);
        let points = points.filter(|&steps| exclude.holds(&values(steps).collect::<Vec<_>>()));
        let shown = |value: &Value| value.to_string().replace('"', "");
        points.map(|steps| values(steps).map(shown).collect::<Vec<_>>().join("/")).collect()
    }

    #[test]
    fn a_column_is_compared_with_a_value_or_another_column() {
        assert_eq!(holding("bytes < 100 ").len(), 4);
        assert_eq!(holding("bytes<=4096").len(), 8);
        assert_eq!(holding("stride > bytes"), ["64/8192/800D", "64/8192/1600K", "4096/8192/800D", "4096/8192/1600K"]);
        assert_eq!(holding("bytes = stride"), ["64/64/800D", "64/64/1600K"]);
        assert_eq!(holding("bin = 1600K").len(), 4);
        assert_eq!(holding("bin != \"1600K\"").len(), 4);
    }

    /// With 64 and 4096 bytes and two bins, only 64 bytes in the bin 1600K is excluded.
    #[test]
    fn a_point_is_left_out_if_all_conditions_hold() {
        let axes = axes();
        let parsed = |text: &str| Condition::parse(text, &axes).unwrap();
        let exclude = Exclude { conditions: vec![parsed("bytes < 4096"), parsed("bin = 1600K")] };
        for (bytes, bin, is_left_out) in
            [(64, "1600K", true), (64, "800D", false), (4096, "1600K", false), (4096, "800D", false)]
        {
            let (bytes, bin) = (Value::from(bytes), Value::from(bin));
            assert_eq!(exclude.holds(&[&bytes, &bytes, &bin]), is_left_out, "{bytes} {bin}");
        }
    }

    #[test]
    fn a_value_of_a_key_with_a_unit_may_have_the_unit() {
        let axes = axes();
        // The axis with this key, and its values for which the condition holds.
        let holding = |text: &str| {
            let condition = Condition::parse(text, &axes).unwrap();
            let (axis, exclude) = (condition.left, Exclude { conditions: vec![condition] });
            let values = axes[axis].steps.iter().map(|step| &step.values[0]);
            values.filter(|value| exclude.holds(&[*value; 6])).map(Value::to_string).collect::<Vec<_>>()
        };
        assert_eq!(holding("operation.0.bytes = 4KiB"), ["4096"]);
        assert_eq!(holding("operation.0.bytes < \"4KiB\""), ["64"]);
        assert_eq!(holding("warm_up_cycles >= 100ns"), ["\"0.1us\""]);
        assert_eq!(holding("warm_up_cycles = 100ns"), ["\"0.1us\""]);
        assert_eq!(holding("system.device.density_gb != 8 Gbit"), ["1"]);
    }

    #[test]
    fn what_can_never_be_meant_is_refused() {
        let message = |text: &str| Condition::parse(text, &axes()).unwrap_err().0;
        assert_eq!(message("bytes"), "compares nothing");
        assert_eq!(message("byte < 1"), "names `byte`, which is no axis");
        assert_eq!(message("bytes <"), "has no value after `<`");
        assert_eq!(message("bin = 1600L"), "compares with a value that the axis never has");
        assert_eq!(message("bin < 5"), "orders values that have no order");
        assert_eq!(message("bin < bytes"), "orders values that have no order");
    }
}
