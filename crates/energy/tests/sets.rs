//! The files of `configs/currents`, and their table in `docs/energy.md`.

mod common;
#[path = "../examples/current-sets/table.rs"]
mod table;

use common::files;
use dram_spec::{Picojoule, SpeedBin};
use energy::PerSupply;

#[test]
fn every_set_loads_under_a_unique_name_and_has_positive_energies() {
    let sets = files::all();
    assert_eq!(sets.len(), 49, "every set of the sources with IDD0, 2N, 3N, 4R and 4W");
    for (file, set) in &sets {
        let rho = set.standard().definition().background_rho;
        let refresh = set.refresh().map_or(Picojoule(1.0), PerSupply::total);
        for energy in [set.activate(rho).vdd, set.read(), set.write(), refresh] {
            assert!(energy.0 > 0.0 && energy.0.is_finite(), "{file}");
        }
        assert!(!set.raw().source.is_empty(), "{file} names its source");
        assert_eq!(sets.iter().filter(|(_, other)| other.name() == set.name()).count(), 1, "{file}");
        // "4 Gb x8 E/J-die 1600" is in 4gb-x8-ej-die-1600.toml.
        let kebab = set
            .name()
            .to_lowercase()
            .replacen(" gb", "gb", 1)
            .replacen(" mb", "mb", 1)
            .replace('/', "")
            .replace(" -", " ");
        assert_eq!(*file, format!("{}.toml", kebab.replace(' ', "-")));
        assert!(set.name().starts_with(&format!("{} {} ", set.density(), set.width())), "{file}");
    }
}

#[test]
fn every_sets_bin_is_a_common_one_of_its_data_rate() {
    #[rustfmt::skip]
    let common = [
        "800E", "1066G", "1333H", "1600K", "1866M", "2133N", "DDR2-400B", "DDR2-667D", "DDR2-800E", "DDR4-1866M",
        "DDR4-2133P", "DDR4-2400R", "DDR4-2666V", "DDR4-2933Y", "DDR4-3200AA", "DDR5-4800B",
    ];
    for (file, set) in files::all() {
        let slowest = common.map(|name| SpeedBin::named(name).unwrap());
        assert!(slowest.contains(&set.bin()), "{file}");
        let rate = set.bin().clock.mega_transfers().to_string();
        // "8 Gb x8 DDR4-3200 rev D" has the rate after the standard, "8 Gb x8 1600" at its end.
        let standard = format!(" {}-", set.standard().name());
        let end = match set.name().split_once(&standard) {
            Some((_, end)) => end.split(' ').next().unwrap(),
            None => set.name().rsplit(' ').next().unwrap(),
        };
        let speed_codes = [("-25E", "800"), ("-15", "1333"), ("-125", "1600")];
        let named = speed_codes.into_iter().find(|(code, _)| *code == end).map_or(end, |(_, rate)| rate);
        assert_eq!(rate, named, "{file}");
    }
}

/// A selection, not a validation: the default set is the nearest to the paper.
#[test]
fn the_default_set_is_nearest_to_the_paper_and_within_twelve_per_cent_of_it() {
    let sets = files::all();
    let rows = table::rows(sets.iter().map(|(_, set)| set));
    assert_eq!(rows[0].name, "2 Gb x8 -25E");
    assert!(rows[0].largest_deviation() <= 12.0, "{}", rows[0].largest_deviation());
    assert!(rows[1].largest_deviation() > 12.0, "no other set is: {}", rows[1].name);
}

#[test]
fn the_documentation_shows_the_current_table() {
    let page = include_str!("../../../docs/energy.md");
    let sets = files::all();
    let table = table::markdown(&table::rows(sets.iter().map(|(_, set)| set)));
    assert!(page.contains(&table), "put the output of `cargo run -p rowclone-energy --example current-sets` into it");
}
