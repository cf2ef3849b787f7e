//! What processes read at virtual addresses, and defects that a test plants.

use memctrl::policy::copy::BASELINE;

use super::*;
use crate::virtual_memory::{Owner, PLANTED, Planted, WrongByte};

/// A program of two processes with copies, whose pages share rows in pairs.
fn steps() -> Vec<Step> {
    let at = |page: u64| PhysicalAddress(START + page * 4096);
    let mut steps =
        vec![Step::Map { address: at(0), bytes: 6 * 4096 }, Step::Filled { address: at(0), bytes: 2 * 4096 }];
    steps.extend((0..6).map(|page| Step::Store { address: at(page) }));
    steps.extend([
        Step::Renew { page: at(2), source: at(0) },
        Step::Copy { dst: at(2), src: at(0), bytes: 4096 },
        Step::Load { address: at(3) },
        Step::Fork { child: 2 },
        Step::Run { process: 2 },
        Step::Store { address: at(0) },
        Step::Zero { address: at(4), bytes: 4096 },
        Step::Copy { dst: at(5), src: at(1), bytes: 4096 },
        Step::Load { address: at(1) },
        Step::Exit,
        Step::Run { process: 1 },
        Step::Load { address: at(0) },
        Step::Store { address: at(1) },
        Step::Load { address: at(5) },
    ]);
    steps
}

fn wrong(copy_unit: CopyUnit, policy: &'static dyn CopyPolicy, defect: Option<Planted>) -> Option<WrongByte> {
    let system = System::paper(2, Density::Gb1, Width::X16);
    let map = AddressMap::preset(system.geometry, Preset::LineInterleaved);
    let mut settings = settings();
    settings.allocator.copy_unit = copy_unit;
    settings.last_level = CacheShape { bytes: 1 << 14, ways: 4, latency: 12 };
    settings.kernel.copier = if policy == BASELINE { Copier::CachedLoop } else { Copier::Controller };
    let contents = Contents::new(1, map.clone());
    let program: Box<dyn Program> = Box::new(Steps(steps().into_iter()));
    PLANTED.set(defect);
    let machine = Machine::new(settings, Region::default(), vec![program], &map, Some(contents.clone())).unwrap();
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let config = Config { contents: Some(Arc::new(contents)), ..Config::new(system, planner, policy) };
    let mut source = Recorded { machine, requests: Vec::new(), done: Vec::new() };
    Controller::new(&config).run(&mut source, &mut (), &AtomicBool::new(false)).expect("nothing stops it");
    PLANTED.set(None);
    source.machine.into_outcome().unwrap().wrong
}

#[test]
fn a_sound_machine_passes() {
    for copy_unit in CopyUnit::ALL {
        for policy in [BASELINE, ROWCLONE] {
            assert_eq!(wrong(copy_unit, policy, None), None, "{copy_unit:?}, {}", policy.name());
        }
    }
}

#[test]
fn each_planted_defect_is_found() {
    for policy in [BASELINE, ROWCLONE] {
        for defect in [Planted::WrongFrame, Planted::LostCopyOnWrite] {
            assert!(wrong(CopyUnit::Page, policy, Some(defect)).is_some(), "{defect:?}, {}", policy.name());
        }
        // The page after the copied one has lost its data.
        let found = wrong(CopyUnit::RowSet, policy, Some(Planted::RenewedInPart)).unwrap();
        assert_eq!((found.owner, found.address), (Owner::OfCore(0, 1), START + 3 * 4096));
        assert_ne!(found.found, found.expected);
    }
}
