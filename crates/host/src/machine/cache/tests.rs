//! The interface of the caches, by hand.

use super::super::settings::{CacheShape, CoreSettings, MachineSettings};
use super::super::tests::settings;
use super::*;

/// Caches of two ways each, with a latency of 12 cycles and two MSHRs per requester.
fn caches(requesters: usize, sharing: Sharing) -> Caches {
    let core = CoreSettings { mshrs: 2, ..CoreSettings::PAPER };
    let last_level = CacheShape { bytes: 128, ways: 2, latency: 12 };
    let settings = MachineSettings { core, last_level, sharing, ..settings() };
    Caches::new(&settings, (0..requesters).map(|_| false), false)
}

fn access(line: u64, kind: AccessKind) -> Access {
    let address = LineNumber(line).address();
    Access { address, bytes: 8, kind, purpose: Purpose::Program, on_miss: OnMiss::Allocate }
}

const LOAD: AccessKind = AccessKind::Load;
const STORE: AccessKind = AccessKind::Store(StoreData::Zero);

/// An access, in words: `hit 12`, `read 0`, `read 0, writes 5`, `merged 0`, `refused`.
fn attempt(caches: &mut Caches, requester: usize, line: u64, kind: AccessKind) -> String {
    let access = access(line, kind);
    let away = match caches.port(requester).access::<false>(&access) {
        Lookup::Hit { cycles, .. } => return format!("hit {cycles}"),
        Lookup::Away(away) => away,
    };
    match caches.request(requester, &access, &away) {
        Answer::Refused => "refused".into(),
        Answer::Stored { replaced, .. } => format!("stored{}", writes(replaced)),
        Answer::Merged(Ticket(ticket)) => format!("merged {ticket}"),
        Answer::Read { ticket: Ticket(ticket), replaced } => format!("read {ticket}{}", writes(replaced)),
    }
}

fn writes(write_backs: impl IntoIterator<Item = WriteBack>) -> String {
    let lines: Vec<String> = write_backs.into_iter().map(|write_back| write_back.line.0.to_string()).collect();
    if lines.is_empty() { String::new() } else { format!(", writes {}", lines.join(", ")) }
}

fn invalidate(caches: &mut Caches, requester: usize, line: u64, data: DirtyData, scope: Scope) -> String {
    let (done, write_backs) = caches.invalidate(requester, [(LineNumber(line), data)].into_iter(), scope);
    format!("{} of {}{}", done.lines, done.lookups, writes(write_backs))
}

#[test]
fn an_access_hits_or_gets_a_ticket_or_is_refused() {
    let mut caches = caches(1, Sharing::Private);
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "read 0");
    assert_eq!(attempt(&mut caches, 0, 0, STORE), "merged 0");
    assert_eq!(attempt(&mut caches, 0, 1, LOAD), "read 1");
    assert_eq!(attempt(&mut caches, 0, 2, LOAD), "refused", "no MSHR is free");
    assert_eq!(caches.arrived(0, LineNumber(0)).0, Ticket(0));
    assert_eq!(attempt(&mut caches, 0, 0, LOAD), "hit 12");
    assert_eq!(attempt(&mut caches, 0, 2, LOAD), "read 0, writes 0", "line 1 is in flight, line 0 dirty");
    let counts = caches.counts(0)[Purpose::Program as usize];
    let found = (counts.hits, counts.misses, counts.merged, counts.write_backs);
    assert_eq!(found, (1, 3, 1, 1));
}

/// Another core's dirty line leaves its cache; the write-back counts for the requester.
#[test]
fn an_invalidation_returns_what_must_be_written() {
    let mut caches = caches(2, Sharing::Private);
    assert_eq!(attempt(&mut caches, 1, 4, STORE), "read 0");
    caches.arrived(1, LineNumber(4));
    let kept = DirtyData::WrittenBack(Some(Purpose::KernelCopy));
    assert_eq!(invalidate(&mut caches, 0, 4, kept, Scope::Own), "0 of 1");
    assert_eq!(invalidate(&mut caches, 0, 4, kept, Scope::Others), "1 of 1, writes 4");
    assert_eq!(caches.counts(0)[Purpose::KernelCopy as usize].write_backs, 1);
    assert_eq!(attempt(&mut caches, 1, 4, STORE), "read 0");
    caches.arrived(1, LineNumber(4));
    assert_eq!(invalidate(&mut caches, 0, 4, DirtyData::Discarded, Scope::All), "1 of 1");
}

/// A line that is held keeps its place, as one in flight does.
#[test]
fn a_held_line_is_not_replaced() {
    let mut caches = caches(2, Sharing::Shared);
    for line in [0, 1] {
        let inserted = caches.insert(0, LineNumber(line), Some(Purpose::KernelCopy), None);
        assert!(matches!(inserted, Inserted::Replaced(None)), "{line}");
        caches.hold(0, LineNumber(line), true);
    }
    assert!(!caches.has_room(0, LineNumber(2), [].into_iter()));
    assert_eq!(attempt(&mut caches, 1, 2, LOAD), "refused");
    caches.hold(0, LineNumber(1), false);
    assert_eq!(attempt(&mut caches, 1, 2, LOAD), "read 0, writes 1");
}
