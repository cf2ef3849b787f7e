//! Check of a document against the descriptions of its keys, and conversion of sizes and times to plain numbers.

use std::fmt;

use dram_spec::{Clock, Density, Min};
use host::Place;

use crate::document::{Document, Node, Value, last_step};
use crate::key::{self, Holds, Key, Presence};
use crate::{Failure, quantity, suggestion};

/// Keys by which a file of another kind is recognized, its kind, and the command or file that reads it.
const OTHER_FILES: [(&str, &str, &str); 5] = [
    (
        "device",
        "a system file",
        "a scenario names it: `system = \"PATH\"`; `rowclone-sim explain rules --system PATH` shows its timings",
    ),
    (
        "cores",
        "a machine file",
        "a scenario names it: `machine = \"PATH\"`; `rowclone-sim programs FILE --machine PATH` runs programs on it",
    ),
    ("scenario", "a sweep", "`rowclone-sim sweep PATH --out DIRECTORY` runs it"),
    ("policies", "a scenario", "`rowclone-sim run PATH` runs it"),
    ("vdd_v", "a current set", "a system names it: `device.currents = \"PATH\"`"),
];

impl Document {
    /// Checks every key and value, and converts sizes and times to plain numbers. Times of keys in clocks stay text
    /// until [`Document::resolve_clocks`].
    ///
    /// # Errors
    /// An unknown or missing key, a value of the wrong type, or out of its range.
    pub fn check(&mut self) -> Result<(), Failure> {
        let is_other =
            |(mark, ..): &&(&str, &str, &str)| self.keys.iter().all(|key| key.path != *mark) && self.root().has(mark);
        if let Some((_, noun, help)) = OTHER_FILES.iter().find(is_other) {
            let help = help.replace("PATH", &self.path().display().to_string());
            return Err(self.located(None, &format!("is {noun}")).with_help(help));
        }
        self.rewritten(|document, root| document.check_table(root, ""))
    }

    /// Converts times of keys in clocks of the memory, rounded up to clocks, and checks their ranges.
    ///
    /// # Errors
    /// A time is out of the range of its key.
    pub fn resolve_clocks(&mut self, clock: Clock) -> Result<(), Failure> {
        self.resolve_times(&|ps| clock.at_least(Min::ps(ps)).0)
    }

    /// Converts times of keys in clocks with a function of picoseconds, and checks their ranges.
    ///
    /// # Errors
    /// A time is out of the range of its key.
    pub(crate) fn resolve_times(&mut self, clocks: &dyn Fn(u64) -> u64) -> Result<(), Failure> {
        self.rewritten(|document, root| document.resolve_node(root, "", clocks))
    }

    /// Changes the values; messages use the document before the change.
    fn rewritten(&mut self, change: impl FnOnce(&Document, &mut Node) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut root = self.root.clone();
        change(self, &mut root)?;
        self.root = root;
        Ok(())
    }

    fn check_table(&self, node: &mut Node, place: &str) -> Result<(), Failure> {
        let Value::Table(entries) = &mut node.value else { return Ok(()) };
        let table = key::without_indices(place);
        for (name, node) in entries.iter_mut() {
            let path = key::dotted(place, name);
            let Some(key) = self.keys.iter().find(|key| key.is_in(&table) && key.name() == name) else {
                let noun = if place.is_empty() { "keys".to_owned() } else { format!("keys of `{place}`") };
                let known: Vec<&str> = self.keys.iter().filter(|key| key.is_in(&table)).map(Key::name).collect();
                let error = self.located(Some(&node.origin), &format!("`{path}` is not a key"));
                return Err(error.with_help(suggestion::choices(name, &noun, &known)));
            };
            self.check_value(key, node, &path)?;
        }
        let is_missing = |key: &&Key| key.is_in(&table) && key.presence == Presence::Required;
        let missing =
            self.keys.iter().filter(is_missing).find(|key| entries.iter().all(|(name, _)| name != key.name()));
        let Some(key) = missing else { return Ok(()) };
        let (path, name) = (key::dotted(place, key.name()), key.name());
        let to = if place.is_empty() { String::new() } else { format!(" to `{place}`") };
        let help = match key.example {
            // A table: its keys have examples of their own.
            "" => format!("add a table `[{path}]`"),
            example => format!("add for example `{name} = {example}`{to}"),
        };
        let origin = (!place.is_empty()).then_some(&node.origin);
        Err(self.located(origin, &format!("`{path}` is missing")).with_help(help))
    }

    fn check_value(&self, key: &Key, node: &mut Node, path: &str) -> Result<(), Failure> {
        let Some(value) = plain(key.holds, &node.value) else { return Err(self.unfit(key, node, path)) };
        node.value = value;
        match key.holds {
            Holds::Table => self.check_table(node, path),
            Holds::Name(names) | Holds::Names(names) | Holds::NameOrNames(names) => {
                self.check_names(node, path, &names())
            }
            Holds::Tables | Holds::List | Holds::Bits | Holds::Counts | Holds::Texts => {
                self.check_items(key, node, path)
            }
            Holds::Place => self.check_place(node, path),
            _ => self.check_range(key.holds, &node.value, path),
        }
    }

