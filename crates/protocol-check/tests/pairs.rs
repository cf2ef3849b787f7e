//! The planted pairs: a legal log per rule, and an illegal one that breaks this rule and no other.

use protocol_check::{Rule, Sort, audit, planted};

#[test]
fn every_rule_separates_its_pair() {
    for rule in Rule::ALL {
        let pair = planted::pair(rule);
        let clean = audit(&pair.system, pair.dialect, &pair.legal);
        assert!(clean.is_empty(), "{rule}: {}", clean[0]);
        let found = audit(&pair.system, pair.dialect, &pair.illegal);
        assert_eq!(found.iter().map(|violation| violation.rule).collect::<Vec<_>>(), [rule], "{found:#?}");
    }
}

#[test]
fn pairs_of_distances_are_off_by_one_clock_in_their_last_command() {
    for rule in Rule::ALL {
        let pair = planted::pair(rule);
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
