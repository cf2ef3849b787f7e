//! Values of sweeps: as arguments of the command line, as cells, and in comparisons.

use std::cmp::Ordering;

use report::{Cell, CellKind};
use rowclone_config::quantity;
use toml::Value;

/// `key=value`, as an argument of `--set`.
pub(super) fn word(key: &str, value: &Value) -> String {
    match value {
        // A text that is no TOML value is read as a string, and needs no quotes.
        Value::String(text) if is_plain(text) => format!("{key}={text}"),
        value => format!("{key}={value}"),
    }
}

/// Whether a text needs no quotes, neither in TOML nor in a shell.
fn is_plain(text: &str) -> bool {
    let harmless = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    harmless && !text.is_empty() && toml::from_str::<toml::Table>(&format!("value = {text}")).is_err()
}

/// Narrowest type of cells for all of these values. A text that parses as a number is a number, because a reader of the
/// CSV file cannot distinguish the two.
pub(super) fn kind<'a>(values: &(impl Iterator<Item = &'a Value> + Clone)) -> CellKind {
    let is_value = |cell: Cell| match cell {
        Cell::Number(Some(number)) => number.is_finite(),
        cell => cell != cell.kind().empty(),
    };
    let holds = |kind: CellKind| values.clone().all(|value| kind.parse(&text(value)).is_some_and(is_value));
    [CellKind::Count, CellKind::Number, CellKind::Flag].into_iter().find(|&kind| holds(kind)).unwrap_or(CellKind::Text)
}

/// Cell of a value in a column of a type.
pub(super) fn cell(value: &Value, kind: CellKind) -> Cell {
    kind.parse(&text(value)).unwrap_or(kind.empty())
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The number of a value, if it is one.
pub(super) fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|integer| integer as f64))
}

/// Order of two values; none if they differ and have no order. Numbers have an order, and texts have one. Texts that
/// are times are compared as times, because times of keys in clocks keep their unit.
pub(super) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(b)),
        (Value::String(a), Value::String(b)) => match (quantity::time(a), quantity::time(b)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => Some(a.cmp(b)),
        },
        _ if a == b => Some(Ordering::Equal),
        _ => number(a).zip(number(b)).and_then(|(a, b)| a.partial_cmp(&b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowclone_config::Document;

    fn value(text: &str) -> Value {
        toml::from_str::<toml::Table>(&format!("value = {text}")).unwrap().remove("value").unwrap()
    }

    #[test]
    fn a_word_says_the_same_value_again() {
        for text in ["64", "0.5", "\"1600K\"", "\"64\"", "\"true\"", "\"a b\"", "\"\"", "[\"rule\", \"psm\"]", "true"] {
            let value = value(text);
            let word = word("key", &value);
            let mut document = Document::parse(std::path::Path::new("x.toml"), "", &[]).unwrap();
            document.apply(&rowclone_config::Overrides::parse(std::slice::from_ref(&word)).unwrap()).unwrap();
            assert_eq!(document.root().get("key"), Some(value), "{word}");
        }
        assert_eq!(word("system.device.bin", &value("\"1600K\"")), "system.device.bin=1600K");
        assert_eq!(word("policies", &value("['rowclone']")), "policies=[\"rowclone\"]");
    }

    #[test]
    fn a_column_takes_the_narrowest_kind() {
        let of = |texts: &[&str]| kind(&texts.iter().map(|text| value(text)).collect::<Vec<_>>().iter());
        assert_eq!(of(&["1", "0x10"]), CellKind::Count);
        assert_eq!(of(&["1", "0.5"]), CellKind::Number);
        assert_eq!(of(&["1", "-1"]), CellKind::Number);
        assert_eq!(of(&["1", "\"a\""]), CellKind::Text);
        assert_eq!(of(&["1", "\"2\""]), CellKind::Count);
        assert_eq!(of(&["\"1600K\"", "\"\""]), CellKind::Text);
        assert_eq!(of(&["true", "false"]), CellKind::Flag);
        assert_eq!(of(&["true", "1"]), CellKind::Text);
        assert_eq!(cell(&value("[1, 2]"), CellKind::Text), Cell::from("[1, 2]"));
        assert_eq!(cell(&value("true"), CellKind::Flag), Cell::Flag(Some(true)));
        assert_eq!(cell(&value("-1"), CellKind::Number), Cell::from(-1.0));
    }

    #[test]
    fn numbers_texts_and_times_compare_as_such() {
        assert_eq!(compare(&value("9"), &value("10.0")), Some(Ordering::Less));
        assert_eq!(compare(&value("\"b\""), &value("\"a\"")), Some(Ordering::Greater));
        assert_eq!(compare(&value("\"9\""), &value("10")), None);
        assert_eq!(compare(&value("'100ns'"), &value("'0.05 us'")), Some(Ordering::Greater));
        assert_eq!(compare(&value("[1]"), &value("[1]")), Some(Ordering::Equal));
        assert_eq!(compare(&value("1"), &value("1.0")), Some(Ordering::Equal));
    }
}
