//! Receive programs: files with the steps of the receive processing of TCP/IP.

use std::ops::Range;
use std::path::Path;

use dram_spec::LINE_BYTES;
use host::machine::{BufferRing, GroupInstruction, ReceiveStep, ReceiveWork, TcpReceive};
use trace_io::program::InstructionClass;

use crate::document::Section;
use crate::key::{Holds, Key, key};
use crate::{Document, Failure, names};

/// The shipped program, `configs/programs/tcp-receive.toml`.
const SHIPPED: &str = include_str!("../../../configs/programs/tcp-receive.toml");
/// Path of the shipped program in the repository.
const SHIPPED_PATH: &str = "configs/programs/tcp-receive.toml";

/// Kinds of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepKind {
    Work,
    Copy,
    Touch,
}

const KINDS: [(&str, StepKind); 3] = [("work", StepKind::Work), ("copy", StepKind::Copy), ("touch", StepKind::Touch)];

/// Keys of steps that only one kind has.
const KEYS_OF_KIND: [(&str, StepKind); 9] = [
    ("instructions", StepKind::Work),
    ("every", StepKind::Work),
    ("descriptor", StepKind::Work),
    ("headers", StepKind::Work),
    ("read_bytes", StepKind::Work),
    ("written_bytes", StepKind::Work),
    ("sums_payload", StepKind::Work),
    ("packets_before", StepKind::Touch),
    ("bytes", StepKind::Touch),
];

/// Classes of the instructions of a group.
const CLASSES: [(&str, InstructionClass); 3] =
    [("integer", InstructionClass::Integer), ("load", InstructionClass::Load), ("store", InstructionClass::Store)];

/// Most bytes of a ring of buffers: the rings lie 4 GiB apart.
const RING_BYTES_MAX: u64 = 1 << 32;

/// Keys of a receive program.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key::new("packets", Holds::Table, "", "the received packets"),
    Key::new("packets.header_bytes", Holds::Bytes(1, 4096), "68", "bytes of a packet's buffer before its payload"),
    Key::new("packets.buffer_bytes", Holds::Bytes(64, 1 << 16), "2048", "size of a buffer; a multiple of 64"),
    Key::new("packets.buffers", Holds::Count(1, 1 << 24), "16_384", "buffers, used in turn; at most 4 GiB"),
    Key::new("packets.descriptor_bytes", Holds::OneOfBytes(&[8, 16, 32, 64]), "16", "size of a packet's descriptor"),
    Key::new("application", Holds::Table, "", "buffers of the application, to which payloads are copied"),
    Key::new("application.buffer_bytes", Holds::Bytes(64, 1 << 16), "2048", "size of a buffer; a multiple of 64"),
    Key::new("application.buffers", Holds::Count(1, 1 << 24), "16_384", "buffers, used in turn; at most 4 GiB"),
    Key::new("work", Holds::Table, "", "instructions of steps of the kind `work`"),
    Key::new("work.group", Holds::List, "[\"load\", \"integer 1\"]", "instructions that the steps repeat: `load`, `store` or `integer`, each with the distance of an operand if it has one").values("a list of texts"),
    Key::new("steps", Holds::Tables, "", "steps of a packet, in their order; one of them copies"),
    Key::new("steps.kind", Holds::Name(|| names(&KINDS)), "\"work\"", "instructions; the copy of the payload; or loads of the application from the payload of an earlier packet"),
    key!(ReceiveWork, steps.instructions, Holds::Count(1, 1 << 20), "200", "`work`: number of instructions").or("required by `work`"),
    key!(ReceiveWork, steps.every, Holds::Count(1, 64), "2", "`work`: the step executes for every n-th packet").or("1"),
    key!(ReceiveWork, steps.descriptor => reads_descriptor, Holds::Flag, "true", "`work`: the first load reads the packet's descriptor").or("`false`"),
    Key::new("steps.headers", Holds::Counts, "[16, 36]", "`work`: the next loads read the words of these bytes of the packet, from the first to before the second").or("none"),
    key!(ReceiveWork, steps.read_bytes, Holds::Bytes(0, 1 << 16), "512", "`work`: bytes of data structures that further loads read, line by line; a multiple of 64; without any, further loads are integer instructions").or("0"),
    key!(ReceiveWork, steps.written_bytes, Holds::Bytes(0, 1 << 16), "128", "`work`: bytes of data structures that stores write, as above").or("0"),
    key!(ReceiveWork, steps.sums_payload, Holds::Flag, "true", "`work`: after the instructions, a load and an addition per word of the payload").or("`false`"),
    Key::new("steps.packets_before", Holds::Count(0, 1 << 16), "1", "`touch`: distance of the packet whose payload is read; less than `application.buffers`").or("0"),
    Key::new("steps.bytes", Holds::Bytes(1, 1 << 16), "8", "`touch`: bytes that are read").or("required by `touch`"),
];

/// Reads and checks a receive program.
///
/// # Errors
/// The file cannot be read, or has an error.
pub fn read(path: &Path) -> Result<TcpReceive, Failure> {
    of(Document::read(path, KEYS)?)
}

