//! Entries as text.

use std::fmt;

use super::block::BlockEntry;
use super::event::{Event, ObjectAddress, Routine};

/// Names of the events, by their number less 1.
pub const EVENT_NAMES: &[&str] = <Event as strum::VariantNames>::VARIANTS;

/// An object and the address in it, as a value of a key.
struct In(ObjectAddress);

impl fmt::Display for In {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ObjectAddress { object, address } = self.0;
        match object {
            ObjectAddress::PROCESS => write!(f, "{address:#x}"),
            ObjectAddress::PHYSICAL => write!(f, "physical:{address:#x}"),
            _ => write!(f, "{object}:{address:#x}"),
        }
    }
}

impl fmt::Display for Event {
    /// The name and the operands. An address in an object follows the object and a colon.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.into())?;
        match *self {
            Event::Create { process } | Event::Fork { process } => write!(f, " process={process}"),
            Event::Exit | Event::Return => Ok(()),
            Event::Map { flags, address, bytes, of } => {
                write!(f, " address={address:#x} bytes={bytes}")?;
                if of.object != ObjectAddress::PROCESS {
                    write!(f, " of={}", In(of))?;
                }
                let flag = |is_set, name| if is_set { name } else { "" };
                write!(f, "{}{}", flag(flags.is_writable, " writable"), flag(flags.is_shared, " shared"))
            }
            Event::Unmap { address, bytes } | Event::Discard { address, bytes } => {
                write!(f, " address={address:#x} bytes={bytes}")
            }
            Event::Move { from, to, bytes } => write!(f, " from={from:#x} to={to:#x} bytes={bytes}"),
            Event::Read { of, bytes } => write!(f, " of={} bytes={bytes}", In(of)),
            Event::Copy { dst, src, bytes } => write!(f, " to={} from={} bytes={bytes}", In(dst), In(src)),
            Event::Zero { dst, bytes } => write!(f, " to={} bytes={bytes}", In(dst)),
            Event::Call { routine, dst, bytes } => match routine {
                Routine::Copy { src } => write!(f, " memcpy to={dst:#x} from={src:#x} bytes={bytes}"),
                Routine::Move { src } => write!(f, " memmove to={dst:#x} from={src:#x} bytes={bytes}"),
                Routine::Set { value } => write!(f, " memset to={dst:#x} value={value} bytes={bytes}"),
                Routine::CopyPage { src } => write!(f, " copy_page to={dst:#x} from={src:#x} bytes={bytes}"),
                Routine::ClearPage => write!(f, " clear_page to={dst:#x} bytes={bytes}"),
            },
            Event::Fault { kind, address } => write!(f, " kind={} address={address:#x}", kind.name()),
            Event::Time { nanoseconds } => write!(f, " nanoseconds={nanoseconds}"),
        }
    }
}

impl fmt::Display for BlockEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BlockEntry::Access(access) => {
                let name = if access.is_store { "store" } else { "load" };
                let (address, bytes, instructions) = (access.address, access.bytes(), access.instructions);
                write!(f, "{name} address={address:#x} bytes={bytes} instructions={instructions}")
            }
            BlockEntry::Instructions(count) => write!(f, "instructions count={count}"),
            BlockEntry::Event(event) => event.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::word::{MemoryAccess, Word};
    use super::*;

    #[test]
    fn entries_are_names_and_values() {
        let access = MemoryAccess { is_store: true, address: 0x1000, log2_bytes: 3, instructions: 2 };
        assert_eq!(BlockEntry::Access(access).to_string(), "store address=0x1000 bytes=8 instructions=2");
        let process = ObjectAddress { object: 0, address: 0x1000 };
        let file = ObjectAddress { object: 7, address: 0x20 };
        let copy = Event::Copy { dst: process, src: file, bytes: 100 };
        assert_eq!(BlockEntry::Event(copy).to_string(), "copy to=0x1000 from=7:0x20 bytes=100");
    }

    #[test]
    fn each_number_has_its_name() {
        for (event, name) in
            [(Event::Exit, "exit"), (Event::Return, "return"), (Event::Time { nanoseconds: 1 }, "time")]
        {
            let Ok(Word::Event { number, .. }) = Word::from_bits(event.words()[0]) else { panic!("an event") };
            assert_eq!(EVENT_NAMES[usize::from(number) - 1], name);
        }
    }
}
