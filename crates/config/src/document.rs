//! A TOML file with the line of each value, and its tables with their values by key.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use toml::de::DeTable;

use crate::key::{self, Key};
use crate::preset::{self, Preset};
use crate::value::{FromNode, Node, Raw, Value, ValueOrigin, entries};
use crate::{Failure, Source, file};

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
        Document::parse_from(path, text, keys, &|offset| ValueOrigin::Line(line_of(text, offset)))
    }

    /// Reads and parses a file or a preset.
    ///
    /// # Errors
    /// It cannot be read, or is not TOML.
    pub(crate) fn of_source(source: &Source, keys: &'static [Key]) -> Result<Document, Failure> {
        match source {
            Source::File(path) => Document::read(path, keys),
            Source::Preset(preset) => Document::parse(&preset.path(), preset.text, keys),
        }
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
        Document::parse_from(path, text, keys, &|_| ValueOrigin::Argument(argument.into()))
    }

    fn parse_from(
        path: &Path,
        text: &str,
        keys: &'static [Key],
        origin: &dyn Fn(usize) -> ValueOrigin,
    ) -> Result<Document, Failure> {
        let table = DeTable::parse(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            Failure::new(format!("{}:{line}: is not TOML: {}", path.display(), error.message()))
                .with_help("https://toml.io shows how TOML is written; docs/input.md has the keys")
        })?;
        let root = Node { origin: ValueOrigin::Line(1), value: Value::Table(Vec::new()) };
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
    pub fn origin(&self, key: &str) -> Option<&ValueOrigin> {
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

    pub(crate) fn located(&self, origin: Option<&ValueOrigin>, message: &dyn fmt::Display) -> Failure {
        Failure::new(match origin {
            Some(ValueOrigin::Line(line)) => format!("{}:{line}: {message}", self.path.display()),
            Some(ValueOrigin::Set(text)) => format!("--set {text}: {message}"),
            Some(ValueOrigin::Argument(text)) => format!("{text}: {message}"),
            None => format!("{}: {message}", self.path.display()),
        })
    }

    /// An example of the value of a key.
    pub fn example(&self, key: &str) -> Option<&'static str> {
        key::find(self.keys, key).map(|key| key.example)
    }
}

/// A table of a document whose keys and values were checked.
#[derive(Clone, Debug)]
pub struct Section<'a> {
    document: &'a Document,
    node: &'a Node,
    /// Its dotted key; empty for the document.
    place: String,
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
        static EMPTY: Node = Node { origin: ValueOrigin::Line(1), value: Value::Table(Vec::new()) };
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
        Err(self.fault(name, message).with_help("paths are relative to the directory of the file that contains them"))
    }
}

fn named<T: Copy>(found: &str, known: &[(&str, T)]) -> T {
    let meaning = known.iter().find(|(name, _)| *name == found).map(|(_, meaning)| *meaning);
    meaning.unwrap_or_else(|| panic!("{found:?} was checked"))
}

/// The last step of a dotted key.
pub(crate) fn last_step(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// The line of a byte, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
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
