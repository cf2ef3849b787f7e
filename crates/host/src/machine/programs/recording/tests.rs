//! Steps of recordings made by hand.

use std::io::Cursor;

use trace_io::recording::{FaultKind, MapFlags, RecordingWriter};

use super::*;

const PAGE: u64 = FRAME_BYTES;

/// First address of the kernel's region.
const KERNEL: u64 = 1 << 63;

/// Thread, process, words and contents of a block.
pub(crate) type TestBlock = (u32, u32, Vec<u64>, Vec<u8>);

/// The bytes of a recording.
pub(crate) fn recording(blocks: &[TestBlock], contents: bool) -> Vec<u8> {
    let metadata = Metadata { contents, ..Metadata::default() };
    let mut writer = RecordingWriter::new(Cursor::new(Vec::new()), metadata, 1).unwrap();
    for (thread, process, words, bytes) in blocks {
        writer.block(*thread, *process, words).unwrap();
        if contents && !bytes.is_empty() {
            writer.contents(bytes).unwrap();
        }
    }
    let mut output = Vec::new();
    writer.finish(&mut output).unwrap();
    output
}

pub(crate) fn access(is_store: bool, address: u64, log2_bytes: u8, instructions: u16) -> u64 {
    Word::Access(MemoryAccess { is_store, address, log2_bytes, instructions }).bits()
}

fn words(events: &[Event]) -> Vec<u64> {
    events.iter().flat_map(|event| event.words()).collect()
}

fn program(blocks: &[TestBlock], settings: RecordingSettings) -> RecordedProgram<Cursor<Vec<u8>>> {
    let reader = RecordingReader::new(Cursor::new(recording(blocks, false))).unwrap();
    RecordedProgram::new(reader, settings).unwrap()
}

fn steps_of(blocks: &[TestBlock], settings: RecordingSettings) -> Vec<Step> {
    let mut program = program(blocks, settings);
    std::iter::from_fn(|| program.next_step().unwrap()).collect()
}

/// The steps of blocks of a thread with its process, after a block that creates process 1.
fn steps(blocks: &[(u32, Vec<u64>)], copies: ChosenCopies, is_by_cpu: bool) -> Vec<Step> {
    let settings = RecordingSettings { copies, is_by_cpu };
    let created = (1, 1, words(&[Event::Create { process: 1 }]), Vec::new());
    let blocks = blocks.iter().map(|(process, words)| (1, *process, words.clone(), Vec::new()));
    let found = steps_of(&[created].into_iter().chain(blocks).collect::<Vec<_>>(), settings);
    assert_eq!(found[..2], [Step::Fork { child: 2 }, Step::Run { process: 2 }]);
    found[2..].to_vec()
}

const fn at(address: u64) -> PhysicalAddress {
    PhysicalAddress(address)
}

fn map(address: u64, bytes: u64, object: u64, is_shared: bool) -> Event {
    let flags = MapFlags { is_writable: true, is_shared };
    Event::Map { flags, address, bytes, of: ObjectAddress { object, address: 0 } }
}

const fn of(object: u64, address: u64) -> ObjectAddress {
    ObjectAddress { object, address }
}

/// An instruction of the recording may have several accesses, or one that lies in two lines: the instructions that
/// follow are fewer by those.
#[test]
fn instructions_are_those_of_the_recording() {
    let mut block = words(&[map(PAGE, PAGE, 0, false)]);
    block.extend([
        access(false, PAGE, 3, 3),
        access(true, PAGE, 3, 0),
        access(false, PAGE + 60, 3, 1),
        Word::Instructions(5).bits(),
    ]);
    let expected = [
        Step::Map { address: at(PAGE), bytes: PAGE },
        Step::Compute { instructions: 2 },
        Step::Load { address: at(PAGE) },
        Step::Store { address: at(PAGE) },
        Step::Load { address: at(PAGE + 60) },
        Step::Load { address: at(PAGE + 64) },
        Step::Compute { instructions: 3 },
    ];
    assert_eq!(steps(&[(1, block)], ChosenCopies::Kernel, false), expected);
}

/// A parent and its child, which runs a new program; the page that no event mapped is mapped at its first access.
#[test]
fn processes_are_forked_run_and_ended() {
    let blocks = [
        (
            1,
            [words(&[map(PAGE, PAGE, 0, false)]), vec![access(true, PAGE, 3, 1)], words(&[Event::Fork { process: 2 }])]
                .concat(),
        ),
        (2, [vec![access(true, PAGE, 3, 1)], words(&[Event::Exit, Event::Create { process: 3 }])].concat()),
        (3, vec![access(false, 7 * PAGE, 3, 1)]),
        (1, words(&[Event::Fault { kind: FaultKind::WriteProtected, address: PAGE }, Event::Exit])),
    ];
    let expected = [
        Step::Map { address: at(PAGE), bytes: PAGE },
        Step::Store { address: at(PAGE) },
        Step::Fork { child: 3 },
        Step::Run { process: 3 },
        Step::Store { address: at(PAGE) },
        Step::Exit,
        Step::Run { process: 1 },
        Step::Fork { child: 4 },
        Step::Run { process: 4 },
        Step::Map { address: at(7 * PAGE), bytes: PAGE },
        Step::Load { address: at(7 * PAGE) },
        Step::Run { process: 2 },
        Step::Exit,
    ];
    assert_eq!(steps(&blocks, ChosenCopies::Kernel, false), expected);
}

