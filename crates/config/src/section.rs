//! Table of a checked document, with its values by key.

use std::any::Any;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use dram_spec::address::Preset as MapPreset;
use dram_spec::{CopyActivations, Cycle, Cycles, PhysicalAddress, PrechargePowerDown, ReferenceCycle};
use host::machine::{
    BufferOperation, ChosenCopies, CopyLoop, DirtySource, DmaCompletion, InjectionLevel, InjectionPolicy, Order,
    PrefetcherKind, ReadAgain, SourceState, Spread, StoreMiss, StringStores, WithoutBuffer, WriteMerging, WritePolicy,
};
use host::workload::{CopyBy, Fill, MoveTo};
use host::{OperationKind, Place, UnusableRecords};
use os_alloc_sim::{CopyUnit, Policy};
use trace_io::program::InstructionClass;

use crate::document::{Document, Node, Origin, Value, tidy};
use crate::preset::{self, Preset};
use crate::{Failure, Source, file, key, quantity};

/// A table of a document whose keys and values were checked.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    document: &'a Document,
    node: &'a Node,
    /// Its dotted key; empty for the document.
    place: String,
}

/// A type of values of keys.
pub trait FromNode<'a>: Sized {
    /// The value, if it has this type.
    #[doc(hidden)]
    fn from_value(value: Raw<'a>) -> Option<Self>;
}

/// A value, opaque outside this crate.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a Node);

impl<'a> Raw<'a> {
    /// The value, whose type was checked.
    pub(crate) fn read<T: FromNode<'a>>(self) -> T {
        T::from_value(self).expect("it was checked")
    }
}

macro_rules! from_node {
    ($($of:ty: $($value:pat => $found:expr),+;)+) => {
        $(impl<'a> FromNode<'a> for $of {
            fn from_value(Raw(node): Raw<'a>) -> Option<$of> {
                match &node.value {
                    $($value => $found,)+
                    _ => None,
                }
            }
        })+
    };
}

from_node! {
    u64: Value::Integer(integer) => u64::try_from(*integer).ok();
    u32: Value::Integer(integer) => u32::try_from(*integer).ok();
    u16: Value::Integer(integer) => u16::try_from(*integer).ok();
    u8: Value::Integer(integer) => u8::try_from(*integer).ok();
    usize: Value::Integer(integer) => usize::try_from(*integer).ok();
    Cycle: Value::Integer(integer) => u64::try_from(*integer).ok().map(Cycle);
    Cycles: Value::Integer(integer) => u64::try_from(*integer).ok().map(Cycles);
    PhysicalAddress: Value::Integer(integer) => u64::try_from(*integer).ok().map(PhysicalAddress),
        Value::Text(text) => quantity::address(text).map(PhysicalAddress);
    f64: Value::Integer(integer) => Some(*integer as f64), Value::Float(float) => Some(*float);
    bool: Value::Boolean(boolean) => Some(*boolean);
    &'a str: Value::Text(text) => Some(text);
}

macro_rules! by_name {
    ($($of:ty),+ $(,)?) => {
        from_node! { $($of: Value::Text(name) => <$of>::from_name(name);)+ }
    };
}

by_name! {
    OperationKind, UnusableRecords, CopyBy, Fill, MoveTo, CopyUnit, Policy, InstructionClass, CopyActivations,
    MapPreset, PrechargePowerDown, ReferenceCycle, BufferOperation, ChosenCopies, CopyLoop, DirtySource, DmaCompletion,
    InjectionLevel, InjectionPolicy, Order, PrefetcherKind, ReadAgain, SourceState, Spread, StoreMiss, StringStores,
    WithoutBuffer, WriteMerging, WritePolicy,
}

impl<'a> FromNode<'a> for toml::Value {
    fn from_value(Raw(node): Raw<'a>) -> Option<toml::Value> {
        Some(node.into())
    }
}

impl<'a> FromNode<'a> for Place {
    fn from_value(raw: Raw<'a>) -> Option<Place> {
        <&str>::from_value(raw).and_then(Place::named).or_else(|| PhysicalAddress::from_value(raw).map(Place::Address))
    }
}

