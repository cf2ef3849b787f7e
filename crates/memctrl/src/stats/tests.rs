use super::*;

#[test]
fn parts_are_counted_per_mechanism_and_reason_in_order() {
    let parts = |count, bytes| Parts { count, bytes };
    let (fpm, channel) = (rowclone::FPM, Mechanism::CHANNEL);
    let added = [
        (channel, "b", parts(1, 10)),
        (fpm, "", parts(1, 20)),
        (channel, "a", parts(2, 30)),
        (channel, "b", parts(3, 40)),
        (fpm, "", parts(1, 5)),
    ];
    let tally: PartTally = added.into_iter().collect();
    let expected = [(fpm, "", parts(2, 25)), (channel, "a", parts(2, 30)), (channel, "b", parts(4, 50))];
    assert!(tally.iter().eq(expected), "{tally:?}");
    let mut sum = tally.clone();
    sum += &tally;
    assert_eq!(sum.iter().map(|(_, _, parts)| parts.count).collect::<Vec<_>>(), [4, 4, 8]);
}