/// Private and shared pages of a file, moved, discarded and unmapped. A mapping of mapped pages replaces them.
#[test]
fn pages_of_files_are_those_of_the_page_cache() {
    let block = [
        words(&[map(PAGE, 2 * PAGE, 5, false), map(8 * PAGE, PAGE, 5, true)]),
        vec![access(true, 8 * PAGE + 8, 3, 1)],
        words(&[
            map(2 * PAGE, PAGE, 0, false),
            Event::Move { from: 2 * PAGE, to: 4 * PAGE, bytes: PAGE },
            Event::Discard { address: PAGE, bytes: PAGE },
            Event::Unmap { address: PAGE, bytes: 8 * PAGE },
        ]),
        vec![access(false, 8 * PAGE, 3, 1)],
    ];
    let expected = [
        Step::Map { address: at(KERNEL), bytes: 1 << 20 },
        Step::Share { address: at(PAGE), source: at(KERNEL), bytes: 2 * PAGE },
        Step::Present { address: at(KERNEL), bytes: PAGE - 1 },
        Step::Store { address: at(KERNEL + 8) },
        Step::Unmap { address: at(2 * PAGE), bytes: PAGE },
        Step::Map { address: at(2 * PAGE), bytes: PAGE },
        Step::Move { from: at(2 * PAGE), to: at(4 * PAGE), bytes: PAGE },
        Step::Discard { address: at(PAGE), bytes: PAGE },
        Step::Unmap { address: at(PAGE), bytes: 8 * PAGE },
        Step::Map { address: at(8 * PAGE), bytes: PAGE },
        Step::Load { address: at(8 * PAGE) },
    ];
    assert_eq!(steps(&[(1, block.concat())], ChosenCopies::Kernel, false), expected);
}

/// A `read` from a device, copies to and from the page cache, and a pipe, whose ring begins again after 64 KiB. Copies
/// that are not chosen are loads and stores of words.
#[test]
fn copies_of_the_kernel_have_addresses_of_its_region() {
    let pipe = ObjectAddress::STREAMS;
    let block = words(&[
        map(PAGE, PAGE, 0, false),
        Event::Read { of: of(5, 0), bytes: PAGE },
        Event::Copy { dst: of(0, PAGE), src: of(5, 100), bytes: 16 },
        Event::Copy { dst: of(pipe, (64 << 10) - 8), src: of(0, PAGE), bytes: 16 },
        Event::Zero { dst: of(0, PAGE), bytes: 8 },
    ]);
    let copy = |dst: u64, src: u64, bytes: u64| Step::Copy { dst: at(dst), src: at(src), bytes };
    let (ring, last) = (KERNEL + (1 << 20), KERNEL + (1 << 20) + 15 * PAGE);
    let mapped = [
        Step::Map { address: at(PAGE), bytes: PAGE },
        Step::Map { address: at(KERNEL), bytes: 1 << 20 },
        Step::Present { address: at(KERNEL), bytes: PAGE - 1 },
    ];
    let in_ring =
        [Step::Map { address: at(ring), bytes: 64 << 10 }, Step::Present { address: at(last), bytes: PAGE - 1 }];
    let first = Step::Present { address: at(ring), bytes: PAGE - 1 };
    let copies = [
        copy(PAGE, KERNEL + 100, 16),
        copy(last + PAGE - 8, PAGE, 8),
        copy(ring, PAGE + 8, 8),
        Step::Zero { address: at(PAGE), bytes: 8 },
    ];
    let expected = [&mapped[..], &copies[..1], &in_ring, &copies[1..2], &[first], &copies[2..]].concat();
    for is_by_cpu in [false, true] {
        assert_eq!(steps(&[(1, block.clone())], ChosenCopies::Kernel, is_by_cpu), expected);
    }
    let word = |dst: u64, src: u64| [Step::Load { address: at(src) }, Step::Store { address: at(dst) }];
    let expected = [
        &mapped[..],
        &word(PAGE, KERNEL + 100),
        &word(PAGE + 8, KERNEL + 108),
        &in_ring,
        &[first],
        &word(last + PAGE - 8, PAGE),
        &word(ring, PAGE + 8),
        &[Step::Store { address: at(PAGE) }],
    ];
    assert_eq!(steps(&[(1, block)], ChosenCopies::Library, false), expected.concat());
}

