//! `rowclone-sim reproduce lisa`: the published copies of LISA and `RowClone` beside the simulated ones.

use clap::Args;
use dram_spec::{BankId, Location, Operation, Row, SpeedBin};
use memctrl::policy::copy::{BASELINE, CopyPolicy, LISA, ROWCLONE};
use report::CopyTable;
use report::published_copies::PublishedCopy;
use report::table3::Simulated;
use rowclone::Chip;
use rowclone_sim::{MemorySystem, SystemBuilder};

use crate::args::Format;
use crate::interrupt;
use rowclone_config::{Failure, currents};

/// `reproduce lisa`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rowclone-sim reproduce lisa --format json")]
pub struct LisaArgs {
    /// The current set: the name of a shipped set, or a TOML file
    #[arg(long, value_name = "SET", default_value = "4 Gb x8 E/J-die 1600")]
    pub currents: String,
    /// Format of the table
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Hops of the rows of LISA, in the order of [`PUBLISHED`].
const HOPS: [u32; 6] = [1, 3, 7, 15, 31, 63];

/// The published rows: Chang et al., "Low-Cost Inter-Linked Subarrays (LISA)", HPCA 2016.
#[rustfmt::skip]
const PUBLISHED: [(&str, PublishedCopy); 4 + HOPS.len()] = [
    ("copy/channel",      PublishedCopy { latency_ns: 1366.25, energy_uj: Some(6.2) }),
    ("copy/psm2",         PublishedCopy { latency_ns: 1363.75, energy_uj: Some(4.33) }),
    ("copy/psm",          PublishedCopy { latency_ns:  701.25, energy_uj: Some(2.08) }),
    ("copy/fpm",          PublishedCopy { latency_ns:   83.75, energy_uj: Some(0.06) }),
    ("copy/lisa 1 hop",   PublishedCopy { latency_ns:  148.5,  energy_uj: Some(0.09) }),
    ("copy/lisa 3 hops",  PublishedCopy { latency_ns:  164.5,  energy_uj: None }),
    ("copy/lisa 7 hops",  PublishedCopy { latency_ns:  196.5,  energy_uj: Some(0.12) }),
    ("copy/lisa 15 hops", PublishedCopy { latency_ns:  260.5,  energy_uj: Some(0.17) }),
    ("copy/lisa 31 hops", PublishedCopy { latency_ns:  388.5,  energy_uj: None }),
    ("copy/lisa 63 hops", PublishedCopy { latency_ns:  644.5,  energy_uj: None }),
];

const TITLE: &str = "LISA (HPCA 2016): one 8 KB copy, DDR3-1600 11-11-11, 8 KB rows, 1 rank";
const NOTE: &str = "The hops take 8 ns x (hops + 1), rounded up to clocks, and 0.0057 uJ each, which is the slope of \
    the \
                    published energies. The other energies are of the current set.";

/// Bytes of a copy: a row.
const BYTES: u64 = 8192;

/// Simulates the rows and prints them.
///
/// # Errors
/// An unknown current set; a stopped run.
pub fn run(args: &LisaArgs) -> Result<String, Failure> {
    let currents = currents::named_or_read(&args.currents)?;
    let bin = SpeedBin::named("1600K").expect("it is in the table of bins");
    let builder = SystemBuilder::default().bin(bin).channels(1).ranks(1).row_bytes(BYTES);
    let builder = builder.chips(currents.density(), currents.width()).currents(currents.clone());
    let system = builder.chip(Chip::offering(Chip::names())).build();
    let system = system.map_err(|error| Failure::new(&error).with_help(error.help()))?;
    let mut simulated = Vec::with_capacity(PUBLISHED.len());
    for (policy, location) in copies(&system) {
        simulated.push(simulate(&system, policy, location)?);
    }
    let table = CopyTable::new((TITLE, NOTE), currents.name().to_string(), &PUBLISHED, simulated);
    args.format.render(|| table.to_text(), &table)
}

/// The policy and the source of each row of the table. The destination is row 0 of bank 0.
fn copies(system: &MemorySystem) -> impl Iterator<Item = (&'static dyn CopyPolicy, Location)> {
    let first_of = |subarray| system.system().geometry.rows_of_subarray(subarray).start;
    let row = |row| Location { row: Row(row), ..Location::default() };
    let other_bank = Location { bank: BankId { rank: 0, bank: 1 }, ..Location::default() };
    let published =
        [(BASELINE, row(first_of(1))), (ROWCLONE, row(first_of(1))), (ROWCLONE, other_bank), (ROWCLONE, row(1))];
    published.into_iter().chain(HOPS.map(|hops| (LISA, row(first_of(hops)))))
}

fn simulate(system: &MemorySystem, policy: &'static dyn CopyPolicy, src: Location) -> Result<Simulated, Failure> {
    let address = |location| system.map().address(location).expect("the memory has the row");
    let operation = Operation::Copy { src: address(src), dst: address(Location::default()), bytes: BYTES };
    let (completion, commands) = system.alone(policy, operation, Some(&interrupt::flag()))?;
    let latency = completion.latency();
    Ok(Simulated {
        latency_ns: system.system().clock().ns(latency),
        latency_cycles: latency.0,
        energy_nj: system.prices().expect("the system has a current set").operation(&commands).operation().nj(),
    })
}
