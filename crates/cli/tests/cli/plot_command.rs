//! `plot` from outside.

use std::fs;
use std::path::Path;

use crate::common::{Directory, run};

const TABLE: &str = "\
policy,bytes,seed,latency_ns
channel,64,1,70
channel,64,2,72
channel,4096,1,1046.25
channel,4096,2,1040
fpm,64,1,90
fpm,64,2,90
fpm,4096,1,90
fpm,4096,2,
";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn with_table(table: &str) -> (Directory, String) {
    let directory = Directory::sound();
    let path = directory.path("table.csv");
    fs::write(&path, table).unwrap();
    (directory, text(&path).to_owned())
}

/// What `plot` says of the table, without the directory.
fn plot(table: &str, arguments: &[&str]) -> (i32, String) {
    let (directory, path) = with_table(table);
    let (code, stdout, stderr) = run(&[&["plot", &path][..], arguments].concat());
    assert_eq!(stdout, "");
    (code, stderr.replace(&format!("{}/", directory.path("").display()).replace("//", "/"), ""))
}

#[test]
fn the_table_of_a_run_becomes_a_picture() {
    let directory = Directory::sound();
    let (scenario, out) = (directory.path("scenario.toml"), directory.path("out"));
    assert_eq!(run(&["run", text(&scenario), "--out", text(&out)]).0, 0);
    let table = out.join("operations.csv");
    let arguments = ["plot", text(&table), "--kind", "bar", "--x", "operation", "--y", "latency_ns", "--by", "policy"];
    let (code, _, stderr) = run(&arguments);
    assert_eq!(code, 0, "{stderr}");
    let document = fs::read_to_string(out.join("operations.svg")).unwrap();
    assert!(document.contains("<title>rowclone, copy 4 KiB, same-subarray: 90 ns</title>"), "{document}");
    // Two operations under two policies.
    assert_eq!(document.matches("<title>").count() - 1, 4);

    let (code, _, stderr) = run(&arguments);
    assert_eq!(code, 2);
    assert!(stderr.contains("operations.svg: exists already\nhelp: "), "{stderr}");
    assert_eq!(run(&[&arguments[..], &["--force"]].concat()).0, 0);
    assert_eq!(fs::read_to_string(out.join("operations.svg")).unwrap(), document, "the same table, the same picture");
}

