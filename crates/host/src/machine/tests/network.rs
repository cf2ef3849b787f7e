//! Packets of a network adapter: times by hand, drops, and data.

use memctrl::policy::copy::BASELINE;
use trace_io::program::DeviceStep;

use super::*;
use crate::decisions::{PLANTED, Planted};

/// A link of a byte per cycle, and packets of 1,538 bytes on it.
const NETWORK: NetworkSettings = NetworkSettings {
    ports: 1,
    cycles_per_1000_bytes: 1_000,
    frame_bytes: 24,
    header_bytes: 66,
    payload_bytes: 1_448,
    packets: 1,
    connections: 1,
    burst: 1,
    queues: 1,
    spread: Spread::Ports,
    ring: 8,
    send_ring: 2,
    coalesced_packets: 1,
    coalesced_cycles: 5_000,
    interrupt_cycles: 2_000,
    clients: 0,
    client_cycles: 0,
    answer_packets: 1,
};

fn with(network: NetworkSettings) -> MachineSettings {
    let last_level = CacheShape::new(1 << 16, 16, 12);
    MachineSettings { last_level, network: Some(network), ..settings() }
}

/// Maps four pages, and posts a buffer at the begin of some of them.
fn posted(pages: std::ops::Range<u64>) -> Vec<Step> {
    let begin = [Step::Map { address: line(0), bytes: 16_384 }, Step::Present { address: line(0), bytes: 16_384 }];
    begin.into_iter().chain(pages.map(post)).collect()
}

/// Posts a page as a buffer, header and payload in one.
const fn post(page: u64) -> Step {
    let header = line(64 * page);
    Step::Device(DeviceStep::Post { header, payload: PhysicalAddress(header.0 + 66) })
}

const AWAIT: Step = Step::Device(DeviceStep::Await);

fn run_one(network: NetworkSettings, steps: &[Step]) -> Played {
    try_play(with(network), &[steps.to_vec()], BASELINE, None).unwrap()
}

/// The cycle in which a packet is written that has arrived in a clock: its 24 parts of lines are accepted, at most
/// one per clock after the first. An idle core notes the cycle in which the interrupt comes.
fn written(played: &Played, clock: u64, coalesced: u64) -> u64 {
    let interrupted = played.outcome.cores[0].counters.stalls.idle / 3;
    let at = interrupted - coalesced;
    assert!(at.is_multiple_of(6) && (clock..clock + 24).contains(&(at / 6)), "{at}");
    at
}

/// The packet is there after 1,538 cycles: clock 257. The interrupt takes 2,000 cycles. Then a load misses, and its
/// request leaves 12 cycles later.
#[test]
fn a_packet_is_written_and_interrupts_the_core() {
    let played = run_one(NETWORK, &[posted(0..1), vec![AWAIT, load(0)]].concat());
    let (writes, reads) = played.requests.split_at(24);
    let first = writes[0].1.target().0;
    for (number, (arrival, operation)) in (0_u64..).zip(writes) {
        let bytes = if number == 23 { 66 + 1448 - 23 * 64 } else { 64 };
        let address = PhysicalAddress(first + 64 * number);
        assert_eq!((arrival.0, *operation), (257, Operation::Write { address, bytes }));
    }
    let at = written(&played, 257, 0);
    assert_eq!((reads.len(), reads[0].0), (1, Cycle((at + 2_000 + 12).div_ceil(6))));
    let expected = NetworkCounts { packets: 1, dropped: 0, interrupts: 1, sent: 0 };
    assert_eq!(played.outcome.cores[0].counters.network, expected);
}

/// One packet of ten: the interrupt comes 5,000 cycles after the packet is written.
#[test]
fn an_interrupt_waits_for_further_packets() {
    let steps = [posted(0..1), vec![AWAIT, load(0)]].concat();
    let played = run_one(NetworkSettings { coalesced_packets: 10, ..NETWORK }, &steps);
    let at = written(&played, 257, 5_000);
    assert_eq!(at, written(&run_one(NETWORK, &steps), 257, 0));
    assert_eq!(played.requests[24].0, Cycle((at + 5_000 + 2_000 + 12).div_ceil(6)));
    // Two packets: the second one is there after 3,076 cycles, clock 513.
    let network = NetworkSettings { coalesced_packets: 2, packets: 2, ..NETWORK };
    let played = run_one(network, &[posted(0..2), vec![AWAIT, load(0)]].concat());
    let at = written(&played, 513, 0);
    assert_eq!(played.requests[48].0, Cycle((at + 2_000 + 12).div_ceil(6)));
    let counts = played.outcome.cores[0].counters.network;
    assert_eq!((counts.packets, counts.interrupts), (2, 1));
}

