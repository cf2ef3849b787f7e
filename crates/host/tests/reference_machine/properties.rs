//! Properties of random programs on random machines.

use std::collections::{BTreeMap, BTreeSet};

use dram_spec::{Dialect, Issued, Operation};
use host::machine::{
    CoreCounters, CoreOutcome, LineCounts, MachineSettings, Order, PageCopier, StallSlots, WritePolicy,
};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use trace_io::program::{InstructionClass, InstructionKind, Step};

use crate::cases::{Case, arb_case, arb_case_of_few_places, arb_case_with_a_frame_per_unit};
use crate::listed::Listed;
use crate::runs::{Outcome, checked, engine, reference, same, tick_by_tick};
use crate::sequence::{in_halves, runs};

/// What the page determines of an outcome.
///
/// It does not name the cause of a slot in which an instruction lacks several things and one of them is an entry of
/// the write buffer, a cycle of dispatch of its own, or an entry of the window while the copy of an engine waits for
/// lines in flight; nor how long the controller refreshes when requests end before what is on the bus, or on a link.
pub fn determined(case: &Case, mut outcome: Outcome) -> Outcome {
    let MachineSettings { core, kernel, lines, bus, network, .. } = case.settings;
    let is_alone = |&class: &InstructionClass| !core.classes.of(class).is_paired;
    for stalls in outcome.cores.iter_mut().map(|core| &mut core.counters.stalls) {
        let StallSlots { operand, unit, kernel: waits, .. } = *stalls;
        if lines.write == WritePolicy::WriteThrough {
            stalls.mshr += std::mem::take(&mut stalls.store_buffer);
        }
        if InstructionClass::ALL.iter().any(is_alone) {
            let StallSlots { window, mshr, store_buffer, pending_copy, .. } = *stalls;
            let sum = window + mshr + store_buffer + operand + unit + pending_copy;
            *stalls =
                StallSlots { window: sum, mshr: 0, store_buffer: 0, operand: 0, unit: 0, pending_copy: 0, ..*stalls };
        }
        if matches!(kernel.copier, PageCopier::Engine(_)) && core.order == Order::OutOfOrder {
            *stalls = StallSlots { window: stalls.window + waits, kernel: 0, ..*stalls };
        }
    }
    if bus.is_some() || network.is_some() {
        let is_request =
            |issued: &Issued| !["PREA", "REF", "PDE", "PDX", "SRE", "SRX"].contains(&issued.command.mnemonic());
        let last = outcome.commands.iter().rposition(is_request);
        outcome.commands.truncate(last.map_or(0, |last| last + 1));
    }
    outcome
}

/// Requests, commands, counters and cycles of the machine and the reference model are equal.
#[test]
fn machine_and_reference_model_agree() {
    in_halves(&runs(400, 1), |config| {
        let compare = |case: Case| {
            let outcomes = [engine(&case), reference(&case)].map(|outcome| determined(&case, outcome));
            same(["engine", "reference model"], [&outcomes[0], &outcomes[1]])
        };
        TestRunner::new(config).run(&arb_case(), compare).unwrap_or_else(|failure| panic!("{failure}"));
    });
}

proptest! {
    #![proptest_config(runs(150, 5))]

    /// Machine and reference model agree, and loads are right, where lines in flight occupy most of a shared cache.
    #[test]
    fn cores_that_share_few_places_agree_and_load_right_data(case in arb_case_of_few_places(), seed: u64) {
        let outcomes = [engine(&case), reference(&case)].map(|outcome| determined(&case, outcome));
        same(["engine", "reference model"], [&outcomes[0], &outcomes[1]])?;
        let (_, wrong) = checked(&case, seed).1.check.expect("contents are modeled");
        prop_assert_eq!(wrong, None);
    }
}

proptest! {
    #![proptest_config(runs(80, 2))]

    /// The machine gives equal requests, commands, counters and cycles in front of the controller
    /// that visits every clock.
    #[test]
    fn a_tick_by_tick_controller_changes_nothing(case in arb_case()) {
        same(["controller", "tick by tick"], [&engine(&case), &tick_by_tick(&case)])?;
    }
}

