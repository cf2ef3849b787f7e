//! Recorded traces: the samples in the repository, and the complete recordings if they exist beside
//! it.

#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up has failed")]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use trace_io::trace::{Arrival, Event, Format, Record, TraceReader};

/// Reads, writebacks, copies and fills of a file, and the instructions of reads, copies and fills.
type Sums = ([u64; 4], [u64; 3]);

fn sums(path: &Path, format: &str) -> Sums {
    let mut reader = TraceReader::new(File::open(path).unwrap(), None).unwrap();
    assert_eq!(reader.format(), Format::named(format).unwrap(), "{}", path.display());
    let (mut found, mut instructions) = ([0; 4], [0; 3]);
    for record in reader.by_ref() {
        let Record { arrival, event } = record.unwrap();
        let Arrival::AfterInstructions(before) = arrival else { panic!("{arrival:?}") };
        match event {
            Event::Read { writeback, .. } => {
                found[0] += 1;
                found[1] += u64::from(writeback.is_some());
                instructions[0] += before;
            }
            Event::Copy { instructions: own, .. } => {
                found[2] += 1;
                instructions[1] += u64::from(own);
            }
            Event::Fill { instructions: own, .. } => {
                found[3] += 1;
                instructions[2] += u64::from(own);
            }
            other => panic!("no such format has one: {other:?}"),
        }
    }
    (found, instructions)
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Counts and sums computed with awk.
#[test]
fn the_samples_hold_the_records_that_their_readme_counts() {
    let cases: [(&str, &str, Sums); 4] = [
        ("forkset-rc.gz", "rc", ([4246, 3172, 954, 0], [1_315_016, 1_283_842, 0])),
        ("shell-rc.gz", "rc", ([3353, 2684, 52, 95], [1_542_207, 69_536, 67_468])),
        ("403.gcc.gz", "cpu", ([2000, 256, 0, 0], [8_754_956, 0, 0])),
        ("445.gobmk.gz", "cpu", ([3000, 1310, 0, 0], [3_666_600, 0, 0])),
    ];
    let folder = repository().join("traces/samples");
    for (file, format, expected) in cases {
        assert_eq!(sums(&folder.join(file), format), expected, "{file}");
    }
    assert!(folder.join("LICENSE.RamulatorSharp").is_file(), "the license goes with them");
}

#[test]
fn recorded_traces_hold_the_records_that_their_readme_counts() {
    let folder = repository().join("../shared/data/ramulatorsharp");
    if !folder.is_dir() {
        // Not `eprintln!`, which the test runner captures.
        writeln!(std::io::stderr(), "not tested: the whole recordings are not there ({})", folder.display()).unwrap();
        return;
    }
    // file, format, reads, copies and fills (README); the instructions of each kind (summed with awk)
    let cases = [
        ("forkset-rc.gz", "rc", [145_129, 21_787, 185], Some([53_136_484, 29_285_680, 131_535])),
        ("shell-rc.gz", "rc", [165_753, 2_340, 4_350], Some([86_476_287, 3_144_300, 3_087_486])),
        ("403.gcc.gz", "cpu", [45_675, 0, 0], None),
        ("445.gobmk.gz", "cpu", [107_852, 0, 0], None),
        ("458.sjeng.gz", "cpu", [71_977, 0, 0], None),
        ("tpch6.gz", "cpu", [279_379, 0, 0], None),
        ("ubench-r060.gz", "cpu", [100_000, 0, 0], None),
    ];
    for (file, format, counts, expected) in cases {
        let ([reads, _, copies, fills], instructions) = sums(&folder.join(file), format);
        assert_eq!([reads, copies, fills], counts, "{file}");
        assert_eq!(expected.unwrap_or(instructions), instructions, "{file}");
    }
}
