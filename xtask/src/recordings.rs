//! Recordings of the fork benchmark by two recorders, compared with each other and with the output of the program;
//! recordings of it in a guest, compared by the pages that the child updates; and the table of the recordings in
//! `traces/recorded`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use trace_io::recording::{BlockEntry, Event, RecordingReader, Routine};

use super::{exit_code, succeed};

/// Mebibytes, and pages that the child updates.
const BENCHMARK: [&str; 2] = ["2", "200"];
/// Pages of the stack and of libraries by which recorders may differ.
const TOLERANCE: usize = 5;
const PAGE_BYTES: u64 = 4096;

type PageImage = [u8; PAGE_BYTES as usize];

/// Records the fork benchmark with each recorder that the machine has, and a guest.
pub fn check() -> ExitCode {
    exit_code(compare().and_then(|()| compare_guests()))
}

/// Prints the table of `traces/recorded/README.md`.
#[expect(clippy::print_stdout, reason = "the task reports to the terminal")]
pub fn table() -> ExitCode {
    exit_code(rows().map(|rows| println!("{}", rows.join("\n"))))
}

#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
fn compare() -> Result<(), String> {
    if let Some(program) = ["qemu-x86_64", "valgrind", "cc"].into_iter().find(|program| is_missing(program)) {
        eprintln!("skipped: {program} is not installed (Debian packages: qemu-user, valgrind, gcc)");
        return Ok(());
    }
    let (simulator, folder) = built()?;
    let benchmark = folder.join("fork-benchmark");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-o"]).arg(&benchmark).arg("traces/record/fork-benchmark.c");
    succeed(&mut compile, "the compilation of the benchmark")?;

    let record = |name: &str, options: &[&str], arguments: &[&str]| {
        let file = folder.join(format!("{name}.rct.zst"));
        let mut run = Command::new(&simulator);
        run.args(["record", "--force", "-o"]).arg(&file).args(options).arg("--").arg(&benchmark);
        let run = run.args(BENCHMARK).args(arguments).output().map_err(|error| format!("{name}: {error}"))?;
        if !run.status.success() {
            return Err(format!("{name}: {}: {}", run.status, String::from_utf8_lossy(&run.stderr)));
        }
        Ok((Recorded::read(&file)?, String::from_utf8_lossy(&run.stdout).into_owned()))
    };
    let (qemu, _) = record("qemu", &["--recorder", "qemu"], &[])?;
    let (lackey, _) = record("lackey", &["--recorder", "lackey"], &[])?;
    eprintln!("pages that the child copies: {} by qemu, {} by lackey", qemu.copied(), lackey.copied());
    if qemu.copied().abs_diff(lackey.copied()) > TOLERANCE {
        return Err(format!("they differ by more than {TOLERANCE}"));
    }
    let (contents, output) = record("contents", &["--recorder", "qemu", "--contents"], &["checksums"])?;
    let pages = contents.compare(&output)?;
    eprintln!("the contents of {pages} pages agree with the program's checksums");
    let mut verify = Command::new(&simulator);
    succeed(
        verify.args(["trace", "verify"]).arg(folder.join("contents.rct.zst")),
        "the comparison of loads with stores",
    )?;
    Ok(())
}

fn is_missing(program: &str) -> bool {
    !Command::new(program).arg("--version").output().is_ok_and(|run| run.status.success())
}

/// The simulator, built with the plugin, and a folder for recordings.
fn built() -> Result<(PathBuf, PathBuf), String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = target.join("recordings");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut build = Command::new("cargo");
    build.args(["build", "--release", "-p", "rowclone-cli", "-p", "rowclone-record-qemu"]);
    succeed(&mut build, "the build of the simulator and the plugin")?;
    Ok((target.join("release/rowclone-sim"), folder))
}

