//! Events of the system, and of libraries.

use smallvec::SmallVec;
use strum::{EnumDiscriminants, IntoStaticStr, VariantNames};

use super::error::wrong;
use super::word::{INLINE_MAX, Word};
use crate::LineError;

/// Most operands of an event.
pub const OPERANDS_MAX: usize = 6;

/// Operands of each event, by its number less 1.
const OPERANDS: [usize; 14] = [1, 1, 0, 5, 3, 3, 4, 4, 6, 4, 4, 0, 2, 1];

/// A byte of an object: of the memory of the process (object 0), of a file, pipe or socket, or of physical memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    /// Number of the object.
    pub object: u64,
    /// Virtual address, offset or physical address.
    pub address: u64,
}

impl ObjectAddress {
    /// Number of the object that stands for the memory of the process.
    pub const PROCESS: u64 = 0;
    /// Number of the object that stands for physical memory.
    pub const PHYSICAL: u64 = INLINE_MAX;
    /// First number of a pipe, a socket or a terminal; those of files are less.
    pub const STREAMS: u64 = 1 << 47;

    /// Whether the object is a pipe, a socket or a terminal: each byte passes it once.
    pub const fn is_stream(self) -> bool {
        self.object >= ObjectAddress::STREAMS && self.object < ObjectAddress::PHYSICAL
    }
}

/// What may be done with mapped pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapFlags {
    /// The process may write them.
    pub is_writable: bool,
    /// Its writes are those of all processes that map them.
    pub is_shared: bool,
}

/// A routine of a library, or of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Routine {
    /// `memcpy`, with the first byte of the source.
    Copy {
        /// First byte read.
        src: u64,
    },
    /// `memmove`, with the first byte of the source.
    Move {
        /// First byte read.
        src: u64,
    },
    /// `memset`.
    Set {
        /// The byte that it writes.
        value: u8,
    },
    /// The kernel's copy of a page, with the first byte of the source.
    CopyPage {
        /// First byte read.
        src: u64,
    },
    /// The kernel's routine that sets a page to zero.
    ClearPage,
}

impl Routine {
    /// Whether it is a routine of the kernel.
    pub const fn is_of_kernel(self) -> bool {
        matches!(self, Routine::CopyPage { .. } | Routine::ClearPage)
    }
}

dram_spec::named! {
    /// Kind of a page fault.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum FaultKind {
        /// A read of an absent page, or an instruction fetch from one.
        ReadAbsent = "read-absent",
        /// A write to an absent page.
        WriteAbsent = "write-absent",
        /// A write to a present page that is write-protected, as after fork.
        WriteProtected = "write-protected",
    }
}

