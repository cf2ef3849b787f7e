//! The words of `plot`.

use std::path::PathBuf;

use clap::Args;
use report::plot::ChartKind;

use super::{Named, named};

/// How `plot` shows points.
const KINDS: [Named<ChartKind>; 5] = [
    (
        "line",
        "Lines with marks; of repeated values the median, and a bar from the least to the greatest",
        ChartKind::Lines,
    ),
    ("bar", "Bars side by side; repeated values as for lines", ChartKind::Bars),
    (
        "stacked",
        "Stacked bars: a part per `--y` or per value of `--by`; of repeated values the mean",
        ChartKind::Stacked,
    ),
    (
        "heat",
        "Colored cells: `--x` horizontal, `--by` vertical, `--y` as color; of repeated values the median",
        ChartKind::Heat,
    ),
    ("box", "Boxes: quartiles, median, least and greatest of repeated values", ChartKind::Boxes),
];

/// `plot`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "Examples:\n  \
    rowclone-sim plot out/results.csv --kind stacked --x policy -o energy.png \\\n    \
    --y energy_activate_nj,energy_copy_activation_nj,energy_read_nj,energy_write_nj\n  \
    rowclone-sim plot out/operations.csv --kind bar --x operation --y latency_ns --by policy")]
pub struct PlotArgs {
    /// The table: a CSV file with a line of column names
    #[arg(value_name = "TABLE.csv")]
    pub table: PathBuf,
    /// Column of the horizontal axis
    #[arg(long, value_name = "COLUMN")]
    pub x: String,
    /// Columns of the vertical axis, of one unit; several columns are a series each
    #[arg(long, value_name = "COLUMN", required = true, value_delimiter = ',')]
    pub y: Vec<String>,
    /// Columns whose values are a series each; the values of several columns are combined
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub by: Vec<String>,
    /// Kind of the chart
    #[arg(long, value_parser = named(&KINDS), default_value = "line")]
    pub kind: ChartKind,
    /// Draws only lines with this value; several values of one column are alternatives
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub r#where: Vec<String>,
    /// Logarithmic horizontal axis
    #[arg(long)]
    pub log_x: bool,
    /// Logarithmic vertical axis
    #[arg(long)]
    pub log_y: bool,
    /// Title of the chart
    #[arg(long)]
    pub title: Option<String>,
    /// Title of the horizontal axis, instead of the name of the column
    #[arg(long, value_name = "TEXT")]
    pub x_label: Option<String>,
    /// Title of the vertical axis, instead of the name of the columns
    #[arg(long, value_name = "TEXT")]
    pub y_label: Option<String>,
    /// Table of published values with the same columns, drawn as hollow marks
    #[arg(long, value_name = "FILE.csv")]
    pub published: Option<PathBuf>,
    /// Marks the points where lines cross
    #[arg(long)]
    pub crossovers: bool,
    /// File of the picture, which ends with `.svg` or `.png` [default: the table's name with `.svg`]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces an existing file
    #[arg(long)]
    pub force: bool,
}