/// A value that is there.
impl<'a, T: FromNode<'a>> FromNode<'a> for Option<T> {
    fn from_value(raw: Raw<'a>) -> Option<Option<T>> {
        T::from_value(raw).map(Some)
    }
}

/// A list, or a single value as a list of one.
impl<'a, T: FromNode<'a>> FromNode<'a> for Vec<T> {
    fn from_value(raw: Raw<'a>) -> Option<Vec<T>> {
        match &raw.0.value {
            Value::List(items) => items.iter().map(|item| T::from_value(Raw(item))).collect(),
            _ => Some(vec![T::from_value(raw)?]),
        }
    }
}

impl<'a> Section<'a> {
    pub(crate) fn new(document: &'a Document, node: &'a Node, place: String) -> Section<'a> {
        Section { document, node, place }
    }

    /// An example of the value of a key.
    pub fn example(&self, name: &str) -> &'static str {
        self.document.example(&self.key(name)).unwrap_or_default()
    }

    /// The dotted key of a key of this table.
    pub fn key(&self, name: &str) -> String {
        key::dotted(&self.place, name)
    }

    /// Whether a key is given.
    pub fn has(&self, name: &str) -> bool {
        self.node.child(name).is_some()
    }

    /// The value of a key, if it is given.
    ///
    /// # Panics
    /// If its description holds another type.
    pub fn get<T: FromNode<'a>>(&self, name: &str) -> Option<T> {
        let node = self.node.child(name)?;
        Some(T::from_value(Raw(node)).unwrap_or_else(|| panic!("`{}` was checked", self.key(name))))
    }

    /// The value of a required key.
    ///
    /// # Panics
    /// If its description does not require it, or holds another type.
    pub fn of<T: FromNode<'a>>(&self, name: &str) -> T {
        self.get(name).unwrap_or_else(|| panic!("`{}` is required", self.key(name)))
    }

    /// Settings with the values of the keys that are given and have a field in them.
    pub(crate) fn over<S: Any>(&self, mut settings: S) -> S {
        let Value::Table(entries) = &self.node.value else { return settings };
        for (name, node) in entries {
            let key = key::find(self.document.keys, &self.key(name));
            if let Some(store) = key.and_then(|key| key.store) {
                store(&mut settings, Raw(node));
            }
        }
        settings
    }

    /// The value of a key, if it is given and a string.
    pub fn text(&self, name: &str) -> Option<&'a str> {
        <&str>::from_value(Raw(self.node.child(name)?))
    }

    /// The value of a key with one of some names.
    pub fn choice<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Option<T> {
        self.get(name).map(|found| named(found, known))
    }

    /// The values of a key with a list of names; empty if it is not given.
    pub fn choices<T: Copy>(&self, name: &str, known: &[(&str, T)]) -> Vec<T> {
        self.get::<Vec<&str>>(name).unwrap_or_default().into_iter().map(|found| named(found, known)).collect()
    }

    /// A table in this one, if it is given.
    pub fn table(&self, name: &str) -> Option<Section<'a>> {
        let node = self.node.child(name)?;
        Some(Section::new(self.document, node, self.key(name)))
    }

    /// A table in this one, without any key if it is not given.
    pub(crate) fn table_or_empty(&self, name: &str) -> Section<'a> {
        static EMPTY: Node = Node { origin: Origin::Line(1), value: Value::Table(Vec::new()) };
        self.table(name).unwrap_or_else(|| Section::new(self.document, &EMPTY, self.key(name)))
    }

    /// The tables of a list of tables; empty if it is not given.
    pub fn tables(&self, name: &str) -> Vec<Section<'a>> {
        let Some(Node { value: Value::List(items), .. }) = self.node.child(name) else { return Vec::new() };
        let item = |(index, node)| Section::new(self.document, node, format!("{}.{index}", self.key(name)));
        items.iter().enumerate().map(item).collect()
    }

    /// Its keys and values, in the order of the file.
    pub fn entries(&self) -> impl Iterator<Item = (&'a str, toml::Value)> + use<'a> {
        let entries = match &self.node.value {
            Value::Table(entries) => entries.as_slice(),
            _ => &[],
        };
        entries.iter().map(|(name, node)| (name.as_str(), node.into()))
    }

    /// An error about a key of this table; of the table itself for an empty name.
    pub fn fault(&self, name: &str, message: impl fmt::Display) -> Failure {
        self.document.fault(&self.key(name), message)
    }

    /// Checks that none of some keys, which nothing uses, is given; `why` continues "is given".
    pub(crate) fn without(&self, keys: &[&str], why: &str, help: &str) -> Result<(), Failure> {
        let Some(key) = keys.iter().find(|key| self.has(key)) else { return Ok(()) };
        Err(self.fault(key, format!("`{}` is given{why}", self.key(key))).with_help(help))
    }

    /// Checks that of two keys at most one is given; `help` names the difference.
    pub(crate) fn not_both(&self, first: &str, second: &str, help: &str) -> Result<(), Failure> {
        if !self.has(first) || !self.has(second) {
            return Ok(());
        }
        let message = format!("`{}` has both `{first}` and `{second}`", self.place);
        Err(self.fault(second, message).with_help(format!("leave one of them out{help}")))
    }

    /// Checks that a key is given, because another key, `owner`, has the value `variant`.
    pub(crate) fn needs(&self, key: &str, owner: &str, variant: &str) -> Result<(), Failure> {
        if self.has(key) {
            return Ok(());
        }
        let message = format!("`{}` is missing, and `{owner} = \"{variant}\"` needs it", self.key(key));
        let help = format!("add for example `{key} = {}` to `{}`", self.example(key), self.place);
        Err(self.fault(owner, message).with_help(help))
    }

    /// [`Document::within`] for a key of this table.
    ///
    /// # Errors
    /// As there.
    pub fn within(&self, name: &str, found: u64, least: u64, most: u64) -> Result<(), Failure> {
        self.document.within(&self.key(name), found, least, most)
    }

    /// The path of the regular file that a given key names; a relative path starts from the directory of the document.
    ///
    /// # Errors
    /// The file does not exist, is not regular, or cannot be read.
    pub fn linked(&self, name: &str) -> Result<PathBuf, Failure> {
        self.linked_file(name, self.of(name))
    }

    /// What a given key names: a file as in [`Section::linked`], or if there is none, a preset.
    ///
    /// # Errors
    /// There is neither, or the file cannot be read.
    pub(crate) fn linked_or_preset(&self, name: &str, presets: &'static [Preset]) -> Result<Source, Failure> {
        let written: &str = self.of(name);
        let error = match self.linked(name) {
            Ok(path) => return Ok(Source::File(path)),
            Err(error) => error,
        };
        let Some(word) = preset::as_name(Path::new(written)) else { return Err(error) };
        preset::named(presets, word).map(Source::Preset).ok_or_else(|| {
            let message = format!("`{}` is {written:?}, which is neither a file nor a preset", self.key(name));
            self.fault(name, message).with_help(preset::choices(presets, word) + "; or give the path of a file")
        })
    }

    /// [`Section::linked`] for a list of paths.
    ///
    /// # Errors
    /// As there, for any of the files.
    pub(crate) fn linked_files(&self, name: &str) -> Result<Vec<PathBuf>, Failure> {
        self.of::<Vec<&str>>(name).into_iter().map(|written| self.linked_file(name, written)).collect()
    }

    fn linked_file(&self, name: &str, written: &str) -> Result<PathBuf, Failure> {
        let path = tidy(&self.document.path().parent().unwrap_or(Path::new("")).join(written));
        let why = match file::open(&path) {
            Ok(_) => return Ok(path),
            Err(source) if source.kind() == io::ErrorKind::NotFound => "no such file".to_owned(),
            Err(source) if source.kind() == io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
            Err(source) => source.to_string(),
        };
        let message = format!("`{}` is {written:?}, but {} cannot be read: {why}", self.key(name), path.display());
        Err(self.fault(name, message).with_help("paths start from the directory of the file in which they stand"))
    }
}

fn named<T: Copy>(found: &str, known: &[(&str, T)]) -> T {
    let meaning = known.iter().find(|(name, _)| *name == found).map(|(_, meaning)| *meaning);
    meaning.unwrap_or_else(|| panic!("{found:?} was checked"))
}
