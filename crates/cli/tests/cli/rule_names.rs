//! Names of the rules of the device and of the checker, which share no code.

use std::collections::BTreeSet;

use dram_core::{Refusal, maxima, table};
use dram_spec::{Density, Standard, System, Width};
use protocol_check::Rule;

#[test]
fn the_device_and_the_checker_know_the_same_rules() {
    let refusals = [
        Refusal::BankClosed,
        Refusal::BanksOpen,
        Refusal::Asleep,
        Refusal::Awake,
        Refusal::SelfRefreshUnrefreshed,
        Refusal::PowerDownUnrefreshed,
        Refusal::RefreshedInRound,
        Refusal::TransferBanks,
    ];
    let mut device: BTreeSet<String> = refusals.iter().map(ToString::to_string).collect();
    let rules = Standard::ALL.into_iter().flat_map(|standard| table(standard).rules);
    device.extend(rules.map(|rule| rule.name.to_owned()));
    // The maxima of all standards have the same names.
    device.extend(maxima(&System::paper(1, Density::Gb2, Width::X8)).map(|maximum| maximum.name.to_owned()));
    let checker: BTreeSet<String> = Rule::ALL.iter().map(ToString::to_string).collect();

    let only_in_the_device: Vec<&String> = device.difference(&checker).collect();
    assert_eq!(only_in_the_device, Vec::<&String>::new());
    // The device has no dialect, obeys an ACT to an open bank as the chip would, and cannot be addressed where it is
    // not or in the past.
    let only_in_the_checker: Vec<&String> = checker.difference(&device).collect();
    assert_eq!(
        only_in_the_checker,
        ["FPM-subarray", "RBM-ACT", "RBM-jedec", "RBM-subarray", "TRANSFER-jedec", "address", "bank-open", "order"]
    );
}
