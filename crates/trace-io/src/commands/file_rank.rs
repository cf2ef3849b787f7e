//! Channel and rank of a trace that does not name them.

use dram_spec::Channel;

/// Channel and rank of the commands of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRank {
    /// Channel.
    pub channel: Channel,
    /// Rank of the channel.
    pub rank: u8,
}

impl FileRank {
    /// The place in a file name such as `run-chan-0-rank-1.cmdtrace`: the names of Ramulator 1, and
    /// of the files that this crate's callers write.
    pub fn of_file_name(file_name: &str) -> Option<FileRank> {
        let (before, after) = file_name.rsplit_once("-rank-")?;
        let rank = leading(after)?;
        let (_, channel) = before.rsplit_once("chan-")?;
        Some(FileRank { channel: Channel(leading(channel).filter(|_| is_number(channel))?), rank })
    }

    /// The text that names a place in a file name.
    pub fn file_name_part(self) -> String {
        format!("-chan-{}-rank-{}", self.channel.0, self.rank)
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn leading(text: &str) -> Option<u8> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ramulator_and_of_exports_name_their_place() {
        let place = |channel, rank| Some(FileRank { channel: Channel(channel), rank });
        for (name, expected) in [
            ("cmd-trace-chan-0-rank-1.cmdtrace", place(0, 1)),
            ("chan-12-rank-3", place(12, 3)),
            ("a-rank-9-chan-7-rank-0.trace.gz", place(7, 0)),
            ("chan-x-rank-1.cmdtrace", None),
            ("chan-1x-rank-1.cmdtrace", None),
            ("chan-1-rank-.cmdtrace", None),
            ("chan-256-rank-0", None),
            ("rank-0.trace", None),
        ] {
            assert_eq!(FileRank::of_file_name(name), expected, "{name}");
        }
        let there = FileRank { channel: Channel(3), rank: 1 };
        assert_eq!(FileRank::of_file_name(&format!("x{}.trace", there.file_name_part())), Some(there));
    }
}