proptest! {
    #![proptest_config(runs(150, 3))]

    /// A drained run has made exactly the accesses that its programs list, and the requests of its
    /// misses, write-backs, non-temporal stores and operations of the controller.
    #[test]
    fn a_drained_run_has_issued_the_accesses_of_its_programs(case in arb_case_with_a_frame_per_unit()) {
        // The list does not have the requests of an engine.
        prop_assume!(!matches!(case.settings.kernel.copier, PageCopier::Engine(_)));
        let outcome = engine(&case);
        for (core, program) in outcome.cores.iter().zip(&case.programs) {
            let listed = Listed::of(&program.steps, &case.settings.kernel, case.settings.lines.bytes);
            prop_assert_eq!(Listed::counted(&core.counters), listed);
        }
        let lines = outcome.cores.iter().flat_map(|core| core.counters.lines);
        let (reads, writes) = lines.fold((0, 0), |(reads, writes), lines| {
            (reads + lines.misses, writes + lines.write_backs + lines.non_temporal + lines.buffered)
        });
        let prefetched: u64 = outcome.cores.iter().map(|core| core.counters.prefetches.requested).sum();
        let coherence = outcome.cores.iter().map(|core| core.counters.coherence);
        let (copies, zeroings) = coherence.fold((0, 0), |(copies, zeroings), counts| {
            (copies + counts.copies, zeroings + counts.zeroings)
        });
        let requests = |is: fn(&Operation) -> bool| {
            outcome.requests.iter().filter(|request| is(&request.operation)).count() as u64
        };
        prop_assert_eq!(requests(|operation| matches!(operation, Operation::Read { .. })), reads + prefetched);
        // Entries of write buffers may leave, and prefetched lines replace others, after the end of a program, which is
        // not counted.
        let lines = outcome.cores.iter().flat_map(|core| core.counters.lines);
        let buffered = lines.map(|lines| lines.buffered).sum::<u64>();
        let written = requests(|operation| matches!(operation, Operation::Write { .. }));
        let is_explained = written == writes || written > writes && buffered + prefetched > 0;
        prop_assert!(is_explained, "{} writes of {}", written, writes);
        prop_assert_eq!(requests(|operation| matches!(operation, Operation::Copy { .. })), copies);
        prop_assert_eq!(requests(|operation| matches!(operation, Operation::Init { .. })), zeroings);
    }
}

proptest! {
    #![proptest_config(runs(200, 4))]

    /// No command breaks a rule, and each load returns what a flat memory returns.
    #[test]
    fn every_stream_is_legal_and_every_load_is_right(case in arb_case(), seed: u64) {
        let (log, outcome) = checked(&case, seed);
        let listed = case.programs.iter().flat_map(|program| &program.steps).filter(|step| is_load(step)).count();
        // Of two accesses of a copy loop, and to kernel data, one is a load.
        let of_kernel = |core: &CoreOutcome| {
            let listed = Listed::counted(&core.counters);
            listed.kernel_copy / 2 + listed.kernel_data / 2
        };
        let loads = listed as u64 + outcome.cores.iter().map(of_kernel).sum::<u64>();
        prop_assert_eq!(outcome.check, Some((loads, None)));
        let found = protocol_check::audit(&case.config.system, Dialect::RowClone, &log);
        prop_assert!(found.is_empty(), "{:#?}", found);
    }
}

fn is_load(step: &Step) -> bool {
    matches!(step, Step::Load { .. } | Step::Instruction { kind: InstructionKind::Load { .. }, .. })
}

/// The cases contain each event that the page describes.
#[test]
fn the_cases_cover_every_event() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_case();
    let mut seen = BTreeMap::<&str, u64>::new();
    let mut kinds = BTreeSet::new();
    for _ in 0..250 {
        let outcome = engine(&strategy.new_tree(&mut runner).expect("cases can be drawn").current());
        kinds.extend(outcome.commands.iter().map(|issued| issued.command.mnemonic()));
        for core in outcome.cores {
            let CoreCounters { faults, lines, coherence, stalls, controller_copy_bytes, .. } = core.counters;
            let sum = |of: fn(&LineCounts) -> u64| lines.iter().map(of).sum::<u64>();
            for (name, count) in [
                ("hits", sum(|lines| lines.hits)),
                ("hits of the L1", sum(|lines| lines.l1_hits)),
                ("misses", sum(|lines| lines.misses)),
                ("merged", sum(|lines| lines.merged)),
                ("write-backs", sum(|lines| lines.write_backs)),
                ("allocated", sum(|lines| lines.allocated)),
                ("non-temporal", sum(|lines| lines.non_temporal)),
                ("faults", faults),
                ("copies", coherence.copies),
                ("zeroings", coherence.zeroings),
                ("written back", coherence.written_back),
                ("copied in cache", coherence.copied_in_cache),
                ("invalidated", coherence.invalidated),
                ("zero lines", coherence.zero_lines),
                ("bytes over the channel", controller_copy_bytes),
                ("window", stalls.window),
                ("MSHR", stalls.mshr),
                ("store buffer", stalls.store_buffer),
                ("kernel", stalls.kernel),
                ("coherence", stalls.coherence),
                ("controller copy", stalls.controller_copy),
            ] {
                *seen.entry(name).or_default() += u64::from(count > 0);
            }
        }
    }
    assert!(seen.values().all(|&cores| cores >= 10), "{seen:?}");
    for kind in ["REF", "PDE", "PDX", "SRE", "SRX", "TRANSFER"] {
        assert!(kinds.contains(kind), "{kind} in {kinds:?}");
    }
}
