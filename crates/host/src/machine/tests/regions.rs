//! Warm-up, regions and repetition of programs.

use memctrl::policy::copy::BASELINE;

use super::*;

fn repeated(steps: &[Step]) -> Box<dyn Program> {
    let steps = steps.to_vec();
    Box::new(Repeated::new(move || Ok(Box::new(Steps(steps.clone().into_iter())) as Box<dyn Program>)).unwrap())
}

fn compute(instructions: u64) -> Vec<Step> {
    vec![Step::Compute { instructions }]
}

fn regions(region: Region, programs: &[&[Step]]) -> Result<Vec<CoreOutcome>, MachineError> {
    let programs = programs.iter().map(|steps| repeated(steps)).collect();
    Ok(play_boxed(settings(), region, programs, BASELINE, None)?.outcome.cores)
}

/// At 3 instructions per cycle. The program of 5,000 instructions begins again after its last one
/// has retired, a cycle after its dispatch.
#[test]
fn a_region_is_a_part_of_the_program() {
    let region = Region { warm_up: 600, instructions: Some(3_000) };
    let core = regions(region, &[&compute(5_000)]).unwrap()[0];
    assert_eq!((core.counters.instructions, core.cycles), (3_000, CoreCycle(1_000)));
    let core = regions(Region { warm_up: 4_700, ..region }, &[&compute(5_000)]).unwrap()[0];
    assert_eq!((core.counters.instructions, core.interval.instructions), (3_000, 3_000));
    assert_eq!(core.cycles, CoreCycle(1_002));
}

#[test]
fn without_a_length_the_region_lasts_to_the_end_of_the_program() {
    let region = Region { warm_up: 2_000, instructions: None };
    let core = regions(region, &[&compute(5_000)]).unwrap()[0];
    // Slot 5002 of cycle 1667 retires the last instruction; slot 2000 begins the region.
    assert_eq!((core.counters.instructions, core.cycles), (3_000, CoreCycle((1_668_u64 * 3 - 2_000).div_ceil(3))));
}

/// The short program runs about 30,000 instructions, up to the end of the long one.
#[test]
fn a_core_that_finishes_early_keeps_running() {
    let cores = regions(Region::default(), &[&compute(300), &compute(30_000)]).unwrap();
    assert_eq!((cores[0].counters.instructions, cores[0].cycles), (300, CoreCycle(101)));
    assert!(cores[0].interval.instructions >= 29_000, "{}", cores[0].interval.instructions);
    assert_eq!((cores[1].counters.instructions, cores[1].interval.instructions), (30_000, 30_000));
}

#[test]
fn a_program_shorter_than_its_warm_up_is_an_error() {
    let region = Region { warm_up: 300, instructions: None };
    let error = regions(region, &[&compute(300)]).unwrap_err();
    assert_eq!(error.to_string(), "the program of core 0 ends after 300 instructions, and 301 are needed");
    let region = Region { warm_up: 300, instructions: Some(10) };
    let once = Box::new(Steps(compute(305).into_iter())) as Box<dyn Program>;
    let error = play_boxed(settings(), region, vec![once], BASELINE, None).unwrap_err();
    assert_eq!(error.to_string(), "the program of core 0 ends after 305 instructions, and 310 are needed");
    assert!(regions(region, &[&[]]).is_err(), "a program without instructions does not begin again");
}

/// Frames that an execution frees are given to the next ones, with lines of theirs in caches. The
/// programs differ in length, so that frames change between the cores.
#[test]
fn repeated_programs_see_no_line_of_an_earlier_user() {
    let at = |page: u64| PhysicalAddress(page * 4096);
    let program = |pages: u64, last: &[Step]| {
        let mut steps = vec![
            Step::Map { address: at(16), bytes: pages * 4096 },
            Step::Present { address: at(16), bytes: pages * 2048 },
            Step::Fork { child: 2 },
            Step::Run { process: 2 },
        ];
        for page in 16..16 + pages {
            steps.extend([Step::Load { address: at(page) }, Step::Store { address: at(page) }]);
        }
        steps.push(Step::Renew { page: at(16), source: at(17), bytes: 1 });
        steps.push(Step::Copy { dst: at(16), src: at(17), bytes: 4096 });
        steps.extend((16..16 + pages).map(|page| Step::Load { address: at(page) }));
        steps.extend_from_slice(last);
        steps
    };
    let filled = [Step::Map { address: at(64), bytes: 8192 }, Step::Filled { address: at(64), bytes: 8192 }];
    let programs = [program(6, &[]), program(10, &[&filled[..], &[Step::Load { address: at(65) }]].concat())];
    let region = Region { warm_up: 10, instructions: Some(400) };
    for (copier, copy_loop) in [
        (PageCopier::Loop, CopyLoop::Cached),
        (PageCopier::Loop, CopyLoop::NonTemporal),
        (PageCopier::Controller, CopyLoop::Cached),
    ] {
        for sharing in [Sharing::Private, Sharing::Shared] {
            let mut settings = MachineSettings { sharing, ..settings() };
            (settings.kernel.copier, settings.kernel.copy_loop) = (copier, copy_loop);
            settings.last_level = CacheShape::new(16 << 10, 4, 12);
            let boxed = programs.iter().map(|steps| repeated(steps)).collect();
            let outcome = play_boxed(settings, region, boxed, ROWCLONE, Some(7)).unwrap().outcome;
            let (loads, wrong) = outcome.check.unwrap();
            assert!(loads > 400 && wrong.is_none(), "{copier:?} {sharing:?}: {loads} {wrong:?}");
            assert!(outcome.cores.iter().all(|core| core.counters.instructions == 400));
        }
    }
}

/// Core 0 stores to the pages of a child and ends it. Core 1 gets the frames as present pages, whose
/// lines are dirty in the cache of core 0.
#[test]
fn a_frame_takes_no_line_to_its_next_user() {
    let pages = |first: u64| {
        let (address, bytes) = (PhysicalAddress(first * 4096), 4 * 4096);
        [Step::Map { address, bytes }, Step::Present { address, bytes }]
    };
    let store = |page: u64| Step::Store { address: PhysicalAddress(page * 4096) };
    let load = |page: u64| Step::Load { address: PhysicalAddress(page * 4096) };
    let mut first = vec![Step::Fork { child: 2 }, Step::Run { process: 2 }];
    first.extend(pages(16));
    first.extend((16..20).map(store));
    first.extend([Step::Exit, Step::Run { process: 1 }, Step::Compute { instructions: 60_000 }]);
    let mut second = compute(30_000);
    second.extend(pages(32));
    second.extend((32..36).map(load));
    for policy in [Policy::Sequential, Policy::Buddy] {
        let mut settings = settings();
        settings.allocator.policy = policy;
        settings.last_level = CacheShape::new(16 << 10, 4, 12);
        let outcome = try_play(settings, &[first.clone(), second.clone()], ROWCLONE, Some(7)).unwrap().outcome;
        assert_eq!(outcome.check, Some((4, None)), "{policy:?}");
        assert_eq!(outcome.cores[1].interval.lines[0].write_backs, 4, "{policy:?}");
    }
}
