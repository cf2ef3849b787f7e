//! Experiments on built systems, and settings that the builder refuses.

use dram_spec::address::RawAddressMap;
use dram_spec::{BankId, Channel, Cycle, Cycles, Density, PhysicalAddress, Refresh, Row, Width};
use host::{Kind, OperationSpec, Place, Timing, UnusableRecords};
use memctrl::policy::copy::{BASELINE, ROWCLONE};
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::{Bliss, FrFcfsCap, ParBs};
use memctrl::{PowerPolicy, Queues, RefreshPolicy};
use rowclone_sim::{Experiment, ExperimentError, SystemBuilder, Trace, Workload};

fn copy(src: Place) -> OperationSpec {
    OperationSpec { kind: Kind::Copy, src: Some(src), dst: PhysicalAddress(0x40_0000), bytes: 4096, value: 0, at: None }
}

fn system() -> SystemBuilder {
    SystemBuilder::default()
}

/// Each inconsistency is an error that names the setting and suggests a correction.
#[test]
fn settings_that_cannot_be_simulated_are_errors_that_name_them() {
    let queues = |change: fn(&mut Queues)| {
        let mut queues = Queues::default();
        change(&mut queues);
        system().queues(queues)
    };
    let power = |power_down: Option<u64>, self_refresh: Option<u64>| {
        let (power_down_after, self_refresh_after) = (power_down.map(Cycles), self_refresh.map(Cycles));
        system().power(PowerPolicy { power_down_after, self_refresh_after })
    };
    let faulty = (Channel(2), BankId { rank: 0, bank: 0 }, Row(0));
    for (builder, message) in [
        (system().channels(3), "`channels` is 3, but must be a power of two from 1 to 8"),
        (system().current_set("none"), "`current_set` is \"none\", which is no shipped current set"),
        (
            system().chips(Density::Gb2, Width::X4),
            "the current set \"2 Gb x8 -25E\" is of x8 chips, but the system has x4 chips",
        ),
        (system().staging_lines(0), "`staging_lines` is 0, but must be from 1 to 65536"),
        (system().copy_hold_max(Some(Cycles(0))), "`copy_hold_max` is 0, but must be from 1 to 1099511627776"),
        (queues(|queues| queues.read_entries = 0), "`queues.read_entries` is 0, but must be from 1 to 4096"),
        (queues(|queues| queues.copy_entries = 0), "`queues.copy_entries` is 0, but must be from 1 to 4096"),
        (
            queues(|queues| queues.admission_per_cycle = 0),
            "`queues.admission_per_cycle` is 0, but must be from 1 to 4096",
        ),
        (queues(|queues| queues.drain_high = 65), "`queues.drain_high` is 65, but must be from 1 to 64"),
        (queues(|queues| queues.drain_low = 48), "`queues.drain_low` is 48, but must be from 0 to 47"),
        (
            system().refresh(Refresh::Every { t_refi_ps: 0 }),
            "`refresh.t_refi_ps` is 0, but must be from 1950000 to 1000000000000",
        ),
        (
            system().refresh_policy(RefreshPolicy { postpone_max: 9, ..RefreshPolicy::default() }),
            "`refresh_policy.postpone_max` is 9, but must be from 0 to 8",
        ),
        (power(None, Some(100)).refresh(Refresh::Off), "`power.self_refresh_after` is given, but `refresh` is off"),
        (
            power(Some(100), None),
            "`power.power_down_after` puts ranks into a state that draws IDD2P1, which the current set \"2 Gb x8 -25E\" does not have",
        ),
        (system().scheduler(FrFcfsCap { cap: 0 }), "`scheduler_cap` is 0, but must be from 1 to 1073741824"),
        (
            system().scheduler(Bliss::new(0, Bliss::CLEARING_INTERVAL)),
            "`bliss_threshold` is 0, but must be from 1 to 1073741824",
        ),
        (
            system().scheduler(Bliss::new(Bliss::THRESHOLD, Cycles(0))),
            "`bliss_clearing_cycles` is 0, but must be from 1 to 1099511627776",
        ),
        (system().scheduler(ParBs::new(0)), "`par_bs_marking_cap` is 0, but must be from 1 to 4096"),
        (
            system().row_policy(RowPolicy::Timeout { after: Cycles(u64::MAX) }),
            "`row_policy.after` is 18446744073709551615, but must be from 1 to 1099511627776",
        ),
        (
            system().refresh_policy(RefreshPolicy { idle: Cycles(u64::MAX), ..RefreshPolicy::default() }),
            "`refresh_policy.idle` is 18446744073709551615, but must be from 0 to 1099511627776",
        ),
        (system().ranks(3), "`ranks` is 3, but must be a power of two from 1 to 4"),
        (system().rows_per_subarray(64), "`rows_per_subarray` is 64, but must be a power of two from 128 to 1024"),
        (system().row_bytes(2048), "`row_bytes` is 2048, but a rank of 2 Gb x8 chips has rows of 8192 bytes"),
        (
            system().address_map(RawAddressMap { fields: vec!["row".to_owned()], xor: Vec::new() }),
            "`fields` does not list `bank`, which needs 3 address bits in this geometry",
        ),
        (power(None, Some(0)), "`power.self_refresh_after` is 0, but must be from 1 to 1099511627776"),
        (system().faulty_rows([faulty]), "`faulty_rows.channel` is 2, but must be from 0 to 1"),
    ] {
        let error = builder.build().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.help().is_empty(), "{message}");
    }
}

