//! Formatting of rules: names of commands, and distances as formulas.

use dram_core::rules::{Origin, Scope, maxima, table};
use dram_core::{Kind, Rule};
use dram_spec::{Density, Standard, System, Width};

#[test]
fn a_distance_is_printed_as_its_terms() {
    let formula = |name: &str| table(Standard::Ddr3).rules.iter().find(|rule| rule.name == name).map(Rule::formula);
    let expected = [
        ("tRCD", "tRCD"),
        ("tWR", "CWL + BL/2 + tWR"),
        ("RD-WR", "CL + BL/2 + 2 nCK - CWL"),
        ("tRDPDEN", "CL + BL/2 + 1 nCK"),
        ("REF-window", "2 tREFI"),
        ("RBM", "8 ns x (hops + 1)"),
    ];
    for (name, text) in expected {
        assert_eq!(formula(name).as_deref(), Some(text), "{name}");
    }
    assert!(maxima(&System::paper(1, Density::Gb2, Width::X8)).iter().any(|maximum| maximum.formula() == "9 tREFI"));
}

#[test]
fn no_two_kinds_of_command_have_one_name() {
    let mut names: Vec<&str> = Kind::ALL.iter().map(|kind| kind.name()).collect();
    assert!(["ACT", "ACT (copy)", "PREA", "TRANSFER", "PDX (slow)", "SRX"].iter().all(|name| names.contains(name)));
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Kind::COUNT);
}

#[test]
fn scopes_and_sources_are_printed_in_words() {
    let scopes = [Scope::Bank, Scope::Group, Scope::Rank, Scope::OtherRanks, Scope::Channel];
    assert_eq!(scopes.map(|scope| scope.to_string()), ["bank", "bank group", "rank", "other ranks", "channel"]);
    assert_eq!(format!("{:>6}|", Scope::Bank), "  bank|");
    for (origin, text) in [
        (Origin::Jesd79_3("ACT to PRE"), "JESD79-3: ACT to PRE"),
        (Origin::Jesd79_2("ACT to PRE"), "JESD79-2: ACT to PRE"),
        (Origin::Jesd79_4("ACT to PRE"), "JESD79-4: ACT to PRE"),
        (Origin::Jesd79_5("ACT to PRE"), "JESD79-5: ACT to PRE"),
        (Origin::Public("a datasheet"), "a datasheet"),
        (Origin::RowClone("a copy"), "RowClone: a copy"),
        (Origin::Lisa("8 ns a hop"), "LISA: 8 ns a hop"),
        (Origin::Project("TRANSFER"), "this project: TRANSFER"),
    ] {
        assert_eq!(origin.to_string(), text);
    }
}
