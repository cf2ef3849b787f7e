//! Counting of accesses.

use super::Outcomes;
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