/// The shipped receive program, whose file need not exist.
///
/// # Panics
/// If it has an error, which a test excludes.
pub fn shipped() -> TcpReceive {
    let document = Document::parse(Path::new(SHIPPED_PATH), SHIPPED, KEYS);
    document.and_then(of).expect("the shipped program has no error")
}

fn of(mut document: Document) -> Result<TcpReceive, Failure> {
    document.check()?;
    let root = document.root();
    let [packets, application, work] =
        ["packets", "application", "work"].map(|name| root.table(name).expect("it is required"));
    let (packet_buffers, application_buffers) = (ring(&packets)?, ring(&application)?);
    let header_bytes = packets.of("header_bytes");
    packets.within("header_bytes", header_bytes, 1, packet_buffers.buffer_bytes - 1)?;
    let tables = root.tables("steps");
    let steps = tables.iter().map(|table| step(table, header_bytes, application_buffers));
    let steps = steps.collect::<Result<Vec<_>, _>>()?;
    let copies: Vec<usize> = (0..steps.len()).filter(|&at| steps[at] == ReceiveStep::Copy).collect();
    match *copies {
        [_] => {}
        [] => return Err(root.fault("steps", "no step of `steps` copies").with_help("add `kind = \"copy\"`")),
        [first, second, ..] => {
            let message = format!("`steps.{second}` copies, and so does `steps.{first}`");
            return Err(tables[second].fault("kind", message).with_help("leave one of them out"));
        }
    }
    Ok(TcpReceive {
        header_bytes,
        packet_buffers,
        descriptor_bytes: packets.of("descriptor_bytes"),
        application_buffers,
        group: group(&work)?,
        steps,
    })
}

/// A ring of buffers.
fn ring(table: &Section<'_>) -> Result<BufferRing, Failure> {
    let ring = BufferRing { buffers: table.of("buffers"), buffer_bytes: table.of("buffer_bytes") };
    whole_lines(table, "buffer_bytes", ring.buffer_bytes)?;
    table.within("buffers", ring.buffers, 1, RING_BYTES_MAX / ring.buffer_bytes)?;
    Ok(ring)
}

/// Checks that a size is one of whole lines.
fn whole_lines(table: &Section<'_>, name: &str, bytes: u64) -> Result<(), Failure> {
    if bytes.is_multiple_of(LINE_BYTES) {
        return Ok(());
    }
    let message = format!("`{}` is {bytes}, but must be a multiple of {LINE_BYTES}", table.key(name));
    Err(table.fault(name, message).with_help(format!("try `{name} = {}`", bytes.next_multiple_of(LINE_BYTES))))
}

/// Instructions of a group.
fn group(work: &Section<'_>) -> Result<Vec<GroupInstruction>, Failure> {
    let texts = work.of::<Vec<&str>>("group");
    if texts.is_empty() {
        return Err(work.fault("group", "`work.group` is empty").with_help("try `group = [\"integer\"]`"));
    }
    let instruction = |text: &&str| {
        let mut words = text.split_whitespace();
        let class = words.next().and_then(|word| CLASSES.iter().find(|(name, _)| *name == word));
        let after = words.next().map_or(Some(0), |word| word.parse().ok().filter(|&distance: &u16| distance > 0));
        if let (Some(&(_, class)), Some(after), None) = (class, after, words.next()) {
            return Ok(GroupInstruction { class, after });
        }
        let message = format!("`work.group` has {text:?}, which is no instruction");
        let help = "write `integer`, `load` or `store`, and after it 1 to 65535 for an operand: \"load 13\"";
        Err(work.fault("group", message).with_help(help))
    };
    texts.iter().map(instruction).collect()
}

fn step(table: &Section<'_>, header_bytes: u64, application: BufferRing) -> Result<ReceiveStep, Failure> {
    let kind = table.choice("kind", &KINDS).expect("it is required");
    let name = KINDS[kind as usize].0;
    let why = format!(", but a step of the kind `{name}` has no such key");
    let others: Vec<_> = KEYS_OF_KIND.iter().filter(|(_, of)| *of != kind).map(|(key, _)| *key).collect();
    table.without(&others, &why, "leave it out, or change `kind`")?;
    Ok(match kind {
        StepKind::Work => {
            table.needs("instructions", "kind", name)?;
            ReceiveStep::Work(work_step(table, header_bytes)?)
        }
        StepKind::Copy => ReceiveStep::Copy,
        StepKind::Touch => {
            table.needs("bytes", "kind", name)?;
            let (packets_before, bytes) = (table.get("packets_before").unwrap_or(0), table.of("bytes"));
            table.within("packets_before", packets_before, 0, application.buffers - 1)?;
            table.within("bytes", bytes, 1, application.buffer_bytes)?;
            ReceiveStep::Touch { packets_before, bytes }
        }
    })
}

fn work_step(table: &Section<'_>, header_bytes: u64) -> Result<ReceiveWork, Failure> {
    let work = table.over(ReceiveWork { every: 1, ..ReceiveWork::default() });
    whole_lines(table, "read_bytes", work.read_bytes)?;
    whole_lines(table, "written_bytes", work.written_bytes)?;
    Ok(ReceiveWork { headers: headers(table, header_bytes)?, ..work })
}

