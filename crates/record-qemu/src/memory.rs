//! Memory of the program: its mappings when it begins, and its contents.

use std::fs;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use trace_io::recording::{Event, MapFlags, ObjectAddress};

use crate::object::{self, File};
use crate::qemu;
use crate::symbols::Symbols;
use crate::thread::Thread;

/// Mappings of qemu before it loads the program.
static OF_QEMU: OnceLock<Vec<Mapping>> = OnceLock::new();

/// Programs lie below this address, and what qemu allocates itself above.
const END: u64 = 0x5000_0000_0000;

/// A mapping of the process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mapping {
    start: u64,
    end: u64,
    is_writable: bool,
    is_shared: bool,
    offset: u64,
    file: Option<File>,
    path: String,
}

impl Mapping {
    /// The mapping of a line of `/proc/self/maps`: `start-end permissions offset device inode path`.
    fn of(line: &str) -> Option<Mapping> {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        let permissions = words.next()?.as_bytes();
        let hex = |text| u64::from_str_radix(text, 16).ok();
        let offset = hex(words.next()?)?;
        let (_, inode) = (words.next()?, words.next()?);
        let path = words.next().unwrap_or("").trim_start().to_owned();
        // The device of a mapping is not that of `stat` on all file systems.
        let file = if inode == "0" { None } else { File::of_path(&path) };
        Some(Mapping {
            start: hex(start)?,
            end: hex(end)?,
            is_writable: permissions.get(1) == Some(&b'w'),
            is_shared: permissions.get(3) == Some(&b's'),
            offset,
            file,
            path,
        })
    }
}

fn mappings() -> Vec<Mapping> {
    let text = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    text.lines().filter_map(Mapping::of).collect()
}

/// Keeps the mappings of qemu, to distinguish them from those of the program.
pub fn remember_mappings_of_qemu() {
    OF_QEMU.get_or_init(mappings);
}

/// Adds an event for each mapping of the program.
pub fn initial(thread: &Thread) {
    let base = qemu::base();
    let of_qemu = OF_QEMU.get().map_or(&[][..], |mappings| mappings);
    for mapping in mappings() {
        let address = mapping.start.wrapping_sub(base);
        if of_qemu.iter().any(|other| other.start < mapping.end && mapping.start < other.end) || address >= END {
            continue;
        }
        let of = mapping.file.map(|file| object::number(thread, file, None, mapping.offset));
        thread.event(Event::Map {
            flags: MapFlags { is_writable: mapping.is_writable, is_shared: mapping.is_shared },
            address,
            bytes: mapping.end - mapping.start,
            of: of.unwrap_or(ObjectAddress { object: ObjectAddress::PROCESS, address: 0 }),
        });
        // The other segments of the file follow the first.
        if mapping.offset == 0 && mapping.file.is_some() {
            Symbols::lock().add_file(mapping.path.as_ref(), address, mapping.offset);
        }
    }
}

/// Numbers in the program's memory; 0 where it has none.
pub fn read_numbers(address: u64, count: u64) -> Vec<u64> {
    let mut bytes = vec![0; 8 * count as usize];
    if let Ok(memory) = fs::File::open("/proc/self/mem") {
        let _ = memory.read_exact_at(&mut bytes, address.wrapping_add(qemu::base()));
    }
    bytes.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number)).collect()
}
