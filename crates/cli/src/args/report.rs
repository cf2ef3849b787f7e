//! The words of `report`.

use std::path::PathBuf;

use clap::Args;

/// `report`.
#[derive(Debug, Args)]
#[command(
    after_help = "The page needs no network and no other file. Opened as `report.html#sort=runs,3,descending`, it is \
        sorted by \
    the fourth column of the table `runs`.\n\n\
    Examples:\n  \
    rowclone-sim report copy-size -o copy-size.html\n  \
    rowclone-sim report page-copy -o page-copy.html --title \"A page, copied\""
)]
pub struct ReportArgs {
    /// Directory of `sweep --out` or of `run --out`
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// File of the page
    #[arg(short, long, value_name = "FILE.html")]
    pub output: PathBuf,
    /// Title of the page [default: the name of the sweep or the scenario]
    #[arg(long)]
    pub title: Option<String>,
    /// Replaces an existing file
    #[arg(long)]
    pub force: bool,
}
