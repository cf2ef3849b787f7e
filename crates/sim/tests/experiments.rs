//! Experiments on built systems, and settings that the builder refuses.

use dram_spec::address::RawAddressMap;
use dram_spec::{BankId, Channel, Cycle, Cycles, Density, PhysicalAddress, Refresh, Row, Width};
use host::{OperationKind, OperationSpec, Place, Timing, UnusableRecords};
use memctrl::policy::copy::{BASELINE, LEAST_ENERGY, ROWCLONE};
use memctrl::policy::row::RowPolicy;
use memctrl::policy::scheduler::{Bliss, FrFcfsCap, ParBs};
use memctrl::{PowerPolicy, QueueSettings, RefreshPolicy};
use rowclone_sim::{Experiment, ExperimentError, RecordedTrace, Requests, SystemBuilder};

fn copy(src: Place) -> OperationSpec {
    OperationSpec {
        kind: OperationKind::Copy,
        src: Some(src),
        dst: PhysicalAddress(0x40_0000),
        bytes: 4096,
        value: 0,
        at: None,
    }
}

fn system() -> SystemBuilder {
    SystemBuilder::default()
}

/// Each inconsistency is an error that names the setting and suggests a correction.
#[test]
fn settings_that_cannot_be_simulated_are_errors_that_name_them() {
    let queues = |change: fn(&mut QueueSettings)| {
        let mut queues = QueueSettings::default();
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
            "`power.power_down_after` puts ranks into a state that draws IDD2P1, which the current set \"2 Gb x8 \
                -25E\" does not have",
        ),
        (system().scheduler(FrFcfsCap { cap: 0 }), "`scheduler_cap` is 0, but must be from 1 to 1073741824"),
        (system().scheduler(Bliss::new(0, Cycles(10_000))), "`bliss_threshold` is 0, but must be from 1 to 1073741824"),
        (
            system().scheduler(Bliss::new(4, Cycles(0))),
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
        (
            system().rows_per_subarray(64),
            "`rows_per_subarray` is 64, but must be a whole number from 128 to 1024, or a list of 1 to 8 of them",
        ),
        (system().row_bytes(2048), "`row_bytes` is 2048, but a rank of 2 Gb x8 chips has rows of 8192 bytes"),
        (
            system().address_map(RawAddressMap { fields: vec!["row".to_owned()].into(), xor: Vec::new() }),
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
        let experiment = Experiment::operations(&system, [copy(Place::SameSubarray)]).unwrap();
        let outcome = experiment.policy(policy).checked().run().unwrap();
        assert!(outcome.check.as_ref().unwrap().passed());
        let json = serde_json::to_value(&outcome).unwrap();
        assert_eq!(json["operations"][0]["latency_cycles"], outcome.operations[0].latency_cycles);
        assert_eq!((json["requests"].as_u64(), json["policy"].as_str()), (Some(1), Some(outcome.policy)));
        outcome.operations[0].latency_cycles
    };
    let alone = |policy| {
        let operation = copy(Place::SameSubarray).resolve(system.planner()).unwrap().operation();
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
    let error = Experiment::operations(&system, [copy(Place::SameBank), past_the_end]).err().unwrap();
    assert!(matches!(error, ExperimentError::Operation { index: 1, .. }), "{error}");
    let listed = |epoch: Option<u64>, warm_up| Experiment {
        epoch: epoch.map(Cycles),
        warm_up: Cycles(warm_up),
        ..Experiment::operations(&system, [copy(Place::SameBank)]).unwrap()
    };
    let other = self::system().build().unwrap();
    let error = Experiment { system: &other, ..listed(None, 0) }.run().unwrap_err();
    assert_eq!(error.to_string(), "operation 0: the operation was resolved for another memory");
    let late = OperationSpec { at: Some(Cycle(u64::MAX)), ..copy(Place::SameBank) };
    for (experiment, message) in [
        (listed(Some(0), 0), "`epoch` is 0, but must be from 100 to 1099511627776"),
        (listed(Some(u64::MAX), 0), "`epoch` is 18446744073709551615, but must be from 100 to 1099511627776"),
        (listed(None, u64::MAX), "`warm_up` is 18446744073709551615, but must be from 0 to 1099511627776"),
        (
            Experiment::operations(&system, [late]).unwrap(),
            "`operations[0].at` is 18446744073709551615, but must be from 0 to 1099511627776",
        ),
    ] {
        let error = experiment.run().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.help().is_some_and(|help| help.starts_with("try ")), "{message}");
    }
    let trace = |text: &'static str| {
        let trace = RecordedTrace {
            name: "trace".to_owned(),
            text: Box::new(text.as_bytes()),
            format: None,
            unusable: UnusableRecords::Refuse,
            timing: Timing::Recorded,
            allocator: None,
            fault: Cycles(0),
        };
        Experiment::new(&system, Requests::Trace(trace)).run()
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

/// The chips of a current set, at its bin.
fn chips_of(set: &energy::Currents) -> SystemBuilder {
    let chip = set.chip();
    let channel_pins = set.standard().definition().channel_pins;
    let row_bytes = chip.page_bytes * channel_pins / chip.width.pins();
    SystemBuilder::default().bin(set.bin()).chips(chip.density, chip.width).row_bytes(row_bytes)
}

/// Every shipped current set builds a system of its chips by name. One of them has no refresh current.
#[test]
fn each_shipped_current_set_loads_by_name() {
    for set in energy::shipped() {
        let builder = chips_of(&set).current_set(set.name());
        let builder = if set.refresh().is_some() {
            builder
        } else {
            let error = builder.clone().build().unwrap_err();
            assert!(error.to_string().contains("has neither IDD5B nor IDD5R"), "{error}");
            builder.refresh(Refresh::Off)
        };
        assert_eq!(builder.build().unwrap().currents().unwrap().name(), set.name());
    }
}

/// Without a current set, a run has no energy of any kind, and no policy can compare energies.
#[test]
fn a_system_without_currents_has_no_energy() {
    let set = energy::Currents::named("8 Gb x8 DDR4-2400 rev B").unwrap();
    let specs = [OperationSpec {
        kind: OperationKind::Zero,
        src: None,
        dst: PhysicalAddress(0x40_0000),
        bytes: 8192,
        value: 0,
        at: None,
    }];
    // There is no default set for other chips than the paper's.
    for builder in [chips_of(&set), chips_of(&set).no_currents(), SystemBuilder::default().no_currents()] {
        let system = builder.build().unwrap();
        assert!(system.currents().is_none() && system.prices().is_none());
        let outcome = Experiment::operations(&system, specs).unwrap().policy(ROWCLONE).run().unwrap();
        let figures = &outcome.figures;
        assert_eq!((figures.energy_nj, figures.dynamic_energy_nj, &figures.energy_by_cause_nj), (None, None, &None));
        assert_eq!((outcome.operations[0].energy_nj, outcome.energy_ratio), (None, None));
        let error = Experiment::operations(&system, specs).unwrap().policy(LEAST_ENERGY).run().unwrap_err();
        let message = "the policy `least-energy` compares energies, but the system has no current set";
        assert_eq!(error.to_string(), message);
        assert!(error.help().unwrap().contains("device.currents"));
    }
    let error = SystemBuilder::default().bin(set.bin()).current_set("2 Gb x8 -25E").build().unwrap_err();
    assert!(error.to_string().contains("is of DDR3 chips, but the system has DDR4 chips"), "{error}");
}

/// DDR5-4800: with rho 0, standby with a bank open is counted per open bank; 1 leaves an activation no energy.
#[test]
fn the_background_model_is_a_setting() {
    let set = energy::Currents::named("16 Gb x8 DDR5-4800 rev A").unwrap();
    let with = |rho| chips_of(&set).currents(set.clone()).background_rho(rho).build();
    assert!(with(0.0).unwrap().prices().unwrap().open_bank_clock().0 > 0.0);
    assert!(with(1.0).unwrap_err().to_string().contains("rho 1, an activation would take"));
    assert_eq!(with(1.5).unwrap_err().to_string(), "`background_rho` is 1.5, but must be from 0 to 1");
}
