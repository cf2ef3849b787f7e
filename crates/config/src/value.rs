//! A TOML value with its origin, and the types that the reader of a key gets it as.

use std::sync::Arc;

use dram_spec::address::MapPreset;
use dram_spec::{CopyActivations, Cycle, Cycles, PhysicalAddress, PrechargePowerDown, ReferenceCycle};
use host::machine::{
    BufferOperation, ChosenCopies, CopyLoop, DirtySource, DmaCompletion, InjectionLevel, InjectionPolicy, Order,
    PrefetcherKind, ReadAgain, SourceState, Spread, StoreMiss, StringStores, WithoutBuffer, WriteMerging, WritePolicy,
};
use host::workload::{CopyBy, Fill, MoveTo};
use host::{OperationKind, Place, UnusableRecords};
use os_alloc_sim::{CopyUnit, Policy};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use trace_io::program::InstructionClass;

use crate::quantity;

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// A line of the file, from 1.
    Line(usize),
    /// The text of a `--set`.
    Set(Arc<str>),
    /// An argument of the command line that stands for a file.
    Argument(Arc<str>),
}

/// A value of a document.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) origin: ValueOrigin,
    pub(crate) value: Value,
}

/// A TOML value.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// A whole number; the range of TOML is smaller than that of `i128`.
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// A date or time, which no key accepts.
    Datetime(String),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<(String, Node)>),
}

impl From<&Node> for toml::Value {
    fn from(node: &Node) -> toml::Value {
        match &node.value {
            Value::Text(text) => toml::Value::String(text.clone()),
            Value::Integer(integer) => match i64::try_from(*integer) {
                Ok(integer) => toml::Value::Integer(integer),
                Err(_) => toml::Value::String(integer.to_string()),
            },
            Value::Float(float) => toml::Value::Float(*float),
            Value::Boolean(boolean) => toml::Value::Boolean(*boolean),
            Value::Datetime(datetime) => toml::Value::String(datetime.clone()),
            Value::List(items) => toml::Value::Array(items.iter().map(toml::Value::from).collect()),
            Value::Table(entries) => {
                toml::Value::Table(entries.iter().map(|(name, node)| (name.clone(), node.into())).collect())
            }
        }
    }
}

impl Node {
    /// The value of a key of a table, or an item of a list.
    pub(crate) fn child(&self, step: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(name, _)| name == step).map(|(_, node)| node),
            Value::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
            _ => None,
        }
    }
}

/// Origin of a value that cannot be represented, and the error message.
pub(crate) type Misfit = (ValueOrigin, String);

/// The entries of a table, in the order of the file.
pub(crate) fn entries(
    table: &DeTable<'_>,
    origin: &dyn Fn(usize) -> ValueOrigin,
) -> Result<Vec<(String, Node)>, Misfit> {
    let mut sorted: Vec<_> = table.iter().collect();
    sorted.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok((name.clone().into_owned(), Node { origin: origin(key.span().start), value: convert(value, origin)? }))
    };
    sorted.into_iter().map(entry).collect()
}

/// A parsed value with its origins; `origin` returns that of a byte.
pub(crate) fn convert(value: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> ValueOrigin) -> Result<Value, Misfit> {
    let here = || origin(value.span().start);
    Ok(match value.get_ref() {
        DeValue::String(text) => Value::Text(text.clone().into_owned()),
        DeValue::Integer(integer) => Value::Integer(
            i128::from_str_radix(integer.as_str(), integer.radix())
                .map_err(|_| (here(), format!("{integer} is too large a number")))?,
        ),
        DeValue::Float(float) => {
            Value::Float(float.as_str().parse().map_err(|_| (here(), format!("{} is no number", float.as_str())))?)
        }
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(datetime) => Value::Datetime(datetime.to_string()),
        DeValue::Array(items) => {
            let item = |item: &Spanned<DeValue<'_>>| {
                Ok(Node { origin: origin(item.span().start), value: convert(item, origin)? })
            };
            Value::List(items.iter().map(item).collect::<Result<_, Misfit>>()?)
        }
        DeValue::Table(table) => Value::Table(entries(table, origin)?),
    })
}

/// A type of values of keys.
pub trait FromNode<'a>: Sized {
    /// The value, if it has this type.
    #[doc(hidden)]
    fn from_value(value: Raw<'a>) -> Option<Self>;
}

/// A value, opaque outside this crate.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(pub(crate) &'a Node);

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
