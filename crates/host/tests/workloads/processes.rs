//! Checkpoints, clones, migrations: sources and destinations of copies, and copies in flight.

use memctrl::policy::copy::ROWCLONE;
use std::collections::BTreeSet;

use dram_spec::address::FRAME_BYTES;
use dram_spec::{Cycle, PhysicalAddress};
use host::workload::{Checkpoint, MachineClone, Migration, MoveTo, Settings};
use memctrl::Request;
use os_alloc_sim::{Cause, Fallback, Policy};
use rowclone::{FPM, Operation};

use crate::common::{Played, checkpoint, free_memory, machine_clone, migration, paper, play, system};

fn played(settings: &Settings) -> Played {
    let planner = paper();
    play(&system(), &planner, ROWCLONE, |contents| {
        settings.source(&planner, Some(&free_memory(Policy::SubarrayAware)), 1, Some(contents)).unwrap()
    })
}

fn copy(request: &Request) -> (PhysicalAddress, PhysicalAddress) {
    match request.operation {
        Operation::Copy { src, dst, bytes: FRAME_BYTES } => (src, dst),
        other => panic!("not a copy of a page: {other}"),
    }
}

fn done(played: &Played, request: &Request) -> Cycle {
    played.done.iter().find(|completion| completion.id == request.id).unwrap().done
}

/// Twenty writes, then copies of twelve pages, three times. Each checkpoint is disjoint from the
/// memory and from the preceding checkpoint, which is kept until then.
#[test]
fn a_checkpoint_copies_all_and_stops_the_process_meanwhile() {
    let played = played(&Settings::new(checkpoint()));
    let mut memory: Option<BTreeSet<_>> = None;
    let (mut before, mut resumed) = (BTreeSet::new(), Cycle::ZERO);
    for round in played.taken.chunks(32) {
        let (writes, copies) = round.split_at(20);
        let (src, dst): (BTreeSet<_>, BTreeSet<_>) = copies.iter().map(copy).unzip();
        assert_eq!((src.len(), dst.len()), (12, 12));
        assert_eq!(*memory.get_or_insert(src.clone()), src);
        for write in writes {
            let Operation::Write { address, bytes: 64 } = write.operation else { panic!("{write:?}") };
            assert!(src.contains(&PhysicalAddress(address.0 / FRAME_BYTES * FRAME_BYTES)));
            assert!(write.arrival >= Some(resumed), "the process resumes when all pages are copied");
        }
        assert!(dst.is_disjoint(&src) && dst.is_disjoint(&before));
        before = dst;
        resumed = copies.iter().map(|request| done(&played, request)).max().unwrap();
    }
    let report = played.outcome.os.unwrap().report;
    let copies = report.traffic.copies_of(Cause::Checkpoint);
    assert_eq!((copies.frames(), copies.by(FPM), report.frames - report.free.frames()), (36, 36, 24));
}

#[test]
fn clones_persist_and_share_no_frames() {
    let played = played(&Settings::new(machine_clone()));
    let (mut clones, mut sources) = (BTreeSet::new(), BTreeSet::new());
    let mut complete = Cycle::ZERO;
    for clone in played.taken.chunks(12) {
        for request in clone {
            let (src, dst) = copy(request);
            sources.insert(src);
            assert!(clones.insert(dst), "{dst} has two owners");
            assert!(request.arrival >= Some(complete), "one clone after another");
        }
        complete = clone.iter().map(|request| done(&played, request)).max().unwrap();
    }
    assert_eq!((sources.len(), clones.len()), (12, 36));
    assert!(sources.is_disjoint(&clones));
    let report = played.outcome.os.unwrap().report;
    assert_eq!((report.traffic.copies_of(Cause::Clone).frames(), report.frames - report.free.frames()), (36, 48));
}

#[test]
fn a_page_moves_from_its_frame_to_a_free_frame() {
    for to in [MoveTo::NearSource, MoveTo::Anywhere] {
        let played = played(&Settings::new(Migration { to, ..migration() }));
        let moves: Vec<_> = played.taken.iter().map(copy).collect();
        // Traversed backwards: a destination is in use, and then its source is.
        let mut used = BTreeSet::new();
        for (src, dst) in moves.iter().rev() {
            used.remove(dst);
            assert!(used.insert(*src), "{src} had another page");
        }
        assert!(used.len() <= 12);
        let report = played.outcome.os.unwrap().report;
        let copies = *report.traffic.copies_of(Cause::Migration);
        assert_eq!((moves.len(), copies.frames(), report.frames - report.free.frames()), (30, 30, 12));
        // With `anywhere`, few of the 30 moves of 12 pages stay in their subarray by chance.
        let elsewhere = copies.fallbacks(Fallback::NotAsked);
        assert_eq!(copies.by(FPM) + elsewhere, 30);
        assert!(if to == MoveTo::NearSource { elsewhere == 0 } else { elsewhere > 15 }, "{elsewhere}");
    }
}

/// As many copies are in flight as the window permits; with a window of 1, each arrives when its
/// predecessor completes.
#[test]
fn the_window_bounds_the_copies_in_flight() {
    for window in [1, 2, 5] {
        for settings in [
            Settings::new(Checkpoint { window, ..checkpoint() }),
            Settings::new(MachineClone { window, ..machine_clone() }),
            Settings::new(Migration { window, ..migration() }),
        ] {
            let played = played(&settings);
            assert_eq!(played.most_copies as u64, window, "{settings:?}");
            let copies: Vec<_> = played.taken.iter().filter(|request| request.operation.src().is_some()).collect();
            for at in window as usize..copies.len() {
                let mut earlier: Vec<_> = copies[..at].iter().map(|request| done(&played, request)).collect();
                earlier.sort_unstable();
                // The window has a free slot when all but window - 1 of the preceding copies have
                // completed.
                let room = earlier[at - window as usize];
                assert!(copies[at].arrival >= Some(room), "{settings:?}: copy {at}");
                assert!(window > 1 || settings.name() == "checkpoint" || copies[at].arrival == Some(room));
            }
        }
    }
}

/// A kernel starts from the memory that these settings give a recorded trace: the process gets the
/// frames that the allocator would allocate.
#[test]
fn the_memory_is_that_of_the_allocator_settings() {
    for policy in Policy::ALL {
        for settings in [crate::common::allocator(policy), free_memory(policy)] {
            let planner = paper();
            let mut memory = settings.memory(planner.map()).unwrap();
            let anywhere = os_alloc_sim::FrameRequest::ANYWHERE;
            let frames: Vec<_> =
                (0..12).map(|_| memory.allocator.allocate(anywhere).unwrap().frame.address()).collect();
            let workload = Settings::new(MachineClone { clones: 1, ..machine_clone() });
            let taken = crate::common::requests(workload.source(&planner, Some(&settings), 1, None).unwrap()).0;
            let sources: Vec<_> = taken.iter().map(|request| copy(request).0).collect();
            assert_eq!(sources, frames, "{settings:?}");
        }
    }
}
