//! Properties of all workloads.

use dram_spec::address::MapPreset;
use memctrl::Request;
use memctrl::policy::copy::{BASELINE, ROWCLONE};
use rowclone::Operation;

use crate::common::{all, paper, planner, play, requests, scattered, system, workload};

/// All requests complete once, and are issued in order (`play` audits the commands and compares
/// memory).
#[test]
fn every_workload_runs_to_its_end() {
    for settings in all() {
        for (preset, policy) in [
            (MapPreset::RowInterleaved, ROWCLONE),
            (MapPreset::RowInterleaved, BASELINE),
            (MapPreset::BankInterleaved, ROWCLONE),
        ] {
            let system = system();
            let planner = planner(&system, preset);
            let mut played =
                play(&system, &planner, policy, |contents| workload(&settings, &planner, 1, Some(contents)));
            let name = format!("{settings:?} under {policy:?}");
            assert_eq!(played.requests, Some(played.taken.len() as u64), "{name}");
            assert!(played.taken.iter().map(|request| request.id.0).eq(0..played.taken.len() as u64), "{name}");
            assert!(played.taken.is_sorted_by_key(|request| request.arrival), "{name}");
            played.done.sort_by_key(|completion| completion.id);
            assert_eq!(played.done.len(), played.taken.len(), "{name}");
            for (request, completion) in played.taken.iter().zip(&played.done) {
                assert_eq!((request.id, request.operation), (completion.id, completion.operation), "{name}");
                let is_write = matches!(request.operation, Operation::Write { .. });
                let payload = request.payload.as_ref().map(|payload| payload.len() as u64);
                assert_eq!(payload, is_write.then_some(request.operation.bytes()), "{name}");
            }
            assert_eq!(played.outcome.os.is_some(), settings.needs_allocator(), "{name}");
        }
    }
}

/// Arrival, identifier and operation of each request.
fn key(requests: &[Request]) -> Vec<(u64, u64, Operation)> {
    requests.iter().map(|request| (request.id.0, request.arrival.unwrap().0, request.operation)).collect()
}

#[test]
fn a_seed_gives_the_same_requests_and_another_gives_others() {
    let planner = paper();
    for settings in all() {
        let [first, again, other] = [1, 1, 2].map(|seed| requests(workload(&settings, &planner, seed, None)));
        assert_eq!((key(&first.0), first.1), (key(&again.0), again.1), "{settings:?}");
        let chance = match settings.name() {
            "page-copies" => format!("{settings:?}").contains("pairs: Random"),
            // All pages are copied in order; only the preceding writes differ.
            "checkpoint" => !format!("{settings:?}").contains("writes: 0"),
            name => !["stream", "clone"].contains(&name),
        };
        assert_eq!(key(&first.0) != key(&other.0), chance, "{settings:?}");
        assert!(first.0.iter().all(|request| request.payload.is_none()), "no data where no contents are modeled");
    }
}

/// All requests lie in the memory, and in no reserved row.
#[test]
fn no_request_touches_a_reserved_row() {
    let planners = MapPreset::ALL.map(|preset| planner(&system(), preset)).into_iter();
    for planner in planners.chain([scattered()]) {
        for settings in all() {
            for request in requests(workload(&settings, &planner, 7, None)).0 {
                assert_eq!(planner.check(&request.operation), Ok(()), "{settings:?}");
            }
        }
    }
}
