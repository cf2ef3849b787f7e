//! Recognition of formats by the first record and by the file name.

use std::path::Path;

use trace_io::program::ProgramReader;
use trace_io::trace::{FORMATS, Format, TraceReader};

use super::format;

fn recognized(text: &str, name: &str) -> Option<&'static Format> {
    TraceReader::with_name(text.as_bytes(), Path::new(name)).ok().map(|reader| reader.format())
}

#[test]
fn the_example_of_each_format_is_recognized() {
    for format in FORMATS {
        let name = format!("trace.{}", format.extension.unwrap_or("txt"));
        for text in [format.example.to_owned(), format!("\n# a comment\n{}\n", format.example)] {
            assert_eq!(recognized(&text, &name), Some(format), "{text}");
            let by_record = TraceReader::new(text.as_bytes(), None).ok().map(|reader| reader.format());
            assert_eq!(by_record, if format.extension.is_some() { None } else { Some(format) }, "{text}");
        }
    }
}

/// Lines that begin as another format does.
#[test]
fn similar_lines_are_distinguished() {
    for (text, expected) in [
        ("R 0x40", "native"),
        ("R 40 0 0", "rc"),
        ("R 0,0,0,0,0", "ramulator2-rw"),
        ("W 0x40", "native"),
        ("W 0,0,0,0,0,0", "ramulator2-rw"),
        ("S 40 0 64 0", "rc"),
        (" S 40,8", "lackey"),
        ("0x40 R", "ramulator-dram"),
        ("0x40 READ 5", "dramsim3"),
        ("0x40 NOP 5", "dramsim3"),
        ("5 40", "cpu"),
        ("==7== Lackey", "lackey"),
        ("SYSCALL[7,1](12) sys_brk ( 0x0 )", "lackey"),
        ("a: b c 7 1.000000: PERF_RECORD_COMM: a: b c:7/7", "perf"),
        ("0 7 1.000000: PERF_RECORD_EXIT(7:7):(7:7)", "perf"),
        ("0 7 [001] 1.000000: PERF_RECORD_EXIT(7:7):(7:7)", "perf"),
    ] {
        assert_eq!(recognized(text, "trace.txt"), Some(format(expected)), "{text}");
    }
}

#[test]
fn the_extension_decides_between_formats_with_equal_records() {
    for (name, expected) in [
        ("a/b.stl", Some("stl")),
        ("b.rstl", Some("rstl")),
        ("b.stl.gz", Some("stl")),
        ("b.x.rstl.zst", Some("rstl")),
        ("stl", None),
        ("b.stl.txt", None),
        ("b.stl/c", None),
        ("b.stl.gz.gz", None),
    ] {
        assert_eq!(recognized("31: read 0x40", name), expected.map(format), "{name}");
    }
    // Records of one format alone are of that format, whatever the extension.
    assert_eq!(recognized("LD 0x40", "b.stl"), Some(format("ramulator2-ls")));
    // A first line of no format is a malformed record of the extension's format.
    assert_eq!(recognized("31 read 0x40", "b.stl"), Some(format("stl")));
    assert_eq!(recognized("31 read 0x40", "b.txt"), None);
}

#[test]
fn names_and_aliases_are_unique() {
    let mut names: Vec<&str> = Format::names().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 12);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 12);
    assert_eq!(format("simpleo3"), format("cpu"));
}

/// Each section of the documentation shows a trace of its format.
#[test]
fn the_documentation_of_formats_shows_valid_traces() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut shown: Vec<&str> = Vec::new();
    for section in page.split("\n## `").skip(1) {
        let (name, text) = section.split("\n## ").next().unwrap().split_once('`').unwrap();
        let blocks = text.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
        let examples: Vec<&str> = blocks.filter(|block| !block.starts_with("record")).collect();
        assert_eq!(examples.len(), 1, "{name}");
        let reader = TraceReader::new(examples[0].as_bytes(), Some(format(name))).unwrap();
        let matching = recognized(examples[0], &format!("trace.{name}"));
        assert_eq!(matching, Some(format(name)));
        assert!(reader.map(Result::unwrap).count() > 1, "{name}");
        shown.push(name);
    }
    assert_eq!(shown, FORMATS.map(|format| format.name));
}

/// The table of formats of the documentation.
#[test]
fn the_documentation_lists_the_properties_of_each_format() {
    use trace_io::trace::{Addresses, RecordTiming};
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let page = std::fs::read_to_string(page).unwrap();
    for format in FORMATS {
        let timing = match format.timing {
            RecordTiming::None => "none",
            RecordTiming::Instructions => "instructions",
            RecordTiming::AtCycles => "clocks",
            RecordTiming::AfterCycles => "clocks since the record before",
            RecordTiming::Times => "times",
        };
        let addresses = match format.addresses {
            Addresses::Physical => "physical",
            Addresses::Virtual | Addresses::Processes => "virtual",
            Addresses::Either => "physical or virtual",
            Addresses::Coordinates => "DRAM coordinates",
        };
        let written = if format.is_written() { "yes" } else { "no" };
        let row = page.lines().find(|line| line.starts_with(&format!("| [`{}`]", format.name))).unwrap();
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).skip(2).collect();
        assert_eq!(cells[2..], [addresses, written], "{row}");
        assert!(cells[1].split(", ").any(|cell| cell == timing), "{row}");
    }
}

/// The reader takes each step of the grammar of program traces in the documentation, and its examples.
#[test]
fn the_documentation_of_program_traces_shows_valid_ones() {
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cores.md")).unwrap();
    let blocks: Vec<&str> = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let [grammar, examples @ ..] = &blocks[..] else { panic!("no grammar") };
    let steps = |text: &str| ProgramReader::new(text.as_bytes()).unwrap().collect::<Result<Vec<_>, _>>().unwrap().len();
    let (alternatives, rest) = grammar.split_once("\nclass = ").unwrap();
    let addresses = rest.lines().find(|line| line.ends_with("= \"0x\" hexadecimal")).unwrap();
    let is_address = |field: &str| addresses.split([',', ' ']).any(|name| name == field);
    for alternative in alternatives.lines() {
        let (_, alternative) = alternative.split_once(['=', '|']).unwrap();
        let fields = alternative.trim_start().split("  ").next().unwrap().split(' ');
        let value = |field: &str| match field {
            "[class]" => String::new(),
            "[after]" => "after 1".to_owned(),
            _ if field.starts_with('"') => field.trim_matches('"').to_owned(),
            _ if is_address(field) => "0x1000".to_owned(),
            _ => "1".to_owned(),
        };
        let line: Vec<String> = fields.map(value).collect();
        assert_eq!(steps(&line.join(" ")), 1, "{line:?}");
    }
    assert_eq!(examples.iter().map(|example| steps(example)).collect::<Vec<_>>(), [5, 7]);
}
