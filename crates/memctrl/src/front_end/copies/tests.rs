use dram_spec::Channel;

use super::*;

/// A program that reads three lines, with a thread on each of two channels.
fn running(is_pipelined: bool) -> RunningProgram {
    RunningProgram {
        copy: 0,
        threads: vec![(Channel(0), 4), (Channel(1), 5)],
        threads_left: 2,
        is_pipelined,
        unread: 3,
        arrives: Cycle::ZERO,
        staging: None,
    }
}

fn arrival(program: &mut RunningProgram, channel: u8, at: u64) -> Option<(Vec<u8>, Cycle)> {
    let (threads, at) = program.data_arrives(Channel(channel), (1, Cycle(at)))?;
    Some((threads.map(|(_, slot)| slot).collect(), at))
}

/// The line that is read last is not the one that arrives last: its channel is faster.
#[test]
fn all_writes_wait_for_the_latest_arrival() {
    for arrivals in [[40, 55, 50], [55, 40, 50], [40, 50, 55]] {
        let mut program = running(false);
        assert_eq!(arrival(&mut program, 0, arrivals[0]), None);
        assert_eq!(arrival(&mut program, 1, arrivals[1]), None);
        assert_eq!(arrival(&mut program, 0, arrivals[2]), Some((vec![4, 5], Cycle(55))), "{arrivals:?}");
    }
}

#[test]
fn a_pipelined_write_waits_for_its_own_line() {
    let mut program = running(true);
    for at in [40, 55, 50] {
        assert_eq!(arrival(&mut program, 0, at), Some((vec![5], Cycle(at))), "the thread of the other channel");
    }
}