/// An event. Addresses without an object are virtual, of the process of the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumDiscriminants, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase")]
#[strum_discriminants(name(EventKind), vis(), doc = "Kind of an event.")]
pub enum Event {
    /// Begins a process without memory.
    Create {
        /// Its number.
        process: u32,
    },
    /// Begins a process as a copy of the process of the block.
    Fork {
        /// Its number.
        process: u32,
    },
    /// Ends the process of the block.
    Exit,
    /// Maps pages.
    Map {
        /// What may be done with them.
        flags: MapFlags,
        /// First byte.
        address: u64,
        /// Number of bytes.
        bytes: u64,
        /// First byte of the mapped object; object 0 if the memory is anonymous.
        of: ObjectAddress,
    },
    /// Unmaps pages.
    Unmap {
        /// First byte.
        address: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Pages remain mapped and lose their contents.
    Discard {
        /// First byte.
        address: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Maps the pages of one address at another.
    Move {
        /// Old address of the first byte.
        from: u64,
        /// New address of the first byte.
        to: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// The page cache gets contents from a device.
    Read {
        /// First byte.
        of: ObjectAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// The kernel copies bytes.
    Copy {
        /// First byte written.
        dst: ObjectAddress,
        /// First byte read.
        src: ObjectAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// The kernel sets bytes to zero.
    Zero {
        /// First byte.
        dst: ObjectAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Begins a routine.
    Call {
        /// The routine.
        routine: Routine,
        /// First byte written.
        dst: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// Ends a routine.
    Return,
    /// A page fault.
    Fault {
        /// Its kind.
        kind: FaultKind,
        /// The address.
        address: u64,
    },
    /// Time since the start of the recording.
    Time {
        /// Nanoseconds, at most [`INLINE_MAX`].
        nanoseconds: u64,
    },
}

impl Event {
    /// The words of an event.
    ///
    /// # Panics
    /// If the first operand is beyond the range of a word.
    pub fn words(self) -> SmallVec<[u64; OPERANDS_MAX]> {
        let (number, operands) = (self.number(), self.operands());
        let further = operands.len().saturating_sub(1) as u8;
        let first = Word::Event { number, further, first: operands.first().copied().unwrap_or(0) };
        std::iter::once(first.bits()).chain(operands.into_iter().skip(1)).collect()
    }

    /// Its number.
    pub fn number(self) -> u8 {
        EventKind::from(self) as u8 + 1
    }

    /// Operands.
    fn operands(self) -> SmallVec<[u64; OPERANDS_MAX]> {
        let list = |operands: &[u64]| SmallVec::from_slice(operands);
        match self {
            Event::Create { process } | Event::Fork { process } => list(&[process.into()]),
            Event::Exit | Event::Return => list(&[]),
            Event::Map { flags, address, bytes, of } => {
                let flags = u64::from(flags.is_writable) | u64::from(flags.is_shared) << 1;
                list(&[flags, address, bytes, of.object, of.address])
            }
            Event::Unmap { address, bytes } | Event::Discard { address, bytes } => list(&[0, address, bytes]),
            Event::Move { from, to, bytes } => list(&[0, from, to, bytes]),
            Event::Read { of, bytes } => list(&[0, of.object, of.address, bytes]),
            Event::Copy { dst, src, bytes } => list(&[0, dst.object, dst.address, src.object, src.address, bytes]),
            Event::Zero { dst, bytes } => list(&[0, dst.object, dst.address, bytes]),
            Event::Call { routine, dst, bytes } => {
                let (routine, argument) = match routine {
                    Routine::Copy { src } => (1, src),
                    Routine::Move { src } => (2, src),
                    Routine::Set { value } => (3, value.into()),
                    Routine::CopyPage { src } => (4, src),
                    Routine::ClearPage => (5, 0),
                };
                list(&[routine, dst, argument, bytes])
            }
            Event::Fault { kind, address } => list(&[kind as u64 + 1, address]),
            Event::Time { nanoseconds } => list(&[nanoseconds]),
        }
    }

    /// The event of a number, its first operand, and the words that follow.
    ///
    /// # Errors
    /// If there is no such event, or if operands are missing or beyond their range.
    pub fn of(number: u8, first: u64, further: &[u64]) -> Result<Event, LineError> {
        check_operands(number, further.len() + 1)?;
        let value = |operand: usize, found: u64| wrong(format!("operand {operand} of event {number} is {found:#x}"));
        // Events without a first operand.
        if matches!(number, 3 | 5..=10 | 12) && first != 0 {
            return Err(value(1, first));
        }
        let process = || u32::try_from(first).ok().filter(|&process| process > 0).ok_or_else(|| value(1, first));
        let of = |object: usize| ObjectAddress { object: further[object], address: further[object + 1] };
        // A range has bytes, and ends within 64 bits.
        let range = |start: usize, bytes: usize| match further[start].checked_add(further[bytes]) {
            Some(_) if further[bytes] > 0 => Ok((further[start], further[bytes])),
            _ => Err(value(bytes + 2, further[bytes])),
        };
        Ok(match number {
            1 => Event::Create { process: process()? },
            2 => Event::Fork { process: process()? },
            3 => Event::Exit,
            4 if first > 3 => return Err(value(1, first)),
            4 => {
                let (address, bytes) = range(0, 1)?;
                let flags = MapFlags { is_writable: first & 1 != 0, is_shared: first & 2 != 0 };
                Event::Map { flags, address, bytes, of: of(2) }
            }
            5 => range(0, 1).map(|(address, bytes)| Event::Unmap { address, bytes })?,
            6 => range(0, 1).map(|(address, bytes)| Event::Discard { address, bytes })?,
            7 => {
                let ((from, bytes), (to, _)) = (range(0, 2)?, range(1, 2)?);
                Event::Move { from, to, bytes }
            }
            8 => range(1, 2).map(|(_, bytes)| Event::Read { of: of(0), bytes })?,
            9 => {
                let ((_, bytes), _) = (range(1, 4)?, range(3, 4)?);
                Event::Copy { dst: of(0), src: of(2), bytes }
            }
            10 => range(1, 2).map(|(_, bytes)| Event::Zero { dst: of(0), bytes })?,
            11 => {
                let (dst, bytes) = range(0, 2)?;
                let (argument, src) = (further[1], || range(1, 2).map(|(src, _)| src));
                let routine = match (first, u8::try_from(argument)) {
                    (1, _) => Routine::Copy { src: src()? },
                    (2, _) => Routine::Move { src: src()? },
                    (3, Ok(value)) => Routine::Set { value },
                    (4, _) => Routine::CopyPage { src: src()? },
                    (5, Ok(0)) => Routine::ClearPage,
                    (3 | 5, _) => return Err(value(3, argument)),
                    _ => return Err(value(1, first)),
                };
                Event::Call { routine, dst, bytes }
            }
            12 => Event::Return,
            13 => {
                let kind = FaultKind::ALL.into_iter().find(|kind| *kind as u64 + 1 == first);
                Event::Fault { kind: kind.ok_or_else(|| value(1, first))?, address: further[0] }
            }
            _ => Event::Time { nanoseconds: first },
        })
    }
}

/// Checks that an event of this number has as many operands; one without any has an unused word.
fn check_operands(number: u8, found: usize) -> Result<(), LineError> {
    match usize::from(number).checked_sub(1).and_then(|index| OPERANDS.get(index)) {
        None => Err(wrong(format!("no event has the number {number}"))),
        Some(&expected) if found == expected.max(1) => Ok(()),
        Some(expected) => Err(wrong(format!("event {number} has {expected} operands, not {found}"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The event of words.
    fn read(words: &[u64]) -> Result<Event, LineError> {
        let Ok(Word::Event { number, further, first }) = Word::from_bits(words[0]) else { panic!("not an event") };
        assert_eq!(usize::from(further), words.len() - 1);
        Event::of(number, first, &words[1..])
    }

    #[test]
    fn events_have_the_operands_of_the_page() {
        let process = ObjectAddress { object: ObjectAddress::PROCESS, address: 0x1000 };
        let file = ObjectAddress { object: 7, address: 0x2000 };
        let copy = Event::Copy { dst: process, src: file, bytes: 100 };
        assert_eq!(copy.words()[..], [0xc950_0000_0000_0000, 0, 0x1000, 7, 0x2000, 100]);
        let flags = MapFlags { is_writable: true, is_shared: false };
        let map = Event::Map { flags, address: 0x1000, bytes: 4096, of: file };
        assert_eq!(map.words()[..], [0xc440_0000_0000_0001, 0x1000, 4096, 7, 0x2000]);
        assert_eq!(Event::Exit.words()[..], [0xc300_0000_0000_0000]);
        let set = Event::Call { routine: Routine::Set { value: 255 }, dst: 0x1000, bytes: 64 };
        assert_eq!(set.words()[..], [0xcb30_0000_0000_0003, 0x1000, 255, 64]);
        let copy = Event::Call { routine: Routine::CopyPage { src: 0x2000 }, dst: 0x1000, bytes: 4096 };
        assert_eq!(copy.words()[..], [0xcb30_0000_0000_0004, 0x1000, 0x2000, 4096]);
        let clear = Event::Call { routine: Routine::ClearPage, dst: 0x1000, bytes: 4096 };
        assert_eq!(clear.words()[..], [0xcb30_0000_0000_0005, 0x1000, 0, 4096]);
    }

    #[test]
    fn wrong_operands_are_refused() {
        for (number, first, further, message) in [
            (0, 0, &[][..], "no event has the number 0"),
            (5, 0, &[1], "event 5 has 3 operands, not 2"),
            (5, 0, &[4096, 0], "operand 3 of event 5 is 0x0"),
            (6, 0, &[4096, u64::MAX], "operand 3 of event 6 is 0xffffffffffffffff"),
            (1, 0, &[], "operand 1 of event 1 is 0x0"),
            (11, 6, &[0, 0, 1], "operand 1 of event 11 is 0x6"),
            (11, 5, &[0, 1, 1], "operand 3 of event 11 is 0x1"),
            (11, 3, &[0, 256, 1], "operand 3 of event 11 is 0x100"),
        ] {
            assert_eq!(Event::of(number, first, further).unwrap_err().to_string(), message);
        }
    }

    proptest! {
        #[test]
        fn an_event_of_operands_has_these_words(
            number in 0_u8..16,
            first in prop_oneof![0_u64..6, 0..=INLINE_MAX],
            further in prop::collection::vec(prop_oneof![0_u64..300, any::<u64>()], 0..6),
        ) {
            if let Ok(event) = Event::of(number, first, &further) {
                let words = event.words();
                prop_assert_eq!(&words[1..], &further[..]);
                prop_assert_eq!(read(&words).unwrap(), event);
            }
        }
    }
}
