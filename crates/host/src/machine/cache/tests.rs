//! The interface of the caches, by hand.

use dram_spec::PhysicalAddress;

use super::super::settings::{
    CacheShape, CoreSettings, InjectionLevel, InjectionPolicy, InjectionSettings, MachineSettings, PrefetchSettings,
    PrefetcherKind, Sharing, StoreMiss,
};
use super::super::tests::settings;
use super::*;

/// Caches of two ways each, with a latency of 12 cycles and two MSHRs per requester.
fn caches(requesters: usize, sharing: Sharing) -> Caches {
    let core = CoreSettings { mshrs: 2, ..CoreSettings::PAPER };
    let last_level = CacheShape::new(128, 2, 12);
    let settings = MachineSettings { core, last_level, sharing, ..settings() };
    Caches::new(&settings, (0..requesters).map(|_| Lacking::None), false)
}

fn access(line: u64, kind: LoadOrStore) -> Access {
    let address = PhysicalAddress(line * 64);
    Access { address, bytes: 8, kind, purpose: Purpose::Program, on_miss: OnMiss::Allocate }
}

const LOAD: LoadOrStore = LoadOrStore::Load;
const STORE: LoadOrStore = LoadOrStore::Store(StoreData::Zero);

/// An access, in words: `hit 12`, `waits 0: R4 W5`, `waits 0`, `lacks Line`.
fn attempt(caches: &mut Caches, requester: usize, line: u64, kind: LoadOrStore) -> String {
    try_access(caches, requester, &access(line, kind))
}

fn try_access(caches: &mut Caches, requester: usize, access: &Access) -> String {
    let away = if caches.are_hits_requests() {
        caches.look_up(requester, access)
    } else {
        match caches.port(requester).access::<false>(access) {
            Lookup::Hit { cycles, .. } => return format!("hit {cycles}"),
            Lookup::Away(away) => away,
        }
    };
    let answer = caches.request(requester, access, &away);
    if !matches!(answer, Answer::Refused(_)) && caches.leaves(access, answer) {
        caches.buffer_store(requester, access, None);
    }
    caches.prefetch_after_access(requester);
    let text = match answer {
        Answer::Refused(lack) => format!("lacks {lack:?}"),
        Answer::Hit { cycles, .. } => format!("hit {cycles}"),
        Answer::Stored(_) => "stored".into(),
        Answer::Past => "past".into(),
        Answer::Waits(Ticket(ticket)) => format!("waits {ticket}"),
    };
    text + &requests(caches)
}

/// The requests of the caches: `: W5 R4`, and `W5+8,16` for 16 bytes at offset 8 of a line.
fn requests(caches: &mut Caches) -> String {
    let size = caches.line_size();
    let mut words = Vec::new();
    caches.take_requests(|request| words.push(word(&request, size)));
    if words.is_empty() { String::new() } else { format!(": {}", words.join(" ")) }
}

fn word(request: &LineRequest, size: LineSize) -> String {
    let kind = if matches!(request.kind, LineRequestKind::Read) { 'R' } else { 'W' };
    let (line, offset) = (size.line(request.address).0, size.offset(request.address));
    if request.bytes == size.bytes() {
        format!("{kind}{line}")
    } else {
        format!("{kind}{line}+{offset},{}", request.bytes)
    }
}

fn invalidate(caches: &mut Caches, requester: usize, line: u64, data: DirtyData, scope: Scope) -> String {
    let done = caches.invalidate(requester, [(LineNumber(line), data)].into_iter(), scope);
    format!("{} of {}{}", done.lines, done.lookups, requests(caches))
}

#[test]
fn an_access_hits_or_gets_a_ticket_or_is_refused() {
    let mut caches = caches(1, Sharing::Private);
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "waits 0: R0");
    assert_eq!(attempt(&mut caches, 0, 0, STORE), "waits 0");
    assert_eq!(attempt(&mut caches, 0, 1, LOAD), "waits 1: R1");
    assert_eq!(attempt(&mut caches, 0, 2, LOAD), "lacks Line", "no MSHR is free");
    assert_eq!(caches.arrived(0, LineNumber(0)).ticket, Some(Ticket(0)));
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "hit 12");
    assert_eq!(attempt(&mut caches, 0, 2, LOAD), "waits 0: R2 W0", "line 1 is in flight, line 0 dirty");
    let counts = caches.counts(0)[Purpose::Program as usize];
    let found = (counts.hits, counts.misses, counts.merged, counts.write_backs);
    assert_eq!(found, (1, 3, 1, 1));
}

