//! Program traces: the instructions of a program and its requests to the kernel, one step per line.
//!
//! ```text
//! compute <instructions> [integer|multiply|float] [after <n> [<n>]]
//! load <address> [float|string] [after <n> [<n>]]
//! store <address> [float|string] [after <n> [<n>]]
//! copy <dst> <src> <bytes>
//! zero <address> <bytes>
//! map <address> <bytes>
//! filled <address> <bytes>
//! present <address> <bytes>
//! renew <page> <source>
//! unmap <address> <bytes>
//! discard <address> <bytes>
//! move <old> <new> <bytes>
//! share <address> <source> <bytes>
//! fork <process>
//! run <process>
//! exit
//! begin <dst> <src> <bytes>
//! issue
//! wait
//! post <header> <payload>
//! await
//! send <port> <address> <bytes>
//! ```

use std::io::Read;

use dram_spec::PhysicalAddress;

use crate::LineError;
use crate::fields::Fields;
use crate::line::{Lines, is_too_long, shown, too_long};
use crate::text::Text;

/// A step of a program. Addresses are virtual, of the running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Executes instructions without memory access.
    Compute {
        /// Number of instructions, at least 1.
        instructions: u64,
    },
    /// Loads from an address.
    Load {
        /// Address.
        address: PhysicalAddress,
    },
    /// Stores to an address.
    Store {
        /// Address.
        address: PhysicalAddress,
    },
    /// Executes instructions of a class, or with operands.
    Instruction {
        /// What they do.
        kind: InstructionKind,
        /// What they need.
        needs: Needs,
    },
    /// Copies bytes: the instruction `memcopy`.
    Copy {
        /// First byte written.
        dst: PhysicalAddress,
        /// First byte read.
        src: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Sets bytes to zero: the instruction `meminit`.
    Zero {
        /// First byte written.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Maps the pages that contain a range; each gets a frame at its first access.
    Map {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Declares that the program wrote a mapped range before: its pages have frames, and the lines
    /// written last are dirty in the cache. Takes no time.
    Filled {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Declares that the pages of a mapped range have frames, and that none of their lines is in a
    /// cache. Takes no time.
    Present {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Gives each copy unit that lies as a whole in the pages of a range new frames, allocated as the
    /// destination of a copy of `source`; frees the old frames. A copy of the whole pages follows.
    /// Takes no time.
    Renew {
        /// First byte.
        page: PhysicalAddress,
        /// First byte of the source of the copy.
        source: PhysicalAddress,
        /// Number of bytes; 1 stands for a page.
        bytes: u64,
    },
    /// Unmaps the mapped pages of a range, and frees frames that no other process uses.
    Unmap {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Takes the frames of the mapped pages of a range, which remain mapped: the next access is a first one.
    Discard {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Maps the mapped pages of a range at another address, with their frames.
    Move {
        /// First byte of the range.
        from: PhysicalAddress,
        /// Its new address.
        to: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Maps the pages that contain a range to pages of the kernel: a page shares the frame of its source from its first
    /// access on, and a store copies it.
    Share {
        /// First byte.
        address: PhysicalAddress,
        /// First byte of the source.
        source: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Forks the running process, which runs on.
    Fork {
        /// Number of the child.
        child: u32,
    },
    /// Switches to a process.
    Run {
        /// Number of the process; the first process is 1.
        process: u32,
    },
    /// Ends the running process.
    Exit,
    /// Uses a device.
    Device(DeviceStep),
}

/// A step that uses a device. Addresses are virtual, of the running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceStep {
    /// Begins a copy, which a DMA engine executes while the program continues; other copiers execute it at once.
    Begin {
        /// First byte written.
        dst: PhysicalAddress,
        /// First byte read.
        src: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// Lets a DMA engine execute all copies that the program has begun.
    Issue,
    /// Waits for the end of all copies that the program has begun.
    Wait,
    /// Gives the network adapter a free receive buffer.
    Post {
        /// First byte of the header.
        header: PhysicalAddress,
        /// First byte of the payload.
        payload: PhysicalAddress,
    },
    /// Waits for packets.
    Await,
    /// Sends a packet.
    Send {
        /// Port of the network adapter.
        port: u32,
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
}

/// What an instruction does. Addresses are virtual, of the running process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionKind {
    /// Some instructions without memory access.
    Compute {
        /// Their number, at least 1.
        instructions: u64,
    },
    /// Loads from an address.
    Load {
        /// Address.
        address: PhysicalAddress,
    },
    /// Stores to an address.
    Store {
        /// Address.
        address: PhysicalAddress,
    },
}

dram_spec::named! {
    /// A class of instructions, which have a latency and units of execution in common.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum InstructionClass {
        /// Integer instructions and branches without memory access.
        Integer = "integer",
        /// Integer multiplications and divisions.
        Multiply = "multiply",
        /// Floating-point instructions without memory access.
        Float = "float",
        /// Loads of integer registers.
        Load = "load",
        /// Stores of integer registers.
        Store = "store",
        /// Loads of floating-point registers.
        FloatLoad = "float-load",
        /// Stores of floating-point registers.
        FloatStore = "float-store",
        /// Loads of string instructions.
        StringLoad = "string-load",
        /// Stores of string instructions.
        StringStore = "string-store",
    }
}

impl InstructionClass {
    /// Whether its instructions access memory.
    #[inline]
    pub const fn accesses_memory(self) -> bool {
        !matches!(self, InstructionClass::Integer | InstructionClass::Multiply | InstructionClass::Float)
    }
}

/// What an instruction needs: a unit of its class, and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Its class.
    pub class: InstructionClass,
    /// Its operands: the results of the instructions of the program at these distances before it; 0 for none.
    pub after: [u16; 2],
}

impl Needs {
    /// A class without operands.
    pub const fn class(class: InstructionClass) -> Needs {
        Needs { class, after: [0; 2] }
    }
}

/// Help for a line that is no step.
const STEPS: &str = "write one of `compute N [CLASS] [after N [N]]`, `load ADDRESS [CLASS] [after N [N]]`, \
                     `store ADDRESS [CLASS] [after N [N]]`, `copy DST SRC BYTES`, `zero ADDRESS BYTES`, \
                     `map ADDRESS BYTES`, `filled ADDRESS BYTES`, `present ADDRESS BYTES`, `renew PAGE SOURCE`, \
                     `unmap ADDRESS BYTES`, `discard ADDRESS BYTES`, `move OLD NEW BYTES`, \
                     `share ADDRESS SOURCE BYTES`, `fork PROCESS`, `run PROCESS`, `exit`, `begin DST SRC BYTES`, \
                     `issue`, `wait`, `post HEADER PAYLOAD`, `await` and `send PORT ADDRESS BYTES`, with addresses as \
                     `0x1000` and other numbers in decimal";

/// Iterator over the steps of a program in plain, gzip or zstd text. Blank lines and comments, from
/// a `#`, are skipped. It ends with the input or after the first error.
#[derive(Debug)]
pub struct ProgramReader<R: Read> {
    lines: Lines<Text<R>>,
    has_ended: bool,
}

impl<R: Read> ProgramReader<R> {
    /// Opens a program.
    ///
    /// # Errors
    /// Errors of the input.
    pub fn new(input: R) -> Result<Self, LineError> {
        let text = Text::new(input).map_err(|source| LineError::reading(1, 0, source))?;
        Ok(ProgramReader { lines: Lines::new(text), has_ended: false })
    }

    fn read(&mut self) -> Result<Option<Step>, LineError> {
        while self.lines.look_ahead()? {
            let text = self.lines.ahead();
            let (step, length) = match parse(text) {
                Ok(parsed) => parsed,
                Err(_) => self.parse_further()?,
            };
            if is_too_long(&text[..length]) {
                return Err(too_long(self.lines.number() + 1));
            }
            self.lines.take(1, length);
            if step.is_some() {
                return Ok(step);
            }
        }
        Ok(None)
    }

    /// Parses the next line, which is no plain step.
    #[inline(never)]
    fn parse_further(&self) -> Result<(Option<Step>, usize), LineError> {
        parse_instruction(self.lines.ahead()).or_else(|_| self.parse_any_spelling())
    }

    /// Parses the next line with blanks in place of its comment and of other white space: programs may
    /// have comments that no blank precedes, and white space that traces may not have.
    #[cold]
    fn parse_any_spelling(&self) -> Result<(Option<Step>, usize), LineError> {
        let text = self.lines.ahead();
        let (line, text) = (self.lines.number() + 1, &text[..Fields::new(text).length()]);
        if is_too_long(text) {
            return Err(too_long(line));
        }
        let comment = text.iter().position(|&byte| byte == b'#').unwrap_or(text.len() - 1);
        let blank =
            |(place, &byte): (usize, &u8)| if place >= comment || byte.is_ascii_whitespace() { b' ' } else { byte };
        let mut spelled: Vec<u8> = text.iter().enumerate().map(blank).collect();
        spelled.dedup_by(|byte, before| *byte == b' ' && *before == b' ');
        *spelled.last_mut().expect("a line has its end") = b'\n';
        let parsed = parse(&spelled).or_else(|wrong| parse_instruction(&spelled).map_err(|_| wrong));
        parsed.map(|(step, _)| (step, text.len())).map_err(|wrong| {
            let (what, help) = match wrong {
                Wrong::Step => ("is not a step", STEPS),
                Wrong::Range => {
                    ("has a range that is empty or ends above 2^64 - 1", "give at least 1 byte, and an end below 2^64")
                }
            };
            LineError::new(format!("`{}` {what}", shown(text.trim_ascii())), help).in_line(line)
        })
    }
}

impl<R: Read> Iterator for ProgramReader<R> {
    type Item = Result<Step, LineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_ended {
            return None;
        }
        let read = self.read();
        self.has_ended = !matches!(read, Ok(Some(_)));
        read.transpose()
    }
}

/// Reason why a line is not parsed.
enum Wrong {
    /// The line is no step.
    Step,
    /// A range is empty, or ends above 2^64 - 1.
    Range,
}

impl From<LineError> for Wrong {
    fn from(_: LineError) -> Wrong {
        Wrong::Step
    }
}

/// The step of the line at the beginning of a text, `None` for a line without step; and the length of
/// the line including its end.
#[inline]
fn parse(text: &[u8]) -> Result<(Option<Step>, usize), Wrong> {
    let mut fields = Fields::new(text);
    let step = if fields.is_empty() { None } else { Some(step(&mut fields)?) };
    Ok((step, fields.ended().ok_or(Wrong::Step)?))
}

/// Takes the fields of a step.
#[inline]
fn step(fields: &mut Fields<'_>) -> Result<Step, Wrong> {
    // Most steps of programs are one of three, which differ in their first bytes.
    match fields.first() {
        Some(b'c') if fields.takes(b"compute") => match fields.decimal("instructions")? {
            0 => Err(Wrong::Step),
            instructions => Ok(Step::Compute { instructions }),
        },
        Some(b'l') if fields.takes(b"load") => Ok(Step::Load { address: fields.prefixed_hex("address")? }),
        Some(b's') if fields.takes(b"store") => Ok(Step::Store { address: fields.prefixed_hex("address")? }),
        _ => other_step(fields),
    }
}

/// The instructions of a class, or with operands, of the line at the beginning of a text; and the length of the
/// line including its end.
#[inline(never)]
fn parse_instruction(text: &[u8]) -> Result<(Option<Step>, usize), Wrong> {
    let mut fields = Fields::new(text);
    let kind = match step(&mut fields)? {
        Step::Compute { instructions } => InstructionKind::Compute { instructions },
        Step::Load { address } => InstructionKind::Load { address },
        Step::Store { address } => InstructionKind::Store { address },
        _ => return Err(Wrong::Step),
    };
    let mut needs = Needs::class(class(&mut fields, &kind));
    if fields.takes(b"after") {
        needs.after[0] = distance(&mut fields)?;
        if !fields.is_empty() {
            needs.after[1] = distance(&mut fields)?;
        }
    }
    Ok((Some(Step::Instruction { kind, needs }), fields.end()?))
}

/// Takes the class of an instruction, if it is given.
fn class(fields: &mut Fields<'_>, kind: &InstructionKind) -> InstructionClass {
    use InstructionClass as Class;
    let is_float = fields.takes(b"float");
    match kind {
        InstructionKind::Compute { .. } if is_float => Class::Float,
        InstructionKind::Compute { .. } if fields.takes(b"multiply") => Class::Multiply,
        InstructionKind::Compute { .. } => {
            fields.takes(b"integer");
            Class::Integer
        }
        InstructionKind::Load { .. } if is_float => Class::FloatLoad,
        InstructionKind::Load { .. } if fields.takes(b"string") => Class::StringLoad,
        InstructionKind::Load { .. } => Class::Load,
        InstructionKind::Store { .. } if is_float => Class::FloatStore,
        InstructionKind::Store { .. } if fields.takes(b"string") => Class::StringStore,
        InstructionKind::Store { .. } => Class::Store,
    }
}

/// Takes the distance of an operand.
fn distance(fields: &mut Fields<'_>) -> Result<u16, Wrong> {
    let found = fields.decimal("after")?;
    u16::try_from(found).ok().filter(|&distance| distance > 0).ok_or(Wrong::Step)
}

/// Takes the fields of a step other than `compute`, `load` and `store`, after which the line ends.
fn other_step(fields: &mut Fields<'_>) -> Result<Step, Wrong> {
    use Step::Device;
    let step = match fields.word() {
        b"copy" => copied(fields, |dst, src, bytes| Step::Copy { dst, src, bytes }),
        b"zero" => range(fields, |address, bytes| Step::Zero { address, bytes }),
        b"map" => range(fields, |address, bytes| Step::Map { address, bytes }),
        b"filled" => range(fields, |address, bytes| Step::Filled { address, bytes }),
        b"present" => range(fields, |address, bytes| Step::Present { address, bytes }),
        b"renew" => {
            let (page, source) = (fields.prefixed_hex("page")?, fields.prefixed_hex("source")?);
            let bytes = if fields.is_empty() { 1 } else { fields.decimal("bytes")? };
            sound([page, source], bytes, Step::Renew { page, source, bytes })
        }
        b"unmap" => range(fields, |address, bytes| Step::Unmap { address, bytes }),
        b"discard" => range(fields, |address, bytes| Step::Discard { address, bytes }),
        b"move" => copied(fields, |from, to, bytes| Step::Move { from, to, bytes }),
        b"share" => copied(fields, |address, source, bytes| Step::Share { address, source, bytes }),
        b"fork" => Ok(Step::Fork { child: fields.decimal_u32("process")? }),
        b"run" => Ok(Step::Run { process: fields.decimal_u32("process")? }),
        b"exit" => Ok(Step::Exit),
        b"begin" => copied(fields, |dst, src, bytes| Device(DeviceStep::Begin { dst, src, bytes })),
        b"issue" => Ok(Device(DeviceStep::Issue)),
        b"wait" => Ok(Device(DeviceStep::Wait)),
        b"post" => {
            let (header, payload) = (fields.prefixed_hex("header")?, fields.prefixed_hex("payload")?);
            Ok(Device(DeviceStep::Post { header, payload }))
        }
        b"await" => Ok(Device(DeviceStep::Await)),
        b"send" => {
            let port = fields.decimal_u32("port")?;
            range(fields, |address, bytes| Device(DeviceStep::Send { port, address, bytes }))
        }
        _ => return Err(Wrong::Step),
    };
    // A range is refused only in a line that has the fields of a step.
    if !matches!(step, Err(Wrong::Step)) {
        fields.ended().ok_or(Wrong::Step)?;
    }
    step
}

/// Takes the fields of a step with one range.
fn range(fields: &mut Fields<'_>, step: impl FnOnce(PhysicalAddress, u64) -> Step) -> Result<Step, Wrong> {
    let (address, bytes) = (fields.prefixed_hex("address")?, fields.decimal("bytes")?);
    sound([address; 2], bytes, step(address, bytes))
}

/// Takes the fields of a step with two ranges of one size.
fn copied(
    fields: &mut Fields<'_>,
    step: impl FnOnce(PhysicalAddress, PhysicalAddress, u64) -> Step,
) -> Result<Step, Wrong> {
    let (first, second) = (fields.prefixed_hex("address")?, fields.prefixed_hex("address")?);
    let bytes = fields.decimal("bytes")?;
    sound([first, second], bytes, step(first, second, bytes))
}

/// The step, unless one of its ranges is empty or ends above 2^64 - 1.
fn sound(ranges: [PhysicalAddress; 2], bytes: u64, step: Step) -> Result<Step, Wrong> {
    let is_sound = |from: PhysicalAddress| bytes > 0 && from.0.checked_add(bytes).is_some();
    if ranges.into_iter().all(is_sound) { Ok(step) } else { Err(Wrong::Range) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn steps(text: &str) -> Result<Vec<Step>, LineError> {
        ProgramReader::new(text.as_bytes())?.collect()
    }

    #[test]
    fn every_step_is_read() {
        let at = PhysicalAddress;
        let text = "map 0x1000 8192 # two pages\n\n# a comment\nfilled 0x1000 64\ncompute 12\nload 0x1040\n\tstore \
            0x1048\n\
                    copy 0x2000 0x1000 64\nzero 0x1000 1\npresent 0x3000 4096\nrenew 0x3000 0x1000\nrenew 0x4000 \
                    0x2000 8192\nfork 2\nrun 2\nexit\n\
                    unmap 0x1000 4096\ndiscard 0x1000 1\nmove 0x1000 0x5000 4096\nshare 0x1000 0x8000000000000000 \
                    4096\n\
                    begin 0x2000 0x1000 64\nissue\nwait\npost 0x1000 0x1042\nawait\nsend 1 0x1000 1514\n";
        let expected = [
            Step::Map { address: at(0x1000), bytes: 8192 },
            Step::Filled { address: at(0x1000), bytes: 64 },
            Step::Compute { instructions: 12 },
            Step::Load { address: at(0x1040) },
            Step::Store { address: at(0x1048) },
            Step::Copy { dst: at(0x2000), src: at(0x1000), bytes: 64 },
            Step::Zero { address: at(0x1000), bytes: 1 },
            Step::Present { address: at(0x3000), bytes: 4096 },
            Step::Renew { page: at(0x3000), source: at(0x1000), bytes: 1 },
            Step::Renew { page: at(0x4000), source: at(0x2000), bytes: 8192 },
            Step::Fork { child: 2 },
            Step::Run { process: 2 },
            Step::Exit,
            Step::Unmap { address: at(0x1000), bytes: 4096 },
            Step::Discard { address: at(0x1000), bytes: 1 },
            Step::Move { from: at(0x1000), to: at(0x5000), bytes: 4096 },
            Step::Share { address: at(0x1000), source: at(1 << 63), bytes: 4096 },
            Step::Device(DeviceStep::Begin { dst: at(0x2000), src: at(0x1000), bytes: 64 }),
            Step::Device(DeviceStep::Issue),
            Step::Device(DeviceStep::Wait),
            Step::Device(DeviceStep::Post { header: at(0x1000), payload: at(0x1042) }),
            Step::Device(DeviceStep::Await),
            Step::Device(DeviceStep::Send { port: 1, address: at(0x1000), bytes: 1514 }),
        ];
        assert_eq!(steps(text).unwrap(), expected);
        assert!(size_of::<Step>() <= 32, "steps are read in batches");
    }

    #[test]
    fn classes_and_operands_are_read() {
        use InstructionClass as Class;
        let at = PhysicalAddress(0x40);
        let [compute, load, store] = [
            InstructionKind::Compute { instructions: 3 },
            InstructionKind::Load { address: at },
            InstructionKind::Store { address: at },
        ];
        for (line, kind, class, after) in [
            ("compute 3 after 1", compute, Class::Integer, [1, 0]),
            ("compute 3 integer", compute, Class::Integer, [0, 0]),
            ("compute 3 multiply after 65535 2 # a product", compute, Class::Multiply, [65_535, 2]),
            ("compute 3 float", compute, Class::Float, [0, 0]),
            ("load 0x40 after 7", load, Class::Load, [7, 0]),
            ("load 0x40 float after 7 8", load, Class::FloatLoad, [7, 8]),
            ("\tload  0x40 string#", load, Class::StringLoad, [0, 0]),
            ("store 0x40 after 1", store, Class::Store, [1, 0]),
            ("store 0x40 float", store, Class::FloatStore, [0, 0]),
            ("store 0x40\tstring  after\t9", store, Class::StringStore, [9, 0]),
        ] {
            let expected = Step::Instruction { kind, needs: Needs { class, after } };
            assert_eq!(steps(line).unwrap(), [expected], "{line}");
        }
        assert!(size_of::<Step>() <= 32, "steps are read in batches");
    }

    #[test]
    fn a_line_that_is_no_step_is_an_error_with_its_number() {
        for (text, message) in [
            ("exit\nload 4096", "line 2: `load 4096` is not a step"),
            ("load 0x10000000000000000", "line 1: `load 0x10000000000000000` is not a step"),
            ("exit 1", "line 1: `exit 1` is not a step"),
            ("compute 0", "line 1: `compute 0` is not a step"),
            ("compute 1 string", "line 1: `compute 1 string` is not a step"),
            ("load 0x40 multiply", "line 1: `load 0x40 multiply` is not a step"),
            ("load 0x40 after", "line 1: `load 0x40 after` is not a step"),
            ("load 0x40 after 0", "line 1: `load 0x40 after 0` is not a step"),
            ("load 0x40 after 65536", "line 1: `load 0x40 after 65536` is not a step"),
            ("load 0x40 after 1 2 3", "line 1: `load 0x40 after 1 2 3` is not a step"),
            ("unmap 0x1000", "line 1: `unmap 0x1000` is not a step"),
            ("move 0x1000 0x2000", "line 1: `move 0x1000 0x2000` is not a step"),
            ("share 0x0 0x0 0", "line 1: `share 0x0 0x0 0` has a range that is empty or ends above 2^64 - 1"),
            ("exit\nload 0x40 after 1 float", "line 2: `load 0x40 after 1 float` is not a step"),
            ("exit after 1", "line 1: `exit after 1` is not a step"),
            ("fork 4294967296", "line 1: `fork 4294967296` is not a step"),
            ("zero 0x0 0", "line 1: `zero 0x0 0` has a range that is empty or ends above 2^64 - 1"),
            (
                "copy 0x0 0xffffffffffffffff 1",
                "line 1: `copy 0x0 0xffffffffffffffff 1` has a range that is empty or ends above 2^64 - 1",
            ),
        ] {
            let error = steps(text).unwrap_err();
            assert_eq!(error.to_string(), message);
            assert!(!error.help().is_empty());
        }
    }

    proptest! {
        /// Any white space separates and surrounds words, and a comment begins anywhere.
        #[test]
        fn every_spelling_of_a_line_is_read(
            text in prop::sample::select(&["copy 0x2000 0x1000 64", "renew 0x2000 0x1000", "load 0x40", "exit"][..]),
            spaces in prop::array::uniform5("[ \t\r\x0c]{1,3}"),
            end in prop::sample::select(&["", "#", "# two", "\n", "\r\n", "#two # three\n"][..]),
        ) {
            let words = text.split(' ').zip(&spaces).flat_map(|(word, space)| [space, word]);
            let line: String = words.chain([&*spaces[4], end]).collect();
            for line in [&line, line.trim_start()] {
                prop_assert_eq!(steps(line).unwrap(), steps(text).unwrap());
            }
        }

        /// Any bytes are steps and an error, or an end, after which the reader stays ended.
        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut reader = ProgramReader::new(&bytes[..]).unwrap();
            let errors = reader.by_ref().filter(Result::is_err).count();
            prop_assert!(errors <= 1 && reader.next().is_none());
        }
    }
}
