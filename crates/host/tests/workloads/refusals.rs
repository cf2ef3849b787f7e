//! Invalid settings and their error messages.

use dram_spec::PhysicalAddress;
use host::workload::{
    Checkpoint, CopyBy, Deduplication, Fork, MachineClone, Migration, Mixed, PageCopies, Pairs, Pattern, ProcessExits,
    Random, Settings, Stream, StreamAccess, WorkloadError,
};
use host::{AllocatorSettings, Place};
use os_alloc_sim::Policy;

use crate::common::{
    START, allocator, checkpoint, deduplication, fork, machine_clone, migration, mixed, page_copies, paper,
    process_exits, random, scattered, stream,
};

fn refusal(settings: &Settings, allocator: Option<AllocatorSettings>) -> WorkloadError {
    let made = settings.source(&scattered(), allocator.as_ref(), 1, None);
    made.err().unwrap_or_else(|| panic!("{settings:?} is not refused"))
}

const READS: StreamAccess = StreamAccess::Pattern(Pattern::READS);
/// 512 MiB.
const END: u64 = 0x2000_0000;

#[test]
fn each_invalid_setting_is_named_with_a_remedy() {
    let copies = page_copies(Pairs::Neighbors, CopyBy::Operation);
    let anywhere = PhysicalAddress(END - 64);
    let cases: Vec<(&str, &str, Settings)> = vec![
        ("count", "try `count = 1`", Settings::new(Stream { count: 0, ..stream(READS) })),
        ("stride_bytes", "try `stride_bytes = 128`", Settings::new(Stream { stride_bytes: 100, ..stream(READS) })),
        ("stride_bytes", "try `stride_bytes = 64`", Settings::new(Stream { stride_bytes: 0, ..stream(READS) })),
        (
            "stride_bytes",
            "lower `stride_bytes`",
            Settings::new(Stream { stride_bytes: u64::MAX - 63, ..stream(READS) }),
        ),
        ("start", "try `start = 64`", Settings::new(Stream { start: PhysicalAddress(1), ..stream(READS) })),
        ("start", "lower `start`", Settings::new(Stream { start: PhysicalAddress(END), ..stream(READS) })),
        ("count", "lower `count`", Settings::new(Stream { start: anywhere, ..stream(READS) })),
        ("count", "lower `count`", Settings::new(Stream { count: u64::MAX, ..stream(READS) })),
        ("count", "lower `count`", Settings::new(stream(StreamAccess::Copy { dst: anywhere }))),
        ("dst", "try `dst = 64`", Settings::new(stream(StreamAccess::Copy { dst: PhysicalAddress(7) }))),
        ("dst", "lower `dst`", Settings::new(stream(StreamAccess::Copy { dst: PhysicalAddress(END) }))),
        ("count", "try `count = 1`", Settings::new(Random { count: 0, ..random() })),
        ("bytes", "try `bytes = 64`", Settings::new(Random { bytes: 0, ..random() })),
        ("bytes", "lower `bytes`", Settings::new(Random { bytes: END, ..random() })),
        (
            "bytes",
            "choose other addresses",
            Settings::new(Random { start: PhysicalAddress(END - 64), bytes: 64, ..random() }),
        ),
        ("write_share", "try `write_share = 0.3`", Settings::new(Random { write_share: 30.0, ..random() })),
        ("write_share", "try `write_share = 0.5`", Settings::new(Random { write_share: f64::NAN, ..random() })),
        ("copy_share", "try `copy_share = 0.5`", Settings::new(Mixed { copy_share: -0.1, ..mixed() })),
        ("page_bytes", "try `page_bytes = 64`", Settings::new(Mixed { page_bytes: 63, ..mixed() })),
        ("bytes", "try `bytes = 8192`", Settings::new(PageCopies { bytes: 5000, ..copies })),
        ("bytes", "try `bytes = 8192`", Settings::new(PageCopies { bytes: 4096, ..copies })),
        ("page_bytes", "try `page_bytes = 64`", Settings::new(PageCopies { page_bytes: 0, ..copies })),
        (
            "pairs",
            "give the system two ranks",
            Settings::new(PageCopies { pairs: Pairs::Placed(Place::OtherRank), ..copies }),
        ),
        (
            "pairs",
            "the last address that fits",
            Settings::new(PageCopies { pairs: Pairs::Placed(Place::Address(anywhere)), ..copies }),
        ),
        ("bytes", "try `bytes = 4096`", Settings::new(Fork { bytes: 4000, ..fork() })),
        ("pages", "try `pages = 64`", Settings::new(Fork { pages: 65, ..fork() })),
        ("pages", "try `pages = 1`", Settings::new(Fork { pages: 0, ..fork() })),
        ("bytes", "lower `bytes`", Settings::new(Fork { bytes: END, ..fork() })),
        ("pages", "lower `pages`", Settings::new(Fork { bytes: END / 8 * 3, pages: END / 4096 / 8 * 2, ..fork() })),
        ("checkpoints", "try `checkpoints = 1`", Settings::new(Checkpoint { checkpoints: 0, ..checkpoint() })),
        ("window", "try `window = 1`", Settings::new(Checkpoint { window: 0, ..checkpoint() })),
        ("bytes", "lower `bytes`", Settings::new(Checkpoint { bytes: END / 4, ..checkpoint() })),
        ("clones", "lower `clones`", Settings::new(MachineClone { clones: u64::MAX, ..machine_clone() })),
        ("window", "try `window = 1`", Settings::new(MachineClone { window: 0, ..machine_clone() })),
        ("pages", "try `pages = 1`", Settings::new(Migration { pages: 0, ..migration() })),
        ("bytes", "try `bytes = 4096`", Settings::new(Migration { bytes: 0, ..migration() })),
        ("pages", "try `pages = 1`", Settings::new(Deduplication { pages: 0, ..deduplication() })),
        ("pages", "try `pages = 40`", Settings::new(Deduplication { pages: 41, ..deduplication() })),
        ("writes", "try `writes = 40`", Settings::new(Deduplication { writes: 41, ..deduplication() })),
        // Half of the memory is free: one such machine fits, two do not.
        ("bytes", "lower `bytes`", Settings::new(Deduplication { bytes: END / 8 * 3, ..deduplication() })),
        ("processes", "try `processes = 1`", Settings::new(ProcessExits { processes: 0, ..process_exits() })),
        ("window", "try `window = 1`", Settings::new(ProcessExits { window: 0, ..process_exits() })),
        ("bytes", "lower `bytes`", Settings::new(ProcessExits { bytes: END / 4 * 3, ..process_exits() })),
    ];
    for (key, help, settings) in cases {
        let error = refusal(&settings, settings.needs_allocator().then(|| allocator(Policy::Random)));
        assert_eq!(error.key(), Some(key), "{settings:?}: {error}");
        assert!(error.help().contains(help), "{settings:?}: {error}; {}", error.help());
        let named = error.to_string().contains(&format!("`{key}`"));
        assert!(named || key == "pairs", "{error}");
    }
}

