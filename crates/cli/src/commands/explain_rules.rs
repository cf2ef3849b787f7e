//! `explain rules`: every rule of the device, in clocks and ns of one system.

use dram_core::{Kind, MAXIMA, RULES, Rule, Timings};
use dram_spec::System;
use report::table::{self, Align};
use serde_json::{Value, json};

use crate::args::{ExplainRulesArgs, Format};
use rowclone_config::{Failure, Overrides, SystemConfig, system};

/// Lists the rules.
///
/// # Errors
/// The bin does not exist, or the system has an error.
pub fn run(args: &ExplainRulesArgs) -> Result<String, Failure> {
    let ExplainRulesArgs { bin, system, format } = args;
    let config = match system {
        Some(path) => SystemConfig::read(path, &Overrides::default())?,
        None => SystemConfig::paper(&Overrides::default())?,
    };
    let mut system = config.memory.system().clone();
    if let Some(bin) = bin {
        system.bin = system::bin_named(bin)
            .map_err(|(what, help)| Failure::new(format!("`--bin` is {what}")).with_help(help))?;
    }
    Ok(match format {
        Format::Table => text(&system),
        Format::Json => format!("{:#}\n", json(&system)),
    })
}

/// The rules that hold in a system.
fn rules(system: &System) -> impl Iterator<Item = &'static Rule> + '_ {
    RULES.iter().filter(|rule| rule.holds_in(system))
}

/// Kinds as one cell: all of them is "any".
fn kinds(kinds: &[Kind], nth: u8) -> String {
    let names = kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    // All but the two views that a bank has of a TRANSFER.
    let names = if kinds.len() == Kind::COUNT - 2 { "any".to_owned() } else { names };
    if nth == 1 { names } else { format!("{nth}th latest of {names}") }
}

fn text(system: &System) -> String {
    let (timings, clock) = (Timings::new(system), system.clock());
    let last = [("clocks", Align::Right), ("ns", Align::Right), ("source", Align::Left)];
    let minima = [("rule", Align::Left), ("scope", Align::Left), ("from", Align::Left), ("to", Align::Left)];
    let minima = [&minima[..], &[("least", Align::Left)], &last].concat();
    let least = rules(system).map(|rule| {
        let cycles = rule.cycles(&timings);
        vec![
            rule.name.to_owned(),
            rule.scope.to_string(),
            kinds(rule.from, rule.nth),
            kinds(rule.to, 1),
            rule.formula(),
            cycles.to_string(),
            format!("{:.3}", clock.ns(cycles)),
            rule.origin.to_string(),
        ]
    });
    let maxima = [&[("rule", Align::Left), ("what", Align::Left), ("most", Align::Left)][..], &last].concat();
    let most = MAXIMA.iter().map(|maximum| {
        let cycles = maximum.cycles(&timings);
        vec![
            maximum.name.to_owned(),
            maximum.what.to_owned(),
            maximum.formula(),
            cycles.to_string(),
            format!("{:.3}", clock.ns(cycles)),
            maximum.origin.to_string(),
        ]
    });
    let geometry = &system.geometry;
    format!(
        "DDR3-{} ({}), tCK {:.4} ns; {} {} chips with pages of {} bytes; bin: {}\n\n{}\n{}",
        system.bin.name,
        system.bin.latencies(),
        clock.t_ck_ns(),
        geometry.density(),
        geometry.width(),
        geometry.page_bytes(),
        system.bin.source,
        table::aligned(&minima, &least.collect::<Vec<_>>()),
        table::aligned(&maxima, &most.collect::<Vec<_>>()),
    )
}

fn json(system: &System) -> Value {
    let (timings, clock) = (Timings::new(system), system.clock());
    let names = |kinds: &[Kind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>();
    let minima = rules(system).map(|rule| {
        let cycles = rule.cycles(&timings);
        json!({
            "rule": rule.name,
            "scope": rule.scope.to_string(),
            "from": names(rule.from),
            "nth_latest": rule.nth,
            "to": names(rule.to),
            "least": rule.formula(),
            "clocks": cycles.0,
            "ns": clock.ns(cycles),
            "source": rule.origin.to_string(),
        })
    });
    let maxima = MAXIMA.iter().map(|maximum| {
        let cycles = maximum.cycles(&timings);
        json!({
            "rule": maximum.name,
            "what": maximum.what,
            "most": maximum.formula(),
            "clocks": cycles.0,
            "ns": clock.ns(cycles),
            "source": maximum.origin.to_string(),
        })
    });
    json!({
        "bin": system.bin.name,
        "t_ck_ns": clock.t_ck_ns(),
        "density_gb": system.geometry.density().gigabits(),
        "width": system.geometry.width().pins(),
        "page_bytes": system.geometry.page_bytes(),
        "minima": minima.collect::<Vec<_>>(),
        "maxima": maxima.collect::<Vec<_>>(),
    })
}
