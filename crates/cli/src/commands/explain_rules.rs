//! `explain rules`: every rule of the device, in clocks and ns of one system.

use dram_core::{Kind, Maximum, Rule, Timings, maxima, rules_of};
use dram_spec::geometry::native_row_bytes;
use dram_spec::{Geometry, RawGeometry, ReferenceCycle, SpeedBin, System};
use report::table::Align::{Left, Right};
use report::table::{TextColumn, listed, wrapped};
use serde_json::{Value, json};

use crate::args::ExplainRulesArgs;
use crate::output;
use rowclone_config::{Failure, Overrides, SystemConfig};

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
    let system = config.memory.system();
    let system = bin.map_or_else(|| system.clone(), |bin| with_bin(system, bin));
    if system.bin.is_page_mode() {
        let help = "docs/cores.md has the times of a page-mode memory";
        return Err(Failure::new("a page-mode memory has no commands, and no rules for them").with_help(help));
    }
    if !system.bin.has_latencies() {
        let message = format!("`--bin {}` is a data rate without latencies of its own", system.bin.name);
        let help = format!("give them, for example `--bin '{}'`", system.bin.example_with_latencies());
        return Err(Failure::new(message).with_help(help));
    }
    format.render(|| text(&system, output::width()), &json(&system))
}

/// The system with another bin; of another standard, with chips of that standard of the same width.
fn with_bin(system: &System, bin: &'static SpeedBin) -> System {
    if bin.standard == system.standard() {
        return System { bin, ..system.clone() };
    }
    let RawGeometry { density, width, ranks, .. } = system.geometry.raw();
    let standard = bin.standard;
    let densities = standard.definition().densities();
    let density = if densities.contains(&density) { density } else { densities[densities.len() / 2] };
    let row_bytes = native_row_bytes(standard, density, width);
    let raw = RawGeometry { standard, density, width, row_bytes, ranks: ranks.min(2), ..system.geometry.raw() };
    System::new(bin, Geometry::try_from(raw).expect("a chip of the standard with its own rows"))
}

/// Kinds as one cell: all of them is "any".
fn kinds(kinds: &[Kind], nth: u8) -> String {
    let names = kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    // All but the two views that a bank has of a TRANSFER.
    let names = if kinds.len() == Kind::COUNT - 2 { "any".to_owned() } else { names };
    if nth == 1 { names } else { format!("{nth}th latest of {names}") }
}

fn text(system: &System, width: usize) -> String {
    let (timings, clock) = (Timings::new(system), system.clock());
    let ns = |cycles| format!("{:.3}", clock.ns(cycles));
    let minima: [TextColumn<'_, &Rule>; 8] = [
        ("rule", Left, &|rule| rule.name.to_owned()),
        ("clocks", Right, &|rule| rule.cycles(&timings).to_string()),
        ("ns", Right, &|rule| ns(rule.cycles(&timings))),
        ("least", Left, &|rule| rule.formula()),
        ("scope", Left, &|rule| rule.scope.name().to_owned()),
        ("from", Left, &|rule| kinds(rule.from, rule.nth(system))),
        ("to", Left, &|rule| kinds(rule.to, 1)),
        ("source", Left, &|rule| rule.origin.to_string()),
    ];
    let columns: [TextColumn<'_, Maximum>; 6] = [
        ("rule", Left, &|maximum| maximum.name.to_owned()),
        ("clocks", Right, &|maximum| maximum.cycles(&timings).to_string()),
        ("ns", Right, &|maximum| ns(maximum.cycles(&timings))),
        ("most", Left, &|maximum| maximum.formula()),
        ("what", Left, &|maximum| maximum.what.to_owned()),
        ("source", Left, &|maximum| maximum.origin.to_string()),
    ];
    let geometry = &system.geometry;
    let title = format!(
        "{} ({}), tCK {:.4} ns; {} {} chips with pages of {} bytes; bin: {}",
        system.bin.full_name(),
        system.bin.latencies(),
        clock.t_ck_ns(),
        geometry.density(),
        geometry.width(),
        geometry.page_bytes(),
        system.bin.source,
    ) + two_cycles(system);
    let minima = listed(&minima, &rules_of(system).map(|(rule, _)| rule).collect::<Vec<_>>(), width);
    format!("{}\n{minima}\n{}", wrapped(&title, width), listed(&columns, &maxima(system), width))
}

/// How distances count in a standard with commands of two cycles.
fn two_cycles(system: &System) -> &'static str {
    match (system.standard().definition().two_cycle_commands, system.reference_cycle) {
        (false, _) => "",
        (true, ReferenceCycle::First) => "; distances count from the first cycle of a command",
        (true, ReferenceCycle::Second) => "; distances count from the last cycle of a command",
    }
}

fn json(system: &System) -> Value {
    let (timings, clock) = (Timings::new(system), system.clock());
    let names = |kinds: &[Kind]| kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>();
    let minima = rules_of(system).map(|(rule, _)| {
        let cycles = rule.cycles(&timings);
        json!({
            "rule": rule.name,
            "scope": rule.scope.name(),
            "from": names(rule.from),
            "nth_latest": rule.nth(system),
            "to": names(rule.to),
            "least": rule.formula(),
            "clocks": cycles.0,
            "ns": clock.ns(cycles),
            "source": rule.origin.to_string(),
        })
    });
    let maxima = maxima(system).map(|maximum| {
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
        "standard": system.standard().name(),
        "bin": system.bin.name,
        "t_ck_ns": clock.t_ck_ns(),
        "density_gb": output::number(system.geometry.density().gigabits()),
        "width": system.geometry.width().pins(),
        "page_bytes": system.geometry.page_bytes(),
        "minima": minima.collect::<Vec<_>>(),
        "maxima": maxima,
    })
}
