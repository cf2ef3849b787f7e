//! The option `--set key=value`, which replaces a value of a file.

use std::sync::Arc;

use toml::Spanned;
use toml::de::DeTable;

use crate::value::{Node, Value, ValueOrigin, convert};
use crate::{Document, Failure, quantity};

/// The `--set` options of a command line, in their order.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    assignments: Vec<Assignment>,
}

#[derive(Clone, Debug)]
struct Assignment {
    /// The text on the command line.
    text: Arc<str>,
    steps: Vec<String>,
    value: Value,
}

impl Overrides {
    /// Reads options `key=value`, with a dotted key. The value is TOML; other text is a string.
    ///
    /// # Errors
    /// No `=`, or no key before it.
    pub fn parse(texts: &[String]) -> Result<Overrides, Failure> {
        Ok(Overrides { assignments: texts.iter().map(|text| Assignment::parse(text)).collect::<Result<_, _>>()? })
    }

    /// Removes and returns the overrides whose key has this first step and others, without the step.
    #[must_use]
    pub fn take_prefix(&mut self, prefix: &str) -> Overrides {
        let belongs = |assignment: &Assignment| assignment.steps.len() > 1 && assignment.steps[0] == prefix;
        let (mut taken, left): (Vec<_>, _) = self.assignments.drain(..).partition(belongs);
        self.assignments = left;
        for assignment in &mut taken {
            assignment.steps.remove(0);
        }
        Overrides { assignments: taken }
    }

    /// The text of the first on the command line, if there is any.
    pub(crate) fn first(&self) -> Option<&str> {
        self.assignments.first().map(|assignment| &*assignment.text)
    }

    /// The texts on the command line.
    pub(crate) fn texts(&self) -> Vec<Arc<str>> {
        self.assignments.iter().map(|assignment| Arc::clone(&assignment.text)).collect()
    }
}

impl Assignment {
    fn parse(text: &str) -> Result<Assignment, Failure> {
        let fault = |message: &str| {
            Failure::new(format!("--set {text}: {message}"))
                .with_help("write `--set key=value`, for example `--set seed=7` or `--set system.geometry.ranks=2`")
        };
        let (key, value) = text.split_once('=').ok_or_else(|| fault("has no `=`"))?;
        if key.trim().is_empty() {
            return Err(fault("has no key before its `=`"));
        }
        let steps = steps(key).ok_or_else(|| fault(&format!("`{}` is not a dotted key", key.trim())))?;
        let origin = ValueOrigin::Set(text.into());
        let toml = format!("value = {value}");
        // The parser takes some numbers with a unit, such as `1_024KiB`, as numbers.
        let has_unit = [quantity::size, quantity::time, quantity::capacity].iter().any(|read| read(value).is_some());
        let table = DeTable::parse(&toml).ok().filter(|_| !has_unit);
        // A value with a line break may contain further entries.
        let value = match table.as_ref().map(Spanned::get_ref).filter(|table| table.len() == 1) {
            Some(table) => convert(&table["value"], &|_| origin.clone()),
            None => Ok(Value::Text(value.trim().to_owned())),
        };
        Ok(Assignment { text: text.into(), steps, value: value.map_err(|(_, message)| fault(&message))? })
    }
}

/// The steps of a dotted key; a step may be quoted.
pub(crate) fn steps(key: &str) -> Option<Vec<String>> {
    if key.contains(['\n', '\r']) {
        return None;
    }
    let mut value = toml::Value::Table(toml::from_str(&format!("{key} = 0")).ok()?);
    let mut steps = Vec::new();
    while let toml::Value::Table(table) = value {
        let (step, inner) = table.into_iter().next()?;
        steps.push(step);
        value = inner;
    }
    Some(steps)
}

impl Document {
    /// Replaces values. Missing tables are added; [`Document::check`] refuses keys that do not exist.
    ///
    /// # Errors
    /// An index past the end of a list, or a key of a value that is not a table.
    pub fn apply(&mut self, overrides: &Overrides) -> Result<(), Failure> {
        overrides.assignments.iter().try_for_each(|assignment| put(&mut self.root, assignment))
    }
}

