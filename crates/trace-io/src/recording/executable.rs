//! Programs as Linux starts them.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{PathBuf, absolute};

/// Most bytes of the first line of a script, as in Linux.
const SCRIPT_LINE_MAX: u64 = 256;
/// Most interpreters that interpret each other, as in Linux.
const SCRIPTS_MAX: usize = 5;
/// Machine of an ELF file for x86-64.
const EM_X86_64: u8 = 62;

/// The program that the system starts for a path: the file itself, or the interpreter of a script.
#[derive(Debug)]
pub struct Executable {
    /// Absolute path of the program, or of the interpreter.
    pub path: PathBuf,
    /// Its name in the arguments.
    pub first: OsString,
    /// The other arguments.
    pub arguments: Vec<OsString>,
    /// Whether it is an ELF file for x86-64.
    pub is_for_x86_64: bool,
}

impl Executable {
    /// The program of a path; `None` if it cannot be executed.
    pub fn of(mut path: PathBuf, mut first: OsString, mut arguments: Vec<OsString>) -> Option<Executable> {
        for _ in 0..SCRIPTS_MAX {
            path = absolute(path).ok()?;
            let found = fs::metadata(&path).ok()?;
            if !found.is_file() || found.permissions().mode() & 0o111 == 0 {
                return None;
            }
            let mut start = Vec::new();
            File::open(&path).ok()?.take(SCRIPT_LINE_MAX).read_to_end(&mut start).ok()?;
            let Some(line) = start.strip_prefix(b"#!") else {
                if !start.starts_with(b"\x7fELF") {
                    return None;
                }
                let is_for_x86_64 = start.starts_with(b"\x7fELF\x02") && start.get(18) == Some(&EM_X86_64);
                return Some(Executable { path, first, arguments, is_for_x86_64 });
            };
            let line = line.split(|byte| *byte == b'\n').next()?.trim_ascii();
            let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
            let (interpreter, argument) = (&line[..end], line[end..].trim_ascii());
            arguments.insert(0, path.into_os_string());
            if !argument.is_empty() {
                arguments.insert(0, OsString::from_vec(argument.to_vec()));
            }
            first = OsString::from_vec(interpreter.to_vec());
            path = PathBuf::from(&first);
        }
        None
    }
}
