//! `rowclone-sim reproduce`: published tables beside simulated ones. Each table is a file, with its arguments.

mod apps;
mod copies;
mod copyengine;
mod fastcopy;
mod forkbench;
mod injection;
mod ioat;
mod multicore;
mod output;
mod recordings;
mod zi;

use clap::Subcommand;
use rowclone_config::Failure;

/// The published tables.
#[derive(Debug, Subcommand)]
pub enum Reproduce {
    /// Table 3 of the RowClone paper: latency and energy of copying and zeroing 4 KB
    Table3(copies::Table3Args),
    /// The forkbench of the RowClone paper on its cores: copy share of traffic, IPC and energy under FPM and PSM
    Forkbench(forkbench::ForkbenchArgs),
    /// Recorded programs beside the six applications of the RowClone paper: IPC, energy and bytes, by size of the cache
    Apps(apps::AppsArgs),
    /// Mixes of copy-intensive and memory-intensive programs on 2, 4 and 8 cores: weighted speedup, fairness, energy
    Multicore(multicore::MulticoreArgs),
    /// The copy engine of Zhao et al.: gains of its three modes in the receive processing of TCP/IP
    #[command(name = "copyengine")]
    CopyEngine(copyengine::CopyEngineArgs),
    /// The table of the LISA paper: latency and energy of copies of 8 KB, by LISA, RowClone and the channel
    Lisa(copies::LisaArgs),
    /// Zeroing of pages and their first use, by a loop, RowClone and RowClone-ZI
    Zi(zi::ZiArgs),
    /// The DMA engine of the I/OAT measurements (2006): copies by size, CPU utilization of receiving packets, and
    /// servers
    Ioat(ioat::IoatArgs),
    /// Copy loops of a core (FreeBSD on P5, P6 and 486): MB/s by size, also on present machines
    #[command(name = "fastcopy")]
    FastCopy(fastcopy::FastCopyArgs),
    /// Cache injection and prefetching (León and Maccabe): memory reads and time of a program that reads its messages
    Injection(injection::InjectionArgs),
}

impl Reproduce {
    /// Simulates the table and returns it as text.
    ///
    /// # Errors
    /// Error of the table.
    pub fn run(&self) -> Result<String, Failure> {
        match self {
            Reproduce::Table3(args) => copies::table3(args),
            Reproduce::Forkbench(args) => forkbench::run(args),
            Reproduce::Apps(args) => apps::run(args),
            Reproduce::Multicore(args) => multicore::run(args),
            Reproduce::CopyEngine(args) => copyengine::run(args),
            Reproduce::Lisa(args) => copies::lisa(args),
            Reproduce::Zi(args) => zi::run(args),
            Reproduce::Ioat(args) => ioat::run(args),
            Reproduce::FastCopy(args) => fastcopy::run(args),
            Reproduce::Injection(args) => injection::run(args),
        }
    }
}
