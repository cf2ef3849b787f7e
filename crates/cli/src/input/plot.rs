//! Plots as users write them: `[[plot]]` of a TOML file, or the same on the command line.

use std::fmt;
use std::path::{Path, PathBuf};

use report::Column;
use report::plot::{Condition, Kind, Request, Spacing};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::CliError;

use super::document::{Document, Example};
use super::suggestion;

/// Every key of a `[[plot]]`, with a value that it may have: for the examples of a file that has plots.
pub const EXAMPLES: &[Example] = &[
    ("plot", ""),
    ("plot.file", "\"latency.svg\""),
    ("plot.kind", "\"line\""),
    ("plot.x", "\"operation.0.bytes\""),
    ("plot.y", "\"copy_latency_mean_ns\""),
    ("plot.by", "\"policy\""),
    ("plot.where", "[\"seed=1\"]"),
    ("plot.log_x", "true"),
    ("plot.log_y", "true"),
    ("plot.title", "\"Latency by size\""),
    ("plot.x_label", "\"size\""),
    ("plot.y_label", "\"latency\""),
    ("plot.published", "\"published.csv\""),
    ("plot.crossovers", "true"),
];

/// A picture that is wanted of a table, checked as far as it can be without the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotEntry {
    /// The name of the picture's file, without a directory.
    pub file: String,
    /// As what it is written.
    pub format: PictureFormat,
    /// What to draw.
    pub request: Request,
    /// A table with published values of the same columns.
    pub published: Option<PathBuf>,
}

/// How a picture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// As shapes.
    Svg,
    /// As dots.
    Png,
}

impl PictureFormat {
    /// What a browser calls it.
    pub const fn media_type(self) -> &'static str {
        match self {
            PictureFormat::Svg => "image/svg+xml",
            PictureFormat::Png => "image/png",
        }
    }

    /// As the end of a file's name says.
    ///
    /// # Errors
    /// It says something else; the message is without the place where the name stands.
    pub fn of(path: &Path) -> Result<PictureFormat, CliError> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(PictureFormat::Svg),
            Some("png") => Ok(PictureFormat::Png),
            _ => {
                let message = format!("{}: a picture is an SVG or a PNG file", path.display());
                Err(CliError::new(message).with_help("give it a name that ends with `.svg` or `.png`"))
            }
        }
    }
}

impl PlotEntry {
    /// That a table with these columns has what the plot, the `index`-th of the document, is to show.
    ///
    /// # Errors
    /// A column is not there, or what lies up has no numbers.
    pub fn check_columns(&self, document: &Document, index: usize, columns: &[Column]) -> Result<(), CliError> {
        let Request { x, y, by, conditions, .. } = &self.request;
        let named = [("x", x)].into_iter().chain(y.iter().map(|y| ("y", y))).chain(by.iter().map(|by| ("by", by)));
        let named = named.chain(conditions.iter().map(|condition| ("where", &condition.column)));
        for (role, name) in named {
            let key = format!("plot.{index}.{role}");
            let Some(column) = columns.iter().find(|column| column.name == *name) else {
                let near = suggestion::nearest(name, columns.iter().map(|column| column.name.as_str()));
                let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
                let error = document.fault(&key, format!("`{key}` names `{name}`, which is no column of the results"));
                return Err(error.with_help(format!("{near}docs/sweeps.md and docs/output.md list every column")));
            };
            if role == "y" && column.kind == report::Kind::Text {
                let error = document.fault(&key, format!("`{key}` names `{name}`, whose cells are words"));
                return Err(error.with_help("name a column of numbers"));
            }
        }
        Ok(())
    }
}

/// As the file has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPlot {
    file: String,
    kind: Option<String>,
    x: String,
    y: Texts,
    by: Option<Texts>,
    r#where: Option<Texts>,
    log_x: Option<bool>,
    log_y: Option<bool>,
    title: Option<String>,
    x_label: Option<String>,
    y_label: Option<String>,
    published: Option<String>,
    crossovers: Option<bool>,
}

impl RawPlot {
    /// Checks all `[[plot]]` of a document.
    ///
    /// # Errors
    /// A value is none of a key's values, a published table cannot be read, or two plots have one file.
    pub fn check_all(document: &Document, plots: Vec<RawPlot>) -> Result<Vec<PlotEntry>, CliError> {
        let mut entries: Vec<PlotEntry> = Vec::with_capacity(plots.len());
        for (index, raw) in plots.into_iter().enumerate() {
            let entry = raw.check(document, index)?;
            if entries.iter().any(|other| other.file == entry.file) {
                let message = format!("`plot.{index}.file` is {:?}, as of another plot", entry.file);
                let error = document.fault(&format!("plot.{index}.file"), message);
                return Err(error.with_help("give each plot a file of its own"));
            }
            entries.push(entry);
        }
        Ok(entries)
    }

    fn check(self, document: &Document, index: usize) -> Result<PlotEntry, CliError> {
        let key = |name: &str| format!("plot.{index}.{name}");
        let path = Path::new(&self.file);
        let format = PictureFormat::of(path).ok().filter(|_| path.file_name() == Some(path.as_os_str()));
        let Some(format) = format else {
            let message = format!("`{}` is {:?}, which is no name of a picture", key("file"), self.file);
            let error = document.fault(&key("file"), message);
            return Err(error.with_help("give a name without a directory, that ends with `.svg` or `.png`"));
        };
        let kind = match &self.kind {
            Some(kind) => document.choice(&key("kind"), kind, &Kind::ALL)?,
            None => Kind::Lines,
        };
        let texts = |texts: Option<Texts>| texts.map_or(Vec::new(), |texts| texts.0);
        let conditions = Condition::parse_all(&texts(self.r#where)).map_err(|error| {
            document.fault(&key("where"), format!("`{}`: {error}", key("where"))).with_help_of(&error)
        })?;
        let published = self.published.map(|written| document.linked(&key("published"), &written)).transpose()?;
        let request = Request {
            kind,
            x: self.x,
            y: self.y.0,
            by: texts(self.by),
            conditions,
            x_spacing: spacing(self.log_x.unwrap_or(false)),
            y_spacing: spacing(self.log_y.unwrap_or(false)),
            title: self.title,
            x_label: self.x_label,
            y_label: self.y_label,
            crossovers: self.crossovers.unwrap_or(false),
        };
        request.check(published.is_some()).map_err(|error| {
            document.fault(&format!("plot.{index}"), format!("`plot.{index}`: {error}")).with_help_of(&error)
        })?;
        Ok(PlotEntry { file: self.file, format, request, published })
    }
}

/// As a flag or key for a logarithmic axis says.
pub const fn spacing(log: bool) -> Spacing {
    if log { Spacing::Log } else { Spacing::Linear }
}

/// A text, or a list of texts.
#[derive(Debug)]
struct Texts(Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = items.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}
