//! Records that cannot be played are errors that name them, or are skipped and counted.

use dram_spec::AddressMap;
use dram_spec::Cycles;
use dram_spec::address::{MapPreset, RawAddressMap};
use host::{
    AllocatorSettings, LateRecords, ReplayError, ReplayOutcome, ReplaySettings, Timing, TraceCounts, UnusableRecords,
};
use os_alloc_sim::Policy;
use rowclone::{FaultyRows, Planner};

use crate::driver::{SETTINGS, allocator, drive, planner, replay, small};

/// Under [`scattered`], the last byte lies in the zero row of a subarray; `20000000` is the end of the memory.
const UNUSABLE: &str = "R 1fffffc0 1000 10\nR 1000 20000000 10\nR 20000000 1fffffc0 10\nR 1000 0 10\n\
                        C 1ffff000 1000 4096 7\nC 1000 20000000 64 7\nS 1ffff800 0 4096 7\nS 1fffe000 0 8192 7\nS 1000 \
                        0 64 7\n";

/// The whole row number above the bank: the zero row of a subarray is the last row of each 16 MiB.
fn scattered() -> Planner {
    let fields = ["row", "bank", "column", "offset"].map(str::to_owned).to_vec();
    let map = AddressMap::new(small().geometry, &RawAddressMap { fields: fields.into(), xor: Vec::new() }).unwrap();
    Planner::new(map, FaultyRows::default())
}

/// The operations played with their arrivals, and the outcome.
type Played = (Vec<(String, u64)>, Result<ReplayOutcome, ReplayError>);

fn play(trace: &str, settings: ReplaySettings) -> Played {
    play_on(&planner(&small(), MapPreset::RowInterleaved), trace, settings)
}

fn play_on(planner: &Planner, trace: &str, settings: ReplaySettings) -> Played {
    let mut replay = match replay(trace, planner, settings, None) {
        Ok(replay) => replay,
        Err(error) => return (Vec::new(), Err(error)),
    };
    let mut played = Vec::new();
    drive(&mut replay, Cycles(100), |request| played.push((request.operation.to_string(), request.arrival.unwrap().0)));
    (played, replay.into_outcome())
}

#[test]
fn skipped_records_are_counted_and_their_instructions_still_executed() {
    let settings = ReplaySettings { unusable: UnusableRecords::Skip, ..SETTINGS };
    let (played, outcome) = play_on(&scattered(), UNUSABLE, settings);
    let expected = [
        ("write 64 bytes 0x1000", 10),
        ("read 64 bytes 0x1000", 20),
        ("read 64 bytes 0x1000", 40),
        ("init 64 bytes 0x1000 with 0x00", 40),
    ];
    assert_eq!(played, expected.map(|(operation, at)| (operation.to_owned(), at)));
    let ReplayOutcome { counts, pages, .. } = outcome.unwrap();
    assert_eq!(pages, None);
    let lines: Vec<u64> = counts.skipped.iter().map(|skipped| skipped.line).collect();
    assert_eq!(lines, [1, 2, 3, 3, 5]);
    let expected = TraceCounts {
        records: 9,
        skipped_records: 7,
        accesses: 4,
        reads: 2,
        writes: 0,
        writebacks: 1,
        copies: 0,
        os_events: 0,
        page_faults: 0,
        fills: 1,
        accesses_outside: 2,
        accesses_reserved: 2,
        skipped_outside: 2,
        skipped_reserved: 2,
        skipped: counts.skipped.clone(),
        late: LateRecords::default(),
        writes_with_data: 0,
    };
    assert_eq!(counts, expected);
}