/// Another core's dirty line leaves its cache; the write-back counts for the requester.
#[test]
fn an_invalidation_returns_what_must_be_written() {
    let mut caches = caches(2, Sharing::Private);
    assert_eq!(attempt(&mut caches, 1, 4, STORE), "waits 0: R4");
    caches.arrived(1, LineNumber(4));
    let kept = DirtyData::WrittenBack(Some(Purpose::KernelCopy));
    assert_eq!(invalidate(&mut caches, 0, 4, kept, Scope::Own), "0 of 1");
    assert_eq!(invalidate(&mut caches, 0, 4, kept, Scope::Others), "1 of 1: W4");
    assert_eq!(caches.counts(0)[Purpose::KernelCopy as usize].write_backs, 1);
    assert_eq!(attempt(&mut caches, 1, 4, STORE), "waits 0: R4");
    caches.arrived(1, LineNumber(4));
    assert_eq!(invalidate(&mut caches, 0, 4, DirtyData::Discarded, Scope::All), "1 of 1");
}

/// A line that is held keeps its place, as one in flight does.
#[test]
fn a_held_line_is_not_replaced() {
    let mut caches = caches(2, Sharing::Shared);
    for line in [0, 1] {
        assert!(caches.insert(0, LineNumber(line), Some(Purpose::KernelCopy), None), "{line}");
        caches.hold(0, LineNumber(line), true);
    }
    assert!(!caches.has_room(0, LineNumber(2), [].into_iter()));
    assert_eq!(attempt(&mut caches, 1, 2, LOAD), "lacks Line");
    caches.hold(0, LineNumber(1), false);
    assert_eq!(attempt(&mut caches, 1, 2, LOAD), "waits 0: R2 W1");
}

/// Caches of a requester with an LLC of four lines in two sets, and other settings.
fn other(change: impl Fn(&mut MachineSettings)) -> Caches {
    let core = CoreSettings { mshrs: 2, ..CoreSettings::PAPER };
    let mut settings = MachineSettings { core, last_level: CacheShape::new(256, 2, 12), ..settings() };
    change(&mut settings);
    Caches::new(&settings, [Lacking::None; 2].into_iter(), false)
}

fn arrive(caches: &mut Caches, requester: usize, line: u64) -> String {
    let arrival = caches.arrived(requester, LineNumber(line));
    format!("{:?}{}", arrival.ticket.map(|Ticket(ticket)| ticket), requests(caches))
}

/// Loads lines, one after the other, and waits for each.
fn bring(caches: &mut Caches, requester: usize, lines: &[u64]) {
    for &line in lines {
        attempt(caches, requester, line, LOAD);
        arrive(caches, requester, line);
    }
}

/// An L1 of one line and an L2 of two lines of one set, with 3 and 7 cycles, before a last level of 12
/// cycles. Each access enters the levels that lack its line.
#[test]
fn an_access_is_served_by_the_first_level_that_holds_its_line() {
    let mut caches = other(|settings| {
        (settings.l1, settings.l2) = (Some(CacheShape::new(64, 1, 3)), Some(CacheShape::new(128, 2, 7)));
    });
    bring(&mut caches, 0, &[0, 1, 2]);
    // The L1 holds line 2, the L2 lines 1 and 2.
    assert_eq!(
        [2, 1, 1, 0, 2].map(|line| attempt(&mut caches, 0, line, LOAD)),
        ["hit 3", "hit 7", "hit 3", "hit 12", "hit 12"]
    );
    let counts = caches.counts(0)[0];
    assert_eq!((counts.hits, counts.l1_hits, counts.l2_hits), (5, 2, 1));
    // What leaves the last level leaves all: line 4 replaces line 2 or 0 of its set.
    assert_eq!(attempt(&mut caches, 0, 4, LOAD), "waits 0: R4");
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "waits 1: R0");
}

/// A store that the L1 lacks leaves it as it is, and marks the line of the last level.
#[test]
fn a_store_enters_no_level_that_does_not_allocate_it() {
    let l1 = CacheShape { store_miss: StoreMiss::NoAllocate, ..CacheShape::new(64, 1, 3) };
    let mut caches = other(|settings| settings.l1 = Some(l1));
    bring(&mut caches, 0, &[0, 1]);
    assert_eq!([0, 1].map(|line| attempt(&mut caches, 0, line, STORE)), ["hit 12", "hit 3"]);
    assert_eq!([1, 0].map(|line| attempt(&mut caches, 0, line, LOAD)), ["hit 3", "hit 12"]);
    caches.clean(0, LineNumber(0), Purpose::Program);
    assert_eq!(requests(&mut caches), ": W0");
}

