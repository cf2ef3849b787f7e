//! `rowclone-sim reproduce lisa`: the published copies of LISA and `RowClone` beside the simulated ones.

use dram_spec::{BankId, Location, Operation, Row, SpeedBin};
use memctrl::policy::copy::{BASELINE, CopyPolicy, LISA, ROWCLONE};
use report::LisaTable;
use report::lisa::{HOPS, PUBLISHED};
use report::table3::Simulated;
use rowclone::Chip;
use rowclone_sim::{MemorySystem, SystemBuilder};

use crate::args::LisaArgs;
use crate::interrupt;
use rowclone_config::{Failure, currents};

/// Bytes of a copy: a row.
const BYTES: u64 = 8192;

/// Simulates the rows and prints them.
///
/// # Errors
/// An unknown current set; a stopped run.
pub fn lisa(args: &LisaArgs) -> Result<String, Failure> {
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
    let simulated = simulated.try_into().expect("a run a row");
    let table = LisaTable::new(currents.name().to_string(), simulated);
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
