//! Tests of reports in a browser: the page loads without console messages, its tables sort, its
//! plots exist.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Directory of the pages and their screenshots, for inspection.
const DIRECTORY: &str = "target/browser";

/// A report: its name, the command of its results, and the table and column to sort by.
struct Case {
    name: &'static str,
    make: &'static [&'static str],
    sort: &'static str,
    sorted_by: &'static str,
}

const CASES: [Case; 3] = [
    Case {
        name: "sweep",
        make: &["sweep", "sweeps/copy-size.toml", "--out"],
        sort: "runs,4,descending",
        sorted_by: "makespan",
    },
    Case {
        name: "run",
        make: &["run", "traces/page-copy.toml", "--check", "--force", "--out"],
        sort: "operations,5,descending",
        sorted_by: "latency",
    },
    Case {
        name: "epochs",
        make: &["run", "traces/mixed.toml", "--force", "--out"],
        sort: "runs,11,descending",
        sorted_by: "bandwidth",
    },
];

/// Creates reports and opens each in headless Chromium, which is installed from Debian's package if
/// it is missing.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
pub fn check() -> ExitCode {
    let outcome = install().and_then(|()| CASES.iter().try_for_each(open));
    match outcome {
        Ok(()) => {
            eprintln!("the pages, and pictures of them in light and dark mode and in print, are in {DIRECTORY}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("browser: {why}");
            ExitCode::FAILURE
        }
    }
}

fn install() -> Result<(), String> {
    if Command::new("chromium").arg("--version").output().is_ok() {
        return Ok(());
    }
    let install = "apt-get update && apt-get install --yes --no-install-recommends chromium fonts-dejavu-core";
    run(Command::new("sh").args(["-c", install])).map(drop)
}

fn open(case: &Case) -> Result<(), String> {
    let directory = Path::new(DIRECTORY);
    let (results, page) = (directory.join(case.name), directory.join(format!("{}.html", case.name)));
    fs::create_dir_all(directory).map_err(|error| error.to_string())?;
    let program = ["run", "--release", "--quiet", "--"];
    run(Command::new("cargo").args(program).args(case.make).arg(&results))?;
    run(Command::new("cargo").args(program).arg("report").arg(&results).arg("-o").arg(&page).arg("--force"))?;

    let plain = dom(&page, "")?;
    let sorted = dom(&page, &format!("#sort={}", case.sort))?;
    let require = |holds: bool, what: &str| if holds { Ok(()) } else { Err(format!("{}: {what}", page.display())) };
    require(plain.contains("Speedup and energy ratio"), "has no headline")?;
    require(plain.contains("<svg class=\"chart"), "has no chart")?;
    require(plain.contains("role=\"img\" tabindex=\"0\""), "its marks cannot be reached by keyboard")?;
    require(!plain.contains("aria-sort=\"descending\""), "is sorted without a request")?;
    require(sorted.contains("aria-sort=\"descending\""), "does not say that it is sorted")?;
    let said = format!("sorted by {}", case.sorted_by);
    require(sorted.contains(&said) && sorted.contains(", descending</div>"), "does not tell what it is sorted by")?;

    let (table, column) = case.sort.split_once(',').unwrap_or_default();
    let column = column.split(',').next().and_then(|column| column.parse().ok()).unwrap_or(0);
    let (before, after) = (values(&plain, table, column), values(&sorted, table, column));
    require(before.len() > 1 && before.len() == after.len(), "has lost rows by sorting")?;
    require(after.is_sorted_by(|a, b| a >= b), "is not sorted")?;
    require(!before.is_sorted_by(|a, b| a >= b), "was sorted initially, so the test has no effect")?;
    pictures(&page)
}

/// The page in the browser after its script. A console message is an error.
fn dom(page: &Path, fragment: &str) -> Result<String, String> {
    let output = browse(page, fragment, &["--dump-dom", "--enable-logging=stderr", "--virtual-time-budget=5000"])?;
    let message = output.1.lines().find(|line| line.contains("CONSOLE"));
    match message {
        Some(line) => Err(format!("{}: {line}", page.display())),
        None => Ok(output.0),
    }
}

fn pictures(page: &Path) -> Result<(), String> {
    let file = |ending: &str| page.with_extension(ending).display().to_string();
    let size = "--window-size=1300,4600";
    browse(page, "", &[size, "--hide-scrollbars", &format!("--screenshot={}", file("light.png"))])?;
    let dark = "--blink-settings=preferredColorScheme=0";
    browse(page, "", &[size, "--hide-scrollbars", dark, &format!("--screenshot={}", file("dark.png"))])?;
    browse(page, "", &["--no-pdf-header-footer", &format!("--print-to-pdf={}", file("pdf"))])?;
    for ending in ["light.png", "dark.png", "pdf"] {
        let size = fs::metadata(file(ending)).map_err(|error| format!("{}: {error}", file(ending)))?.len();
        if size < 10_000 {
            return Err(format!("{}: is almost empty", file(ending)));
        }
    }
    Ok(())
}

/// Opens a page in the browser; returns standard output and standard error.
fn browse(page: &Path, fragment: &str, flags: &[&str]) -> Result<(String, String), String> {
    let page: PathBuf = fs::canonicalize(page).map_err(|error| format!("{}: {error}", page.display()))?;
    let mut browser = Command::new("chromium");
    browser.args(["--headless=new", "--no-sandbox", "--disable-gpu"]).args(flags);
    browser.arg(format!("--user-data-dir={DIRECTORY}/profile")).arg(format!("file://{}{fragment}", page.display()));
    run(&mut browser)
}

fn run(command: &mut Command) -> Result<(String, String), String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        Ok((stdout, stderr))
    } else {
        Err(format!("{command:?}: {}\n{stderr}", output.status))
    }
}

/// The numbers of a table column, from top to bottom.
fn values(dom: &str, table: &str, column: usize) -> Vec<f64> {
    let body = dom.split_once(&format!("<table id=\"{table}\"")).map_or("", |(_, rest)| rest);
    let body = body.split_once("<tbody>").map_or("", |(_, rest)| rest);
    let body = body.split("</tbody>").next().unwrap_or("");
    let cells = body.split("<tr>").skip(1).filter_map(|row| row.split("<td").nth(column + 1));
    let value = |cell: &str| cell.split_once("data-v=\"")?.1.split('"').next()?.parse().ok();
    cells.filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::values;

    #[test]
    fn the_numbers_of_a_column_are_read() {
        let row = |a: &str, b: &str| format!("<tr><td>{a}</td><td class=\"number\" data-v=\"{b}\">{b}</td></tr>");
        let dom = format!("<table id=\"x\"><tbody>{}</tbody></table>", row("a", "1"));
        let dom = format!("{dom}<table id=\"t\"><tbody>{}{}</tbody></table>", row("a", "2.5"), row("b", "-1"));
        assert_eq!(values(&dom, "t", 1), [2.5, -1.0]);
        assert!(values(&dom, "t", 0).is_empty());
        assert!(values(&dom, "none", 1).is_empty());
    }
}
