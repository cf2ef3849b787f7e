//! A TOML file with the line of each value.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::key::{self, Key};
use crate::section::Section;
use crate::{Failure, file};

/// Origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
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
    pub(crate) origin: Origin,
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

/// A parsed TOML file.
#[derive(Clone, Debug)]
pub struct Document {
    path: PathBuf,
    pub(crate) root: Node,
    pub(crate) keys: &'static [Key],
}

impl Document {
    /// Reads and parses a file with these keys.
    ///
    /// # Errors
    /// It cannot be read, is not a regular file, is larger than 16 MiB, or is not TOML.
    pub fn read(path: &Path, keys: &'static [Key]) -> Result<Document, Failure> {
        let path = tidy(path);
        let text = file::read_toml(&path).map_err(|source| Failure::reading(&path, &source))?;
        Document::parse(&path, &text, keys)
    }

    /// Parses the text of a file of this name.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(path: &Path, text: &str, keys: &'static [Key]) -> Result<Document, Failure> {
        Document::parse_from(path, text, keys, &|offset| Origin::Line(line_of(text, offset)))
    }

    /// A document that an argument of the command line stands for.
    ///
    /// # Errors
    /// The text is not TOML.
    pub(crate) fn of_argument(
        argument: &str,
        path: &Path,
        text: &str,
        keys: &'static [Key],
    ) -> Result<Document, Failure> {
        Document::parse_from(path, text, keys, &|_| Origin::Argument(argument.into()))
    }

    fn parse_from(
        path: &Path,
        text: &str,
        keys: &'static [Key],
        origin: &dyn Fn(usize) -> Origin,
    ) -> Result<Document, Failure> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            Failure::new(format!("{}:{line}: is not TOML: {}", path.display(), error.message()))
                .with_help("https://toml.io shows how TOML is written; docs/input.md has the keys")
        })?;
        let root = Node { origin: Origin::Line(1), value: Value::Table(Vec::new()) };
        let mut document = Document { path: path.to_owned(), root, keys };
        let entries = entries(table.get_ref(), origin);
        let entries = entries.map_err(|(origin, message)| document.located(Some(&origin), &message))?;
        document.root.value = Value::Table(entries);
        Ok(document)
    }

    /// Name of the file in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's name without `.toml`.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The document as a table.
    pub fn root(&self) -> Section<'_> {
        Section::new(self, &self.root, String::new())
    }

    /// An error about the value of a dotted key (`operation.0.bytes`), or about the innermost table of it that exists.
    pub fn fault(&self, key: &str, message: impl fmt::Display) -> Failure {
        self.located(self.origin(key), &message)
    }

    /// Origin of the value of a dotted key, or of its innermost table that exists; none for the document.
    pub fn origin(&self, key: &str) -> Option<&Origin> {
        let mut node = &self.root;
        for step in key.split('.') {
            match node.child(step) {
                Some(next) => node = next,
                None => break,
            }
        }
        (!std::ptr::eq(node, &raw const self.root)).then_some(&node.origin)
    }

    /// Checks that a number lies in a range.
    ///
    /// # Errors
    /// The number is out of the range.
    pub fn within(&self, key: &str, found: u64, least: u64, most: u64) -> Result<(), Failure> {
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let range = match most {
            u64::MAX => format!("at least {least}"),
            _ if most == least => most.to_string(),
            _ => format!("from {least} to {most}"),
        };
        let help = format!("try `{} = {}`", last_step(key), found.clamp(least, most));
        Err(self.fault(key, format!("`{key}` is {found}, but must be {range}")).with_help(help))
    }

    pub(crate) fn located(&self, origin: Option<&Origin>, message: &dyn fmt::Display) -> Failure {
        Failure::new(match origin {
            Some(Origin::Line(line)) => format!("{}:{line}: {message}", self.path.display()),
            Some(Origin::Set(text)) => format!("--set {text}: {message}"),
            Some(Origin::Argument(text)) => format!("{text}: {message}"),
            None => format!("{}: {message}", self.path.display()),
        })
    }

    /// An example of the value of a key.
    pub fn example(&self, key: &str) -> Option<&'static str> {
        key::find(self.keys, key).map(|key| key.example)
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

/// The last step of a dotted key.
pub(crate) fn last_step(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// The line of a byte, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

/// A value that cannot be represented, with its origin.
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

/// A parsed value with its origins; `origin` returns that of a byte.
pub(crate) fn convert(value: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> Origin) -> Result<Value, Misfit> {
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

/// A shorter path of the same file: `traces/../configs/x.toml` is `configs/x.toml`, unless `traces` is a link
/// elsewhere.
pub(crate) fn tidy(path: &Path) -> PathBuf {
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
