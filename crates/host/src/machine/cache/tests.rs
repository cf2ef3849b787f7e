//! The interface of the caches, by hand.

use dram_spec::PhysicalAddress;

use super::super::settings::{CacheShape, CoreSettings, MachineSettings, Sharing};
use super::super::tests::settings;
use super::*;

/// Caches of two ways each, with a latency of 12 cycles and two MSHRs per requester.
fn caches(requesters: usize, sharing: Sharing) -> Caches {
    let core = CoreSettings { mshrs: 2, ..CoreSettings::PAPER };
    let last_level = CacheShape::new(128, 2, 12);
    let settings = MachineSettings { core, last_level, sharing, ..settings() };
    Caches::new(&settings, (0..requesters).map(|_| Lacking::None), false)
}

fn access(line: u64, kind: AccessKind) -> Access {
    let address = PhysicalAddress(line * 64);
    Access { address, bytes: 8, kind, purpose: Purpose::Program, on_miss: OnMiss::Allocate }
}

const LOAD: AccessKind = AccessKind::Load;
const STORE: AccessKind = AccessKind::Store(StoreData::Zero);

/// An access, in words: `hit 12`, `read 0: R5`, `read 0: W5 R4`, `merged 0`, `lacks Line`.
fn attempt(caches: &mut Caches, requester: usize, line: u64, kind: AccessKind) -> String {
    try_access(caches, requester, &access(line, kind))
}

fn try_access(caches: &mut Caches, requester: usize, access: &Access) -> String {
    let away = match caches.port(requester).access(access) {
        Lookup::Hit { cycles, .. } => return format!("hit {cycles}"),
        Lookup::Away(away) => away,
    };
    let answer = caches.request(requester, access, &away);
    if !matches!(answer, Answer::Refused(_)) && caches.leaves(access, answer) {
        caches.buffer_store(requester, access, None);
    }
    let text = match answer {
        Answer::Refused(lack) => format!("lacks {lack:?}"),
        Answer::Hit { cycles, .. } => format!("hit {cycles}"),
        Answer::Stored(_) => "stored".into(),
        Answer::Past => "past".into(),
        Answer::Merged(Ticket(ticket)) => format!("merged {ticket}"),
        Answer::Read(Ticket(ticket)) => format!("read {ticket}"),
    };
    text + &requests(caches)
}

/// The requests of the caches: `: W5 R4`, and `W5+8,16` for 16 bytes at offset 8 of a line.
fn requests(caches: &mut Caches) -> String {
    let size = caches.line_size();
    let words: Vec<String> = caches.take_requests().map(|request| word(&request, size)).collect();
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
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "read 0: R0");
    assert_eq!(attempt(&mut caches, 0, 0, STORE), "merged 0");
    assert_eq!(attempt(&mut caches, 0, 1, LOAD), "read 1: R1");
    assert_eq!(attempt(&mut caches, 0, 2, LOAD), "lacks Line", "no MSHR is free");
    assert_eq!(caches.arrived(0, LineNumber(0)).ticket, Some(Ticket(0)));
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "hit 12");
    assert_eq!(attempt(&mut caches, 0, 2, LOAD), "read 0: W0 R2", "line 1 is in flight, line 0 dirty");
    let counts = caches.counts(0)[Purpose::Program as usize];
    let found = (counts.hits, counts.misses, counts.merged, counts.write_backs);
    assert_eq!(found, (1, 3, 1, 1));
}

/// Another core's dirty line leaves its cache; the write-back counts for the requester.
#[test]
fn an_invalidation_returns_what_must_be_written() {
    let mut caches = caches(2, Sharing::Private);
    assert_eq!(attempt(&mut caches, 1, 4, STORE), "read 0: R4");
    caches.arrived(1, LineNumber(4));
    let kept = DirtyData::WrittenBack(Some(Purpose::KernelCopy));
    assert_eq!(invalidate(&mut caches, 0, 4, kept, Scope::Own), "0 of 1");
    assert_eq!(invalidate(&mut caches, 0, 4, kept, Scope::Others), "1 of 1: W4");
    assert_eq!(caches.counts(0)[Purpose::KernelCopy as usize].write_backs, 1);
    assert_eq!(attempt(&mut caches, 1, 4, STORE), "read 0: R4");
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
    assert_eq!(attempt(&mut caches, 1, 2, LOAD), "read 0: W1 R2");
}
