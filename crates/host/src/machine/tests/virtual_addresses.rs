//! What processes read at virtual addresses, and defects that a test plants.

use memctrl::policy::copy::BASELINE;

use super::*;
use crate::defects::{PLANTED, Planted};
use crate::virtual_memory::{Owner, WrongByte};

/// A program of two processes with copies, whose pages share rows in pairs.
fn steps() -> Vec<Step> {
    let at = |page: u64| PhysicalAddress(START + page * 4096);
    let mut steps =
        vec![Step::Map { address: at(0), bytes: 6 * 4096 }, Step::Filled { address: at(0), bytes: 2 * 4096 }];
    steps.extend((0..6).map(|page| Step::Store { address: at(page) }));
    steps.extend([
        Step::Renew { page: at(2), source: at(0), bytes: 1 },
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
    PLANTED.set(defect);
    let (_, outcome) = played(copy_unit, policy, Box::new(Steps(steps().into_iter())));
    PLANTED.set(None);
    outcome.unwrap().wrong
}

/// Runs a program with data and checks on a memory where two pages share two rows; returns the
/// requests.
pub(super) fn played(
    copy_unit: CopyUnit,
    policy: &'static dyn CopyPolicy,
    program: Box<dyn Program>,
) -> (Vec<Operation>, Result<MachineOutcome, MachineError>) {
    let system = System::paper(2, Density::Gb1, Width::X16);
    let map = AddressMap::preset(system.geometry, MapPreset::LineInterleaved);
    let mut settings = settings();
    settings.allocator.copy_unit = copy_unit;
    settings.last_level = CacheShape::new(1 << 14, 4, 12);
    settings.kernel.copier = if policy == BASELINE { PageCopier::Loop } else { PageCopier::Controller };
    let contents = Contents::new(1, map.clone());
    let machine = Machine::new(settings, Region::default(), vec![program], &map, Some(contents.clone())).unwrap();
    let planner = Arc::new(Planner::new(map, FaultyRows::default()));
    let config = Config { contents: Some(Arc::new(contents)), ..Config::new(system, planner, policy) };
    let mut source = Recorded { machine, requests: Vec::new(), done: Vec::new() };
    Controller::new(&config).run(&mut source, &mut (), &AtomicBool::new(false)).expect("nothing stops it");
    (source.requests.into_iter().map(|(_, operation)| operation).collect(), source.machine.into_outcome())
}

/// Sizes of the copies and zeroings among requests.
fn sizes(requests: &[Operation]) -> Vec<u64> {
    let of = |operation: &Operation| match operation {
        Operation::Copy { bytes, .. } | Operation::Init { bytes, .. } => Some(*bytes),
        Operation::Read { .. } | Operation::Write { .. } => None,
    };
    requests.iter().filter_map(of).collect()
}

/// Checks that a program reads right data, and returns the sizes of its copies by the controller.
fn checked_sizes(copy_unit: CopyUnit, program: Box<dyn Program>) -> Vec<u64> {
    let (requests, outcome) = played(copy_unit, ROWCLONE, program);
    let outcome = outcome.unwrap();
    assert_eq!((outcome.wrong, outcome.check.map(|(_, wrong)| wrong)), (None, Some(None)), "{copy_unit:?}");
    sizes(&requests)
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

/// Units of two pages: pages 16 and 17, 18 and 19 are filled, and a copy of three pages from an odd
/// page on is of a page and a unit. The next copy has a source that is not aligned as its destination.
#[test]
fn copies_of_programs_are_of_whole_units() {
    let at = |page: u64| PhysicalAddress(START + page * 4096);
    let steps = || {
        let copy = |dst: u64, src: u64, pages: u64| Step::Copy { dst: at(dst), src: at(src), bytes: pages * 4096 };
        let mut steps =
            vec![Step::Map { address: at(0), bytes: 12 * 4096 }, Step::Present { address: at(0), bytes: 12 * 4096 }];
        steps.extend((0..12).map(|page| Step::Store { address: at(page) }));
        steps.extend([
            copy(5, 1, 3),
            copy(8, 1, 2),
            Step::Zero { address: at(2), bytes: 2 * 4096 },
            // Half a page, and a page.
            Step::Copy { dst: at(0), src: PhysicalAddress(at(7).0 + 2048), bytes: 6144 },
        ]);
        steps.extend((0..12).map(|page| Step::Load { address: at(page) }));
        Box::new(Steps(steps.into_iter()))
    };
    assert_eq!(checked_sizes(CopyUnit::RowSet, steps()), [4096, 8192, 4096, 4096, 8192, 2048, 4096]);
    assert_eq!(checked_sizes(CopyUnit::Page, steps()), [4096, 4096, 4096, 4096, 4096, 4096, 4096, 2048, 2048, 2048],);
}

/// A page joins the unit of its neighbor, which was mapped before: a child that writes to one copies
/// both, and both keep their data. Frames of a unit are given at once, and without a fault.
#[test]
fn pages_mapped_one_by_one_share_the_unit_of_their_addresses() {
    let at = |page: u64| PhysicalAddress(START + page * 4096);
    let map = |page: u64, pages: u64| Step::Map { address: at(page), bytes: pages * 4096 };
    let steps = || {
        let mut steps =
            vec![map(1, 1), Step::Store { address: at(1) }, map(0, 1), map(3, 4), Step::Store { address: at(3) }];
        steps.extend([map(2, 1), Step::Load { address: at(2) }, Step::Store { address: at(0) }]);
        steps.extend([Step::Fork { child: 2 }, Step::Run { process: 2 }, Step::Store { address: at(0) }]);
        steps.extend([Step::Load { address: at(1) }, Step::Store { address: at(1) }, Step::Exit]);
        steps.extend([Step::Run { process: 1 }, Step::Load { address: at(1) }, Step::Store { address: at(2) }]);
        Box::new(Steps(steps.into_iter()))
    };
    // The zeroings of two units, and the child's copy.
    assert_eq!(checked_sizes(CopyUnit::RowSet, steps()), [8192, 8192, 8192]);
    // Zeroings of pages 1, 3, 2 and 0, the child's copies of 0 and 1.
    assert_eq!(checked_sizes(CopyUnit::Page, steps()), [4096; 6]);
}

#[test]
fn a_copy_beyond_the_mapped_pages_of_a_unit_fails() {
    let at = |page: u64| PhysicalAddress(START + page * 4096);
    let steps = [Step::Map { address: at(0), bytes: 4096 }, Step::Zero { address: at(0), bytes: 8192 }];
    for copy_unit in CopyUnit::ALL {
        let (_, outcome) = played(copy_unit, ROWCLONE, Box::new(Steps(steps.into_iter())));
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains(&format!("address {:#x} of process 1 is not mapped", at(1).0)), "{error}");
    }
}

/// The benchmark and a trace copy whole units, whose destinations get frames near their sources.
#[test]
fn memcopy_and_traces_copy_whole_units() {
    for (copy_unit, unit) in [(CopyUnit::Page, 4096), (CopyUnit::RowSet, 8192)] {
        let bench = Memcopy { dirty_share: 0.3, ..Memcopy::new(4 * 8192 + 4096) };
        let mut expected = vec![unit; (4 * 8192 / unit) as usize];
        expected.push(4096);
        assert_eq!(checked_sizes(copy_unit, bench.program(unit)), expected, "memcopy");
        let trace = "R 10000 0 4\nC 20000 10000 16384 0\nR 22000 20040 9\nS 40000 0 8192 0\nR 21000 0 1\n";
        let records = trace_io::trace::TraceReader::new(trace.as_bytes(), None).unwrap();
        let program = Box::new(TraceProgram::new(records, unit).unwrap());
        let expected = vec![unit; ((16384 + 8192) / unit) as usize];
        assert_eq!(checked_sizes(copy_unit, program), expected, "trace");
    }
}
