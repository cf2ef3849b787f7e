//! Prints the table of `docs/energy.md`: table 3 of the paper for every current set of
//! `configs/currents`, of DDR3.

#![expect(clippy::print_stdout, reason = "printing is what it is for")]

mod files;
mod table;

fn main() {
    let sets = files::all();
    let rows = table::rows(sets.iter().map(|(_, set)| set));
    print!("{}", table::markdown(&rows));
    assert_eq!(rows.first().map(|row| row.name.as_str()), Some("2 Gb x8 -25E"), "the default set is the nearest one");
}