/// Records the fork benchmark in a guest, without and with pages that the child updates: the guest's kernel copies as
/// many more. A run of the recording has right loads.
#[expect(clippy::print_stderr, reason = "the task reports to the terminal")]
fn compare_guests() -> Result<(), String> {
    let kernels = std::fs::read_dir("/boot").into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let kernel = kernels.filter(|path| path.to_string_lossy().starts_with("/boot/vmlinuz")).max();
    let programs = ["qemu-system-x86_64", "busybox", "cc"];
    let Some(kernel) = kernel.filter(|_| programs.into_iter().all(is_found)) else {
        eprintln!(
            "skipped: a guest needs a kernel in /boot, and the Debian packages qemu-system-x86, busybox-static and gcc"
        );
        return Ok(());
    };
    let (simulator, folder) = built()?;
    let benchmark = folder.join("fork-benchmark-static");
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-static", "-o"]).arg(&benchmark).arg("traces/record/fork-benchmark.c");
    succeed(&mut compile, "the static compilation of the benchmark")?;
    let [mebibytes, pages] = BENCHMARK;
    let file = folder.join("guest.rct.zst");
    let record = |pages: &str| {
        let mut run = Command::new(&simulator);
        run.args(["record", "--force", "--from", "run_init_process", "--kernel"]).arg(&kernel).arg("-o").arg(&file);
        let run = run.arg("--").arg(&benchmark).args([mebibytes, pages]).stdin(Stdio::null()).output();
        let run = run.map_err(|error| format!("the guest: {error}"))?;
        if !run.status.success() {
            return Err(format!("the guest: {}: {}", run.status, String::from_utf8_lossy(&run.stderr)));
        }
        Ok(Recorded::read(&file)?.page_routines)
    };
    let ((before, _), (copies, clearings)) = (record("0")?, record(pages)?);
    eprintln!(
        "pages that the guest's kernel copies: {before} without updates, {copies} with {pages}; {clearings} cleared"
    );
    if (copies - before.min(copies)).abs_diff(pages.parse().unwrap_or(0)) > TOLERANCE as u64 || clearings == 0 {
        return Err(format!("they differ from {pages} by more than {TOLERANCE}, or none is cleared"));
    }
    let mut run = Command::new(&simulator);
    succeed(run.arg("run").arg(&file).arg("--check").stdout(Stdio::null()), "the run of the guest's recording")
}

/// Whether the shell finds a program, which need not know `--version`.
fn is_found(program: &str) -> bool {
    Command::new("sh").args(["-c", &format!("command -v {program}")]).output().is_ok_and(|run| run.status.success())
}

/// What a recording has.
#[derive(Debug, Default)]
struct Recorded {
    instructions: u64,
    /// Copies by system calls, and calls of routines: their number and bytes.
    copies: (u64, u64),
    calls: (u64, u64),
    /// Pages that the kernel of a guest copies and clears.
    page_routines: (u64, u64),
    /// Pages that each process has written.
    written: BTreeMap<u32, BTreeSet<u64>>,
    /// Pages that each forked process shares with its parent at first.
    shared: BTreeMap<u32, BTreeSet<u64>>,
    /// Contents of the pages that each process has written, if they were recorded.
    contents: BTreeMap<u32, BTreeMap<u64, PageImage>>,
}

impl Recorded {
    fn read(path: &Path) -> Result<Recorded, String> {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let wrong = |error| format!("{}: {error}", path.display());
        let mut reader = RecordingReader::new(BufReader::new(file)).map_err(wrong)?.with_digest();
        let mut recorded = Recorded { instructions: reader.metadata().totals.instructions, ..Recorded::default() };
        while let Some(block) = reader.next_block().map_err(wrong)? {
            let mut contents = block.contents.unwrap_or(&[]);
            for entry in block.entries() {
                match entry {
                    BlockEntry::Access(access) => {
                        let length = contents.len().min(access.bytes() as usize);
                        let (bytes, rest) = contents.split_at(length);
                        contents = rest;
                        if access.is_store {
                            recorded.store(block.process, access.address, access.bytes(), bytes);
                        }
                    }
                    BlockEntry::Event(event) => recorded.event(block.process, event),
                    BlockEntry::Instructions(_) => {}
                }
            }
        }
        Ok(recorded)
    }