/// Header and payload in buffers of their own: two parts of lines, and 23.
#[test]
fn headers_are_split() {
    let split = Step::Device(DeviceStep::Post { header: line(0), payload: line(64) });
    let played = run_one(NETWORK, &[posted(0..0), vec![split, AWAIT]].concat());
    let lines: Vec<u64> = played.requests.iter().map(|(_, operation)| operation.target().0 / 64 % 128).collect();
    assert_eq!(lines, [&[0, 1][..], &(64..64 + 23).collect::<Vec<_>>()].concat());
}

#[test]
fn packets_without_a_buffer_are_dropped_and_counted() {
    let network = NetworkSettings { packets: 3, ..NETWORK };
    let counts = run_one(network, &[posted(0..1), vec![AWAIT, AWAIT]].concat()).outcome.cores[0].counters.network;
    assert_eq!(counts, NetworkCounts { packets: 1, dropped: 2, interrupts: 1, sent: 0 });
}

/// Three packets of 1,000 bytes are read from memory, and take 1,024 cycles each on the link. With two places, the
/// third step waits until the first packet has left.
#[test]
fn packets_are_sent_at_the_rate_of_the_link() {
    let send = Step::Device(DeviceStep::Send { port: 0, address: line(0), bytes: 1_000 });
    let network = NetworkSettings { packets: 0, ..NETWORK };
    let steps = [posted(0..0), vec![AWAIT, send, send, send, AWAIT, load(0)]].concat();
    let played = run_one(network, &steps);
    let times: Vec<u64> = played.requests.iter().map(|(arrival, _)| arrival.0).collect();
    assert_eq!(times[..16], [0; 16]);
    let read = played.done[..16].iter().map(|(_, done)| done.0).max().unwrap();
    // The second packet is read when the first one begins to leave, the third when the second does.
    assert_eq!(times[16..32], [read; 16]);
    let left = read * 6 + 1_024;
    assert_eq!(times[32..48], [left.div_ceil(6); 16]);
    assert_eq!(times[48], (left + 12).div_ceil(6), "the third step was done when the first packet had left");
}

/// Steps without an adapter, with a port that does not exist, or with a full ring are errors.
#[test]
fn impossible_steps_are_refused() {
    let message = |network, steps: &[Step]| {
        let settings = MachineSettings { network, ..with(NETWORK) };
        try_play(settings, &[[posted(0..0), steps.to_vec()].concat()], BASELINE, None).unwrap_err().to_string()
    };
    let send = |port, bytes| Step::Device(DeviceStep::Send { port, address: line(0), bytes });
    let core = "the program of core 0: ";
    for (network, step, expected) in [
        (None, AWAIT, "the machine has no network adapter"),
        (None, post(0), "the machine has no network adapter"),
        (Some(NETWORK), send(1, 64), "port 1 does not exist: the network adapter has 1"),
        (Some(NETWORK), send(0, 5_000), "the 5000 bytes of a packet at 0x10000 cross a page"),
        (
            Some(NetworkSettings { ring: 0, ..NETWORK }),
            post(0),
            "the receive queue of the core holds 0 buffers already",
        ),
    ] {
        assert_eq!(message(network, &[step]), format!("{core}{expected}"));
    }
    let two = NetworkSettings { queues: 2, ..NETWORK };
    let programs = [posted(0..1), posted(0..1)].map(|steps| [steps, vec![AWAIT]].concat());
    assert!(try_play(with(two), &programs, BASELINE, None).is_ok());
    let lacking = try_play(with(two), &[programs[0].clone(), posted(0..1)], BASELINE, None);
    assert_eq!(lacking.unwrap_err().to_string(), "core 0 waits for packets that never arrive");
    let fewer = try_play(with(two), &programs[..1], BASELINE, None).unwrap_err();
    let expected = "the program of core 0: packets never arrive: `network.queues` is 2, and the number of programs 1";
    assert_eq!(fewer.to_string(), expected);
    assert!(fewer.help().contains("`network.queues`"), "{}", fewer.help());
}

