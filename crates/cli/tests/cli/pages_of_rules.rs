//! The tables of rules in the documentation are generated from those of the device.
//!
//! `UPDATE_PAGES=1 cargo test -p rowclone-cli pages_of` writes them anew.

use std::fmt::Write as _;

use dram_core::{Kind, Rule, When, maxima, table};
use dram_spec::geometry::native_row_bytes;
use dram_spec::{Geometry, RawGeometry, Standard, System};

use crate::pages_of_keys::check;

/// A system of the standard's first bin and chip.
fn system(standard: Standard) -> System {
    let definition = standard.definition();
    let (bin, chip) = (&definition.bins[0], &definition.chips[0]);
    let (density, width) = (chip.density, chip.width);
    let row_bytes = native_row_bytes(standard, density, width);
    let raw = RawGeometry { standard, channels: 1, ranks: 1, density, width, row_bytes, rows_per_subarray: 512.into() };
    System::new(bin, Geometry::try_from(raw).unwrap())
}

/// Kinds as a cell: all but the two views that a bank has of a TRANSFER are "any".
fn kinds(kinds: &[Kind]) -> String {
    if kinds.len() == Kind::COUNT - 2 {
        return "any".to_owned();
    }
    kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

/// The systems to which a rule applies, and commands that must lie between.
fn conditions(rule: &Rule) -> String {
    let when = rule.when.iter().map(|when| match when {
        When::CopiesCounted => "with `copy_activations = \"counted\"`".to_owned(),
        When::CopiesFree => "with `copy_activations = \"free\"`".to_owned(),
        When::ManyBanks => "chips of more than four banks".to_owned(),
        When::ReadModifyWrite => "x4 chips".to_owned(),
        When::WholeWrites => "x8 and x16 chips".to_owned(),
        When::LongWritePreamble => "with `device.timings.tWPRE = 2`".to_owned(),
    });
    let between = (!rule.between.is_empty()).then(|| format!("after a {} between them", kinds(rule.between)));
    when.chain(between).collect::<Vec<_>>().join("; ")
}

/// The rules of a standard, in Markdown.
fn rules(standard: Standard) -> String {
    let mut text =
        "| name | from | to | minimum | scope | applies | source |\n|---|---|---|---|---|---|---|\n".to_owned();
    for rule in table(standard).rules {
        let nth = match rule.nth {
            1 => "",
            0 => "the number of the refresh mode, counted back, of ",
            4 => "fourth latest of ",
            other => panic!("a rule of the {other}th latest command"),
        };
        let Rule { name, scope, origin, .. } = rule;
        let (from, to, least) = (kinds(rule.from), kinds(rule.to), rule.formula());
        let _ =
            writeln!(text, "| `{name}` | {nth}{from} | {to} | {least} | {scope} | {} | {origin} |", conditions(rule));
    }
    text += "\n| name | what | most | source |\n|---|---|---|---|\n";
    for maximum in maxima(&system(standard)) {
        let _ =
            writeln!(text, "| `{}` | {} | {} | {} |", maximum.name, maximum.what, maximum.formula(), maximum.origin);
    }
    text
}

#[test]
fn the_page_about_rules_has_the_table_of_each_standard() {
    let names: Vec<String> = Standard::ALL.iter().map(|standard| format!("rules of {}", standard.name())).collect();
    let tables: Vec<(&str, String)> =
        names.iter().zip(Standard::ALL).map(|(name, standard)| (name.as_str(), rules(standard))).collect();
    check("rules.md", &tables);
}
