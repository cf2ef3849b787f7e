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

use elf::ElfBytes;
use elf::abi::{PT_LOAD, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT, SHT_RELA, STT_FUNC, STT_GNU_IFUNC};
use elf::endian::LittleEndian;
use elf::file::Class;
use elf::relocation::Rela;
use elf::segment::ProgramHeader;
use elf::string_table::StringTable;
use elf::symbol::Symbol;

use crate::qemu;

/// An ELF file of the machine's byte order.
type Elf<'a> = ElfBytes<'a, LittleEndian>;

/// Variants begin at multiples of this.
const ALIGNMENT: u64 = 16;

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
            self.add(&bytes, address, offset);
        }
    }

    fn add(&mut self, bytes: &[u8], address: u64, offset: u64) -> Option<()> {
        let elf = Elf::minimal_parse(bytes).ok().filter(|elf| elf.ehdr.class == Class::ELF64)?;
        let (bias, end) = bias(&elf, address, offset)?;
        let mut chooses = BTreeSet::new();
        let dynamic = elf.dynamic_symbol_table().ok()?;
        for (symbols, names) in elf.symbol_table().ok()?.iter().chain(&dynamic) {
            for symbol in symbols.iter().filter(|symbol| symbol.st_value != 0 && is_routine(names, symbol)) {
                match symbol.st_symtype() {
                    STT_FUNC => self.routines.insert(symbol.st_value.wrapping_add(bias)),
                    STT_GNU_IFUNC => chooses.insert(symbol.st_value),
                    _ => false,
                };
            }
        }
        let names_routine = |relocation: &Rela| match relocation.r_type {
            R_X86_64_IRELATIVE => chooses.contains(&relocation.r_addend.cast_unsigned()),
            R_X86_64_GLOB_DAT | R_X86_64_JUMP_SLOT => dynamic.as_ref().is_some_and(|(symbols, names)| {
                symbols.get(relocation.r_sym as usize).is_ok_and(|symbol| is_routine(names, &symbol))
            }),
            _ => false,
        };
        for table in elf.section_headers()?.iter().filter(|section| section.sh_type == SHT_RELA) {
            let relocations = elf.section_data_as_relas(&table).ok()?.filter(names_routine);
            self.slots.extend(relocations.map(|relocation| relocation.r_offset.wrapping_add(bias)));
        }
        if !chooses.is_empty() {
            self.files.push((bias, end));
        }
        Some(())
    }
}

/// What to add to an address of a file, if an offset of it is mapped at `address`, and the end of the file there.
fn bias(elf: &Elf<'_>, address: u64, offset: u64) -> Option<(u64, u64)> {
    let segments: Vec<ProgramHeader> = elf.segments()?.iter().filter(|segment| segment.p_type == PT_LOAD).collect();
    let holds = |it: &&ProgramHeader| (it.p_offset & !0xfff..it.p_offset + it.p_memsz).contains(&offset);
    let mapped = segments.iter().find(holds)?;
    let bias = address.wrapping_sub(mapped.p_vaddr - mapped.p_offset).wrapping_sub(offset);
    let end = segments.iter().map(|segment| segment.p_vaddr + segment.p_memsz).max()?;
    Some((bias, end.wrapping_add(bias)))
}

/// Whether a symbol is that of a routine that copies or sets memory.
fn is_routine(names: &StringTable<'_>, symbol: &Symbol) -> bool {
    let name = names.get_raw(symbol.st_name as usize).unwrap_or_default().trim_ascii_start();
    let name = &name[name.iter().take_while(|byte| **byte == b'_').count()..];
    ["memcpy", "memmove", "mempcpy", "memset"].iter().any(|routine| {
        name.strip_prefix(routine.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"_"))
    })
}
