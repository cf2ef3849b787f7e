//! Addresses and arrivals of workloads without an allocator.

use memctrl::policy::copy::ROWCLONE;
use std::collections::BTreeMap;

use dram_spec::{Cycle, Cycles, PhysicalAddress};
use host::workload::{CopyBy, Gap, Mixed, PageCopies, Pairs, Pattern, Random, Settings, Stream, StreamAccess};
use host::{Contents, Place};
use rowclone::{Operation, Planner};

use crate::common::{
    END_OF_SUBARRAYS, START, mixed, page_copies, paper, random, requests, scattered, stream, workload,
};

fn operations(settings: &Settings, planner: &Planner) -> Vec<Operation> {
    requests(workload(settings, planner, 1, None)).0.iter().map(|request| request.operation).collect()
}

const fn read(address: u64) -> Operation {
    Operation::Read { address: PhysicalAddress(address), bytes: 64 }
}

const fn write(address: u64) -> Operation {
    Operation::Write { address: PhysicalAddress(address), bytes: 64 }
}

/// Addresses from `start` at this distance, without unreadable ones.
fn sound(planner: &Planner, start: PhysicalAddress, stride: u64) -> impl Iterator<Item = u64> {
    (0..).map(move |line| start.0 + line * stride).filter(|&address| planner.check(&read(address)).is_ok())
}

#[test]
fn a_stream_accesses_lines_in_order_and_skips_reserved_rows() {
    let planner = scattered();
    for stride in [64, 192, 4096, 4096 + 64, 0x8000] {
        let settings = Stream {
            start: END_OF_SUBARRAYS,
            count: 3000,
            stride_bytes: stride,
            ..stream(StreamAccess::Pattern(Pattern::READS))
        };
        let expected: Vec<_> = sound(&planner, END_OF_SUBARRAYS, stride).take(3000).map(read).collect();
        assert!(expected[2999].target().0 > END_OF_SUBARRAYS.0 + 2999 * stride, "some are skipped");
        assert!(operations(&Settings::new(settings), &planner) == expected, "stride {stride}");
    }
}

#[test]
fn a_pattern_selects_the_lines_to_write() {
    let access = StreamAccess::Pattern(Pattern::named("rrw").unwrap());
    let list = operations(&Settings::new(Stream { count: 7, ..stream(access) }), &paper());
    let line = |index: u64| START.0 + 64 * index;
    let expected =
        [read(line(0)), read(line(1)), write(line(2)), read(line(3)), read(line(4)), write(line(5)), read(line(6))];
    assert_eq!(list, expected);
    assert_eq!(Pattern::named("rrw").unwrap().name(), "rrw");
    assert_eq!((Pattern::named("r"), Pattern::named("w")), (Some(Pattern::READS), Some(Pattern::WRITES)));
    assert_eq!([Pattern::named(""), Pattern::named("rx"), Pattern::named(&"r".repeat(65))], [None; 3]);
    assert_eq!(Pattern::named(&"w".repeat(64)).unwrap().name(), "w".repeat(64));
}

/// A line is skipped if its source or its destination cannot be used.
#[test]
fn a_copying_stream_reads_each_line_and_writes_another() {
    let planner = paper();
    for (start, dst) in [(START, END_OF_SUBARRAYS), (END_OF_SUBARRAYS, START), (START, START)] {
        let list =
            operations(&Settings::new(Stream { start, count: 3000, ..stream(StreamAccess::Copy { dst }) }), &planner);
        let usable = |offset: &u64| [start, dst].iter().all(|base| planner.check(&read(base.0 + offset)).is_ok());
        let offsets = (0..).map(|line| 64 * line).filter(usable).take(3000);
        let expected: Vec<_> = offsets.flat_map(|offset| [read(start.0 + offset), write(dst.0 + offset)]).collect();
        assert!(list == expected, "{start} to {dst}");
    }
}

#[test]
fn requests_arrive_at_the_distance_of_the_gap() {
    let planner = paper();
    let pace = |gap: Cycles| {
        let gap = Gap::from(gap);
        [
            Settings::new(Stream { gap, ..stream(StreamAccess::Pattern(Pattern::READS)) }),
            Settings::new(Random { gap, ..random() }),
            Settings::new(Mixed { gap, ..mixed() }),
            Settings::new(PageCopies { gap, ..page_copies(Pairs::Random, CopyBy::Operation) }),
        ]
    };
    for settings in pace(Cycles(37)) {
        let list = requests(workload(&settings, &planner, 1, None)).0;
        assert!(
            list.iter().zip(0..).all(|(request, index)| request.arrival == Some(Cycle(37 * index))),
            "{settings:?}"
        );
    }
    for settings in pace(Cycles(0)) {
        use memctrl::RequestSource;
        let mut workload = workload(&settings, &planner, 1, None);
        for now in [3, 3, 10].map(dram_spec::Cycle) {
            assert_eq!(workload.take(now).unwrap().arrival, None, "it arrives when it is accepted");
        }
    }
}

