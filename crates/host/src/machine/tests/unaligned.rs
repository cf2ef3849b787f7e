//! Accesses that end with their line.

use super::*;

/// An access of a program is of a word of 8 bytes, or of the bytes to the end of its line.
#[test]
fn an_unaligned_access_at_the_end_of_a_line_stays_in_the_line() {
    let at = |byte: u64| PhysicalAddress(START + byte);
    let [load, store] = [
        |byte| Step::Load { address: PhysicalAddress(START + byte) },
        |byte| Step::Store { address: PhysicalAddress(START + byte) },
    ];
    // Lines 0 and 1 are dirty in the cache of two lines. 3 bytes from 61 on and 1 from 63 on are
    // stored; the loads are of 8, 7, 4, 1 and 8 bytes.
    let steps = vec![
        Step::Map { address: at(0), bytes: 4096 },
        Step::Filled { address: at(0), bytes: 128 },
        store(61),
        store(63),
        load(56),
        load(57),
        load(60),
        load(63),
        load(64),
    ];
    let played = try_play(settings(), &[steps], ROWCLONE, Some(7)).unwrap();
    assert_eq!(played.outcome.check, Some((5, None)));
    assert_eq!(played.requests, [], "no other line is requested");
    let counts = played.outcome.cores[0].counters.lines[0];
    assert_eq!((counts.hits, counts.misses, counts.merged), (7, 0, 0));
}
