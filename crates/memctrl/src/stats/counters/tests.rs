//! Counting of commands and accesses.

use dram_core::Effect;
use dram_spec::{BankId, Command, Row};

use super::{CommandCounts, Outcomes};
use crate::access::RowOutcome::{Conflict, Hit, Miss};

#[test]
fn an_access_counts_by_the_row_commands_that_were_issued_for_it() {
    let mut outcomes = Outcomes::default();
    for outcome in [Hit, Miss, Conflict, Miss, Conflict, Conflict] {
        outcomes.count(outcome);
    }
    assert_eq!(outcomes, Outcomes { hits: 1, misses: 2, conflicts: 3 });
    assert_eq!(outcomes.total(), 6);
    let mut twice = outcomes;
    twice += outcomes;
    assert_eq!(twice, Outcomes { hits: 2, misses: 4, conflicts: 6 });
}

#[test]
fn an_activation_counts_by_what_it_did() {
    let (bank, row) = (BankId { rank: 0, bank: 0 }, Row(1));
    let mut counts = CommandCounts::default();
    let activate = Command::Activate { bank, row };
    for effect in [Effect::Plain, Effect::Copied { src: row }, Effect::Dropped { open: row }] {
        counts.count(&activate, effect);
    }
    counts.count(&Command::PrechargeAll { rank: 0 }, Effect::Plain);
    counts.count(&Command::Precharge { bank }, Effect::Plain);
    counts.count(&Command::PowerDownExit { rank: 0 }, Effect::Plain);
    counts.count(&Command::SelfRefreshExit { rank: 0 }, Effect::Plain);
    counts.count(&Command::PowerDownEnter { rank: 0 }, Effect::Plain);
    counts.count(&Command::SelfRefreshEnter { rank: 0 }, Effect::Plain);
    counts.count(&Command::Refresh { rank: 0 }, Effect::Plain);
    let expected = CommandCounts {
        activates: 1,
        copy_activates: 1,
        dropped_activates: 1,
        precharges: 2,
        refreshes: 1,
        power_downs: 1,
        self_refreshes: 1,
        wake_ups: 2,
        ..CommandCounts::default()
    };
    assert_eq!(counts, expected);
    let mut twice = counts;
    twice += counts;
    assert_eq!((twice.activates, twice.precharges, twice.wake_ups, twice.reads), (2, 4, 4, 0));
}
