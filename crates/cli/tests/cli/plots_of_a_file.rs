//! `[[plot]]` of a TOML file.

use std::fs;
use std::path::Path;

use report::plot::Table;

use crate::common::{Directory, run, workspace};
use cli::commands::plot;
use report::plot_file::{KEYS, PictureFormat, PlotEntry, check_all};
use rowclone_config::{Document, Existing, Failure, error::FailureCause, key::Key};

const SOUND: &str = "\
[[plot]]
file = \"a.svg\"
x = \"bytes\"
y = \"latency_ns\"
by = \"policy\"
where = [\"seed=1\"]
log_x = true
crossovers = true
title = \"Latency by size\"

[[plot]]
file = \"b.png\"
kind = \"stacked\"
x = \"bytes\"
y = [\"energy_read_nj\", \"energy_write_nj\"]
";

fn entries(text: &str) -> Result<Vec<PlotEntry>, Failure> {
    let mut document = Document::parse(Path::new("sweep.toml"), text, KEYS)?;
    document.check()?;
    check_all(&document)
}

fn table() -> (Vec<String>, Vec<Vec<String>>) {
    let owned = |cells: &[&str]| cells.iter().map(|&cell| cell.to_owned()).collect::<Vec<_>>();
    let columns = owned(&["bytes", "policy", "seed", "latency_ns", "energy_read_nj", "energy_write_nj"]);
    let rows = [
        ["64", "channel", "1", "70", "3", "4"],
        ["64", "fpm", "1", "90", "5", "6"],
        ["128", "fpm", "2", "90", "5", ""],
    ];
    (columns, rows.iter().map(|row| owned(row)).collect())
}

#[test]
fn each_plot_of_a_file_is_drawn_as_the_command_would_draw_it() {
    let directory = Directory::sound();
    let entries = entries(SOUND).unwrap();
    assert_eq!(entries[1].format, PictureFormat::Png);
    let (columns, rows) = table();
    let contents = Table::new(columns.clone(), rows.clone()).unwrap();
    for entry in &entries {
        let target = directory.path(&entry.file);
        let draw = |existing| plot::draw(&contents, Path::new("t.csv"), entry, &target, existing);
        draw(Existing::Keep).unwrap();
        assert!(target.exists());
        assert!(draw(Existing::Keep).unwrap_err().to_string().ends_with("exists already"));
        draw(Existing::Replace).unwrap();
    }
    let lines: Vec<String> = std::iter::once(&columns).chain(&rows).map(|cells| cells.join(",")).collect();
    let (csv, svg) = (directory.path("t.csv"), directory.path("c.svg"));
    fs::write(&csv, lines.join("\n")).unwrap();
    let (code, _, stderr) = run(&[
        "plot",
        csv.to_str().unwrap(),
        "--x",
        "bytes",
        "--y",
        "latency_ns",
        "--by",
        "policy",
        "--where",
        "seed=1",
        "--log-x",
        "--crossovers",
        "--title",
        "Latency by size",
        "-o",
        svg.to_str().unwrap(),
    ]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(fs::read(svg).unwrap(), fs::read(directory.path("a.svg")).unwrap());
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (from, to, message) in [
        ("log_x", "logx", "sweep.toml:7: `plot.0.logx` is not a key"),
        (
            "kind = \"stacked\"",
            "kind = \"pie\"",
            "sweep.toml:13: `plot.1.kind` is \"pie\", which is none of its values",
        ),
        ("b.png", "a.svg", "sweep.toml:12: `plot.1.file` is \"a.svg\", as of another plot"),
        ("b.png", "b.pdf", "sweep.toml:12: `plot.1.file` is \"b.pdf\", which is no name of a picture"),
        ("b.png", "../b.png", "sweep.toml:12: `plot.1.file` is \"../b.png\", which is no name of a picture"),
        ("y = \"latency_ns\"", "y = 7", "sweep.toml:4: `plot.0.y` is 7, but must be a string, or a list of strings"),
        ("x = \"bytes\"\n", "", "sweep.toml:1: `plot.0.x` is missing"),
        ("seed=1", "seed", "sweep.toml:6: `plot.0.where`: the condition \"seed\" has no `=`"),
        ("kind = \"stacked\"", "kind = \"heat\"", "sweep.toml:11: `plot.1`: a heat map shows one column by two others"),
        (
            "title = ",
            "published = ",
            "sweep.toml:9: `plot.0.published` is \"Latency by size\", but Latency by size cannot be read: no such file",
        ),
    ] {
        assert!(SOUND.contains(from));
        let Err(Failure { cause: FailureCause::Refused, message: found, help }) = entries(&SOUND.replacen(from, to, 1))
        else {
            panic!("{to}")
        };
        assert_eq!(found, message);
        assert!(help.is_some_and(|help| !help.is_empty()), "{to}");
    }
}

#[test]
fn a_fault_of_the_table_names_it() {
    let (columns, rows) = table();
    let contents = Table::new(columns, rows).unwrap();
    let entry = &entries(&SOUND.replace("\"latency_ns\"", "\"latency\"")).unwrap()[0];
    let directory = Directory::sound();
    let drawn = plot::draw(&contents, Path::new("t.csv"), entry, &directory.path("a.svg"), Existing::Keep);
    assert_eq!(drawn.unwrap_err().to_string(), "t.csv: there is no column `latency`");
    assert!(!directory.path("a.svg").exists());
}

#[test]
fn the_page_about_plots_has_every_key() {
    let page = fs::read_to_string(workspace().join("docs/plots.md")).unwrap();
    for key in KEYS.iter().filter(|key| key.path != "plot").map(Key::name) {
        assert!(page.contains(&format!("`{key}`")), "docs/plots.md does not explain `{key}`");
    }
}