/// A `memcpy` and a `memset` with two values. The copier replaces the first two where library routines are chosen,
/// and the CPU executes what was recorded.
#[test]
fn library_routines_are_replaced_where_they_are_chosen() {
    let routine = |routine: Routine, accesses: &[u64]| {
        let call = words(&[Event::Call { routine, dst: PAGE, bytes: 8 }]);
        [call, vec![Word::Instructions(4).bits()], accesses.to_vec(), words(&[Event::Return])].concat()
    };
    let (load, store) = (access(false, PAGE + 64, 3, 1), access(true, PAGE, 3, 1));
    let block = [
        words(&[map(PAGE, PAGE, 0, false)]),
        routine(Routine::Copy { src: PAGE + 64 }, &[load, store]),
        routine(Routine::Set { value: 0 }, &[store]),
        routine(Routine::Set { value: 1 }, &[store]),
        vec![load],
    ]
    .concat();
    let mapped = Step::Map { address: at(PAGE), bytes: PAGE };
    let (four, load) = (Step::Compute { instructions: 4 }, Step::Load { address: at(PAGE + 64) });
    let store = Step::Store { address: at(PAGE) };
    let recorded = vec![mapped, four, load, store, four, store, four, store, load];
    let copy = Step::Copy { dst: at(PAGE), src: at(PAGE + 64), bytes: 8 };
    let replaced = vec![mapped, copy, Step::Zero { address: at(PAGE), bytes: 8 }, four, store, load];
    for (copies, is_by_cpu, expected) in [
        (ChosenCopies::Kernel, false, &recorded),
        (ChosenCopies::Library, true, &recorded),
        (ChosenCopies::All, true, &recorded),
        (ChosenCopies::Library, false, &replaced),
        (ChosenCopies::All, false, &replaced),
    ] {
        assert_eq!(&steps(&[(1, block.clone())], copies, is_by_cpu), expected, "{copies:?}");
    }
}

/// A guest's pages are those of physical memory, in the order of first accesses. Its kernel's copy and clearing of a
/// page are copies of the kernel under each policy; a copier other than the CPU copies to a frame near the source.
#[test]
fn page_routines_of_a_guest_are_copies_of_the_kernel() {
    let routine = |routine: Routine, dst: u64| {
        let call = words(&[Event::Call { routine, dst, bytes: PAGE }]);
        [call, vec![access(true, dst, 3, 1)], words(&[Event::Return])].concat()
    };
    let block = [
        words(&[map(0, 64 << 20, ObjectAddress::PHYSICAL, true)]),
        vec![access(false, 3 * PAGE, 3, 1)],
        routine(Routine::CopyPage { src: 3 * PAGE }, 2 * PAGE),
        routine(Routine::ClearPage, 3 * PAGE),
    ]
    .concat();
    let [dst, src] = [at(KERNEL + 2 * PAGE), at(KERNEL + 3 * PAGE)];
    let present = |address| Step::Present { address, bytes: PAGE - 1 };
    let mapped = [Step::Map { address: at(KERNEL), bytes: 1 << 20 }, present(src), Step::Load { address: src }];
    let renewed = [present(dst), Step::Renew { page: dst, source: src, bytes: PAGE }];
    let copied = [Step::Copy { dst, src, bytes: PAGE }, Step::Zero { address: src, bytes: PAGE }];
    let recorded = [present(dst), Step::Store { address: dst }, Step::Store { address: src }];
    for (copies, is_by_cpu, expected) in [
        (ChosenCopies::Kernel, false, [&mapped[..], &renewed, &copied].concat()),
        (ChosenCopies::All, true, [&mapped[..], &renewed[..1], &copied].concat()),
        (ChosenCopies::Library, false, [&mapped[..], &recorded].concat()),
    ] {
        assert_eq!(steps(&[(1, block.clone())], copies, is_by_cpu), expected, "{copies:?}");
    }
}

/// A load of bytes that the kernel copied from bytes that a store had written, and two of bytes that were there before.
#[test]
fn a_load_that_reads_other_bytes_than_were_written_is_counted() {
    let counts = |read: u64| {
        let of_process = |address: u64| of(0, address);
        let block = [
            words(&[map(PAGE, PAGE, 0, false)]),
            vec![access(true, PAGE, 3, 1), access(false, PAGE + 128, 3, 1)],
            words(&[Event::Copy { dst: of_process(PAGE + 64), src: of_process(PAGE), bytes: 8 }]),
            vec![access(false, PAGE + 64, 3, 1), access(false, PAGE + 128, 3, 1)],
        ];
        let contents = [7_u64, 9, read, 9].into_iter().flat_map(u64::to_le_bytes).collect();
        let created = (1, 1, words(&[Event::Create { process: 1 }]), Vec::new());
        let bytes = recording(&[created, (1, 1, block.concat(), contents)], true);
        RecordedProgram::compare_contents(RecordingReader::new(Cursor::new(bytes)).unwrap()).unwrap()
    };
    let right = ContentsCounts { equal: 16, unknown: 8, different: 0, first: None };
    assert_eq!(counts(7), right);
    let first = Some(OtherByte { block: 2, process: 1, address: PAGE + 64, found: 8, expected: 7 });
    assert_eq!(counts(8), ContentsCounts { equal: 15, different: 1, first, ..right });
}