/// Of 100,000, 30 % are writes to 4 sigma (of sqrt(100,000 x 0.3 x 0.7) = 145), and all 64 lines
/// are equally frequent, to 5 sigma (of sqrt(100,000 / 64) = 40).
#[test]
fn random_lines_are_equally_likely() {
    let list = operations(&Settings::new(Random { count: 100_000, bytes: 4096, ..random() }), &paper());
    let mut uses: BTreeMap<PhysicalAddress, i64> = BTreeMap::new();
    let mut writes = 0_i64;
    for operation in &list {
        *uses.entry(operation.target()).or_default() += 1;
        writes += i64::from(matches!(operation, Operation::Write { .. }));
    }
    assert!((writes - 30_000).abs() < 4 * 145, "{writes}");
    assert_eq!(uses.len(), 64);
    for (line, count) in uses {
        assert!((START.0..START.0 + 4096).contains(&line.0) && line.0.is_multiple_of(64), "{line}");
        assert!((count - 1562).abs() < 5 * 40, "{line}: {count}");
    }
    for (share, kind) in [(0.0, read(0)), (1.0, write(0))] {
        let list = operations(&Settings::new(Random { write_share: share, ..random() }), &paper());
        let alike = |one: &Operation| std::mem::discriminant(one) == std::mem::discriminant(&kind);
        assert!(list.iter().all(alike), "{share}");
    }
}

/// Of 20,000, each kind has its share to 4 sigma (at most sqrt(20,000 x 0.5 x 0.5) = 71).
#[test]
fn each_kind_of_mixed_requests_has_its_share() {
    let settings = Mixed { count: 20_000, write_share: 0.3, copy_share: 0.15, zero_share: 0.05, ..mixed() };
    let list = operations(&Settings::new(settings), &paper());
    let mut counts = [0_i32; 4];
    for operation in list {
        let (kind, bytes) = match operation {
            Operation::Read { .. } => (0, 64),
            Operation::Write { .. } => (1, 64),
            Operation::Copy { src, dst, .. } => {
                assert_ne!(src, dst);
                (2, 4096)
            }
            Operation::Init { value, .. } => {
                assert_eq!(value, 0);
                (3, 4096)
            }
        };
        counts[kind] += 1;
        assert_eq!(operation.bytes(), bytes);
        for address in operation.src().into_iter().chain([operation.target()]) {
            assert!((END_OF_SUBARRAYS.0..END_OF_SUBARRAYS.0 + 0x4_0000).contains(&address.0), "{operation}");
        }
    }
    for (count, share) in counts.iter().zip([10_000, 6_000, 3_000, 1_000]) {
        assert!((count - share).abs() < 4 * 71, "{counts:?}");
    }
}

/// The pages of a subarray's last row are zero rows: the 32 KiB below 32 MiB cannot be copied.
#[test]
fn neighbors_are_copied_page_by_page_and_line_by_line() {
    let planner = scattered();
    let settings = PageCopies { count: 60, ..page_copies(Pairs::Neighbors, CopyBy::Lines) };
    let pages: Vec<u64> = (0..32)
        .map(|pair| END_OF_SUBARRAYS.0 + pair * 8192)
        .filter(|base| planner.check(&Operation::Read { address: PhysicalAddress(*base), bytes: 8192 }).is_ok())
        .collect();
    assert_eq!(pages.len(), 32 - 4);
    let mut expected = Vec::new();
    for base in pages.iter().cycle().take(60) {
        expected.extend((0..64).map(|line| read(base + 64 * line)));
        expected.extend((0..64).map(|line| write(base + 4096 + 64 * line)));
    }
    assert!(operations(&Settings::new(settings), &planner) == expected);
    let whole = operations(&Settings::new(PageCopies { by: CopyBy::Operation, ..settings }), &planner);
    let copy =
        |base: u64| Operation::Copy { src: PhysicalAddress(base), dst: PhysicalAddress(base + 4096), bytes: 4096 };
    assert!(whole.into_iter().eq(pages.iter().cycle().take(60).map(|&base| copy(base))));
}

/// The relation of source and destination determines the mechanism under the paper's rule.
#[test]
fn the_relation_of_a_pair_determines_its_mechanism() {
    let planner = paper();
    for (place, mechanism) in
        [(Place::SameSubarray, rowclone::FPM), (Place::OtherBank, rowclone::PSM), (Place::SameBank, rowclone::PSM2)]
    {
        let list = operations(&Settings::new(page_copies(Pairs::Placed(place), CopyBy::Operation)), &planner);
        assert_eq!(list.len(), 20);
        for operation in &list {
            for block in planner.blocks(operation) {
                for part in block.parts() {
                    assert_eq!(ROWCLONE.preferred(part), mechanism, "{operation}");
                }
            }
        }
        let mut pages: Vec<_> = list.iter().map(Operation::target).collect();
        pages.dedup();
        assert!(pages.is_sorted() && pages.len() == 20, "each page of the region in its turn");
    }
}

/// The data of a write follow from its index alone.
#[test]
fn data_of_a_write_follow_from_its_index() {
    let planner = paper();
    let contents = Contents::new(9, planner.map().clone());
    let settings = Settings::new(random());
    for request in requests(workload(&settings, &planner, 1, Some(contents.clone()))).0 {
        let expected = matches!(request.operation, Operation::Write { .. }).then(|| contents.payload(request.id.0, 64));
        assert_eq!(request.payload, expected);
    }
}