/// The bytes of the headers that a step reads.
fn headers(table: &Section<'_>, header_bytes: u64) -> Result<Range<u64>, Failure> {
    if !table.has("headers") {
        return Ok(0..0);
    }
    match *table.of::<Vec<u64>>("headers") {
        [first, end] if first < end && end <= header_bytes => Ok(first..end),
        ref found => {
            let message =
                format!("`{}` is {found:?}, which is no range of the {header_bytes} bytes", table.key("headers"));
            Err(table.fault("headers", message).with_help(format!("try `headers = [0, {header_bytes}]`")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shipped program with a text replaced.
    fn with(from: &str, to: &str) -> Result<TcpReceive, Failure> {
        assert!(SHIPPED.contains(from), "{from}");
        of(Document::parse(Path::new("x.toml"), &SHIPPED.replacen(from, to, 1), KEYS)?)
    }

    /// 1,350 instructions per packet, without the copy and the load of the application.
    #[test]
    fn the_shipped_program_has_the_instructions_of_its_comment() {
        let shipped = shipped();
        let of = |step: &ReceiveStep| match step {
            ReceiveStep::Work(work) => work.instructions as f64 / work.every as f64,
            ReceiveStep::Copy | ReceiveStep::Touch { .. } => 0.0,
        };
        assert!((shipped.steps.iter().map(of).sum::<f64>() - 1350.0).abs() < 1e-9);
        assert_eq!(shipped.period(), 2);
        let loads = shipped.group.iter().filter(|it| it.class == InstructionClass::Load).count();
        assert_eq!((shipped.group.len(), loads), (9, 2));
    }

    #[test]
    fn each_key_changes_the_program() {
        for (from, to) in [
            ("header_bytes = 68", "header_bytes = 70"),
            ("buffer_bytes = 2048\n# A packet", "buffer_bytes = 4096\n# A packet"),
            ("buffers = 16_384\n# A receive", "buffers = 16_383\n# A receive"),
            ("descriptor_bytes = 16", "descriptor_bytes = 32"),
            ("[application]\nbuffer_bytes = 2048", "[application]\nbuffer_bytes = 4096"),
            ("buffers = 16_384\n\n# Instructions of all", "buffers = 16_383\n\n# Instructions of all"),
            ("\"load 13\"", "\"load 14\""),
            ("\"integer 1\"", "\"integer\""),
            ("instructions = 250", "instructions = 251"),
            ("every = 2\n", ""),
            ("descriptor = true", "descriptor = false"),
            ("headers = [0, 16]", "headers = [0, 20]"),
            ("read_bytes = 256", "read_bytes = 320"),
            ("written_bytes = 128", "written_bytes = 64"),
            ("sums_payload = false", "sums_payload = true"),
            ("packets_before = 1", "packets_before = 2"),
            ("\nbytes = 8", "\nbytes = 64"),
        ] {
            assert!(with(from, to).unwrap() != shipped(), "{to}");
        }
    }

    #[test]
    fn an_impossible_program_is_refused_with_its_line_and_key() {
        for (from, to, message) in [
            ("\"load 13\"", "\"load 0\"", "`work.group` has \"load 0\", which is no instruction"),
            ("\"load 13\"", "\"float\"", "`work.group` has \"float\", which is no instruction"),
            ("kind = \"copy\"", "kind = \"touch\"\nbytes = 8", "no step of `steps` copies"),
            (
                "kind = \"copy\"",
                "kind = \"copy\"\n[[steps]]\nkind = \"copy\"",
                "`steps.7` copies, and so does `steps.6`",
            ),
            (
                "kind = \"copy\"",
                "kind = \"copy\"\nevery = 2",
                "`steps.6.every` is given, but a step of the kind `copy`",
            ),
            ("instructions = 250\n", "", "`steps.0.instructions` is missing"),
            (
                "headers = [0, 16]",
                "headers = [0, 69]",
                "`steps.1.headers` is [0, 69], which is no range of the 68 bytes",
            ),
            ("headers = [0, 16]", "headers = [16, 16]", "`steps.1.headers` is [16, 16]"),
            ("read_bytes = 256", "read_bytes = 100", "`steps.0.read_bytes` is 100, but must be a multiple of 64"),
            ("header_bytes = 68", "header_bytes = 2048", "`packets.header_bytes` is 2048, but must be from 1 to 2047"),
            (
                "packets_before = 1",
                "packets_before = 16_384",
                "`steps.10.packets_before` is 16384, but must be from 0 to",
            ),
            ("\nbytes = 8", "\nbytes = 2049", "`steps.10.bytes` is 2049, but must be from 1 to 2048"),
            (
                "buffers = 16_384",
                "buffers = 16_777_216",
                "`packets.buffers` is 16777216, but must be from 1 to 2097152",
            ),
        ] {
            let error = with(from, to).unwrap_err();
            assert!(error.message.contains(message), "{to}: {}", error.message);
            assert!(error.message.starts_with("x.toml:") && error.help.is_some(), "{to}: {error:?}");
        }
    }
}