    fn check_place(&self, node: &Node, path: &str) -> Result<(), Failure> {
        let Value::Text(found) = &node.value else { return Ok(()) };
        if Place::named(found).is_some() || quantity::address(found).is_some() {
            return Ok(());
        }
        let message = format!("`{path}` is {found:?}, which is neither an address nor a placement");
        let names = Place::RELATIONS.map(|(name, _)| name);
        Err(self.located(Some(&node.origin), &message).with_help(suggestion::choices(found, "placements", &names)))
    }

    fn check_items(&self, key: &Key, node: &mut Node, path: &str) -> Result<(), Failure> {
        let Value::List(items) = &mut node.value else { return Ok(()) };
        for (index, item) in items.iter_mut().enumerate() {
            let path = format!("{path}.{index}");
            let fits = match (key.holds, &item.value) {
                (Holds::Tables, Value::Table(_)) | (Holds::List | Holds::Texts, Value::Text(_)) => true,
                (Holds::Bits, Value::Integer(bit)) => u32::try_from(*bit).is_ok(),
                (Holds::Counts, Value::Integer(number)) => u64::try_from(*number).is_ok(),
                _ => false,
            };
            if !fits {
                return Err(self.unfit(key, item, &path));
            }
            self.check_table(item, &path)?;
        }
        Ok(())
    }

    /// Checks one of some names, or a list of them.
    fn check_names(&self, node: &Node, path: &str, names: &[&str]) -> Result<(), Failure> {
        let Value::List(items) = &node.value else { return self.check_name(node, path, names) };
        if items.is_empty() {
            let help = format!("try `{} = {}`", last_step(path), self.example(path).unwrap_or_default());
            return Err(self.fault(path, format!("`{path}` is empty")).with_help(help));
        }
        let mut seen = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let place = format!("{path}.{index}");
            self.check_name(item, &place, names)?;
            let Value::Text(name) = &item.value else { continue };
            if seen.contains(&name) {
                let error = self.fault(&place, format!("`{path}` lists \"{name}\" twice"));
                return Err(error.with_help("list each once"));
            }
            seen.push(name);
        }
        Ok(())
    }

    fn check_name(&self, node: &Node, path: &str, names: &[&str]) -> Result<(), Failure> {
        let Value::Text(found) = &node.value else {
            let message = format!("`{path}` is {}, but must be a string", in_words(&node.value));
            let help = format!("write for example `\"{}\"`", names[0]);
            return Err(self.located(Some(&node.origin), &message).with_help(help));
        };
        if names.contains(&found.as_str()) {
            return Ok(());
        }
        let renamed = key::find(self.keys, path).map_or(&[][..], |key| key.renamed);
        if let Some((old, new)) = renamed.iter().find(|(old, _)| old == found) {
            let message = format!("`{path}` is \"{old}\", an earlier name of \"{new}\"");
            return Err(self.located(Some(&node.origin), &message).with_help(format!("write `\"{new}\"`")));
        }
        let error = self.located(Some(&node.origin), &format!("`{path}` is {found:?}, which is none of its values"));
        Err(error.with_help(suggestion::choices(found, "values", names)))
    }

    fn check_range(&self, holds: Holds, value: &Value, path: &str) -> Result<(), Failure> {
        match (holds, value) {
            (
                Holds::Count(least, most)
                | Holds::Bytes(least, most)
                | Holds::Clocks(least, most)
                | Holds::Picoseconds(least, most),
                Value::Integer(found),
            ) => self.within(path, count(*found), least, most),
            (Holds::OneOf(known) | Holds::OneOfBytes(known), Value::Integer(found))
                if !known.contains(&count(*found)) =>
            {
                Err(self.none_of(path, found, known.iter().map(u64::to_string).collect()))
            }
            (Holds::Density, Value::Integer(_) | Value::Float(_)) => {
                let found = number(value).unwrap_or_default();
                match Density::from_gigabits(found) {
                    Some(_) => Ok(()),
                    None => Err(self.none_of(path, &found, Density::ALL.map(|one| one.gigabits().to_string()).into())),
                }
            }
            (Holds::Number(least, most) | Holds::Nanoseconds(least, most), _) => {
                let Some(found) = number(value) else { return Ok(()) };
                // Infinity and NaN lie in no range.
                if (least..=most).contains(&found) {
                    return Ok(());
                }
                // From 2 on, the user probably means a percentage.
                let near = match found {
                    found if most <= 1.0 && (2.0..=100.0).contains(&found) => found / 100.0,
                    found if found > most => most,
                    _ => least,
                };
                let error = self.fault(path, format!("`{path}` is {found}, but must be from {least} to {most}"));
                Err(error.with_help(format!("try `{} = {near}`", last_step(path))))
            }
            _ => Ok(()),
        }
    }

    fn unfit(&self, key: &Key, node: &Node, path: &str) -> Failure {
        // An item of a list has the key of the list.
        let list = path.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let expected = match key.holds {
            Holds::Tables if list != path => "a table",
            Holds::Bits if list != path => "a whole number from 0 to 4294967295",
            Holds::Counts if list != path => "a whole number, 0 or more",
            Holds::List | Holds::Texts if list != path => "a string",
            holds => holds.expected(),
        };
        let help = match (key.holds, key.example) {
            (Holds::Tables, "") => format!("write each of them as a table `[[{list}]]`"),
            (_, "") => format!("write a table `[{path}]`"),
            (_, example) => format!("write for example `{} = {example}`", key.name()),
        };
        let message = format!("`{path}` is {}, but must be {expected}", in_words(&node.value));
        self.located(Some(&node.origin), &message).with_help(help)
    }

    /// The error of a number that is none of those that a key may have, at least two.
    fn none_of(&self, path: &str, found: &dyn fmt::Display, mut known: Vec<String>) -> Failure {
        let last = known.pop().unwrap_or_default();
        let error = self.fault(path, format!("`{path}` is {found}, but must be {} or {last}", known.join(", ")));
        error.with_help(format!("try `{} = {}`", last_step(path), self.example(path).unwrap_or_default()))
    }

    fn resolve_node(&self, node: &mut Node, path: &str, clocks: &dyn Fn(u64) -> u64) -> Result<(), Failure> {
        match &mut node.value {
            Value::Table(entries) => entries
                .iter_mut()
                .try_for_each(|(name, node)| self.resolve_node(node, &key::dotted(path, name), clocks)),
            Value::List(items) => {
                let mut items = items.iter_mut().enumerate();
                items.try_for_each(|(index, node)| {
                    self.resolve_node(node, &key::dotted(path, &index.to_string()), clocks)
                })
            }
            Value::Text(text) => {
                let Some(Key { holds: holds @ Holds::Clocks(..), .. }) = key::find(self.keys, path) else {
                    return Ok(());
                };
                let ps = quantity::time(text).expect("it was checked");
                node.value = Value::Integer(clocks(ps).into());
                self.check_range(*holds, &node.value, path)
            }
            _ => Ok(()),
        }
    }
}

