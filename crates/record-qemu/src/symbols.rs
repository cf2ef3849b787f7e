//! Routines that copy or set memory, found by the symbols of the files that the program maps.
//!
//! A C library chooses one of several variants of `memcpy` when the program begins, and its symbol tables name only the
//! function that chooses. The address of the variant is in the slot of each relocation that names `memcpy`, once the
//! dynamic linker has set it.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::qemu;

/// Variants begin at multiples of this.
const ALIGNMENT: u64 = 16;

const SHT_SYMTAB: u32 = 2;
const SHT_RELA: u32 = 4;
const SHT_DYNSYM: u32 = 11;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;
const R_X86_64_GLOB_DAT: u32 = 6;
const R_X86_64_JUMP_SLOT: u32 = 7;
const R_X86_64_IRELATIVE: u32 = 37;

/// Routines and slots of all files that the program has mapped.
#[derive(Debug)]
pub struct Symbols {
    /// Addresses of routines.
    routines: BTreeSet<u64>,
    /// Addresses of slots that have the address of a routine, or will have it.
    slots: BTreeSet<u64>,
    /// Ranges of files that define a variant of a routine.
    files: Vec<(u64, u64)>,
}

static SYMBOLS: Mutex<Symbols> =
    Mutex::new(Symbols { routines: BTreeSet::new(), slots: BTreeSet::new(), files: Vec::new() });

impl Symbols {
    /// The symbols of the program.
    pub fn lock() -> MutexGuard<'static, Symbols> {
        SYMBOLS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether no file has symbols of a routine.
    pub fn is_empty(&self) -> bool {
        self.routines.is_empty() && self.slots.is_empty()
    }

    /// Whether a routine begins at an address.
    pub fn is_routine(&mut self, address: u64) -> bool {
        if self.routines.contains(&address) {
            return true;
        }
        let is_candidate = address.is_multiple_of(ALIGNMENT)
            && self.files.iter().any(|(start, end)| (*start..*end).contains(&address));
        let found = is_candidate && self.is_in_slot(address);
        if found {
            self.routines.insert(address);
        }
        found
    }

    /// Whether a slot has this address. Slots that are not mapped yet, or no longer, have none.
    fn is_in_slot(&self, address: u64) -> bool {
        let Ok(memory) = File::open("/proc/self/mem") else { return false };
        let mut value = [0; 8];
        self.slots.iter().any(|slot| {
            memory.read_exact_at(&mut value, slot.wrapping_add(qemu::base())).is_ok()
                && u64::from_le_bytes(value) == address
        })
    }

    /// Adds the symbols of a file that is mapped at an address from an offset on.
    pub fn add_file(&mut self, path: &Path, address: u64, offset: u64) {
        if let Ok(bytes) = fs::read(path) {
            self.add(&Elf { bytes: &bytes }, address, offset);
        }
    }

    fn add(&mut self, elf: &Elf<'_>, address: u64, offset: u64) -> Option<()> {
        if !elf.bytes.starts_with(b"\x7fELF\x02") {
            return None;
        }
        let (bias, end) = elf.bias(address, offset)?;
        let mut chooses = BTreeSet::new();
        let sections = elf.sections()?;
        for table in sections.iter().filter(|section| matches!(section.kind, SHT_SYMTAB | SHT_DYNSYM)) {
            let names = *sections.get(table.link as usize)?;
            for entry in (0..table.size / 24).map(|index| table.offset + 24 * index) {
                let kind = elf.byte(entry + 4)? & 15;
                let value = elf.u64(entry + 8)?;
                if value == 0 || !matches!(kind, STT_FUNC | STT_GNU_IFUNC) || !elf.is_routine(names, entry)? {
                    continue;
                }
                if kind == STT_FUNC {
                    self.routines.insert(value.wrapping_add(bias));
                } else {
                    chooses.insert(value);
                }
            }
        }
        for table in sections.iter().filter(|section| section.kind == SHT_RELA) {
            for entry in (0..table.size / 24).map(|index| table.offset + 24 * index) {
                let (slot, info, addend) = (elf.u64(entry)?, elf.u64(entry + 8)?, elf.u64(entry + 16)?);
                let names_routine = match info as u32 {
                    R_X86_64_IRELATIVE => chooses.contains(&addend),
                    R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => {
                        let symbols = *sections.get(table.link as usize)?;
                        let names = *sections.get(symbols.link as usize)?;
                        elf.is_routine(names, symbols.offset + 24 * (info >> 32))?
                    }
                    _ => false,
                };
                if names_routine {
                    self.slots.insert(slot.wrapping_add(bias));
                }
            }
        }
        if !chooses.is_empty() {
            self.files.push((bias, end));
        }
        Some(())
    }
}

