//! Arguments of `record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// A way to record a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Recorder {
    /// Every access: qemu-user with a plugin, about 10 ns per instruction
    Qemu,
    /// Every access: valgrind's lackey, about 2 us per instruction
    Lackey,
    /// Page faults: perf with tracepoints, at the speed of the program
    Perf,
}

/// `record`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Children and programs that it executes are recorded too, until the last of them ends. The output of the program is its own; \
    the summary goes to standard error. The exit code is that of the program.\n\n\
    Examples:\n  \
    rowclone-sim record -o sort.rct.zst -- sort /usr/share/dict/words\n  \
    rowclone-sim record -o redis.rct.zst -- redis-server --port 7777\n  \
    rowclone-sim record --recorder perf -o faults.rct.zst -- sh -c 'find / -xdev | wc -l'"
)]
pub struct RecordArgs {
    /// The file to write: `NAME.rct.zst`, or `NAME.rct` for one that is not compressed
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The recorder [default: the first of this list that the machine has]
    #[arg(long, value_name = "NAME", value_enum)]
    pub recorder: Option<Recorder>,
    /// Records the bytes of each access too (qemu only)
    #[arg(long)]
    pub contents: bool,
    /// Level of the compression, 1 to 22
    #[arg(long, value_name = "N", default_value_t = crate::recording::LEVEL, value_parser = clap::value_parser!(i32).range(1..=22))]
    pub level: i32,
    /// Runs the program once more without recorder, and prints how much longer the recording took
    #[arg(long)]
    pub overhead: bool,
    /// The plugin of qemu [default: `librowclone_record_qemu.so` beside rowclone-sim]
    #[arg(long, value_name = "PATH")]
    pub plugin: Option<PathBuf>,
    /// Replaces the file if it exists already
    #[arg(long)]
    pub force: bool,
    /// The program and its arguments
    #[arg(value_name = "PROGRAM", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub program: Vec<OsString>,
}
