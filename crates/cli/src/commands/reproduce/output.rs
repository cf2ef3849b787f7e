//! Options that the tables of runs share: checks, format and picture.

use std::path::PathBuf;

use clap::Args;
use report::plot::Chart;
use report::plot_file::PictureFormat;
use rowclone_config::Failure;
use rowclone_config::{AtomicFile, Existing};

use crate::args::OutputFormat;
use crate::commands::plot;

/// What is checked and printed.
#[derive(Debug, Args)]
pub struct OutputArgs {
    /// Checks commands against the rules, and each load against a flat, coherent memory
    #[arg(long)]
    pub check: bool,
    /// Format of the tables
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

/// The picture of a table. Each command describes it.
#[derive(Debug, Args)]
pub struct PictureArgs {
    /// Draws the table; the name ends with `.svg` or `.png`
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Replaces an existing picture
    #[arg(long, requires = "plot")]
    pub force: bool,
}

/// A file that is open for a picture.
pub struct PictureFile(Option<(PictureFormat, AtomicFile)>);

impl PictureArgs {
    /// Opens the file before the runs, so that a name that cannot be written is an error at once.
    ///
    /// # Errors
    /// The name does not end as one of a picture; the file exists or cannot be written.
    pub fn open(&self) -> Result<PictureFile, Failure> {
        let open = |path: &PathBuf| {
            Ok((PictureFormat::of(path)?, AtomicFile::create(path, Existing::with_force(self.force))?))
        };
        self.plot.as_ref().map(open).transpose().map(PictureFile)
    }
}

impl PictureFile {
    /// Draws a chart, if a picture is wanted.
    ///
    /// # Errors
    /// The picture cannot be encoded or written.
    pub fn draw(self, chart: impl FnOnce() -> Chart) -> Result<(), Failure> {
        self.0.map_or(Ok(()), |(format, file)| plot::complete(file, format, &chart()).map(|_| ()))
    }
}