/// Bytes of an ELF file of 64 bits.
struct Elf<'a> {
    bytes: &'a [u8],
}

/// A section.
#[derive(Clone, Copy)]
struct Section {
    kind: u32,
    offset: u64,
    size: u64,
    link: u32,
}

impl Elf<'_> {
    fn array<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        self.bytes.get(usize::try_from(offset).ok()?..)?.first_chunk().copied()
    }

    fn byte(&self, offset: u64) -> Option<u8> {
        self.array::<1>(offset).map(|[byte]| byte)
    }

    fn u16(&self, offset: u64) -> Option<u64> {
        self.array(offset).map(|bytes| u16::from_le_bytes(bytes).into())
    }

    fn u32(&self, offset: u64) -> Option<u32> {
        self.array(offset).map(u32::from_le_bytes)
    }

    fn u64(&self, offset: u64) -> Option<u64> {
        self.array(offset).map(u64::from_le_bytes)
    }

    /// What to add to an address of the file, if an offset of it is mapped at `address`, and the end of the file there.
    fn bias(&self, address: u64, offset: u64) -> Option<(u64, u64)> {
        const PT_LOAD: u32 = 1;
        let (table, size, count) = (self.u64(32)?, self.u16(54)?, self.u16(56)?);
        let segments = (0..count).map(|index| table + size * index).filter(|entry| self.u32(*entry) == Some(PT_LOAD));
        let mut bias = None;
        let mut end = 0;
        for entry in segments {
            let (start, virtual_start, bytes) = (self.u64(entry + 8)?, self.u64(entry + 16)?, self.u64(entry + 40)?);
            if (start & !0xfff..start + bytes).contains(&offset) {
                bias = bias.or(Some(address.wrapping_sub(virtual_start - start).wrapping_sub(offset)));
            }
            end = end.max(virtual_start + bytes);
        }
        bias.map(|bias| (bias, end.wrapping_add(bias)))
    }

    fn sections(&self) -> Option<Vec<Section>> {
        let (table, size, count) = (self.u64(40)?, self.u16(58)?, self.u16(60)?);
        let section = |entry| {
            let (kind, link) = (self.u32(entry + 4)?, self.u32(entry + 40)?);
            Some(Section { kind, offset: self.u64(entry + 24)?, size: self.u64(entry + 32)?, link })
        };
        (0..count).map(|index| section(table + size * index)).collect()
    }

    /// Whether the symbol of an entry is a routine that copies or sets memory.
    fn is_routine(&self, names: Section, symbol: u64) -> Option<bool> {
        let start = usize::try_from(names.offset + u64::from(self.u32(symbol)?)).ok()?;
        let name = self.bytes.get(start..)?.split(|byte| *byte == 0).next()?;
        let name = name.trim_ascii_start();
        let name = &name[name.iter().take_while(|byte| **byte == b'_').count()..];
        Some(["memcpy", "memmove", "mempcpy", "memset"].iter().any(|routine| {
            name.strip_prefix(routine.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"_"))
        }))
    }
}