/// Table 3 of the paper in clocks: FPM 48, and the channel copy far more; commands are legal, and
/// memory equals a flat memory.
#[test]
fn an_outcome_lists_its_operations_and_serializes() {
    let system = system().channels(1).build().unwrap();
    let latency = |policy| {
        let experiment = Experiment::operations(&system, [copy(Place::SameSubarray)]).policy(policy).checked();
        let outcome = experiment.run().unwrap();
        assert!(outcome.check.as_ref().unwrap().passed());
        let json = serde_json::to_value(&outcome).unwrap();
        assert_eq!(json["operations"][0]["latency_cycles"], outcome.operations[0].latency_cycles);
        assert_eq!((json["requests"].as_u64(), json["policy"].as_str()), (Some(1), Some(outcome.policy)));
        outcome.operations[0].latency_cycles
    };
    let alone = |policy| {
        let operation = copy(Place::SameSubarray).resolve(system.planner()).unwrap();
        system.alone(policy, operation, None).unwrap().0.latency().0
    };
    assert_eq!((latency(ROWCLONE), alone(ROWCLONE)), (48, 48));
    assert_eq!(latency(BASELINE), alone(BASELINE));
    assert!(latency(BASELINE) > 48);
}

#[test]
fn workloads_that_do_not_fit_the_system_are_errors() {
    let system = system().build().unwrap();
    let past_the_end = OperationSpec { dst: PhysicalAddress(1 << 40), ..copy(Place::SameBank) };
    let error = Experiment::operations(&system, [copy(Place::SameBank), past_the_end]).run().unwrap_err();
    assert!(matches!(error, ExperimentError::Operation { index: 1, .. }), "{error}");
    let listed = || Experiment::operations(&system, [copy(Place::SameBank)]);
    let late = OperationSpec { at: Some(Cycle(u64::MAX)), ..copy(Place::SameBank) };
    for (experiment, message) in [
        (listed().epoch(Cycles(0)), "`epoch` is 0, but must be from 100 to 1099511627776"),
        (listed().epoch(Cycles(u64::MAX)), "`epoch` is 18446744073709551615, but must be from 100 to 1099511627776"),
        (listed().warm_up(Cycles(u64::MAX)), "`warm_up` is 18446744073709551615, but must be from 0 to 1099511627776"),
        (
            Experiment::operations(&system, [late]),
            "`operations[0].at` is 18446744073709551615, but must be from 0 to 1099511627776",
        ),
    ] {
        let error = experiment.run().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.help().is_some_and(|help| help.starts_with("try ")), "{message}");
    }
    let trace = |text: &'static str| {
        let trace = Trace {
            name: "trace".to_owned(),
            text: Box::new(text.as_bytes()),
            format: None,
            unusable: UnusableRecords::Refuse,
            timing: Timing::Recorded,
            allocator: None,
        };
        Experiment::new(&system, Workload::Trace(trace)).run()
    };
    assert!(matches!(trace("what\n"), Err(ExperimentError::Trace(_))));
    assert_eq!(trace("R 0x400000\nW 0x400040\n").unwrap().trace.unwrap().reads, 1);
}

/// Each error of the library and of the crates below it implements `Error`, and can be sent between
/// threads.
#[test]
fn errors_implement_error() {
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    is_error::<rowclone_sim::SystemError>();
    is_error::<rowclone_sim::ExperimentError>();
    is_error::<rowclone_sim::OutOfRange>();
    is_error::<dram_spec::GeometryError>();
    is_error::<dram_spec::address::AddressMapError>();
    is_error::<dram_core::Refusal>();
    is_error::<rowclone::Reason>();
    is_error::<rowclone::PlanError>();
    is_error::<memctrl::Interrupt>();
    is_error::<energy::EnergyError>();
    is_error::<energy::CurrentsError>();
    is_error::<os_alloc_sim::AgeError>();
    is_error::<os_alloc_sim::PolicyError>();
    is_error::<os_alloc_sim::Fault>();
    is_error::<host::AllocatorError>();
    is_error::<host::ReplayError>();
    is_error::<host::SpecError>();
    is_error::<host::PlacementError>();
    is_error::<host::workload::WorkloadError>();
}

/// Every shipped current set builds a system of its width by name.
#[test]
fn each_shipped_current_set_loads_by_name() {
    for set in energy::shipped() {
        let builder = system().chips(Density::Gb2, set.width()).current_set(set.name());
        let built = builder.row_bytes(4096).build().unwrap();
        assert_eq!(built.currents().name(), set.name());
    }
}
