//! What the repository ships can be read, and the page about it knows every key.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::common::workspace;
use rowclone_config::preset::MACHINES;
use rowclone_config::{Overrides, Scenario, SystemConfig, Workload};
use rowclone_sweep::{self, Sweep, SweepFile};

fn files(directory: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(workspace().join(directory)).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|it| it == "toml")).collect();
    assert!(!files.is_empty());
    files
}

#[test]
fn every_system_is_sound() {
    let is_machine = |path: &PathBuf| MACHINES.iter().any(|machine| path.ends_with(machine.path()));
    for path in files("configs").into_iter().filter(|path| !is_machine(path)) {
        let config = SystemConfig::read(&path, &Overrides::default()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            config.memory.controller().staging_lines,
            usize::from(config.memory.system().geometry.columns()),
            "{}",
            config.name
        );
    }
    let paper = SystemConfig::paper(&Overrides::default()).unwrap();
    assert_eq!(paper.memory.system().geometry.bytes(), 4 << 30);
}

#[test]
fn every_scenario_is_sound() {
    for path in files("traces") {
        let scenario = Scenario::read(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        let recorded = ["recorded.toml", "arrivals.toml"].iter().any(|name| path.ends_with(name));
        assert_eq!(matches!(scenario.workload, Workload::Trace(_)), recorded);
    }
}

/// Of each, the first and the last point.
#[test]
fn every_sweep_is_sound() {
    for path in files("sweeps") {
        let file = SweepFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let stop = Arc::new(AtomicBool::new(false));
        let sweep = Sweep::new(&file, 1, &stop).unwrap_or_else(|error| panic!("{error}"));
        for number in [0, sweep.points.count() - 1] {
            sweep.resolve(&sweep.points.point(number)).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

/// The sweep on the page is one that can be run.
#[test]
fn the_page_about_sweeps_shows_a_sound_one() {
    let page = fs::read_to_string(workspace().join("docs/sweeps.md")).unwrap();
    let text = page.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("page.toml");
    fs::write(&path, text.replace("..", &workspace().canonicalize().unwrap().display().to_string())).unwrap();
    let file = SweepFile::read(&path).unwrap_or_else(|error| panic!("{error}"));
    let stop = Arc::new(AtomicBool::new(false));
    let sweep = Sweep::new(&file, 1, &stop).unwrap();
    assert_eq!((sweep.points.combinations(), sweep.points.count()), (3 * 7 * 2, 3 * 7 + 3));
    sweep.resolve(&sweep.points.point(23)).unwrap_or_else(|error| panic!("{error}"));
}
