//! Points that a sweep excludes: `when = ["bytes < 4096", "bin = 1600K"]`.

use std::cmp::Ordering;

use toml::Value;

use rowclone_config::Failure;
use rowclone_config::overrides::without_unit;
use rowclone_config::section::Section;

use super::axis::Axis;
use super::value::{compare, same};

/// A set of excluded points: those for which all conditions hold.
#[derive(Clone, Debug)]
pub struct Exclude {
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
struct Condition {
    left: AxisColumn,
    operator: Operator,
    right: Side,
}

/// Index of an axis, and of a column of the axis.
type AxisColumn = (usize, usize);

#[derive(Clone, Debug)]
enum Side {
    Column(AxisColumn),
    Value(Value),
}

/// A comparison: its sign, whether it needs ordered values, and its predicate.
type Operator = (&'static str, bool, fn(&Value, &Value) -> bool);

/// Longer signs first, because `<` is a prefix of `<=`.
const OPERATORS: [Operator; 7] = [
    ("<=", true, |left, right| compare(left, right).is_some_and(Ordering::is_le)),
    (">=", true, |left, right| compare(left, right).is_some_and(Ordering::is_ge)),
    ("!=", false, |left, right| !same(left, right)),
    ("==", false, same),
    ("=", false, same),
    ("<", true, |left, right| compare(left, right).is_some_and(Ordering::is_lt)),
    (">", true, |left, right| compare(left, right).is_some_and(Ordering::is_gt)),
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

    /// Whether a point is excluded. `value` returns the value of the point in a column.
    pub(super) fn holds<'a>(&'a self, value: impl Fn(AxisColumn) -> &'a Value) -> bool {
        self.conditions.iter().all(|condition| {
            let right = match &condition.right {
                Side::Column(place) => value(*place),
                Side::Value(value) => value,
            };
            let (.., holds) = condition.operator;
            holds(value(condition.left), right)
        })
    }
}

impl Condition {
    /// Parses a condition. An error has the message after the text, and the help.
    fn parse(text: &str, axes: &[Axis]) -> Result<Condition, (String, String)> {
        let at = |(at, _)| Some((at, OPERATORS.into_iter().find(|(sign, ..)| text[at..].starts_with(sign))?));
        let Some((at, operator @ (sign, ..))) = text.char_indices().find_map(at) else {
            let help = "write a column, one of = != < <= > >=, and a value or another column".to_owned();
            return Err(("compares nothing".to_owned(), help));
        };
        let (left, right) = (text[..at].trim(), text[at + sign.len()..].trim());
        let columns = || {
            let names = axes.iter().flat_map(|axis| &axis.columns).map(|column| format!("`{}`", column.name));
            format!("the columns are {}", names.collect::<Vec<_>>().join(", "))
        };
        let left_place = place(axes, left).ok_or_else(|| (format!("names `{left}`, which is no axis"), columns()))?;
        let right_side = if let Some(place) = place(axes, right) {
            Side::Column(place)
        } else {
            let value = value(right).ok_or_else(|| (format!("has no value after `{sign}`"), columns()))?;
            let (axis, column) = left_place;
            Side::Value(without_unit(&axes[axis].columns[column].key, value))
        };
        let condition = Condition { left: left_place, operator, right: right_side };
        condition.check(axes, left)?;
        Ok(condition)
    }

    /// Checks that the condition can hold for some points and fail for others, as far as types show it.
    fn check(&self, axes: &[Axis], left: &str) -> Result<(), (String, String)> {
        let values = |(axis, column): AxisColumn| axes[axis].steps.iter().map(move |step| &step.values[column]);
        let list = || {
            let shown = values(self.left).take(8).map(ToString::to_string).collect::<Vec<_>>();
            format!("`{left}` has the values {}", shown.join(", "))
        };
        let against: Vec<&Value> = match &self.right {
            Side::Column(place) => values(*place).take(1).collect(),
            Side::Value(value) => vec![value],
        };
        let (_, needs_order, _) = self.operator;
        if needs_order {
            if against.iter().any(|right| values(self.left).any(|left| compare(left, right).is_none())) {
                return Err(("orders what has no order: numbers and texts".to_owned(), list()));
            }
        } else if matches!(self.right, Side::Value(_)) && !values(self.left).any(|value| same(value, against[0])) {
            return Err(("compares with a value that the axis never has".to_owned(), list()));
        }
        Ok(())
    }
}

fn place(axes: &[Axis], name: &str) -> Option<AxisColumn> {
    axes.iter()
        .enumerate()
        .find_map(|(axis, it)| it.columns.iter().position(|column| column.name == name).map(|column| (axis, column)))
}

/// Parses a TOML value; any other text is a string.
fn value(text: &str) -> Option<Value> {
    if text.is_empty() {
        return None;
    }
    let table = toml::from_str::<toml::Table>(&format!("value = {text}"));
    Some(table.ok().and_then(|mut table| table.remove("value")).unwrap_or_else(|| Value::String(text.to_owned())))
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
        let mut points = Vec::new();
        for steps in (0..8).map(|index| [index / 4, index / 2 % 2, index % 2]) {
            if exclude.holds(|(axis, column)| &axes[axis].steps[steps[axis]].values[column]) {
                let shown = (0..3).map(|axis| axes[axis].steps[steps[axis]].values[0].to_string().replace('"', ""));
                points.push(shown.collect::<Vec<_>>().join("/"));
            }
        }
        points
    }

    #[test]
    fn a_column_is_compared_with_a_value_or_another_column() {
        assert_eq!(holding("bytes < 100 ").len(), 4);
        assert_eq!(holding("bytes<=4096").len(), 8);
        assert_eq!(holding("stride > bytes"), ["64/8192/800D", "64/8192/1600K", "4096/8192/800D", "4096/8192/1600K"]);
        assert_eq!(holding("bytes == stride"), ["64/64/800D", "64/64/1600K"]);
        assert_eq!(holding("bin = 1600K").len(), 4);
        assert_eq!(holding("bin != \"1600K\"").len(), 4);
    }

    /// With 64 and 4096 bytes and two bins, only 64 bytes in the bin 1600K is excluded.
    #[test]
    fn a_point_is_left_out_if_all_conditions_hold() {
        let axes = axes();
        let parsed = |text: &str| Condition::parse(text, &axes).unwrap();
        let exclude = Exclude { conditions: vec![parsed("bytes < 4096"), parsed("bin = 1600K")] };
        let place_of = |name: &str| place(&axes, name).unwrap();
        for (bytes, bin, is_left_out) in
            [(64, "1600K", true), (64, "800D", false), (4096, "1600K", false), (4096, "800D", false)]
        {
            let (bytes, bin) = (Value::from(bytes), Value::from(bin));
            let holds = exclude.holds(|place| if place == place_of("bytes") { &bytes } else { &bin });
            assert_eq!(holds, is_left_out, "{bytes} {bin}");
        }
    }

    #[test]
    fn a_value_of_a_key_with_a_unit_may_have_the_unit() {
        let axes = axes();
        // The axis with this key, and its values for which the condition holds.
        let holding = |text: &str| {
            let condition = Condition::parse(text, &axes).unwrap();
            let (axis, exclude) = (condition.left.0, Exclude { conditions: vec![condition] });
            let values = axes[axis].steps.iter().map(|step| &step.values[0]);
            values.filter(|value| exclude.holds(|_| value)).map(Value::to_string).collect::<Vec<_>>()
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
        assert_eq!(message("bin < 5"), "orders what has no order: numbers and texts");
        assert_eq!(message("bin < bytes"), "orders what has no order: numbers and texts");
    }
}
