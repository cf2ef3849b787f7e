//! The tables of keys and options in the documentation are generated from their descriptions.
//!
//! `UPDATE_PAGES=1 cargo test -p rowclone-cli pages_of_keys` writes them anew.

use std::fmt::Write as _;
use std::fs;

use clap::CommandFactory;
use cli::commands::Cli;
use report::plot::{ChartKind, Unit};
use rowclone_config::key::{Key, Presence};
use rowclone_config::{currents, machine, receive, scenario, system, workload};

use crate::common::workspace;

/// The tables of a page, each between `<!-- name -->` and `<!-- end -->`.
#[track_caller]
pub(crate) fn check(name: &str, tables: &[(&str, String)]) {
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

/// The table of these keys.
fn keys(keys: &[Key]) -> String {
    let mut rows = "| key | sets | values | default |\n|---|---|---|---|\n".to_owned();
    for key in keys {
        let default = match key.presence {
            Presence::Required => "",
            Presence::Optional(default) => default,
        };
        let _ = writeln!(rows, "| `{}` | {} | {} | {default} |", key.path, key.about, key.values_in_words());
    }
    rows
}

/// The table of the kinds of workload.
fn workload_kinds() -> String {
    let header = "| `kind` | what happens | keys that it needs | keys that it may have |";
    let mut rows = format!("{header}\n|---|---|---|---|\n");
    for kind in workload::kinds() {
        let [needs, may_have] = [kind.needs, kind.may_have]
            .map(|keys| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(" "));
        let _ = writeln!(rows, "| `{}` | {} | {needs} | {may_have} |", kind.name, kind.about);
    }
    rows
}

#[test]
fn the_page_about_input_has_every_key() {
    check(
        "input.md",
        &[
            ("keys of a system", keys(&system::KEYS)),
            ("keys of a scenario", keys(&scenario::KEYS)),
            ("kinds of workload", workload_kinds()),
            ("keys of a current set", keys(currents::KEYS)),
        ],
    );
}

#[test]
fn the_page_about_cores_has_every_key() {
    check(
        "cores.md",
        &[("keys of a machine", keys(machine::KEYS)), ("keys of a receive program", keys(receive::KEYS))],
    );
}

#[test]
fn the_page_about_sweeps_has_every_key() {
    check("sweeps.md", &[("keys of a sweep", keys(&rowclone_sweep::KEYS))]);
}

/// The options of `plot`, each with the key of `[[plot]]` for the same.
fn options_of_plot() -> String {
    let command = Cli::command();
    let plot = command.find_subcommand("plot").unwrap();
    let mut rows = "| option | key | meaning | default of the key |\n|---|---|---|---|\n".to_owned();
    for option in plot.get_opts().filter(|option| option.get_id() != "help") {
        let long = option.get_long().unwrap();
        let value = option.get_value_names().filter(|_| option.get_action().takes_values());
        let value = value.map_or(String::new(), |names| format!(" {}", names[0]));
        let short = option.get_short().map_or(String::new(), |short| format!("`-{short}`, "));
        let name = if long == "output" { "file" } else { option.get_id().as_str().trim_start_matches("r#") };
        let key = rowclone_sweep::KEYS.iter().find(|key| key.path == format!("plot.{name}"));
        let (key, default) = match key {
            Some(Key { presence: Presence::Required, .. }) => (format!("`{name}`"), "required"),
            Some(Key { presence: Presence::Optional(default), .. }) => (format!("`{name}`"), *default),
            None => (String::new(), ""),
        };
        let meaning = option.get_help().unwrap();
        let _ = writeln!(rows, "| {short}`--{long}{value}` | {key} | {meaning} | {default} |");
    }
    rows
}

#[test]
fn the_page_about_plots_has_every_option_and_key() {
    let options = options_of_plot();
    check("plots.md", &[("options of plot", options.clone())]);
    for key in rowclone_sweep::KEYS.iter().filter(|key| key.path.starts_with("plot.")) {
        let name = key.path.trim_start_matches("plot.");
        assert!(options.contains(&format!("| `{name}` |")), "`{name}` is no option of `plot`");
    }
}

/// The rows of the table with this header on the page about plots.
fn rows_of_plots(header: &str) -> Vec<Vec<String>> {
    let page = fs::read_to_string(workspace().join("docs/plots.md")).unwrap();
    let (_, rest) = page.split_once(header).unwrap_or_else(|| panic!("no {header}"));
    let rows = rest.lines().skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_page_about_plots_has_every_kind() {
    let kinds = rows_of_plots("| kind | a value |").into_iter().map(|row| row[0].clone());
    assert_eq!(kinds.collect::<Vec<_>>(), ChartKind::ALL.map(|(name, _)| format!("`{name}`")));
}

#[test]
fn the_units_on_the_page_about_plots_are_those_of_columns() {
    for row in rows_of_plots("| ends of names | unit |") {
        let ends = row[0].split('`').skip(1).step_by(2);
        for end in ends {
            let column = if end.starts_with('_') { format!("x{end}") } else { end.to_owned() };
            let unit = match Unit::of_column(&column).0 {
                Unit::None => "none",
                Unit::Prefixed { symbol: "s", .. } => "time",
                Unit::Prefixed { symbol: "J", .. } => "energy",
                Unit::Prefixed { symbol: "W" | "A" | "Hz", .. } => "power, current, frequency",
                Unit::Prefixed { symbol: "B/s" | "T/s", .. } => "bandwidth, transfer rate",
                Unit::Prefixed { symbol, .. } => symbol,
                Unit::Bytes { .. } => "bytes",
                Unit::Share => "a share from 0 to 1, written in %",
                Unit::Named("Gb") => "gigabits, of chips",
                Unit::Named("%" | "°C") => "%, °C",
                Unit::Named(name) => name,
            };
            assert_eq!(unit, row[1], "{end}");
        }
    }
}