/// A process stores 7 and loads 8, in a block of thread 1, with other words in between and other blocks after it.
fn load_after_store(address: u64, between: &[u64], others: &[TestBlock]) -> Result<ContentsCounts, LineError> {
    let block = [
        words(&[map(PAGE, PAGE, 0, false), map(2 * PAGE, PAGE, 5, true)]),
        vec![access(true, address, 3, 1)],
        between.to_vec(),
        vec![access(false, address, 3, 1)],
    ];
    let contents = [7_u64, 8].into_iter().flat_map(u64::to_le_bytes).collect();
    let created = (1, 1, words(&[Event::Create { process: 1 }]), Vec::new());
    let blocks = [&[created, (1, 1, block.concat(), contents)], others].concat();
    RecordedProgram::compare_contents(RecordingReader::new(Cursor::new(recording(&blocks, true))).unwrap())
}

/// Nothing but the process itself could have written the byte.
#[test]
fn a_load_that_reads_other_bytes_than_its_block_stored_is_an_error() {
    let call = Event::Call { routine: Routine::Set { value: 0 }, dst: 2 * PAGE, bytes: 8 };
    let error = load_after_store(PAGE + 8, &words(&[call, Event::Return]), &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "block 2, word 16: process 1 reads 0x08 at 0x1008, where it had stored 0x07 in this block"
    );
    assert!(error.help().contains("trace verify"), "{}", error.help());
}

/// The kernel, another thread, or a process that shares the page may have written the byte.
#[test]
fn a_load_of_bytes_that_others_may_have_written_is_counted() {
    let counts = |address, between: &[u64], others: &[TestBlock]| {
        let ContentsCounts { equal, different, .. } = load_after_store(address, between, others).unwrap();
        (equal, different)
    };
    let event = words(&[map(8 * PAGE, PAGE, 0, false)]);
    assert_eq!(counts(PAGE, &event, &[]), (7, 1));
    assert_eq!(counts(2 * PAGE, &[], &[]), (7, 1));
    assert_eq!(counts(PAGE, &[], &[(2, 1, vec![access(true, PAGE, 0, 1)], vec![8])]), (7, 1));
}

/// Of a file that two processes map, privately and shared: a store is seen where it should be.
#[test]
fn stores_are_seen_by_the_processes_that_share_pages() {
    let events = words(&[map(PAGE, PAGE, 5, false), map(2 * PAGE, PAGE, 5, true), Event::Fork { process: 2 }]);
    let blocks = [
        (1, 1, words(&[Event::Create { process: 1 }]), Vec::new()),
        (1, 1, events, Vec::new()),
        (1, 1, vec![access(true, 2 * PAGE, 0, 1), access(true, PAGE + 1, 0, 1)], vec![3, 4]),
        (2, 2, vec![access(false, PAGE, 0, 1), access(false, 2 * PAGE + 1, 0, 1)], vec![3, 5]),
        (1, 1, vec![access(false, PAGE, 0, 1), access(false, PAGE + 1, 0, 1)], vec![3, 4]),
    ];
    let bytes = recording(&blocks, true);
    let counts = RecordedProgram::compare_contents(RecordingReader::new(Cursor::new(bytes)).unwrap()).unwrap();
    assert_eq!(counts, ContentsCounts { equal: 3, unknown: 1, different: 0, first: None });
}

#[test]
fn recordings_without_accesses_or_with_other_pages_are_refused() {
    for (metadata, message) in [
        (
            Metadata { detail: Detail::Faults, ..Metadata::default() },
            "the metadata of the recording have `detail` = `faults`: it has page faults, and no accesses for a core",
        ),
        (
            Metadata { page_bytes: 16_384, ..Metadata::default() },
            "the metadata of the recording have `page_bytes` = 16384, but pages of the machine have 4096 bytes",
        ),
    ] {
        let mut output = Vec::new();
        RecordingWriter::new(Cursor::new(Vec::new()), metadata, 0).unwrap().finish(&mut output).unwrap();
        let reader = RecordingReader::new(Cursor::new(output)).unwrap();
        let error = RecordedProgram::new(reader, RecordingSettings::default()).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.help().is_empty());
    }
}
