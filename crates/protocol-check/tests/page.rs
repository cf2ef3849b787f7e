//! The rules of the checker against the tables of `docs/rules.md`.

use dram_spec::Standard;
use protocol_check::{Rule, Sort};

/// The rows of the three rule tables of `docs/rules.md`: the sort and the cells.
fn rows() -> Vec<(Sort, Vec<&'static str>)> {
    let page = include_str!("../../../docs/rules.md");
    let mut sort = None;
    let mut rows = Vec::new();
    for line in page.lines() {
        match line {
            "## Minimum distances" => sort = Some(Sort::Timing),
            "## Maxima" => sort = Some(Sort::Maximum),
            "## State rules" => sort = Some(Sort::State),
            _ if line.starts_with("## ") => sort = None,
            _ => {}
        }
        if let (Some(sort), Some(row)) = (sort, line.strip_prefix("| `")) {
            rows.push((sort, row.split('|').map(|cell| cell.trim().trim_matches('`')).collect()));
        }
    }
    rows
}

/// The rows of the rules of DDR3, with their rules.
fn ddr3_rows() -> impl Iterator<Item = (Rule, Sort, Vec<&'static str>)> {
    let named = |(sort, cells): (Sort, Vec<&'static str>)| {
        (Rule::named(cells[0]).unwrap_or_else(|| panic!("{} is no rule", cells[0])), sort, cells)
    };
    rows().into_iter().map(named).filter(|(rule, ..)| rule.is_in(Standard::Ddr3))
}

#[test]
fn the_rules_of_ddr3_are_the_rows_of_the_page_in_its_order() {
    let page: Vec<_> = ddr3_rows().map(|(rule, sort, _)| (sort, rule)).collect();
    let ddr3 = Rule::ALL.into_iter().filter(|rule| rule.is_in(Standard::Ddr3));
    assert_eq!(page, ddr3.map(|rule| (rule.sort(), rule)).collect::<Vec<_>>());
}

#[test]
fn the_page_names_every_rule() {
    let page = include_str!("../../../docs/rules.md");
    for rule in Rule::ALL {
        assert!(page.contains(&format!("`{rule}`")), "{rule}");
    }
}

#[test]
fn sources_are_those_of_the_page() {
    for (rule, sort, cells) in ddr3_rows() {
        match sort {
            Sort::Timing => assert_eq!(rule.source(), cells[4], "{rule}"),
            Sort::Maximum => assert_eq!(rule.source(), cells[3], "{rule}"),
            // The page has no source for `address` and `order`, which concern the log and not the device.
            Sort::State if cells[2].is_empty() => assert!(matches!(rule, Rule::Address | Rule::Order), "{rule}"),
            Sort::State => assert_eq!(rule.source(), cells[2], "{rule}"),
        }
    }
}

#[test]
fn named_is_the_inverse_of_name() {
    for rule in Rule::ALL {
        assert_eq!(Rule::named(&rule.to_string()), Some(rule));
    }
    assert_eq!(Rule::named("tRCDx"), None);
}
