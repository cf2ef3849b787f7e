//! Definitions of plots: tables `[[plot]]` of a TOML file, or options of the command line.

use std::path::{Path, PathBuf};

use crate::CellColumn;
use crate::plot::{ChartKind, ChartRequest, Condition, Spacing};

use rowclone_config::document::Section;
use rowclone_config::key::{Holds, Key};
use rowclone_config::{Document, Failure, suggestion};

/// All keys of a `[[plot]]`.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key::new("plot", Holds::Tables, "", "pictures of the results, drawn into the output directory ([plots.md](plots.md))").or("none"),
    Key::new("plot.file", Holds::Text, "\"latency.svg\"", "file of the picture, without a directory").values("a name that ends with `.svg` or `.png`"),
    Key::new("plot.kind", Holds::Name(|| ChartKind::ALL.map(|(name, _)| name).into()), "\"line\"", "kind of the picture").or("`line`"),
    Key::new("plot.x", Holds::Text, "\"operation.0.bytes\"", "column of the horizontal axis").values("a column"),
    Key::new("plot.y", Holds::Texts, "\"copy_latency_mean_ns\"", "columns of the vertical axis").values("a column of numbers, or a list of them"),
    Key::new("plot.by", Holds::Texts, "\"policy\"", "columns whose values are series of their own").values("a column, or a list of them").or("none"),
    Key::new("plot.where", Holds::Texts, "[\"seed=1\"]", "conditions on the rows that are drawn").values("`column=value`, or a list of them").or("none"),
    Key::new("plot.log_x", Holds::Flag, "true", "logarithmic horizontal axis").or("`false`"),
    Key::new("plot.log_y", Holds::Flag, "true", "logarithmic vertical axis").or("`false`"),
    Key::new("plot.title", Holds::Text, "\"Latency by size\"", "title").or("made from the columns"),
    Key::new("plot.x_label", Holds::Text, "\"size\"", "title of the horizontal axis").or("the column's"),
    Key::new("plot.y_label", Holds::Text, "\"latency\"", "title of the vertical axis").or("the columns'"),
    Key::new("plot.published", Holds::Path, "\"published.csv\"", "table of published values of the same columns").or("none"),
    Key::new("plot.crossovers", Holds::Flag, "true", "marks where two series cross").or("`false`"),
];

/// A plot of a table, checked as far as possible without the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlotEntry {
    /// File name of the picture, without a directory.
    pub file: String,
    /// Format of the file.
    pub format: PictureFormat,
    /// Chart.
    pub request: ChartRequest,
    /// Table with published values of the same columns.
    pub published: Option<PathBuf>,
}

/// Format of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// SVG.
    Svg,
    /// PNG.
    Png,
}

impl PictureFormat {
    /// Media type.
    pub const fn media_type(self) -> &'static str {
        match self {
            PictureFormat::Svg => "image/svg+xml",
            PictureFormat::Png => "image/png",
        }
    }

    /// Format by the extension of a file name.
    ///
    /// # Errors
    /// The extension is of no format. The message does not contain the key of the name.
    pub fn of(path: &Path) -> Result<PictureFormat, Failure> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Ok(PictureFormat::Svg),
            Some("png") => Ok(PictureFormat::Png),
            _ => Err(Failure::at(path, "a picture is an SVG or a PNG file")
                .with_help("give it a name that ends with `.svg` or `.png`")),
        }
    }
}

impl PlotEntry {
    /// Checks that a table with these columns has those of the plot, which is the plot number `index` of the document.
    ///
    /// # Errors
    /// A column is absent, or the column of the vertical axis has no numbers.
    pub fn check_columns(&self, document: &Document, index: usize, columns: &[CellColumn]) -> Result<(), Failure> {
        let ChartRequest { x, y, by, conditions, .. } = &self.request;
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
            if role == "y" && column.kind == crate::CellKind::Text {
                let error = document.fault(&key, format!("`{key}` names `{name}`, whose cells are words"));
                return Err(error.with_help("name a column of numbers"));
            }
        }
        Ok(())
    }
}

/// Reads the plots of all `[[plot]]` of a document.
///
/// # Errors
/// A published table cannot be read, a plot cannot be drawn, or two plots have the same file name.
pub fn check_all(document: &Document) -> Result<Vec<PlotEntry>, Failure> {
    let mut entries: Vec<PlotEntry> = Vec::new();
    for table in document.root().tables("plot") {
        let entry = check(&table)?;
        if entries.iter().any(|other| other.file == entry.file) {
            let message = format!("`{}` is {:?}, as of another plot", table.key("file"), entry.file);
            return Err(table.fault("file", message).with_help("give each plot a file of its own"));
        }
        entries.push(entry);
    }
    Ok(entries)
}

fn check(table: &Section<'_>) -> Result<PlotEntry, Failure> {
    let texts =
        |name| table.get::<Vec<&str>>(name).unwrap_or_default().into_iter().map(str::to_owned).collect::<Vec<_>>();
    let text = |name| table.get::<&str>(name).map(str::to_owned);
    let is_set = |name| table.get(name).unwrap_or(false);
    let file: String = table.of::<&str>("file").to_owned();
    let path = Path::new(&file);
    let format = PictureFormat::of(path).ok().filter(|_| path.file_name() == Some(path.as_os_str()));
    let Some(format) = format else {
        let message = format!("`{}` is {file:?}, which is no name of a picture", table.key("file"));
        return Err(table
            .fault("file", message)
            .with_help("give a name without a directory, that ends with `.svg` or `.png`"));
    };
    let conditions = Condition::parse_all(&texts("where")).map_err(|error| {
        table.fault("where", format!("`{}`: {error}", table.key("where"))).with_help_if(error.help.as_deref())
    })?;
    let published = if table.has("published") { Some(table.linked("published")?) } else { None };
    let request = ChartRequest {
        kind: table.choice("kind", &ChartKind::ALL).unwrap_or(ChartKind::Lines),
        x: table.of::<&str>("x").to_owned(),
        y: texts("y"),
        by: texts("by"),
        conditions,
        x_spacing: spacing(is_set("log_x")),
        y_spacing: spacing(is_set("log_y")),
        title: text("title"),
        x_label: text("x_label"),
        y_label: text("y_label"),
        crossovers: is_set("crossovers"),
    };
    request.check(published.is_some()).map_err(|error| {
        table.fault("", format!("`{}`: {error}", table.key(""))).with_help_if(error.help.as_deref())
    })?;
    Ok(PlotEntry { file, format, request, published })
}

/// Spacing of an axis, from the flag or key for a logarithmic axis.
pub const fn spacing(log: bool) -> Spacing {
    if log { Spacing::Log } else { Spacing::Linear }
}
