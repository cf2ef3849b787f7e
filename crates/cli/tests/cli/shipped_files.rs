//! What the repository ships can be read, and the page about it knows every key.

use std::fs;
use std::path::PathBuf;

use crate::common::workspace;
use cli::input::{Overrides, Scenario, SystemConfig, Workload, scenario, system};

fn files(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace().join(directory)).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    assert!(!files.is_empty());
    files
}

#[test]
fn every_system_is_sound() {
    for path in files("configs") {
        let config = SystemConfig::read(&path, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(config.controller.staging_lines, usize::from(config.system.geometry.columns()), "{}", config.name);
    }
    let paper = SystemConfig::paper(&Overrides::default()).unwrap();
    assert_eq!(paper.system.geometry.bytes(), 4 << 30);
}

#[test]
fn every_scenario_is_sound() {
    // The recording is not shipped: any file stands in for it.
    let here = format!("workload.file=\"{}\"", workspace().join("Cargo.toml").display());
    for path in files("traces") {
        let recorded = path.file_name().unwrap() == "recorded.toml";
        let sets = if recorded { vec![here.clone()] } else { Vec::new() };
        let scenario = Scenario::read(&path, &sets).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(matches!(scenario.workload, Workload::Trace(_)), recorded);
    }
}

#[test]
fn the_page_about_input_has_every_key() {
    let page = fs::read_to_string(workspace().join("docs/input.md")).unwrap();
    for (key, _) in system::EXAMPLES.iter().chain(scenario::EXAMPLES) {
        assert!(page.contains(&format!("`{key}`")), "docs/input.md does not explain `{key}`");
    }
}