/// Requesters 0 and 1 share a cache, requester 2 has another one.
#[test]
fn groups_of_requesters_share_caches() {
    let sharing = Sharing::Group(std::num::NonZeroUsize::new(2).unwrap());
    let mut caches = caches(3, sharing);
    bring(&mut caches, 0, &[4]);
    assert_eq!(attempt(&mut caches, 1, 4, STORE), "hit 12");
    assert_eq!(attempt(&mut caches, 2, 5, LOAD), "waits 0: R5");
    let kept = DirtyData::WrittenBack(None);
    assert_eq!(invalidate(&mut caches, 0, 4, kept, Scope::Others), "0 of 1");
    assert_eq!(invalidate(&mut caches, 2, 4, kept, Scope::Others), "1 of 1: W4");
}

#[test]
fn lines_of_128_bytes_are_requested_as_one() {
    let mut caches = other(|settings| settings.lines.bytes = 128);
    // Addresses 0 and 64 lie in line 0.
    assert_eq!([0, 1, 2].map(|half| attempt(&mut caches, 0, half, STORE)), ["waits 0: R0", "waits 0", "waits 1: R1"]);
    arrive(&mut caches, 0, 0);
    assert_eq!(attempt(&mut caches, 0, 4, LOAD), "waits 0: R2 W0", "one set of two lines");
    let all = caches.line_size().lines(PhysicalAddress(64), 256).collect::<Vec<_>>();
    assert_eq!(all, [(LineNumber(0), false), (LineNumber(1), true), (LineNumber(2), false)]);
}

/// A store of 8 bytes at an offset of a line.
fn store_at(caches: &mut Caches, line: u64, offset: u64) -> String {
    let address = PhysicalAddress(line * 64 + offset);
    try_access(caches, 0, &Access { address, ..access(line, STORE) })
}

/// Two entries. The second line takes the last one, and the first line leaves; a third one waits until
/// the controller has accepted it. A load of a line makes its stores leave first.
#[test]
fn stores_that_allocate_no_line_leave_through_the_write_buffer() {
    let mut caches = other(|settings| {
        (settings.last_level.store_miss, settings.lines.write_buffer) = (StoreMiss::NoAllocate, 2);
    });
    let stores = [0, 8, 24].map(|offset| store_at(&mut caches, 5, offset));
    assert_eq!(stores, ["past", "past", "past"]);
    assert_eq!(store_at(&mut caches, 6, 0), "past: W5+0,16 W5+24,8");
    assert_eq!((store_at(&mut caches, 7, 0), store_at(&mut caches, 6, 8)), ("lacks WriteEntry".into(), "past".into()));
    caches.write_accepted(0);
    assert_eq!(store_at(&mut caches, 7, 0), "past: W6+0,16");
    assert_eq!(attempt(&mut caches, 0, 7, LOAD), "waits 0: W7+0,8 R7");
    // The line in flight takes the store; afterwards the cache holds it, dirty.
    assert_eq!((store_at(&mut caches, 7, 8), arrive(&mut caches, 0, 7)), ("waits 0".into(), "Some(0)".into()));
    assert_eq!(store_at(&mut caches, 7, 16), "hit 12");
    let counts = caches.counts(0)[0];
    assert_eq!((counts.misses, counts.hits, counts.merged), (1, 1, 1));
    assert_eq!((counts.passed, counts.buffered), (6, 4));
    // Each part of a burst is read and written.
    assert_eq!((counts.buffered_bursts, counts.bursts(64)), (8, 9));
    let whole =
        Access { address: PhysicalAddress(9 * 64), bytes: 64, ..access(9, LoadOrStore::WholeLine(StoreData::Zero)) };
    assert_eq!(try_access(&mut caches, 0, &whole), "lacks WriteEntry");
    caches.write_accepted(0);
    assert_eq!(try_access(&mut caches, 0, &whole), "past: W9");
}