    fn store(&mut self, process: u32, address: u64, length: u64, bytes: &[u8]) {
        let pages = address / PAGE_BYTES..=(address + length - 1) / PAGE_BYTES;
        self.written.entry(process).or_default().extend(pages);
        let contents = self.contents.entry(process).or_default();
        for (address, byte) in (address..).zip(bytes) {
            let page = contents.entry(address / PAGE_BYTES).or_insert([0; PAGE_BYTES as usize]);
            page[(address % PAGE_BYTES) as usize] = *byte;
        }
    }

    fn event(&mut self, process: u32, event: Event) {
        let count = |(number, total): &mut (u64, u64), bytes| (*number, *total) = (*number + 1, *total + bytes);
        match event {
            Event::Fork { process: child } => {
                let mut shared = self.written.get(&process).cloned().unwrap_or_default();
                shared.extend(self.shared.get(&process).into_iter().flatten());
                self.shared.insert(child, shared);
                let contents = self.contents.get(&process).cloned().unwrap_or_default();
                self.contents.insert(child, contents);
            }
            Event::Copy { bytes, .. } => count(&mut self.copies, bytes),
            Event::Call { routine: Routine::CopyPage { .. }, .. } => self.page_routines.0 += 1,
            Event::Call { routine: Routine::ClearPage, .. } => self.page_routines.1 += 1,
            Event::Call { bytes, .. } => count(&mut self.calls, bytes),
            _ => {}
        }
    }

    /// Pages that children write and share with their parents.
    fn copied(&self) -> usize {
        let none = BTreeSet::new();
        let shared = self.shared.iter();
        shared.map(|(child, pages)| self.written.get(child).unwrap_or(&none).intersection(pages).count()).sum()
    }

    /// Compares pages of the child with the lines `0x<address> <checksum>` of the program. Returns their number.
    fn compare(&self, output: &str) -> Result<usize, String> {
        let child = self.shared.keys().next().and_then(|child| self.contents.get(child)).ok_or("there is no child")?;
        for line in output.lines() {
            let pair = line.strip_prefix("0x").and_then(|line| line.split_once(' ')).and_then(|(address, sum)| {
                Some((u64::from_str_radix(address, 16).ok()?, u64::from_str_radix(sum, 16).ok()?))
            });
            let (address, sum) = pair.ok_or_else(|| format!("`{line}` is no address and checksum"))?;
            let page =
                child.get(&(address / PAGE_BYTES)).ok_or_else(|| format!("page {address:#x} was not written"))?;
            if checksum(page) != sum {
                return Err(format!("page {address:#x} has the checksum {:016x}, not {sum:016x}", checksum(page)));
            }
        }
        Ok(output.lines().count())
    }
}

/// FNV-1a over the words of a page, as in `fork-benchmark.c`.
fn checksum(page: &PageImage) -> u64 {
    let words = page.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    words.fold(0xcbf2_9ce4_8422_2325, |sum, word| (sum ^ word).wrapping_mul(0x0100_0000_01b3))
}

/// Rows of the table, one per recording.
fn rows() -> Result<Vec<String>, String> {
    let folder = Path::new("traces/recorded");
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".rct.zst"));
    paths.sort();
    let row = |path: PathBuf| {
        let recorded = Recorded::read(&path)?;
        let bytes = path.metadata().map_err(|error| format!("{}: {error}", path.display()))?.len();
        let millions = |count: u64| count as f64 / 1e6;
        Ok(format!(
            "| `{}` | {:.1} | {:.3} | {} | {} | {:.1} | {} | {:.1} | {:.2} |",
            path.file_name().unwrap_or_default().display(),
            millions(recorded.instructions),
            8.0 * bytes as f64 / recorded.instructions as f64,
            recorded.copied() as u64 + recorded.page_routines.0,
            recorded.copies.0,
            millions(recorded.copies.1),
            recorded.calls.0,
            millions(recorded.calls.1),
            millions(bytes),
        ))
    };
    paths.into_iter().map(row).collect()
}
