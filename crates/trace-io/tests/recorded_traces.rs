//! The recorded traces that lie beside the repository, against the counts of their README.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use trace_io::ramulatorsharp::{Format, Reader, Record};

#[test]
fn recorded_traces_hold_the_records_that_their_readme_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/ramulatorsharp");
    if !folder.is_dir() {
        // Not `eprintln!`: the test runner would keep that to itself.
        writeln!(std::io::stderr(), "skipped: the recorded traces are not there ({})", folder.display()).unwrap();
        return;
    }
    // file, format, accesses, copies and fills (README); the instructions of each kind (summed with awk)
    let cases = [
        ("forkset-rc.gz", Format::Rc, [145_129, 21_787, 185], Some([53_136_484, 29_285_680, 131_535])),
        ("shell-rc.gz", Format::Rc, [165_753, 2_340, 4_350], Some([86_476_287, 3_144_300, 3_087_486])),
        ("403.gcc.gz", Format::Cpu, [45_675, 0, 0], None),
        ("445.gobmk.gz", Format::Cpu, [107_852, 0, 0], None),
        ("458.sjeng.gz", Format::Cpu, [71_977, 0, 0], None),
        ("tpch6.gz", Format::Cpu, [279_379, 0, 0], None),
        ("ubench-r060.gz", Format::Cpu, [100_000, 0, 0], None),
    ];
    for (file, format, counts, sums) in cases {
        let mut reader = Reader::new(File::open(folder.join(file)).unwrap(), None).unwrap();
        assert_eq!(reader.format(), format, "{file}");
        let (mut found, mut instructions) = ([0; 3], [0; 3]);
        for record in reader.by_ref() {
            let (kind, own) = match record.unwrap() {
                Record::Access { instructions, .. } => (0, instructions),
                Record::Copy { instructions, .. } => (1, instructions),
                Record::Fill { instructions, .. } => (2, instructions),
            };
            found[kind] += 1;
            instructions[kind] += own;
        }
        assert_eq!(found, counts, "{file}");
        assert_eq!(sums.unwrap_or(instructions), instructions, "{file}");
    }
}
