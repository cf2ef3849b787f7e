//! The commands of the tutorial print what its pages show.
//!
//! A block `sh` holds commands, which run in a directory with the files of the repository; a block `text` after it is
//! their standard output, in which a line `[...]` stands for any lines. `<!-- file NAME -->` before another block makes
//! a file of it, and `<!-- not run: REASON -->` before a block `sh` leaves it out. With `UPDATE_TUTORIAL=1` the pages
//! get the present output.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::workspace;

/// A place in which the commands of a page run.
struct TutorialFolder(tempfile::TempDir);

impl TutorialFolder {
    fn new() -> TutorialFolder {
        let place = TutorialFolder(tempfile::tempdir().unwrap());
        for name in ["configs", "docs", "sweeps", "traces"] {
            symlink(fs::canonicalize(workspace().join(name)).unwrap(), place.path(name)).unwrap();
        }
        fs::create_dir(place.path("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_rowclone-sim"), place.path("bin/rowclone-sim")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The standard output of a script, which succeeds.
    #[track_caller]
    fn run(&self, script: &str) -> String {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        let shell = shell.args(["-e", "-c", script]).current_dir(self.0.path()).env("PATH", path).env_remove("COLUMNS");
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

/// Whether an output is the text of a page, in which a line `[...]` stands for any lines.
fn is_shown(text: &str, output: &str) -> bool {
    let mut parts = text.split("[...]\n");
    let Some(mut rest) = output.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last.is_some_and(str::is_empty)
}

/// A page with the present output of its commands.
fn present(page: &str) -> String {
    let place = TutorialFolder::new();
    let (mut text, mut output, mut remark): (String, Option<String>, &str) = (String::new(), None, "");
    for (index, piece) in page.split("```").enumerate() {
        text += if index > 0 { "```" } else { "" };
        if index % 2 == 0 {
            remark = piece.trim_end().lines().last().filter(|line| line.starts_with("<!-- ")).unwrap_or_default();
            text += piece;
            continue;
        }
        let (language, block) = piece.split_once('\n').unwrap();
        let file = remark.strip_prefix("<!-- file ").and_then(|name| name.strip_suffix(" -->"));
        match (language, file) {
            (_, Some(name)) => fs::write(place.path(name), block).unwrap(),
            ("sh", None) if remark.starts_with("<!-- not run: ") => output = None,
            ("sh", None) => output = Some(place.run(block)),
            ("text", None) => {
                if let Some(output) = output.take().filter(|output| !is_shown(block, output)) {
                    text.extend([language, "\n", &output]);
                    continue;
                }
            }
            (other, None) => panic!("a block `{other}` is neither `sh`, `text` nor a file"),
        }
        text += piece;
    }
    text
}

#[track_caller]
fn check(name: &str) {
    let path = workspace().join("docs/tutorial").join(name);
    let page = fs::read_to_string(&path).unwrap();
    let present = present(&page);
    if std::env::var_os("UPDATE_TUTORIAL").is_some() {
        fs::write(&path, &present).unwrap();
    }
    assert!(
        page == present,
        "{name} shows another output; with UPDATE_TUTORIAL=1 the test writes this one:\n{present}"
    );
}

#[test]
fn a_workload_and_a_part_of_ones_own() {
    check("workload.md");
}

#[test]
fn a_fork() {
    check("fork.md");
}

#[test]
fn the_paper() {
    check("paper.md");
}

#[test]
fn every_page_is_checked_and_listed() {
    let names = fs::read_dir(workspace().join("docs/tutorial")).unwrap();
    let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["fork.md", "paper.md", "workload.md"]);
    let index = fs::read_to_string(Path::new(&workspace()).join("docs/index.md")).unwrap();
    assert!(names.iter().all(|name| index.contains(&format!("](tutorial/{name})"))));
}

#[test]
fn dots_stand_for_any_lines() {
    let output = "a\nb\nc\n";
    assert!(is_shown(output, output) && is_shown("a\n[...]\nc\n", output) && is_shown("a\n[...]\n", output));
    assert!(is_shown("[...]\nc\n", output) && is_shown("[...]\nb\n[...]\n", output));
    assert!(!is_shown("a\n", output) && !is_shown("a\n[...]\nd\n", output) && !is_shown("[...]\nb\n", output));
}
