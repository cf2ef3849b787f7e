//! What serde makes of a document, and what it has to say where it cannot.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::document::{Node, Origin, Value};
use super::suggestion;

/// A value of a document, for serde.
pub(super) struct Decoder<'a> {
    pub(super) node: &'a Node,
}

/// What serde found wrong, and where.
#[derive(Debug)]
pub(super) struct DecodeError {
    fault: Fault,
    /// From the innermost step out.
    steps: Vec<String>,
    origin: Option<Origin>,
}

#[derive(Debug)]
enum Fault {
    Unfit { found: String, expected: String },
    Unknown { key: String, known: &'static [&'static str] },
    Missing { key: &'static str },
    Other { message: String },
}

impl DecodeError {
    fn new(fault: Fault) -> DecodeError {
        DecodeError { fault, steps: Vec::new(), origin: None }
    }

    /// The same, seen from outside: it happened in the value of `step`.
    fn within(mut self, step: &dyn fmt::Display, origin: &Origin) -> DecodeError {
        self.steps.push(step.to_string());
        self.origin.get_or_insert_with(|| origin.clone());
        self
    }

    /// Where it happened; none for the document as a whole.
    pub(super) fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// What to say, and what would help; `example` gives a value that a key may have.
    pub(super) fn explain(&self, example: impl Fn(&str) -> Option<&'static str>) -> (String, Option<String>) {
        let place = self.steps.iter().rev().map(String::as_str).collect::<Vec<_>>().join(".");
        let inside = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
        match &self.fault {
            Fault::Unfit { found, expected } => {
                // Of a list's item, the key is the list's.
                let list = place.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
                let key = list.rsplit('.').next().unwrap_or_default();
                let help = example(&place).map(|example| match example {
                    "" if expected == A_LIST || list != place => format!("write each of them as a table `[[{list}]]`"),
                    "" => format!("write a table `[{place}]`"),
                    example => format!("write for example `{key} = {example}`"),
                });
                (format!("`{place}` is {found}, but must be {expected}"), help)
            }
            Fault::Unknown { key, known } => {
                let noun = if place.is_empty() { "keys".to_owned() } else { format!("keys of `{place}`") };
                (format!("`{}` is not a key", inside(key)), Some(suggestion::choices(key, &noun, known)))
            }
            Fault::Missing { key } => {
                let at = if place.is_empty() { String::new() } else { format!(" to `{place}`") };
                let help = match example(&inside(key)) {
                    // A table: its keys have examples of their own.
                    Some("") => format!("add a table `[{}]`", inside(key)),
                    Some(example) => format!("add for example `{key} = {example}`{at}"),
                    None => format!("add `{key}`{at}"),
                };
                (format!("`{}` is missing", inside(key)), Some(help))
            }
            Fault::Other { message } => (format!("`{place}`: {message}"), None),
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(|_| None).0)
    }
}

impl std::error::Error for DecodeError {}

impl serde::de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        DecodeError::new(Fault::Other { message: message.to_string() })
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        DecodeError::new(Fault::Unfit { found: found_in_words(&found), expected: expected_in_words(expected) })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        DecodeError::invalid_type(found, expected)
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        DecodeError::new(Fault::Unknown { key: field.to_owned(), known: expected })
    }

    fn missing_field(field: &'static str) -> Self {
        DecodeError::new(Fault::Missing { key: field })
    }
}

/// What users call a sequence.
const A_LIST: &str = "a list";

fn found_in_words(found: &Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(boolean) => boolean.to_string(),
        Unexpected::Unsigned(number) => number.to_string(),
        Unexpected::Signed(number) => number.to_string(),
        Unexpected::Float(number) => format!("{number:?}"),
        Unexpected::Str(text) => format!("the string {text:?}"),
        Unexpected::Seq => A_LIST.to_owned(),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Other(what) => (*what).to_owned(),
        other => other.to_string(),
    }
}

/// serde names Rust's types; users think in TOML's.
fn expected_in_words(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    match expected.as_str() {
        "u64" => "a whole number, 0 or more".to_owned(),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "f64" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a sequence" => A_LIST.to_owned(),
        _ if expected.starts_with("struct ") => "a table".to_owned(),
        _ => expected,
    }
}

impl<'de> Deserializer<'de> for Decoder<'_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Text(text) => visitor.visit_str(text),
            Value::Integer(integer) => match (u64::try_from(*integer), i64::try_from(*integer)) {
                (Ok(number), _) => visitor.visit_u64(number),
                (_, Ok(number)) => visitor.visit_i64(number),
                _ => {
                    let expected = expected_in_words(&visitor);
                    Err(DecodeError::new(Fault::Unfit { found: integer.to_string(), expected }))
                }
            },
            Value::Float(float) => visitor.visit_f64(*float),
            Value::Boolean(boolean) => visitor.visit_bool(*boolean),
            Value::Datetime(datetime) => {
                let found = format!("the date {datetime}");
                Err(DecodeError::new(Fault::Unfit { found, expected: expected_in_words(&visitor) }))
            }
            Value::List(items) => visitor.visit_seq(Items { items: items.iter().enumerate() }),
            Value::Table(entries) => visitor.visit_map(Entries { entries: entries.iter(), value: None }),
        }
    }

    /// What is there is wanted: TOML has no null.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    /// serde would take a list of a struct's fields for it.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::List(_) => Err(serde::de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct newtype_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

struct Items<'a> {
    items: std::iter::Enumerate<std::slice::Iter<'a, Node>>,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, DecodeError> {
        let Some((index, node)) = self.items.next() else { return Ok(None) };
        seed.deserialize(Decoder { node }).map(Some).map_err(|error| error.within(&index, &node.origin))
    }
}

struct Entries<'a> {
    entries: std::slice::Iter<'a, (String, Node)>,
    value: Option<&'a (String, Node)>,
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, DecodeError> {
        self.value = self.entries.next();
        let Some((key, node)) = self.value else { return Ok(None) };
        seed.deserialize(key.as_str().into_deserializer()).map(Some).map_err(|mut error: DecodeError| {
            error.origin = Some(node.origin.clone());
            error
        })
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, DecodeError> {
        let (key, node) = self.value.expect("serde asks for a key before its value");
        seed.deserialize(Decoder { node }).map_err(|error| error.within(key, &node.origin))
    }
}