/// A number of either type.
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => Some(*integer as f64),
        Value::Float(float) => Some(*float),
        _ => None,
    }
}

/// A number whose type was checked.
fn count(integer: i128) -> u64 {
    u64::try_from(integer).expect("it was checked")
}

/// The value of a key with its unit converted, if it has the type of the key.
fn plain(holds: Holds, value: &Value) -> Option<Value> {
    let is_count = |integer: i128| u64::try_from(integer).is_ok();
    let fits = match (holds, value) {
        (
            Holds::Count(..)
            | Holds::Counts
            | Holds::OneOf(_)
            | Holds::OneOfBytes(_)
            | Holds::Density
            | Holds::Bytes(..)
            | Holds::Clocks(..)
            | Holds::Picoseconds(..)
            | Holds::Address
            | Holds::Place,
            Value::Integer(integer),
        ) => is_count(*integer),
        (
            Holds::Bytes(..) | Holds::OneOfBytes(_) | Holds::Density | Holds::Picoseconds(..) | Holds::Nanoseconds(..),
            Value::Text(text),
        ) => return without_unit(holds, text),
        (Holds::Address, Value::Text(text)) => quantity::address(text).is_some(),
        // The reader of the key converts it with the clock of the system.
        (Holds::Clocks(..), Value::Text(text)) => quantity::time(text).is_some(),
        (Holds::Table, Value::Table(_))
        | (Holds::Tables | Holds::List | Holds::Names(_) | Holds::Bits | Holds::Counts, Value::List(_))
        | (Holds::Texts | Holds::NameOrNames(_), Value::Text(_) | Value::List(_))
        | (Holds::Flag, Value::Boolean(_))
        | (Holds::Text | Holds::Path | Holds::Name(_) | Holds::Place, Value::Text(_))
        | (Holds::Number(..) | Holds::Nanoseconds(..), Value::Integer(_) | Value::Float(_))
        | (Holds::Density, Value::Float(_))
        | (Holds::Any, _) => true,
        _ => false,
    };
    fits.then(|| value.clone())
}

/// The plain number that a size, or a time that needs no clock, stands for; none for other keys and texts.
pub(crate) fn without_unit(holds: Holds, text: &str) -> Option<Value> {
    match holds {
        Holds::Density => quantity::capacity(text).map(|megabits| match megabits % 1024 {
            0 => Value::Integer((megabits / 1024).into()),
            _ => Value::Float(megabits as f64 / 1024.0),
        }),
        Holds::Bytes(..) | Holds::OneOfBytes(_) => quantity::size(text).map(|bytes| Value::Integer(bytes.into())),
        Holds::Picoseconds(..) => quantity::time(text).map(|ps| Value::Integer(ps.into())),
        Holds::Nanoseconds(..) => quantity::time(text).map(|ps| Value::Float(ps as f64 / 1000.0)),
        _ => None,
    }
}

/// Name of a value in messages.
fn in_words(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("the string {text:?}"),
        Value::Integer(integer) => integer.to_string(),
        Value::Float(float) => format!("{float:?}"),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Datetime(datetime) => format!("the date {datetime}"),
        Value::List(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}