/// Written through, no line is dirty, and each store leaves. The read of a line precedes the store that
/// needs it.
#[test]
fn write_through_leaves_lines_clean() {
    let mut caches = other(|settings| {
        (settings.lines.write, settings.lines.write_buffer) = (WritePolicy::WriteThrough, 1);
    });
    assert_eq!(store_at(&mut caches, 5, 0), "waits 0: R5 W5+0,8");
    assert_eq!(store_at(&mut caches, 5, 8), "lacks WriteEntry");
    caches.write_accepted(0);
    assert_eq!((store_at(&mut caches, 5, 8), arrive(&mut caches, 0, 5)), ("waits 0: W5+8,8".into(), "Some(0)".into()));
    caches.write_accepted(0);
    assert_eq!(
        (store_at(&mut caches, 5, 16), attempt(&mut caches, 0, 5, LOAD)),
        ("hit 12: W5+16,8".into(), "hit 12".into())
    );
    assert_eq!(caches.snoop(0, LineNumber(5)).unwrap().0.dirty, None);
    assert_eq!(store_at(&mut caches, 6, 0), "lacks WriteEntry");
}

/// Steps of coherence make the stores of all requesters to the line leave.
#[test]
fn an_invalidation_makes_stores_of_the_line_leave() {
    let mut caches = other(|settings| settings.last_level.store_miss = StoreMiss::NoAllocate);
    assert_eq!((store_at(&mut caches, 5, 0), store_at(&mut caches, 6, 0)), ("past".into(), "past".into()));
    assert_eq!(invalidate(&mut caches, 1, 5, DirtyData::Discarded, Scope::Others), "0 of 1: W5+0,8");
    caches.flush_stores(PhysicalAddress(6 * 64), 1);
    assert_eq!(requests(&mut caches), ": W6+0,8");
}

fn prefetching(degree: u64, mshrs: usize) -> Caches {
    other(|settings| {
        settings.last_level = CacheShape { prefetcher: PrefetcherKind::NextLine, ..CacheShape::new(1024, 2, 12) };
        settings.lines.prefetch = PrefetchSettings { degree, distance: 1, mshrs };
    })
}

/// Accesses of two MSHRs, and one of prefetches: a miss brings the next line, which a later access finds
/// in the cache, on its way, or not at all.
#[test]
fn a_prefetched_line_is_useful_late_or_useless() {
    let mut caches = prefetching(1, 1);
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "waits 0: R0 R1");
    assert_eq!(attempt(&mut caches, 0, 8, LOAD), "waits 1: R8", "no MSHR of prefetches is free");
    assert_eq!([0, 8, 1].map(|line| arrive(&mut caches, 0, line)), ["Some(0)", "Some(1)", "None"]);
    // The first use of line 1 brings line 2, the second one nothing.
    assert_eq!([1, 1, 0].map(|line| attempt(&mut caches, 0, line, LOAD)), ["hit 12: R2", "hit 12", "hit 12"]);
    // The access to line 2 waits for the data of the prefetch, and needs no MSHR.
    assert_eq!([20, 30].map(|line| attempt(&mut caches, 0, line, LOAD)), ["waits 1: R20", "waits 0: R30"]);
    assert_eq!(attempt(&mut caches, 0, 40, LOAD), "lacks Line");
    assert_eq!((attempt(&mut caches, 0, 2, LOAD), arrive(&mut caches, 0, 2)), ("waits 2".into(), "Some(2)".into()));
    assert_eq!([20, 30].map(|line| arrive(&mut caches, 0, line)), ["Some(1)", "Some(0)"]);
    // Lines 3 and 19 replace line 11 of their set, which was not used.
    assert_eq!(attempt(&mut caches, 0, 10, LOAD), "waits 0: R10 R11");
    assert_eq!([11, 10].map(|line| arrive(&mut caches, 0, line)), ["None", "Some(0)"]);
    assert_eq!([3, 19].map(|line| attempt(&mut caches, 0, line, LOAD)), ["waits 0: R3 R4", "waits 1: R19"]);
    let expected = PrefetchCounts { requested: 4, useful: 1, late: 1, useless: 1, dropped: 0 };
    assert_eq!(caches.prefetch_counts(0), expected);
}

