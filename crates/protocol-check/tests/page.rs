//! The rules of the checker against the tables of `docs/rules.md`.

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

#[test]
fn the_rules_are_the_rows_of_the_page_in_its_order() {
    let page: Vec<_> = rows().into_iter().map(|(sort, cells)| (sort, cells[0])).collect();
    let checker: Vec<_> = Rule::ALL.into_iter().map(|rule| (rule.sort(), rule.name())).collect();
    assert_eq!(page, checker);
}

#[test]
fn sources_are_those_of_the_page() {
    for (rule, (sort, cells)) in Rule::ALL.into_iter().zip(rows()) {
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
