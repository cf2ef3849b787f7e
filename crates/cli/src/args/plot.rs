//! The words of `plot`.

use std::path::PathBuf;

use clap::Args;
use report::plot::Kind;

use super::{Named, named};

/// How `plot` shows points.
const KINDS: [Named<Kind>; 5] = [
    ("line", "Lines with marks; of repeated points the median, and a bar from the least to the greatest", Kind::Lines),
    ("bar", "Bars side by side, of repeated points as for lines", Kind::Bars),
    (
        "stacked",
        "Bars of parts: of several `--y`, or of the values of `--by`; of repeated points the mean",
        Kind::Stacked,
    ),
    (
        "heat",
        "Coloured cells: `--x` lies across, `--by` up, and the colour is `--y`; of repeated points the median",
        Kind::Heat,
    ),
    ("box", "Boxes: quartiles, median, least and greatest of repeated points", Kind::Boxes),
];

/// `plot`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
#[command(after_help = "Examples:\n  \
    rowclone-sim plot out/results.csv --kind stacked --x policy -o energy.png \\\n    \
    --y energy_activate_nj,energy_copy_activation_nj,energy_read_nj,energy_write_nj\n  \
    rowclone-sim plot out/operations.csv --kind bar --x operation --y latency_ns --by policy")]
pub struct PlotArgs {
    /// The table, a CSV file with a line of column names
    #[arg(value_name = "TABLE.csv")]
    pub table: PathBuf,
    /// The column that lies across
    #[arg(long, value_name = "COLUMN")]
    pub x: String,
    /// The column that lies up; several of one unit are a series each
    #[arg(long, value_name = "COLUMN", required = true, value_delimiter = ',')]
    pub y: Vec<String>,
    /// The column whose values are a series each; several are taken together
    #[arg(long, value_name = "COLUMN", value_delimiter = ',')]
    pub by: Vec<String>,
    /// What to draw
    #[arg(long, value_parser = named(&KINDS), default_value = "line")]
    pub kind: Kind,
    /// Takes only lines with this value; several on one column admit each
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub r#where: Vec<String>,
    /// Spreads `--x` by its logarithm
    #[arg(long)]
    pub log_x: bool,
    /// Spreads `--y` by its logarithm
    #[arg(long)]
    pub log_y: bool,
    /// What stands above
    #[arg(long)]
    pub title: Option<String>,
    /// What stands at the x axis, in place of the column's name
    #[arg(long, value_name = "TEXT")]
    pub x_label: Option<String>,
    /// What stands at the y axis, in place of the columns' name
    #[arg(long, value_name = "TEXT")]
    pub y_label: Option<String>,
    /// Published values with the same column names, drawn over the others as hollow marks
    #[arg(long, value_name = "FILE.csv")]
    pub published: Option<PathBuf>,
    /// Marks where lines cross
    #[arg(long)]
    pub crossovers: bool,
    /// The picture: its name ends with `.svg` or `.png` [default: the table's name with `.svg`]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces a file that exists already
    #[arg(long)]
    pub force: bool,
}