/// The default: one record of 20 may lie on a reserved row, one of 19 is too many; and none outside the memory.
#[test]
fn records_on_scattered_reserved_rows_are_skipped_up_to_5_percent() {
    let settings = ReplaySettings { unusable: UnusableRecords::default(), ..SETTINGS };
    let trace = |sound: usize, last: &str| "R 1000 0 1\n".repeat(sound) + last;
    let (played, outcome) = play_on(&scattered(), &trace(19, "R 1fffffc0 0 1\n"), settings);
    let counts = outcome.unwrap().counts;
    assert_eq!((played.len(), counts.records, counts.skipped_records, counts.accesses_reserved), (19, 20, 1, 1));
    let (_, outcome) = play_on(&scattered(), &trace(18, "R 1fffffc0 0 1\n"), settings);
    let error = outcome.unwrap_err();
    assert_eq!(error.to_string(), "1 of 19 records lie on reserved rows (5.26 %), more than 5 %");
    assert!(error.help().contains("`unusable_records = \"skip\"`"), "{}", error.help());
    for trace in [trace(99, "R 20000000 0 1\n"), trace(99, "R 1ffffffe 1000 1\nR 1fffffc0 20000000 1\n")] {
        let (_, outcome) = play_on(&scattered(), &trace, settings);
        assert!(matches!(outcome, Err(ReplayError::Record { .. })), "outside the memory: {outcome:?}");
    }
}

/// 512 MiB without 8 banks x (32 zero rows + 1 temporary row) of 4 KB end at 0x1fef8000.
#[test]
fn a_preset_plays_every_record_below_its_usable_capacity() {
    let settings = ReplaySettings { unusable: UnusableRecords::default(), ..SETTINGS };
    let (played, outcome) = play("R 1fef7fc0 0 1\nC 10000000 0 67108864 7\n", settings);
    assert_eq!((played.len(), outcome.unwrap().counts.skipped_records), (2, 0));
    refused(
        "R 1fef8000 0 1\n",
        settings,
        "line 1: `address` = 0x1fef8000 with 64 bytes reaches past the end of the usable memory at 0x1fef8000",
        "the last address that fits is 0x1fef7fc0; the usable capacity is 535789568 bytes; if the addresses of the \
            trace \
         are not physical, let an allocator place its pages (`placement = \"allocator\"`); or leave such records out \
         with `unusable_records = \"skip\"`",
    );
}

/// Row 511 is a zero row under every map: its record is skipped, although its address is above the usable capacity.
#[test]
fn coordinates_of_a_reserved_row_are_skipped_under_a_preset() {
    let settings = ReplaySettings { unusable: UnusableRecords::default(), timing: Timing::BackToBack, ..SETTINGS };
    let trace = "R 0,0,1,512,8\n".repeat(19) + "W 0,0,1,511,8\n";
    let (played, outcome) = play(&trace, settings);
    let counts = outcome.unwrap().counts;
    assert_eq!((played.len(), counts.accesses, counts.skipped_records, counts.accesses_reserved), (19, 20, 1, 1));
}

/// With an allocator, addresses are virtual: every record is played, whatever its 64-bit address.
#[test]
fn pages_recorded_anywhere_are_placed_in_the_memory() {
    let allocator = Some(allocator(Policy::SubarrayAware));
    let (_, outcome) = play(UNUSABLE, ReplaySettings { allocator, ..SETTINGS });
    let ReplayOutcome { counts, pages, .. } = outcome.unwrap();
    assert_eq!((counts.reads, counts.writebacks, counts.copies, counts.fills), (4, 3, 2, 3));
    assert_eq!((counts.records, counts.skipped_records), (9, 0));
    // The pages of 1ffff000, 1000 and 20000000 are read or written. The copy of a whole page
    // allocates a new frame for the first, and the fill of two pages for the first and its
    // predecessor; operations on parts of pages allocate no new frame.
    let pages = pages.unwrap();
    assert_eq!((pages.appeared, pages.copied, pages.filled, pages.freed), (3, 1, 2, 2));
    assert_eq!((pages.copies_in_part, pages.fills_in_part, pages.fills_of_other_values), (1, 3, 0));
    assert_eq!(
        pages.allocator.frames - pages.allocator.free.frames(),
        pages.appeared + pages.copied + pages.filled - pages.freed
    );
}

