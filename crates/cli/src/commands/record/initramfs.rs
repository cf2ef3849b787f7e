//! Archives of the initial RAM disk of a guest: `cpio`, format `newc` (`Documentation/driver-api/early-userspace` of
//! Linux).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

/// Kinds of files in a mode (`S_IFDIR`, `S_IFREG`, `S_IFLNK`).
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;
const LINK: u32 = 0o120_000;

/// An archive under construction.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    /// Number of entries; the inode of the next entry follows from it.
    entries: u32,
    folders: BTreeSet<String>,
}

impl Archive {
    /// Adds a folder, and those that contain it, unless it is there. The path is relative to the root.
    pub fn folder(&mut self, path: &str) {
        if path.is_empty() || self.folders.contains(path) {
            return;
        }
        self.parent(path);
        self.entry(path, FOLDER | 0o755, &[]);
        self.folders.insert(path.to_owned());
    }

    /// Adds a file that can be executed.
    pub fn program(&mut self, path: &str, contents: &[u8]) {
        self.parent(path);
        self.entry(path, FILE | 0o755, contents);
    }

    /// Adds a symbolic link.
    pub fn link(&mut self, path: &str, target: &str) {
        self.parent(path);
        self.entry(path, LINK | 0o777, target.as_bytes());
    }

    /// The bytes of the archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }

    fn parent(&mut self, path: &str) {
        let parent = Path::new(path).parent().map(|parent| parent.to_string_lossy().into_owned());
        self.folder(&parent.unwrap_or_default());
    }

    /// Adds an entry: a header of hexadecimal numbers, the name with a zero byte, and the contents, each padded to 4
    /// bytes.
    fn entry(&mut self, name: &str, mode: u32, contents: &[u8]) {
        self.entries += 1;
        let (links, name_bytes) = (1, name.len() + 1);
        // Inode, mode, user, group, links, time, bytes, four numbers of devices, bytes of the name, checksum.
        let numbers = [self.entries, mode, 0, 0, links, 0, contents.len() as u32, 0, 0, 0, 0, name_bytes as u32, 0];
        let mut header = "070701".to_owned();
        for number in numbers {
            let _ = write!(header, "{number:08x}");
        }
        self.bytes.extend_from_slice(header.as_bytes());
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(contents);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names, modes and contents of an archive.
    fn read(mut bytes: &[u8]) -> Vec<(String, u32, Vec<u8>)> {
        let mut entries = Vec::new();
        while !bytes.is_empty() {
            let (header, _) = bytes.split_at(110);
            assert_eq!(&header[..6], b"070701");
            let number = |index: usize| {
                let digits = std::str::from_utf8(&header[6 + 8 * index..14 + 8 * index]).unwrap();
                u32::from_str_radix(digits, 16).unwrap()
            };
            let (mode, size, name_bytes) = (number(1), number(6) as usize, number(11) as usize);
            let name = std::str::from_utf8(&bytes[110..109 + name_bytes]).unwrap().to_owned();
            assert_eq!(bytes[109 + name_bytes], 0);
            let start = (110 + name_bytes).next_multiple_of(4);
            entries.push((name, mode, bytes[start..start + size].to_vec()));
            bytes = &bytes[(start + size).next_multiple_of(4)..];
        }
        entries
    }

    #[test]
    fn entries_follow_their_folders_and_end_with_the_trailer() {
        let mut archive = Archive::default();
        archive.program("usr/bin/a", b"12345");
        archive.link("usr/bin/b", "/usr/bin/a");
        let expected = [
            ("usr", 0o040_755, &b""[..]),
            ("usr/bin", 0o040_755, b""),
            ("usr/bin/a", 0o100_755, b"12345"),
            ("usr/bin/b", 0o120_777, b"/usr/bin/a"),
            ("TRAILER!!!", 0, b""),
        ];
        assert_eq!(
            read(&archive.finish()),
            expected.map(|(name, mode, bytes)| (name.to_owned(), mode, bytes.to_vec()))
        );
    }
}