#[test]
fn a_picture_in_dots_is_a_png_file_of_85_mm() {
    let (directory, table) = with_table(TABLE);
    let path = directory.path("out.png");
    let (code, _, stderr) =
        run(&["plot", &table, "--x", "bytes", "--y", "latency_ns", "--by", "policy", "-o", text(&path)]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("table.csv: 1 value left out: empty cells\n"), "{stderr}");
    assert!(stderr.contains("table.csv: a mark stands for up to 2 lines, which differ in `seed`\n"), "{stderr}");
    let file = fs::read(path).unwrap();
    assert_eq!(&file[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(u32::from_be_bytes(file[16..20].try_into().unwrap()), 1004, "85 mm at 300 dots an inch");
}

#[test]
fn published_values_and_crossovers_are_in_the_picture() {
    // Copies over the channel overtake those by FPM between 64 and 256 bytes.
    let (directory, table) = with_table(
        "policy,bytes,latency_ns\nchannel,64,70\nchannel,256,110\nchannel,1024,300\nchannel,4096,1046\n\
         fpm,64,90\nfpm,256,90\nfpm,1024,90\nfpm,4096,90\n",
    );
    let (published, path) = (directory.path("published.csv"), directory.path("out.svg"));
    fs::write(&published, "policy,bytes,latency_ns\nchannel,4096,1046\nfpm,4096,90\n").unwrap();
    let (code, _, stderr) = run(&[
        "plot",
        &table,
        "--x",
        "bytes",
        "--y",
        "latency_ns",
        "--by",
        "policy",
        "--log-x",
        "--log-y",
        "--crossovers",
        "--published",
        text(&published),
        "-o",
        text(&path),
    ]);
    assert_eq!(code, 0, "{stderr}");
    let document = fs::read_to_string(path).unwrap();
    assert_eq!(document.matches("<title>published: ").count(), 2);
    assert_eq!(document.matches("channel = fpm at ≈ ").count(), 1);
}

/// The heights of the marks of three values on a logarithmic axis, in the units of the document, downwards.
fn heights_of_marks(values: [f64; 3]) -> Vec<f64> {
    let rows = values.iter().enumerate().map(|(index, value)| format!("{index},{value}\n"));
    let (directory, table) = with_table(&["n,v\n".to_owned()].into_iter().chain(rows).collect::<Vec<_>>().concat());
    let path = directory.path("marks.svg");
    let (code, _, stderr) = run(&["plot", &table, "--x", "n", "--y", "v", "--log-y", "-o", text(&path)]);
    assert_eq!(code, 0, "{stderr}");
    let document = fs::read_to_string(path).unwrap();
    let height = |circle: &str| circle.split_once("cy=\"").unwrap().1.split('"').next().unwrap().parse().unwrap();
    document.split("<circle ").skip(1).map(height).collect()
}

/// Three values from the lower end of the axis over its middle to its upper end: at all scales, and over a factor of
/// less than e.
#[test]
fn a_logarithmic_axis_spreads_every_range_over_its_length() {
    let wide = heights_of_marks([1.0, 1e2, 1e4]);
    for [low, high] in [[1.0, 2.0], [0.1, 0.2], [0.001, 0.1], [1e-5, 1e-1], [1e3, 1e5]] {
        let heights = heights_of_marks([low, f64::sqrt(low * high), high]);
        let near = heights.iter().zip(&wide).all(|(one, other)| (one - other).abs() <= 1.0);
        assert!(near && heights.len() == 3, "{low} to {high}: {heights:?}, and {wide:?} from 1 to 10,000");
    }
}

#[test]
fn what_is_wrong_is_told_with_its_file_and_what_would_work() {
    let columns = "help: the columns are `policy`, `bytes`, `seed`, `latency_ns`\n";
    for (arguments, message) in [
        (&["--x", "size", "--y", "latency_ns"][..], format!("error: table.csv: there is no column `size`\n{columns}")),
        (
            &["--x", "bytes", "--y", "latency"],
            format!(
                "error: table.csv: there is no column `latency`\n{}",
                columns.replace("help: ", "help: did you mean `latency_ns`? ")
            ),
        ),
        (
            &["--x", "bytes", "--y", "latency_ns", "--where", "policy=psm"],
            "error: table.csv: no line has `policy` = \"psm\"\nhelp: its values are \"channel\", \"fpm\"\n".to_owned(),
        ),
        (
            &["--x", "bytes", "--y", "latency_ns", "--where", "policy"],
            "error: `--where`: the condition \"policy\" has no `=`\nhelp: write COLUMN=VALUE, such as \
                `policy=rowclone`\n"
                .to_owned(),
        ),
        (
            &["--x", "bytes", "--y", "latency_ns", "-o", "picture.pdf"],
            "error: picture.pdf: a picture is an SVG or a PNG file\nhelp: give it a name that ends with `.svg` or \
                `.png`\n"
                .to_owned(),
        ),
        (
            &["--x", "bytes", "--y", "policy"],
            "error: table.csv:2: `policy` is \"channel\", but must be a number\n\
             help: take another column, or leave the line out with a condition\n"
                .to_owned(),
        ),
        (
            &["--x", "bytes", "--y", "latency_ns", "--kind", "heat"],
            "error: a heat map shows one column by two others\n\
             help: give `x` for the horizontal axis, `by` for the vertical axis, and `y` for the values, one column \
             each\n"
                .to_owned(),
        ),
    ] {
        assert_eq!(plot(TABLE, arguments), (2, message), "{arguments:?}");
    }
    let (code, stderr) = plot("a,b\n1,2\n3\n", &["--x", "a", "--y", "b"]);
    assert_eq!(
        (code, stderr.as_str()),
        (2, "error: table.csv:3: 1 cells, but there are 2 columns\nhelp: give each line a cell for each column\n")
    );
}

#[test]
fn nothing_is_written_where_something_is_wrong() {
    let (directory, table) = with_table(TABLE);
    assert_eq!(run(&["plot", &table, "--x", "bytes", "--y", "latency"]).0, 2);
    let names = fs::read_dir(directory.path(".")).unwrap().count();
    assert_eq!(names, 3, "the table, and the two files that the directory was made with");
}
