//! A TOML file that knows where each of its values stands.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::CliError;

use super::{decode, file, suggestion};

/// Where a value is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This line of the file, counted from 1.
    Line(usize),
    /// This `--set`, as it was given.
    Set(Arc<str>),
}

/// A value of a document.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) origin: Origin,
    pub(super) value: Value,
}

/// What a TOML value can be.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    /// As far as `i128` goes; TOML's own limit is lower.
    Integer(i128),
    Float(f64),
    Boolean(bool),
    /// No key wants one.
    Datetime(String),
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<(String, Node)>),
}

/// A key that a document can have, and a value that it may have there: `("geometry.channels", "2")`.
pub type Example = (&'static str, &'static str);

/// A TOML file, parsed, with every value's origin.
#[derive(Clone, Debug)]
pub struct Document {
    path: PathBuf,
    pub(super) root: Node,
    examples: &'static [Example],
}

impl Document {
    /// Reads and parses a file.
    ///
    /// # Errors
    /// It cannot be read, is no regular file or larger than 16 MiB, or is not TOML.
    pub fn read(path: &Path, examples: &'static [Example]) -> Result<Document, CliError> {
        let path = tidy(path);
        let text = file::read_toml(&path).map_err(|source| CliError::reading(&path, &source))?;
        Document::parse(&path, &text, examples)
    }

