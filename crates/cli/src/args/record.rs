//! Arguments of `record`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rowclone_config::quantity;

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
    after_help = "Children and programs that it executes are recorded too, until the last of them ends. The output of \
        the program is its own; \
    the summary goes to standard error. The exit code is that of the program.\n\n\
    Examples:\n  \
    rowclone-sim record -o sort.rct.zst -- sort /usr/share/dict/words\n  \
    rowclone-sim record -o redis.rct.zst -- redis-server --port 7777\n  \
    rowclone-sim record --recorder perf -o faults.rct.zst -- sh -c 'find / -xdev | wc -l'\n  \
    rowclone-sim record --kernel /boot/vmlinuz-6.1.0-56-cloud-amd64 -o boot.rct.zst\n  \
    rowclone-sim record --kernel vmlinuz --from run_init_process -o guest.rct.zst -- sh -c 'seq 1000 | sort'"
)]
pub struct RecordArgs {
    /// The file to write: `NAME.rct.zst`, or `NAME.rct` for one that is not compressed
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// The recorder [default: the first of this list that the machine has]
    #[arg(long, value_name = "NAME", value_enum)]
    pub recorder: Option<Recorder>,
    /// Records the bytes of each access too (qemu without `--kernel` only)
    #[arg(long)]
    pub contents: bool,
    /// Level of the compression, 1 to 22
    #[arg(
        long,
        value_name = "N",
        default_value_t = crate::recording::LEVEL,
        value_parser = clap::value_parser!(i32).range(1..=22)
    )]
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
    /// The guest
    #[command(flatten)]
    pub guest: GuestArgs,
    /// The program and its arguments. In a guest: an applet of busybox, or the path of a static program, which is
    /// copied into it
    #[arg(
        value_name = "PROGRAM",
        required_unless_present = "kernel",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
}

/// The guest of `record --kernel`.
#[derive(Clone, Debug, Args)]
pub struct GuestArgs {
    /// Records a guest that boots this kernel of Linux: all accesses of user and kernel at physical addresses, and
    /// the kernel's copies and clearings of pages
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<PathBuf>,
    /// The guest's initial RAM disk; it must power off at its end [default: busybox, and the program]
    #[arg(long, value_name = "FILE", requires = "kernel", conflicts_with = "program")]
    pub initrd: Option<PathBuf>,
    /// The guest's memory, 64 MiB to 2 GiB
    #[arg(long, value_name = "BYTES", requires = "kernel", value_parser = memory, default_value = "256MiB")]
    pub memory: u64,
    /// Further words of the kernel's command line
    #[arg(long, value_name = "WORDS", requires = "kernel", allow_hyphen_values = true)]
    pub append: Option<String>,
    /// Addresses of the kernel's symbols, as in System.map [default: `/proc/kallsyms` of a boot before]
    #[arg(long, value_name = "FILE", requires = "kernel")]
    pub symbols: Option<PathBuf>,
    /// The kernel's function with whose first call the recording begins: `start_kernel` after the decompression,
    /// `run_init_process` at the start of the first program
    #[arg(long, value_name = "SYMBOL", requires = "kernel", default_value = "start_kernel")]
    pub from: String,
}

/// Bytes of the guest's memory. Its physical addresses are consecutive up to 2 GiB.
fn memory(text: &str) -> Result<u64, String> {
    let bytes = quantity::size(text).or_else(|| quantity::number(text));
    let is_sound = |bytes: &u64| (64 << 20..=2 << 30).contains(bytes) && bytes.is_multiple_of(1 << 20);
    bytes.filter(is_sound).ok_or_else(|| "give whole MiB, from `64MiB` to `2GiB`".to_owned())
}
