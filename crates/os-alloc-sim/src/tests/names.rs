//! Names and targets as they are printed.

use crate::{Age, Cause, CheckpointId, CopyUnit, Fallback, Frame, Policy, PolicyError, ProcessId, RowSharing};

#[test]
fn names_are_those_of_configurations_and_results() {
    assert_eq!(Policy::ALL.map(Policy::name), ["sequential", "random", "buddy", "subarray-aware", "bank-aware"]);
    assert_eq!(Policy::ALL.map(|policy| policy.to_string()), Policy::ALL.map(Policy::name));
    assert_eq!(Policy::ALL.map(|policy| Policy::from_name(policy.name())), Policy::ALL.map(Some));
    assert_eq!(CopyUnit::ALL.map(CopyUnit::name), ["page", "row-set"]);
    assert_eq!(CopyUnit::ALL.map(|copy_unit| CopyUnit::from_name(copy_unit.name())), CopyUnit::ALL.map(Some));
    let causes = ["demand-zero", "copy-on-write", "checkpoint", "clone", "dedup-undo", "migration", "zero-on-free"];
    assert_eq!(Cause::ALL.map(Cause::name), causes);
    let fallbacks = ["unit-too-large", "shared-row", "policy-blind", "not-asked", "pool-empty", "rank-empty"];
    assert_eq!(Fallback::ALL.map(Fallback::name), fallbacks);
    let frames = 2;
    let all =
        [RowSharing::None, RowSharing::RowSet { frames }, RowSharing::Page { frames }, RowSharing::TooLarge { frames }];
    assert_eq!(all.map(RowSharing::name), ["none", "row-set", "page", "too-large"]);
    assert_eq!((ProcessId(3).to_string(), CheckpointId(4).to_string()), ("process 3".into(), "checkpoint 4".into()));
    assert_eq!(Frame(17).to_string(), "frame 17");
}

#[test]
fn an_error_of_a_policy_has_a_help_text() {
    let error = PolicyError::UnitAboveBlock { frames: 2048 };
    assert!(error.to_string().contains("2048 frames share rows") && error.help().contains("`copy_unit = \"page\"`"));
}

#[test]
fn an_age_has_the_targets_that_it_was_made_with() {
    let age = Age::new(0.25, 0.75).unwrap();
    assert_eq!((age.utilization().to_bits(), age.unusable().to_bits()), (0.25_f64.to_bits(), 0.75_f64.to_bits()));
}