    /// Parses a text that stands in a file of this name.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(path: &Path, text: &str, examples: &'static [Example]) -> Result<Document, CliError> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            CliError::new(format!("{}:{line}: is not TOML: {}", path.display(), error.message()))
                .with_help("https://toml.io shows how TOML is written; docs/input.md has the keys")
        })?;
        let fault = |line: usize, message: String| CliError::new(format!("{}:{line}: {message}", path.display()));
        let origin = |offset: usize| Origin::Line(line_of(text, offset));
        let entries = entries(table.get_ref(), &origin).map_err(|(origin, message)| match origin {
            Origin::Line(line) => fault(line, message),
            Origin::Set(_) => fault(1, message),
        })?;
        let root = Node { origin: Origin::Line(1), value: Value::Table(entries) };
        Ok(Document { path: path.to_owned(), root, examples })
    }

    /// The file, as messages name it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that is written in this file: relative ones start from the directory that the file lies in.
    pub fn resolve(&self, path: &str) -> PathBuf {
        tidy(&self.path.parent().unwrap_or(Path::new("")).join(path))
    }

    /// What serde makes of it.
    ///
    /// # Errors
    /// A key that is missing or unknown, or a value of the wrong type.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, CliError> {
        T::deserialize(decode::Decoder { node: &self.root }).map_err(|error| {
            let (message, help) = error.explain(|key| self.example(key));
            let error = match error.origin() {
                Some(origin) => self.located(Some(origin), &message),
                None => self.located(None, &message),
            };
            match help {
                Some(help) => error.with_help(help),
                None => error,
            }
        })
    }

    /// An error about the value of a dotted key (`operation.0.bytes`), or about what is there of it.
    pub fn fault(&self, key: &str, message: impl fmt::Display) -> CliError {
        self.located(self.origin(key), &message)
    }

    /// Where the value of a dotted key is from, or as much as is there of it; none for the document as a whole.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let mut node = &self.root;
        for step in key.split('.') {
            let next = match &node.value {
                Value::Table(entries) => entries.iter().find(|(name, _)| name == step).map(|(_, node)| node),
                Value::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        (!std::ptr::eq(node, &raw const self.root)).then_some(&node.origin)
    }

    /// One of some names, and what it stands for.
    ///
    /// # Errors
    /// It is none of them.
    pub fn choice<T: Copy>(&self, key: &str, found: &str, known: &[(&str, T)]) -> Result<T, CliError> {
        known.iter().find(|(name, _)| *name == found).map(|(_, meaning)| *meaning).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let message = format!("`{key}` is {found:?}, which is none of its values");
            self.fault(key, message).with_help(suggestion::choices(found, "values", &names))
        })
    }

    /// Some of these names, at least one and each once, and what they stand for.
    ///
    /// # Errors
    /// One is none of them, or is there twice; or there are none.
    pub fn choices<T: Copy>(&self, key: &str, found: &[String], known: &[(&str, T)]) -> Result<Vec<T>, CliError> {
        if found.is_empty() {
            let all = known.iter().map(|(name, _)| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
            let last = key.rsplit('.').next().unwrap_or(key);
            return Err(self.fault(key, format!("`{key}` is empty")).with_help(format!("try `{last} = [{all}]`")));
        }
        let mut meanings = Vec::with_capacity(found.len());
        for (index, name) in found.iter().enumerate() {
            let place = format!("{key}.{index}");
            meanings.push(self.choice(&place, name, known)?);
            if found[..index].contains(name) {
                let message = format!("`{key}` lists \"{name}\" twice");
                return Err(self.fault(&place, message).with_help("list each once"));
            }
        }
        Ok(meanings)
    }

    /// That a number lies within these bounds.
    ///
    /// # Errors
    /// It does not.
    pub fn within(&self, key: &str, found: u64, least: u64, most: u64) -> Result<(), CliError> {
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let range = match most {
            u64::MAX => format!("at least {least}"),
            _ if most == least => most.to_string(),
            _ => format!("from {least} to {most}"),
        };
        let last = key.rsplit('.').next().unwrap_or(key);
        let help = format!("try `{last} = {}`", found.clamp(least, most));
        Err(self.fault(key, format!("`{key}` is {found}, but must be {range}")).with_help(help))
    }

    /// The path of another file that this key names, if it is a regular file that can be read.
    ///
    /// # Errors
    /// It cannot.
    pub fn linked(&self, key: &str, written: &str) -> Result<PathBuf, CliError> {
        let path = self.resolve(written);
        let why = match file::open(&path) {
            Ok(_) => return Ok(path),
            Err(source) if source.kind() == io::ErrorKind::NotFound => "no such file".to_owned(),
            Err(source) if source.kind() == io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
            Err(source) => source.to_string(),
        };
        let message = format!("`{key}` is {written:?}, but {} cannot be read: {why}", path.display());
        Err(self.fault(key, message).with_help("paths start from the directory of the file that they stand in"))
    }

    fn located(&self, origin: Option<&Origin>, message: &dyn fmt::Display) -> CliError {
        CliError::new(match origin {
            Some(Origin::Line(line)) => format!("{}:{line}: {message}", self.path.display()),
            Some(Origin::Set(text)) => format!("--set {text}: {message}"),
            None => format!("{}: {message}", self.path.display()),
        })
    }

    /// A value that the key may have: `operation.0.bytes` is an `operation.bytes`.
    pub(super) fn example(&self, key: &str) -> Option<&'static str> {
        let plain: Vec<&str> = key.split('.').filter(|step| step.parse::<usize>().is_err()).collect();
        let plain = plain.join(".");
        self.examples.iter().find(|(name, _)| *name == plain).map(|(_, example)| *example)
    }
}

/// The line of a byte, counted from 1.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// What went wrong with one value, and where.
type Misfit = (Origin, String);

/// The entries of a table, in the order of the file.
fn entries(table: &DeTable<'_>, origin: &dyn Fn(usize) -> Origin) -> Result<Vec<(String, Node)>, Misfit> {
    let mut sorted: Vec<_> = table.iter().collect();
    sorted.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok((name.clone().into_owned(), Node { origin: origin(key.span().start), value: convert(value, origin)? }))
    };
    sorted.into_iter().map(entry).collect()
}

/// A parsed value with its origins; `origin` tells that of a byte.
pub(super) fn convert(value: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> Origin) -> Result<Value, Misfit> {
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

/// The same file by a shorter name: `traces/../configs/x.toml` is `configs/x.toml`, unless `traces` is a link elsewhere.
fn tidy(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut short = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir if matches!(short.components().next_back(), Some(Component::Normal(_))) => {
                short.pop();
            }
            Component::CurDir => {}
            other => short.push(other),
        }
    }
    let same = |a: &Path, b: &Path| matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b);
    if short == path || !same(&short, path) { path.to_owned() } else { short }
}