/// The clock in which the second packet of a program is written, which awaits two and has sent one between.
fn second_packet(network: NetworkSettings) -> Result<u64, String> {
    let sent = Step::Device(DeviceStep::Send { port: 0, address: line(128), bytes: 64 });
    let steps = [posted(0..2), vec![AWAIT, sent, AWAIT]].concat();
    let network = NetworkSettings { packets: 2, ..network };
    let played = try_play(with(network), &[steps], BASELINE, None).map_err(|error| error.to_string())?;
    let writes = played.requests.iter().filter(|(_, operation)| matches!(operation, Operation::Write { .. }));
    let (arrival, _) = writes.clone().nth(24).expect("a second packet");
    assert_eq!(writes.count(), 48);
    Ok(arrival.0)
}

/// The next request follows the answer of the client's time and 1,538 cycles; with two clients, it follows the first
/// one. An answer of two packets is never over.
#[test]
fn a_client_sends_its_next_request_after_the_answer() {
    let one = NetworkSettings { clients: 1, client_cycles: 12_000, ..NETWORK };
    let arrival = second_packet(one).unwrap();
    // The first packet, its interrupt, the answer of 88 bytes, the time of the client, and the request.
    let least = 1_538 + 2_000 + 88 + 12_000 + 1_538;
    assert!((least / 6..least / 6 + 100).contains(&arrival), "{arrival}");
    let later = second_packet(NetworkSettings { client_cycles: 18_000, ..one });
    assert_eq!(later, Ok(arrival + 1_000));
    // 2 x 1,538 cycles are 512.7 clocks.
    assert_eq!(second_packet(NetworkSettings { clients: 2, ..one }), Ok(513));
    assert_eq!(second_packet(NetworkSettings { clients: 1, burst: 2, ..one }), Ok(513));
    let longer = second_packet(NetworkSettings { answer_packets: 2, ..one });
    assert_eq!(longer, Err("core 0 waits for packets that never arrive".to_owned()));
}

/// Two clients, and a buffer for the second packet only once the first one is processed.
#[test]
fn a_packet_of_a_client_waits_for_a_buffer() {
    let network = NetworkSettings { clients: 2, packets: 2, ..NETWORK };
    let played = run_one(network, &[posted(0..1), vec![AWAIT, post(1), AWAIT]].concat());
    let expected = NetworkCounts { packets: 2, dropped: 0, interrupts: 2, sent: 0 };
    assert_eq!(played.outcome.cores[0].counters.network, expected);
    let gapless = run_one(
        NetworkSettings { packets: 2, ..NETWORK },
        &[posted(0..1), vec![AWAIT, Step::Compute { instructions: 6_000 }, post(1), AWAIT]].concat(),
    );
    assert_eq!(gapless.outcome.cores[0].counters.network.dropped, 1);
}

/// A program that uses a buffer several times, copies each packet, and reads buffer and copy; it begins the copy
/// of a packet before it waits for the next one.
fn receiver(packets: u64) -> Vec<Step> {
    let copied = |number: u64| {
        let (dst, src) = (line(128 + 32 * (number % 2)), PhysicalAddress(line(64 * (number % 2)).0 + 66));
        let begin = Step::Device(DeviceStep::Begin { dst, src, bytes: 1_448 });
        let after = [Step::Compute { instructions: 200 }, Step::Device(DeviceStep::Wait)];
        let loads = (0..23)
            .flat_map(move |line_of| [load(128 + 32 * (number % 2) + line_of), load(64 * (number % 2) + line_of)]);
        [AWAIT, begin].into_iter().chain(after).chain(loads).chain([post(number % 2)])
    };
    posted(0..2).into_iter().chain((0..packets).flat_map(copied)).collect()
}

#[test]
fn loads_return_the_packets_under_every_copier() {
    for (kernel, policy) in super::coherent::kernels() {
        let network = NetworkSettings { packets: 8, ports: 2, queues: 2, ..NETWORK };
        let settings = MachineSettings { kernel, ..with(network) };
        // A step of a program may find both packets, so it awaits as many as arrive at least.
        let programs = vec![receiver(4); 2];
        let outcome = try_play(settings, &programs, policy, Some(3)).unwrap().outcome;
        let (loads, wrong) = outcome.check.unwrap();
        assert!(loads >= 2 * 4 * 46 && wrong.is_none() && outcome.wrong.is_none(), "{kernel:?}: {wrong:?}");
    }
}

/// Lines of a buffer that stay in a cache are found by a load.
#[test]
fn caches_must_lose_the_lines_of_a_packet() {
    PLANTED.set(Some(Planted::NoInvalidation));
    let network = NetworkSettings { packets: 8, ..NETWORK };
    let outcome = try_play(with(network), &[receiver(4)], BASELINE, Some(3)).unwrap().outcome;
    PLANTED.set(None);
    assert!(outcome.check.unwrap().1.is_some());
}
