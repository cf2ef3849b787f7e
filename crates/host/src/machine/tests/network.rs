//! Packets of a network adapter: times by hand, drops, and data.

use memctrl::policy::copy::BASELINE;
use trace_io::program::DeviceStep;

use super::*;
use crate::defects::{PLANTED, Planted};

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
    without_buffer: WithoutBuffer::Drop,
    injection: InjectionSettings::NEVER,
    clients: 0,
    client_cycles: 0,
    answer_packets: 1,
};

fn with(network: NetworkSettings) -> MachineSettings {
    let last_level = CacheShape::new(1 << 16, 16, 12);
    MachineSettings { last_level, network: Some(network), ..settings() }
}

/// Maps four pages, and posts a buffer at the start of some of them.
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
    let expected = NetworkCounts { packets: 1, dropped: 0, interrupts: 1, sent: 0, injected: 0 };
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
    assert_eq!(counts, NetworkCounts { packets: 1, dropped: 2, interrupts: 1, sent: 0, injected: 0 });
}

/// Three packets of 1,000 bytes are read from memory, and take 1,024 cycles each on the link. With two places, the
/// third step waits until the first packet has left. The core learns in cycle 1 that no packet arrives, and sends in
/// the clock after it.
#[test]
fn packets_are_sent_at_the_rate_of_the_link() {
    let send = Step::Device(DeviceStep::Send { port: 0, address: line(0), bytes: 1_000 });
    let network = NetworkSettings { packets: 0, ..NETWORK };
    let steps = [posted(0..0), vec![AWAIT, send, send, send, AWAIT, load(0)]].concat();
    let played = run_one(network, &steps);
    let times: Vec<u64> = played.requests.iter().map(|(arrival, _)| arrival.0).collect();
    assert_eq!(times[..16], [1; 16]);
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

/// The next request follows the answer after the client's time and 1,538 cycles; with two clients, it follows the first
/// request. An answer of two packets never completes, as the program sends one.
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
    let expected = NetworkCounts { packets: 2, dropped: 0, interrupts: 2, sent: 0, injected: 0 };
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

/// Lines of a buffer that stay in a cache are found by a load, also where packets are injected.
#[test]
fn caches_must_lose_the_lines_of_a_packet() {
    for injection in [InjectionSettings::NEVER, ALWAYS] {
        let network = NetworkSettings { packets: 8, injection, ..NETWORK };
        let is_wrong = || try_play(with(network), &[receiver(4)], BASELINE, Some(3)).unwrap().outcome.check.unwrap().1;
        assert!(is_wrong().is_none());
        PLANTED.set(Some(Planted::NoInvalidation));
        let found = is_wrong();
        PLANTED.set(None);
        assert!(found.is_some(), "{injection:?}");
    }
}

/// An injected line that is clean is lost when it is replaced: a cache of 32 lines does not hold the packet.
#[test]
fn an_injected_line_must_be_dirty() {
    let network = NetworkSettings { packets: 8, injection: ALWAYS, ..NETWORK };
    let settings = MachineSettings { last_level: CacheShape::new(1 << 11, 4, 12), ..with(network) };
    let is_wrong = || try_play(settings, &[receiver(4)], BASELINE, Some(3)).unwrap().outcome.check.unwrap().1;
    assert!(is_wrong().is_none());
    PLANTED.set(Some(Planted::CleanInjection));
    let found = is_wrong();
    PLANTED.set(None);
    assert!(found.is_some());
}

const ALWAYS: InjectionSettings = InjectionSettings { policy: InjectionPolicy::Always, ..InjectionSettings::NEVER };

/// Requests of a packet, and lines injected and written back, of a core.
fn injected(settings: MachineSettings, steps: &[Step]) -> (Vec<(Cycle, Operation)>, u64, u64) {
    let played = try_play(settings, &[steps.to_vec()], BASELINE, None).unwrap();
    let counters = played.outcome.cores[0].counters;
    let write_backs = counters.lines[Purpose::Network as usize].write_backs;
    (played.requests, counters.network.injected, write_backs)
}

/// The packet is there after 1,538 cycles, without a bus at once in the cache: 23 lines, and 42 bytes of the last one
/// in memory. A load of line 0 hits; line 23 misses.
#[test]
fn a_packet_is_injected_and_its_last_part_written() {
    let settings = with(NetworkSettings { injection: ALWAYS, ..NETWORK });
    let (requests, lines, write_backs) = injected(settings, &[posted(0..1), vec![AWAIT, load(0), load(23)]].concat());
    assert_eq!((lines, write_backs, requests.len()), (23, 0, 2));
    let Operation::Write { address, bytes } = requests[0].1 else { panic!("{requests:?}") };
    assert_eq!((requests[0].0, address.0 % 4096, bytes), (Cycle(257), 23 * 64, 42));
    // The write is accepted at clock 257, and the core goes on after 2,000 cycles.
    let read = Operation::Read { address, bytes: 64 };
    assert_eq!(requests[1], (Cycle((257 * 6 + 2_000 + 12_u64).div_ceil(6)), read));
}

/// Over a bus with a clock of 15 cycles, 32 bytes each: each line needs an address and two clocks of data. The snoop of
/// line `n` begins in clock 103 + n, and is answered 60 cycles after its end. The data of the lines follow each other
/// from 1,620 on: that of 23 lines takes 46 clocks. The interrupt takes an address.
#[test]
fn injected_lines_cross_the_bus() {
    let network =
        NetworkSettings { injection: ALWAYS, header_bytes: 0, payload_bytes: 23 * 64, frame_bytes: 66, ..NETWORK };
    let settings = MachineSettings { bus: Some(super::coherent::BUS), ..with(network) };
    let post = Step::Device(DeviceStep::Post { header: line(0), payload: line(0) });
    let played = try_play(settings, &[[posted(0..0), vec![post, AWAIT, load(30)]].concat()], BASELINE, None).unwrap();
    // The permission of the interrupt takes the first clock, and 20 cycles to the adapter.
    let there = 1_538_u64 + 15 + 20;
    let first = there.next_multiple_of(15) + 15 + 60;
    let data = first.next_multiple_of(15) + 46 * 15;
    let interrupt = data.next_multiple_of(15) + 15 + 20;
    let leaves = interrupt + 2_000 + 12_u64;
    let arrives = leaves.next_multiple_of(15) + 15 + 20;
    let requests = played.requests;
    assert_eq!((requests.len(), requests[0].0), (1, Cycle(arrives.div_ceil(6))));
}

/// A line of 1 KiB in a cache of two ways; the next packet replaces the lines of the first, which are written back.
#[test]
fn replaced_lines_of_packets_are_written_back() {
    let network = NetworkSettings { header_bytes: 0, payload_bytes: 1024, packets: 2, injection: ALWAYS, ..NETWORK };
    let small = MachineSettings { last_level: CacheShape::new(1024, 2, 12), ..with(network) };
    let post = |page: u64| Step::Device(DeviceStep::Post { header: line(64 * page), payload: line(64 * page) });
    let steps = [posted(0..0), vec![post(0), post(1), AWAIT, AWAIT]].concat();
    let (requests, lines, write_backs) = injected(small, &steps);
    assert_eq!((lines, write_backs, requests.len()), (32, 16, 16));
    assert!(requests.iter().all(|(_, operation)| matches!(operation, Operation::Write { bytes: 64, .. })));
}

/// Split headers are injected and payloads written, and the other way round with all or none.
#[test]
fn policies_choose_packets() {
    let without_buffer = WithoutBuffer::Wait;
    let network = |injection| NetworkSettings { header_bytes: 128, packets: 4, without_buffer, injection, ..NETWORK };
    let split = |page: u64| Step::Device(DeviceStep::Post { header: line(64 * page), payload: line(64 * page + 2) });
    let apart = |page: u64| Step::Device(DeviceStep::Post { header: line(64 * page), payload: line(64 * page + 32) });
    let lines = |injection, buffer: &dyn Fn(u64) -> Step, again: bool| {
        let mut steps = [posted(0..0), (0..3).map(buffer).collect()].concat();
        steps.extend([AWAIT, AWAIT, AWAIT]);
        steps.push(buffer(if again { 0 } else { 3 }));
        steps.push(AWAIT);
        injected(with(network(injection)), &steps).1
    };
    let of = |policy| InjectionSettings { policy, ..ALWAYS };
    // 1,448 bytes are 22 lines and a part, the header is two lines; together 24 lines and a part.
    assert_eq!(lines(ALWAYS, &split, false), 4 * 24);
    assert_eq!(lines(of(InjectionPolicy::BoundedWays), &split, false), 4 * 24);
    assert_eq!(lines(of(InjectionPolicy::BySize), &apart, false), 4 * 2);
    assert_eq!(lines(of(InjectionPolicy::BySize), &split, false), 0);
    assert_eq!(lines(InjectionSettings::NEVER, &split, false), 0);
    let near = InjectionSettings { near_packets: 3, ..of(InjectionPolicy::WhenExpected) };
    // Three packets are in use before the fourth, unless the buffer of one was posted again.
    assert_eq!([lines(near, &split, false), lines(near, &split, true)], [3 * 24, 4 * 24]);
}

/// Without a buffer, the packets of a port wait. The second one is written when its buffer is posted, and the third one
/// takes its time on the link from then on.
#[test]
fn packets_wait_for_buffers() {
    let network = NetworkSettings { packets: 3, without_buffer: WithoutBuffer::Wait, ..NETWORK };
    let steps = [posted(0..1), vec![AWAIT, Step::Compute { instructions: 30_000 }, post(1), post(2), AWAIT, AWAIT]];
    let played = run_one(network, &steps.concat());
    let counts = played.outcome.cores[0].counters.network;
    assert_eq!((counts.packets, counts.dropped), (3, 0));
    let begins: Vec<u64> = (0..3).map(|packet| played.requests[24 * packet].0.0).collect();
    assert!(begins[1] * 6 > 257 * 6 + 2_000 + 10_000, "{begins:?}");
    assert!((1_538 - 6..=1_538 + 6).contains(&((begins[2] - begins[1]) * 6)), "{begins:?}");
}

/// Packets arrive after 88 and 176 cycles. The load of the second one's buffer is in flight from cycle 100 on, for at
/// least 120 cycles; the injection follows it, and a later load hits.
#[test]
fn an_injection_waits_for_a_line_in_flight() {
    let of = NetworkSettings { injection: ALWAYS, header_bytes: 0, payload_bytes: 64, ..NETWORK };
    let network = NetworkSettings { packets: 2, interrupt_cycles: 0, ..of };
    let post = |page: u64| Step::Device(DeviceStep::Post { header: line(64 * page), payload: line(64 * page) });
    let steps = [posted(0..0), vec![post(0), post(1), AWAIT, load(64), AWAIT, load(64)]].concat();
    let (requests, lines, write_backs) = injected(with(network), &steps);
    assert_eq!((lines, write_backs, requests.len()), (2, 0, 1), "{requests:?}");
    assert_eq!(requests[0].0, Cycle((88 + 12_u64).div_ceil(6)));
}

/// Random caches, buses, policies and levels: each load of a packet returns what was sent, and copies of it do.
#[test]
fn loads_return_injected_packets_with_any_caches() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24);
    for seed in 0..cases {
        let kernels = super::coherent::kernels();
        let (kernel, copy_policy) = kernels[seed as usize % kernels.len()];
        let caches = super::coherent::any_caches(seed, kernel);
        let mut generator = os_alloc_sim::Generator::new(seed);
        let mut one_of = |choices: u32| generator.below(choices) as usize;
        let injection = InjectionSettings {
            policy: InjectionPolicy::ALL[one_of(5)],
            level: InjectionLevel::ALL[one_of(3)],
            core: None,
            max_bytes: [0, 66, 4096][one_of(3)],
            share: [10, 50][one_of(2)],
            near_packets: 1 + one_of(2),
        };
        let without_buffer = WithoutBuffer::ALL[one_of(2)];
        let network = NetworkSettings { packets: 8, ports: 2, queues: 2, injection, without_buffer, ..NETWORK };
        let settings = MachineSettings { network: Some(network), ..caches };
        let outcome = try_play(settings, &vec![receiver(4); 2], copy_policy, Some(3)).unwrap().outcome;
        let (loads, wrong) = outcome.check.unwrap();
        assert!(loads >= 2 * 4 * 46 && wrong.is_none() && outcome.wrong.is_none(), "{seed} {settings:?}: {wrong:?}");
    }
}