/// 512 MiB without 8 banks x (32 zero rows + 1 temporary row) of 4 KB.
#[test]
fn a_region_above_the_usable_capacity_of_a_preset_is_refused_with_it() {
    let region = |bytes| Settings::new(Random { start: PhysicalAddress(0), bytes, ..random() });
    let usable = END - 8 * 33 * 4096;
    assert!(region(usable).source(&paper(), None, 1, None).is_ok());
    let error = region(usable + 64).source(&paper(), None, 1, None).err().unwrap();
    assert_eq!(error.to_string(), "`bytes` leads past the end of the usable memory at 0x1fef8000");
    assert_eq!(error.help(), "lower `bytes`, or begin at a lower address: the usable capacity is 535789568 bytes");
}

#[test]
fn shares_that_sum_to_more_than_one_are_refused() {
    let error = refusal(&Settings::new(Mixed { write_share: 0.5, copy_share: 0.5, zero_share: 0.5, ..mixed() }), None);
    assert_eq!(
        error.to_string(),
        "`write_share`, `copy_share` and `zero_share` are shares of all requests, but sum to 1.5"
    );
    // A sum of decimal fractions may slightly exceed 1.
    let all = Settings::new(Mixed { write_share: 0.33, copy_share: 0.56, zero_share: 0.11, ..mixed() });
    assert!(0.33 + 0.56 + 0.11 > 1.0 && all.source(&paper(), None, 1, None).is_ok());
}

#[test]
fn an_allocator_is_required_where_used_and_refused_elsewhere() {
    let error = refusal(&Settings::new(fork()), None);
    assert_eq!(error.to_string(), "`fork` takes frames from an allocator, and none is set");
    assert!(error.help().contains("subarray-aware"));
    let error = refusal(&Settings::new(Stream { start: START, ..stream(READS) }), Some(allocator(Policy::Random)));
    assert_eq!(error.to_string(), "`stream` takes no frames from an allocator, but one is set");
    let old = AllocatorSettings { utilization: 50.0, ..allocator(Policy::Random) };
    assert_eq!(refusal(&Settings::new(fork()), Some(old)).help(), "try `utilization = 0.5`");
}