/// The highest page of the 64-bit address space, and addresses that differ only in their highest
/// bits.
#[test]
fn virtual_addresses_use_all_64_bits() {
    let trace = "R 0xffffffffffffffff\nCOPY 0xfffffffffffff000 0x7ffff000 4096\nZERO 0xffffffffffffe800 6144\nR \
        0x7ffff000\n\
                 R 0x800000007ffff000\nW 0xffffffffffffffc0\n";
    let allocator = Some(allocator(Policy::Sequential));
    let (played, outcome) = play(trace, ReplaySettings { allocator, timing: Timing::Recorded, ..SETTINGS });
    let played: Vec<&str> = played.iter().map(|(operation, _)| operation.as_str()).collect();
    let expected = [
        "read 64 bytes 0xfc0",
        "copy 4096 bytes 0x1000 -> 0x0",
        "init 2048 bytes 0x2800 with 0x00",
        "init 4096 bytes 0x0 with 0x00",
        "read 64 bytes 0x1000",
        "read 64 bytes 0x3000",
        "write 64 bytes 0xfc0",
    ];
    assert_eq!(played, expected);
    let counts = outcome.unwrap().counts;
    assert_eq!((counts.records, counts.skipped_records, counts.writes), (6, 0, 1));
}

fn refused(trace: &str, settings: ReplaySettings, message: &str, help: &str) {
    let (_, outcome) = play(trace, settings);
    let error = outcome.unwrap_err();
    assert_eq!((error.to_string().as_str(), error.help().as_str()), (message, help));
}

#[test]
fn errors_name_the_line_and_a_remedy() {
    refused(
        "R 1000 0 1\n",
        ReplaySettings { timing: Timing::Instructions(0.0), ..SETTINGS },
        "`instructions_per_clock` is 0, but must be a finite number above 0",
        "give the instructions that the CPU executes per clock of the memory, as `instructions_per_clock = 4.0`",
    );
    refused(
        "R 1000 0 1\nR 1000 0 18446744073709551615\n",
        SETTINGS,
        "line 2: arrives after more than 2^52 clocks of the memory",
        "give a larger `instructions_per_clock`, or correct the instructions or times of the trace",
    );
    let times = ReplaySettings { timing: Timing::Recorded, ..SETTINGS };
    refused(
        "R 1000 0 1\n",
        times,
        "line 1: counts instructions, and has no time of arrival",
        "play the trace with `timing = \"instructions\"`, `\"back-to-back\"` or `\"window\"`",
    );
    refused(
        "R 0x1000 @9007199254740992ns\n",
        times,
        "line 1: arrives after more than 2^52 clocks of the memory",
        "give a larger `instructions_per_clock`, or correct the instructions or times of the trace",
    );
    let full = |utilization| {
        let settings = AllocatorSettings { utilization, ..allocator(Policy::Random) };
        ReplaySettings { allocator: Some(settings), ..SETTINGS }
    };
    // 131,072 frames, 8 banks of 32 subarrays and a temporary row.
    refused(
        "R 12345 0 1\n",
        full(1.0),
        "line 1: no frame is left for page 0x12000: all 130808 allocatable frames are in use, 130808 of \
            them \
         since before the trace began",
        "lower `utilization`, or give the system more memory",
    );
    refused(
        "R 1000 0 1\n",
        full(50.0),
        "`utilization` is 50, but must be a share from 0 to 1",
        "try `utilization = 0.5`",
    );
}

/// Pieces that were placed are played; the piece without a frame ends the trace.
#[test]
fn a_copy_may_run_out_of_frames_between_its_pages() {
    // All but two frames are in use: those of the first page's source and destination.
    let settings = AllocatorSettings { utilization: 1.0 - 2.0 / 130_808.0, ..allocator(Policy::SubarrayAware) };
    let (played, outcome) =
        play("C 8000 10000 8192 5\nR 1000 0 1\n", ReplaySettings { allocator: Some(settings), ..SETTINGS });
    assert_eq!(played.len(), 1);
    let error = outcome.unwrap_err();
    assert!(matches!(error, ReplayError::OutOfFrames { line: 1, held: 130_806, .. }), "{error}");
}