/// A line that changes in memory while it is prefetched is dropped when its data arrive, and cannot be
/// requested before. A line with stores in the write buffer is not prefetched.
#[test]
fn a_prefetch_brings_no_stale_data() {
    let mut caches = prefetching(1, 4);
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "waits 0: R0 R1");
    assert_eq!(invalidate(&mut caches, 0, 1, DirtyData::Discarded, Scope::All), "0 of 1");
    assert_eq!(attempt(&mut caches, 0, 1, LOAD), "lacks Line");
    assert_eq!((arrive(&mut caches, 0, 1), attempt(&mut caches, 0, 1, LOAD)), ("None".into(), "waits 1: R1 R2".into()));
    assert_eq!(caches.prefetch_counts(0).dropped, 1);
    let mut caches = other(|settings| {
        settings.last_level.store_miss = StoreMiss::NoAllocate;
        settings.last_level.prefetcher = PrefetcherKind::NextLine;
    });
    assert_eq!(
        (store_at(&mut caches, 5, 0), attempt(&mut caches, 0, 4, LOAD)),
        ("past: R6".into(), "waits 0: R4".into())
    );
}

/// A device writes lines 4 and 5, of which it covers line 4 in part.
#[test]
fn a_device_takes_the_lines_that_it_writes() {
    let mut caches = caches(2, Sharing::Private);
    for (requester, line) in [(0, 4), (1, 5)] {
        attempt(&mut caches, requester, line, STORE);
        arrive(&mut caches, requester, line);
    }
    assert_eq!(invalidate(&mut caches, 0, 4, DirtyData::WrittenBack(None), Scope::All), "1 of 1: W4");
    assert_eq!(invalidate(&mut caches, 0, 5, DirtyData::Discarded, Scope::All), "1 of 1");
    assert_eq!(
        [0, 1].map(|requester| attempt(&mut caches, requester, 4 + requester as u64, LOAD)),
        ["waits 0: R4", "waits 0: R5"]
    );
}

/// A line injected into the L1 is dirty, and a hit of it. Without a place the device must write memory. With a bound, a
/// line replaces one of the first ways.
#[test]
fn an_injected_line_is_dirty_in_the_chosen_level() {
    let mut caches = other(|settings| {
        (settings.l1, settings.l2) = (Some(CacheShape::new(64, 1, 3)), Some(CacheShape::new(128, 2, 7)));
    });
    let at = |level| InjectionSettings { policy: InjectionPolicy::Always, level, ..InjectionSettings::NEVER };
    let mut inject = |line: u64, level| {
        let done = caches.inject(0, &at(level), LineNumber(line), (Purpose::Network, None));
        (done, requests(&mut caches))
    };
    assert_eq!(inject(4, InjectionLevel::L1), (true, String::new()));
    assert_eq!(inject(5, InjectionLevel::LastLevel), (true, String::new()));
    assert_eq!(inject(7, InjectionLevel::L2), (true, String::new()));
    let loads = [4, 7, 5].map(|line| attempt(&mut caches, 0, line, LOAD));
    assert_eq!(loads, ["hit 3", "hit 7", "hit 12"]);
    assert_eq!(caches.snoop(0, LineNumber(5)).unwrap().0.dirty, Some(Purpose::Network));
    // Lines 9 and 11 replace lines 7 and 5, which are dirty.
    assert_eq!(attempt(&mut caches, 0, 9, LOAD), "waits 0: R9 W7");
    assert_eq!(attempt(&mut caches, 0, 11, LOAD), "waits 1: R11 W5");
    assert!(caches.is_in_any_flight(LineNumber(9)));
    assert_eq!(caches.counts(0)[Purpose::Network as usize].write_backs, 2);
    assert!(!caches.inject(0, &at(InjectionLevel::L1), LineNumber(13), (Purpose::Network, None)));
    // Of two ways, a share of 10 % is one: line 15 replaces line 9, and then line 17 replaces line 15.
    assert_eq!([9, 11].map(|line| arrive(&mut caches, 0, line)), ["Some(0)", "Some(1)"]);
    let bounded = InjectionSettings { policy: InjectionPolicy::BoundedWays, ..at(InjectionLevel::LastLevel) };
    let mut inject = |line: u64| {
        let done = caches.inject(0, &bounded, LineNumber(line), (Purpose::Network, None));
        (done, requests(&mut caches))
    };
    let [first, second] = [15, 17].map(&mut inject);
    assert!(first.0 && second.0 && second.1 == ": W15", "{first:?} {second:?}");
}

/// 10 % of 4 ways are a way, of 20 ways two, and without a bound all.
#[test]
fn a_share_is_at_least_a_way() {
    let bounded = InjectionSettings { policy: InjectionPolicy::BoundedWays, ..InjectionSettings::NEVER };
    assert_eq!([1, 4, 20, 64].map(|ways| bounded.ways(ways)), [1, 1, 2, 6]);
    assert_eq!(InjectionSettings::NEVER.ways(20), 20);
}
