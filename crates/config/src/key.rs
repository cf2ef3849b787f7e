//! The description of a key: type, range, default, example and help. Reader, `--set`, sweep axes, suggestions and
//! `docs/input.md` follow from it.

use std::any::Any;

use dram_spec::Density;

use crate::value::Raw;

/// A key of a file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Dotted, without the indices of list items: `operation.bytes`.
    pub path: &'static str,
    /// Type and range of its value.
    pub holds: Holds,
    /// Whether it must be given.
    pub presence: Presence,
    /// Example of a value, as TOML. Empty for a table.
    pub example: &'static str,
    /// Its meaning, for the page of keys.
    pub about: &'static str,
    /// [`Self::values_in_words`], where `holds` does not describe them.
    values: &'static str,
    /// Earlier names of its values, each with the current name.
    pub(crate) renamed: &'static [(&'static str, &'static str)],
    /// Stores a value in the field of the key, if these are the settings that have the field.
    pub(crate) store: Option<Store>,
}

/// Stores a checked value in a field of settings.
pub(crate) type Store = fn(&mut dyn Any, Raw<'_>);

/// A required key whose value is a field of settings: `key!(Settings, table.key, holds, example, about)`, or of several
/// types of settings: `key!([One, Other], …)`. The field has the name of the key, unless `table.key => field` gives its
/// name.
macro_rules! key {
    ([$($of:ident),+], $table:ident.$key:ident, $($rest:expr),+) => {
        key!(@ concat!(stringify!($table), ".", stringify!($key)), [$($of),+], $key, $($rest),+)
    };
    ($of:ident, $key:ident, $($rest:expr),+) => {
        key!(@ stringify!($key), [$of], $key, $($rest),+)
    };
    ($of:ident, $table:ident.$key:ident, $($rest:expr),+) => {
        key!([$of], $table.$key, $($rest),+)
    };
    ($of:ident, $table:ident.$key:ident => $field:ident, $($rest:expr),+) => {
        key!(@ concat!(stringify!($table), ".", stringify!($key)), [$of], $field, $($rest),+)
    };
    (@ $path:expr, [$($of:ident),+], $field:ident, $($rest:expr),+) => {
        $crate::key::Key::new($path, $($rest),+).stored(|settings, value| {
            $(if let Some(settings) = settings.downcast_mut::<$of>() {
                settings.$field = value.read();
            })+
        })
    };
}
pub(crate) use key;

/// Type and range of the value of a key.
#[derive(Clone, Copy, Debug)]
pub enum Holds {
    /// A table with keys of its own.
    Table,
    /// A list of tables with keys of their own.
    Tables,
    /// Any value; its reader checks it.
    Any,
    /// `true` or `false`.
    Flag,
    /// A string.
    Text,
    /// A string, or a list of strings.
    Texts,
    /// A list of strings.
    List,
    /// The path of a file, relative to the directory of the input file.
    Path,
    /// One of these names.
    Name(fn() -> Vec<&'static str>),
    /// A list of these names: at least one, each once.
    Names(fn() -> Vec<&'static str>),
    /// One of these names, or a list of them.
    NameOrNames(fn() -> Vec<&'static str>),
    /// A whole number in this range.
    Count(u64, u64),
    /// One of these whole numbers.
    OneOf(&'static [u64]),
    /// One of these numbers of bytes: a whole number, or a size with its unit.
    OneOfBytes(&'static [u64]),
    /// The capacity of a chip: a number of gigabits, or a capacity with its unit.
    Density,
    /// A list of whole numbers below 2^32.
    Bits,
    /// A whole number, or a list of whole numbers, whose reader checks their ranges.
    Counts,
    /// Bytes in this range: a whole number, or a size with its unit.
    Bytes(u64, u64),
    /// Clocks in this range: a whole number, or a time with its unit, rounded up to a clock.
    Clocks(u64, u64),
    /// Picoseconds in this range: a whole number, or a time with its unit.
    Picoseconds(u64, u64),
    /// Nanoseconds in this range: a number, or a time with its unit.
    Nanoseconds(f64, f64),
    /// A number in this range.
    Number(f64, f64),
    /// A physical address.
    Address,
    /// A physical address, or the placement of a source.
    Place,
}

/// Whether a key must be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Required in its table.
    Required,
    /// Optional, with the default in words.
    Optional(&'static str),
}

impl Key {
    /// Creates a required key.
    pub const fn new(path: &'static str, holds: Holds, example: &'static str, about: &'static str) -> Key {
        Key { path, holds, presence: Presence::Required, example, about, values: "", renamed: &[], store: None }
    }

    /// Makes the key optional, with a default.
    #[must_use]
    pub const fn or(self, default: &'static str) -> Key {
        Key { presence: Presence::Optional(default), ..self }
    }

    /// Adds the values in words.
    #[must_use]
    pub const fn values(self, values: &'static str) -> Key {
        Key { values, ..self }
    }

    /// Adds earlier names of values, each with the current name.
    #[must_use]
    pub const fn renamed(self, renamed: &'static [(&'static str, &'static str)]) -> Key {
        Key { renamed, ..self }
    }

    /// Adds the field of settings that has the value.
    #[must_use]
    pub(crate) const fn stored(self, store: Store) -> Key {
        Key { store: Some(store), ..self }
    }

    /// The last step of its path.
    pub fn name(&self) -> &'static str {
        self.path.rsplit('.').next().unwrap_or(self.path)
    }

    /// Whether the key belongs to the table of this path.
    pub(crate) fn is_in(&self, table: &str) -> bool {
        match self.path.rsplit_once('.') {
            Some((parent, _)) => parent == table,
            None => table.is_empty(),
        }
    }

    /// Its values in words.
    pub fn values_in_words(&self) -> String {
        if self.values.is_empty() { self.holds.in_words() } else { self.values.to_owned() }
    }
}

/// The key of a dotted path; indices of list items are skipped.
pub fn find<'a>(keys: &'a [Key], path: &str) -> Option<&'a Key> {
    let plain = without_indices(path);
    keys.iter().find(|key| key.path == plain)
}

/// The dotted path of a key of a table; an empty table is the document, and an empty name the table itself.
pub(crate) fn dotted(table: &str, name: &str) -> String {
    match (table, name) {
        ("", name) => name.to_owned(),
        (table, "") => table.to_owned(),
        (table, name) => format!("{table}.{name}"),
    }
}

/// A dotted path without the indices of list items: `operation.0.bytes` is `operation.bytes`.
pub fn without_indices(path: &str) -> String {
    path.split('.').filter(|step| step.parse::<usize>().is_err()).collect::<Vec<_>>().join(".")
}

impl Holds {
    /// The type of its values, for messages.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Holds::Table | Holds::Any => "a table",
            Holds::Tables | Holds::List | Holds::Names(_) | Holds::Bits => "a list",
            Holds::Flag => "`true` or `false`",
            Holds::Text | Holds::Path | Holds::Name(_) => "a string",
            Holds::Texts | Holds::NameOrNames(_) => "a string, or a list of strings",
            Holds::Count(..) | Holds::OneOf(_) => "a whole number, 0 or more",
            Holds::Counts => "a whole number, 0 or more, or a list of them",
            Holds::Bytes(..) => "a whole number of bytes, or a size such as \"4KiB\"",
            Holds::OneOfBytes(_) => "a whole number of bytes, or a size such as \"8B\"",
            Holds::Density => "a number of Gb, or a capacity such as \"4Gb\"",
            Holds::Clocks(..) => "a whole number of clocks, or a time such as \"50ns\"",
            Holds::Picoseconds(..) => "a whole number of picoseconds, or a time such as \"7.8us\"",
            Holds::Nanoseconds(..) => "a number of nanoseconds, or a time such as \"7.8us\"",
            Holds::Number(..) => "a number",
            Holds::Address => "an address (a whole number, or a string such as \"0x400000\" or \"4MiB\")",
            Holds::Place => {
                "an address (a whole number, or a string such as \"0x400000\" or \"4MiB\") or, for `src`, a placement"
            }
        }
    }

    /// Its values in words.
    fn in_words(self) -> String {
        let range = |least: u64, most: u64| match most {
            u64::MAX => format!("at least {least}"),
            most => format!("{} to {}", thousands(least), thousands(most)),
        };
        match self {
            Holds::Table => "a table".to_owned(),
            Holds::Tables => "a list of tables".to_owned(),
            Holds::Any | Holds::Text => "text".to_owned(),
            Holds::Texts => "text, or a list of texts".to_owned(),
            Holds::List => "a list of texts".to_owned(),
            Holds::Path => "a path".to_owned(),
            Holds::Flag => "`true`, `false`".to_owned(),
            Holds::Name(names) => listed(&names()),
            Holds::Names(names) => format!("at least one of {}, each once", listed(&names())),
            Holds::NameOrNames(names) => format!("{}, or a list of both", listed(&names())),
            Holds::Count(least, most) => range(least, most),
            Holds::OneOf(numbers) => numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
            Holds::OneOfBytes(numbers) => format!("{}, or a size", Holds::OneOf(numbers).in_words()),
            Holds::Density => {
                let numbers = Density::ALL.map(|density| density.gigabits().to_string());
                format!("{}, or a capacity such as `512Mb` or `4Gb`", numbers.join(", "))
            }
            Holds::Bits => "a list of bits".to_owned(),
            Holds::Counts => "a whole number, or a list of them".to_owned(),
            Holds::Bytes(least, most) => format!("{}, or a size", range(least, most)),
            Holds::Clocks(least, most) => format!("{} clocks, or a time", range(least, most)),
            Holds::Picoseconds(least, most) => format!("{}, or a time", range(least, most)),
            Holds::Nanoseconds(least, most) => format!("{least} to {most:e}, or a time"),
            Holds::Number(least, most) if most.is_finite() => format!("{least} to {most}"),
            Holds::Number(..) => "a number".to_owned(),
            Holds::Address => "an address".to_owned(),
            Holds::Place => "an address, or a placement".to_owned(),
        }
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A number with digit separators: `4,096`; powers of two from 2^30 as `2^30`.
fn thousands(number: u64) -> String {
    if number.is_power_of_two() && number >= 1 << 30 {
        return format!("2^{}", number.trailing_zeros());
    }
    if number.wrapping_add(1).is_power_of_two() && number >= 1 << 30 {
        return format!("2^{} - 1", u64::BITS - number.leading_zeros());
    }
    rowclone_sim::quantity::grouped(number)
}
