//! The planted pairs: a legal log per rule, and an illegal one that breaks this rule and no other.

mod common;

use common::planted::{self, Pair};
use dram_spec::Standard;
use protocol_check::{Rule, Sort, audit};

/// The pair of each rule, and all pairs of each standard.
fn pairs() -> impl Iterator<Item = (Rule, Pair)> {
    let of_rules = Rule::ALL.into_iter().map(|rule| (rule, planted::pair(rule)));
    of_rules.chain(Standard::ALL.into_iter().flat_map(planted::pairs))
}

#[test]
fn every_rule_separates_its_pair() {
    for (rule, pair) in pairs() {
        let name = format!("{} {rule}", pair.system.bin.name);
        let clean = audit(&pair.system, pair.dialect, &pair.legal);
        assert!(clean.is_empty(), "{name}: {}", clean[0]);
        let found = audit(&pair.system, pair.dialect, &pair.illegal);
        let expected: Vec<_> = [rule].into_iter().chain(pair.also).collect();
        assert_eq!(found.iter().map(|violation| violation.rule).collect::<Vec<_>>(), expected, "{name}: {found:#?}");
    }
}

#[test]
fn pairs_of_distances_are_off_by_one_clock_in_their_last_command() {
    for (rule, pair) in pairs() {
        let found = audit(&pair.system, pair.dialect, &pair.illegal)[0];
        assert_eq!(found.command, pair.illegal.commands.last().copied(), "{rule}");
        match rule.sort() {
            Sort::Timing | Sort::Maximum => assert_eq!(found.clocks_short, Some(1), "{rule}"),
            Sort::State => assert_eq!(found.bound, None, "{rule}"),
        }
        if rule.sort() == Sort::Timing {
            let earlier = found.earlier.expect("a distance has two ends");
            assert_eq!(found.at.since(earlier.at), found.found().unwrap(), "{rule}");
        }
    }
}

/// Each rule that DDR3 does not have has a pair in every standard that has the rule.
#[test]
fn every_standard_has_pairs_of_its_own_rules() {
    for standard in Standard::ALL {
        let pairs = planted::pairs(standard);
        assert!(pairs.iter().all(|(rule, pair)| rule.is_in(standard) && pair.system.bin.standard == standard));
        for rule in Rule::ALL.into_iter().filter(|rule| rule.is_in(standard) && !rule.is_in(Standard::Ddr3)) {
            assert!(pairs.iter().any(|(of, _)| *of == rule), "{} {rule}", standard.name());
        }
    }
}
