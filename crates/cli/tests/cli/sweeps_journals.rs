//! The journals of sweeps: several count as one, and what was done once is done.

use std::fs;

use crate::common::run;
use crate::sweeps::{results, sound, sweep, text, with_sweep};

/// There may be more shards than files that a process may open at once.
#[test]
fn many_journals_are_as_good_as_one() {
    let directory = with_sweep("scenario = \"scenario.toml\"\nseeds = 100\n");
    assert_eq!(sweep(&directory, "whole", &[]).0, 0);
    let journal = fs::read_to_string(directory.path("whole/journal.jsonl")).unwrap();
    let (title, rows) = journal.split_once('\n').unwrap();
    fs::create_dir(directory.path("many")).unwrap();
    for (index, row) in rows.lines().enumerate() {
        let name = format!("many/journal-{}-of-200.jsonl", index + 1);
        fs::write(directory.path(&name), format!("{title}\n{row}\n")).unwrap();
    }
    assert!(sweep(&directory, "many", &[]).1.starts_with("sweep: 0 runs done, 200 done before\n"));
    assert_eq!(results(&directory, "many"), results(&directory, "whole"));
}

/// A journal's line of a run that failed, from that of the run when it was done.
fn failed(done: &str) -> String {
    let mut line: serde_json::Value = serde_json::from_str(done).unwrap();
    line.as_object_mut().unwrap().remove("cells").unwrap();
    line["error"] = "the disk was full".into();
    line.to_string()
}

/// In one journal or in two, in either order.
#[test]
fn a_failure_does_not_hide_that_a_run_was_done() {
    let directory = sound();
    assert_eq!(sweep(&directory, "whole", &[]).0, 0);
    let journal = fs::read_to_string(directory.path("whole/journal.jsonl")).unwrap();
    let (title, done) = journal.split_once('\n').unwrap();
    let failed: String = done.lines().map(|line| failed(line) + "\n").collect();

    let directories: [(&str, &[String]); 4] = [
        ("later", &[format!("{title}\n{done}{failed}")]),
        ("earlier", &[format!("{title}\n{failed}{done}")]),
        ("later-shard", &[format!("{title}\n{done}"), format!("{title}\n{failed}")]),
        ("earlier-shard", &[format!("{title}\n{failed}"), format!("{title}\n{done}")]),
    ];
    for (out, journals) in directories {
        fs::create_dir(directory.path(out)).unwrap();
        for (index, journal) in journals.iter().enumerate() {
            fs::write(directory.path(out).join(format!("journal-{}-of-2.jsonl", index + 1)), journal).unwrap();
        }
        let (code, stderr) = sweep(&directory, out, &[]);
        assert!(code == 0 && stderr.starts_with("sweep: 0 runs done, 16 done before\n"), "{out}: {stderr}");
        assert_eq!(results(&directory, out), results(&directory, "whole"), "{out}");
    }

    fs::create_dir(directory.path("failed")).unwrap();
    fs::write(directory.path("failed/journal.jsonl"), format!("{title}\n{failed}")).unwrap();
    let (_, stderr) = sweep(&directory, "failed", &[]);
    assert!(stderr.starts_with("sweep: 16 runs done\n"), "what only failed is run again: {stderr}");
}

#[test]
fn journals_of_another_sweep_are_not_collected() {
    let directory = sound();
    assert_eq!(sweep(&directory, "out", &[]).0, 0);
    let (other, out, all) = (directory.path("other.toml"), directory.path("out"), directory.path("all"));
    fs::copy(directory.path("sweep.toml"), &other).unwrap();
    let collect = |more: &[&str]| {
        let words = ["sweep", "collect", text(&other), text(&out), "--out", text(&all)];
        run(&[&words[..], more].concat())
    };
    let (code, _, stderr) = collect(&[]);
    assert!(code == 2 && stderr.contains("out: holds the sweep `sweep`, and not `other`"), "{stderr}");
    assert_eq!(collect(&["--force"]).0, 0);
}