fn put(root: &mut Node, assignment: &Assignment) -> Result<(), Failure> {
    let Assignment { text, steps, value } = assignment;
    let origin = || ValueOrigin::Set(Arc::clone(text));
    let mut node = root;
    for (depth, step) in steps.iter().enumerate() {
        let place = steps[..depth].join(".");
        node = match &mut node.value {
            Value::Table(entries) => {
                let index = entries.iter().position(|(name, _)| name == step).unwrap_or_else(|| {
                    entries.push((step.clone(), Node { origin: origin(), value: Value::Table(Vec::new()) }));
                    entries.len() - 1
                });
                &mut entries[index].1
            }
            Value::List(items) => {
                let count = items.len();
                let item = step.parse().ok().and_then(|index: usize| items.get_mut(index));
                item.ok_or_else(|| {
                    Failure::new(format!("--set {text}: `{place}` has no item `{step}`")).with_help(match count {
                        0 => format!("`{place}` is empty"),
                        _ => format!("its items are 0 to {}", count - 1),
                    })
                })?
            }
            _ => {
                return Err(Failure::new(format!("--set {text}: `{place}` is not a table, and so has no `{step}`"))
                    .with_help(format!("set `{place}` itself")));
            }
        };
    }
    *node = Node { origin: origin(), value: value.clone() };
    Ok(())
}

/// Quotes a text as one word of a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn document() -> Document {
        let text = "seed = 1\npolicies = [\"rule\"]\n[[operation]]\nbytes = 1\n[[operation]]\nbytes = 2\n";
        Document::parse(Path::new("x.toml"), text, &[]).unwrap()
    }

    fn apply(texts: &[&str]) -> Result<Document, Failure> {
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let mut document = document();
        document.apply(&Overrides::parse(&texts)?)?;
        Ok(document)
    }

    fn value(document: &Document) -> toml::Value {
        toml::Value::from(&document.root)
    }

    #[test]
    fn values_are_toml_or_else_strings() {
        let document = apply(&[
            "seed = 7",
            "units.size = 1_024KiB",
            "policies=[\"fpm\", 'psm']",
            "operation.1.bytes=0x10",
            "name=1600K",
        ])
        .unwrap();
        let expected = "seed = 7\npolicies = [\"fpm\", \"psm\"]\noperation = [{ bytes = 1 }, { bytes = 16 }]\nname = \
            \"1600K\"\nunits.size = \"1_024KiB\"";
        assert_eq!(value(&document), toml::from_str::<toml::Value>(expected).unwrap());
        assert_eq!(document.origin("operation.1.bytes"), Some(&ValueOrigin::Set("operation.1.bytes=0x10".into())));
        assert_eq!(document.origin("operation.0.bytes"), Some(&ValueOrigin::Line(4)));
    }

    #[test]
    fn later_ones_win_and_the_system_takes_its_own() {
        let texts = ["seed=2", "system.geometry.ranks=2", "seed=3", "system=other.toml"].map(str::to_owned);
        let mut all = Overrides::parse(&texts).unwrap();
        let system = all.take_prefix("system");
        assert_eq!(system.assignments.len(), 1);
        assert_eq!(system.assignments[0].steps, ["geometry", "ranks"]);
        let mut document = document();
        document.apply(&all).unwrap();
        assert_eq!(value(&document)["seed"].as_integer(), Some(3));
        assert_eq!(value(&document)["system"].as_str(), Some("other.toml"));
    }

    #[test]
    fn a_text_without_an_assignment_is_refused() {
        let message = |text: &str| apply(&[text]).unwrap_err().to_string();
        assert_eq!(message("seed"), "--set seed: has no `=`");
        assert_eq!(message("=7"), "--set =7: has no key before its `=`");
        assert_eq!(message("a..b=7"), "--set a..b=7: `a..b` is not a dotted key");
        assert_eq!(message("[a]\nb=7"), "--set [a]\nb=7: `[a]\nb` is not a dotted key");
        assert_eq!(message("operation.2.bytes=7"), "--set operation.2.bytes=7: `operation` has no item `2`");
        assert_eq!(message("seed.x=7"), "--set seed.x=7: `seed` is not a table, and so has no `x`");
    }
}
