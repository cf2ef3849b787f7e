//! The credit of the devices, by the rules of `docs/controller.md`.

use dram_spec::{BankIndex, CommandKind, Cycle, Cycles, SourceId};

use super::CpuFirst;
use crate::access::{AccessKind, LineAccess, QueuedAccess, Stamp};
use crate::policy::scheduler::{Changes, Reads, Scheduler, Service};
use crate::queues::Queues;

const CORE: SourceId = SourceId(3);
const DEVICE: SourceId = SourceId::device(3);

fn access(source: SourceId, kind: AccessKind) -> LineAccess {
    LineAccess { source, kind, ..LineAccess::NONE }
}

/// A column command for an access of a source, while reads of some sources are queued.
fn serve(scheduler: &mut CpuFirst, (source, kind): (SourceId, AccessKind), left: &[SourceId]) -> Changes {
    let mut queues = Queues::new();
    for source in left {
        queues.take_entry(AccessKind::Read, Cycle(0));
        queues.queue(&access(*source, AccessKind::Read), Cycle(0));
    }
    let served = QueuedAccess::new(access(source, kind), Stamp::of_access(Cycle(0), 9));
    scheduler.serve(&Service {
        at: Cycle(9),
        source,
        bank: BankIndex::FIRST,
        kind: if kind == AccessKind::Read { CommandKind::Read } else { CommandKind::Write },
        commands: 1,
        bank_time: Cycles(4),
        access: Some(&served),
        reads: Reads(&queues),
    })
}

#[test]
fn only_reads_for_which_both_classes_compete_change_the_credit() {
    let mut scheduler = CpuFirst::new(25);
    let (read, write) = (AccessKind::Read, AccessKind::Write);
    let credits = [
        ((CORE, read), vec![CORE], 0),
        ((CORE, write), vec![DEVICE], 0),
        ((CORE, read), vec![CORE, DEVICE], 25),
        ((DEVICE, read), vec![DEVICE], 25),
        ((DEVICE, read), vec![], 25),
        ((DEVICE, write), vec![CORE], 25),
        ((CORE, read), vec![DEVICE], 50),
        ((DEVICE, read), vec![DEVICE, CORE], 0),
    ];
    for (served, left, expected) in credits {
        assert_eq!(serve(&mut scheduler, served, &left), Changes::None);
        assert_eq!(scheduler.credit, expected, "after {served:?} with {left:?} left");
    }
}

/// 25, 50, ... up to 1000. A device then has 13 RDs: the credit is 100 after 12 of them, and 25 after
/// the next.
#[test]
fn the_credit_is_limited() {
    let mut scheduler = CpuFirst::new(25);
    let changes: Vec<u64> =
        (1..=100).filter(|_| serve(&mut scheduler, (CORE, AccessKind::Read), &[DEVICE]) == Changes::All).collect();
    assert_eq!((changes, scheduler.credit), (vec![3], CpuFirst::CREDIT_MAX));
    let changes: Vec<u64> =
        (1..=20).filter(|_| serve(&mut scheduler, (DEVICE, AccessKind::Read), &[CORE]) == Changes::All).collect();
    assert_eq!((changes, scheduler.credit), (vec![13], 0));
}

#[test]
fn keys_follow_the_class_that_goes_first() {
    let of = |scheduler: &CpuFirst, source| scheduler.copy_key(source);
    let mut scheduler = CpuFirst::new(50);
    assert!(of(&scheduler, CORE) < of(&scheduler, DEVICE));
    assert_eq!(serve(&mut scheduler, (CORE, AccessKind::Read), &[DEVICE]), Changes::All);
    assert!(of(&scheduler, CORE) > of(&scheduler, DEVICE));
}
