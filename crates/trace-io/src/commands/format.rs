//! The formats of command traces, and their recognition.

use crate::line::cells;
use crate::number::decimal;
use crate::text::extension;

/// A format of command traces.
#[derive(derive_more::Debug)]
#[debug("{name}")]
pub struct CommandFormat {
    /// Name on command lines.
    pub name: &'static str,
    /// Tool and content, in a few words.
    pub about: &'static str,
    /// Extensions of file names, without the dot.
    pub extensions: &'static [&'static str],
    /// Whether its commands have rows and columns.
    pub has_rows: bool,
    /// Whether it is written.
    pub is_written: bool,
    /// The grammar that reads it, if it is read.
    pub(super) grammar: Option<Grammar>,
    /// Whether a trace may begin with this line.
    recognizes: fn(&[u8]) -> bool,
}

/// Grammar of the lines of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grammar {
    Log,
    DramPower,
    Ramulator2,
    DramSim3,
}

const DRAMPOWER: CommandFormat = CommandFormat {
    name: "drampower",
    about: "DRAMPower 4: clock, command, bank",
    extensions: &["drampower", "trace"],
    has_rows: false,
    is_written: true,
    grammar: Some(Grammar::DramPower),
    recognizes: is_drampower,
};

/// All formats, in the order of messages.
pub static FORMATS: [CommandFormat; 6] = [
    CommandFormat {
        name: "log",
        about: "the command log of rowclone-sim",
        extensions: &["csv"],
        has_rows: true,
        is_written: true,
        grammar: Some(Grammar::Log),
        recognizes: |line| line.starts_with(b"# rowclone-sim command log"),
    },
    DRAMPOWER,
    CommandFormat {
        name: "ramulator-commands",
        about: "Ramulator 1: the lines of DRAMPower",
        extensions: &["cmdtrace"],
        ..DRAMPOWER
    },
    CommandFormat {
        name: "ramulator2-commands",
        about: "the plug-in CmdTraceRecorder of Ramulator 2",
        extensions: &["ch0", "ch1", "ch2", "ch3", "ch4", "ch5", "ch6", "ch7"],
        has_rows: true,
        is_written: false,
        grammar: Some(Grammar::Ramulator2),
        recognizes: |line| line.starts_with(b"clock,command,"),
    },
    CommandFormat {
        name: "dramsim3-commands",
        about: "DRAMsim3, compiled with CMD_TRACE",
        extensions: &["trace"],
        has_rows: true,
        is_written: false,
        grammar: Some(Grammar::DramSim3),
        recognizes: is_dramsim3,
    },
    CommandFormat {
        name: "hdl",
        about: "a list for HDL models: cycle, command, bank, address pins",
        extensions: &["hdl"],
        has_rows: true,
        is_written: true,
        grammar: None,
        recognizes: |line| line.starts_with(b"# rowclone-sim HDL command list"),
    },
];

impl CommandFormat {
    /// The format with this name.
    pub fn named(name: &str) -> Option<&'static CommandFormat> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Whether it is read.
    pub const fn is_read(&self) -> bool {
        self.grammar.is_some()
    }

    /// Whether it names the memory system of its commands.
    pub fn names_system(&self) -> bool {
        self.grammar == Some(Grammar::Log)
    }

    /// Whether a file has one of its extensions; the extensions of compressed files do not count.
    pub fn has_extension(&self, file_name: &str) -> bool {
        extension(file_name).is_some_and(|found| self.extensions.contains(&found))
    }

    /// The formats that a trace with this beginning may have: those that its first line matches. If
    /// none does, those of the file's extension.
    pub fn candidates(head: &[u8], file_name: &str) -> Vec<&'static CommandFormat> {
        let found = CommandFormat::matching(head, file_name);
        if found.is_empty() { CommandFormat::of_extension(file_name) } else { found }
    }

    /// The formats that the first line of a trace matches. Of formats with one grammar, the one with
    /// the file's extension counts, or the first.
    pub fn matching(head: &[u8], file_name: &str) -> Vec<&'static CommandFormat> {
        let first = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
        let mut found: Vec<&CommandFormat> =
            FORMATS.iter().filter(|format| first.is_some_and(|line| (format.recognizes)(line))).collect();
        found.sort_by_key(|format| !format.has_extension(file_name));
        found.dedup_by_key(|format| format.grammar);
        found
    }

    /// The formats with the file's extension.
    pub fn of_extension(file_name: &str) -> Vec<&'static CommandFormat> {
        FORMATS.iter().filter(|format| format.has_extension(file_name)).collect()
    }
}

/// `500,ACT,2`
fn is_drampower(line: &[u8]) -> bool {
    let mut cells = cells(line);
    let is_name = |cell: &[u8]| !cell.is_empty() && cell.iter().all(|&byte| byte == b'_' || byte.is_ascii_uppercase());
    cells.next().and_then(decimal).is_some() && cells.next().is_some_and(is_name)
}

/// `500   activate   0   0   0   2   0x11   0x0`
fn is_dramsim3(line: &[u8]) -> bool {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let is_name = |word: &[u8]| word.iter().all(|&byte| byte == b'_' || byte.is_ascii_lowercase());
    words.next().and_then(decimal).is_some() && words.next().is_some_and(is_name)
}

impl PartialEq for CommandFormat {
    fn eq(&self, other: &CommandFormat) -> bool {
        self.name == other.name
    }
}

impl Eq for CommandFormat {}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(head: &str, file_name: &str) -> Vec<&'static str> {
        CommandFormat::candidates(head.as_bytes(), file_name).into_iter().map(|format| format.name).collect()
    }

    #[test]
    fn the_first_line_decides_before_the_extension() {
        for (head, file_name, expected) in [
            ("# rowclone-sim command log, version 1\n", "x.trace", vec!["log"]),
            ("\n  500,ACT,2\n", "x.csv", vec!["drampower"]),
            ("500,ACT,2\n", "x-chan-0-rank-0.cmdtrace.gz", vec!["ramulator-commands"]),
            ("500,PREA\n", "x", vec!["drampower"]),
            ("clock,command,Channel\n", "x", vec!["ramulator2-commands"]),
            ("500   activate   0   0   0   2   0x11   0x0\n", "x.csv", vec!["dramsim3-commands"]),
            ("# rowclone-sim HDL command list, version 1\n", "x", vec!["hdl"]),
            ("", "x.trace.zst", vec!["drampower", "dramsim3-commands"]),
            ("", "x.ch1", vec!["ramulator2-commands"]),
            ("0x40 R\n", "x.csv", vec!["log"]),
            ("0x40 R\n", "x.txt", vec![]),
            ("5 2080529600\n", "csv", vec![]),
        ] {
            assert_eq!(names(head, file_name), expected, "{head:?} in {file_name}");
        }
    }
}
