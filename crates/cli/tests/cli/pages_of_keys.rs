//! The tables of keys in the documentation are generated from the descriptions of the keys.
//!
//! `UPDATE_PAGES=1 cargo test -p rowclone-cli pages_of_keys` writes them anew.

use std::fs;

use rowclone_config::{currents, machine, page, scenario, system};

use crate::common::workspace;

/// The tables of a page, each between `<!-- name -->` and `<!-- end -->`.
#[track_caller]
fn check(name: &str, tables: &[(&str, String)]) {
    let path = workspace().join("docs").join(name);
    let found = fs::read_to_string(&path).unwrap();
    let mut expected = found.clone();
    for (name, table) in tables {
        let begin = format!("<!-- {name} -->\n");
        let (before, rest) = expected.split_once(&begin).unwrap_or_else(|| panic!("no {begin}"));
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        expected = format!("{before}{begin}\n{table}\n<!-- end -->{after}");
    }
    if std::env::var_os("UPDATE_PAGES").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert!(found == expected, "docs/{name} differs from the keys: UPDATE_PAGES=1 writes it anew");
}

#[test]
fn the_page_about_input_has_every_key() {
    check(
        "input.md",
        &[
            ("keys of a system", page::keys(system::KEYS)),
            ("keys of a scenario", page::keys(scenario::KEYS)),
            ("kinds of workload", page::workload_kinds()),
            ("keys of a current set", page::keys(currents::KEYS)),
        ],
    );
}

#[test]
fn the_page_about_cores_has_every_key() {
    check("cores.md", &[("keys of a machine", page::keys(machine::KEYS))]);
}

#[test]
fn the_page_about_sweeps_has_every_key() {
    check("sweeps.md", &[("keys of a sweep", page::keys(rowclone_sweep::KEYS))]);
}
