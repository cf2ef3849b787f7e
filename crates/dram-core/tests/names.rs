//! Formatting of rules: names of commands, and distances as formulas.

use dram_core::rules::{MAXIMA, RULES};
use dram_core::{Kind, Rule};

#[test]
fn a_distance_is_printed_as_its_terms() {
    let formula = |name: &str| RULES.iter().find(|rule| rule.name == name).map(Rule::formula);
    let expected = [
        ("tRCD", "tRCD"),
        ("tWR", "CWL + BL/2 + tWR"),
        ("RD-WR", "CL + BL/2 + 2 nCK - CWL"),
        ("tRDPDEN", "CL + BL/2 + 1 nCK"),
        ("REF-window", "2 tREFI"),
    ];
    for (name, text) in expected {
        assert_eq!(formula(name).as_deref(), Some(text), "{name}");
    }
    assert!(MAXIMA.iter().any(|maximum| maximum.formula() == "9 tREFI"));
}

#[test]
fn no_two_kinds_of_command_have_one_name() {
    let mut names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert!(["ACT", "ACT (copy)", "PREA", "TRANSFER", "PDX (slow)", "SRX"].iter().all(|name| names.contains(name)));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Kind::COUNT);
}
