//! Receivers of packets on several cores.

use super::*;

const NETWORK: NetworkSettings = NetworkSettings {
    packets: 30,
    connections: 2,
    burst: 4,
    spread: Spread::Connections,
    ring: 8,
    send_ring: 4,
    coalesced_packets: 8,
    coalesced_cycles: 100_000,
    ..NetworkSettings::gigabit(2, 2, 27_680)
};

const RECEIVER: ReceiverSettings = ReceiverSettings {
    buffers: 8,
    has_split_headers: false,
    header_bytes: 66,
    payload_bytes: 1_448,
    interrupt_instructions: 100,
    packet_instructions: 200,
    socket_buffer_lines: 2,
    connection_lines: 4,
    wakeup_instructions: 300,
    message_bytes: 10_000,
    renews_pages: false,
    message_buffers: 2,
    message_instructions: 60,
    read_stride: 64,
    packets_per_acknowledgment: 2,
    sent_per_100: 50,
    acknowledgment_instructions: 80,
    send_instructions: 80,
    connections: 2,
    answer: None,
};

fn play_receivers(
    receiver: ReceiverSettings,
    network: NetworkSettings,
    kernel: KernelSettings,
    (policy, seed): (&'static dyn CopyPolicy, Option<u64>),
) -> MachineOutcome {
    let last_level = CacheShape::new(1 << 16, 16, 12);
    let settings = MachineSettings { last_level, network: Some(network), kernel, ..settings() };
    let programs = (0..2).map(|_| Box::new(Receiver::new(receiver)) as Box<dyn Program>).collect();
    play_boxed(settings, Region::default(), programs, policy, seed).unwrap().outcome
}

/// Every copier, with and without split headers: all packets arrive, and buffers and messages are right.
#[test]
fn messages_are_those_received_under_every_copier() {
    for (kernel, policy) in super::coherent::kernels() {
        for has_split_headers in [false, true] {
            let receiver = ReceiverSettings { has_split_headers, ..RECEIVER };
            let outcome = play_receivers(receiver, NETWORK, kernel, (policy, Some(5)));
            let (loads, wrong) = outcome.check.unwrap();
            assert!(wrong.is_none() && outcome.wrong.is_none(), "{kernel:?}: {wrong:?} {:?}", outcome.wrong);
            // Each of four connections has 14 or 16 packets, and 2 messages that are complete.
            assert!(loads > 60 * (2 + 2 + 4) + 4 * 2 * 156, "{loads}");
            for (core, expected) in outcome.cores.iter().zip([32, 28]) {
                let NetworkCounts { packets, dropped, sent, .. } = core.counters.network;
                assert_eq!((packets, dropped), (expected, 0), "{kernel:?}");
                // An acknowledgment and a packet per two packets, of which the last ones may not have left.
                assert!((expected - 2 * 4..=expected).contains(&sent), "{sent}, {kernel:?}");
            }
        }
    }
}

/// A proxy, and a web server some of whose files are fetched, under every copier: all requests are answered, and
/// buffers, messages and files are right.
#[test]
fn requests_are_answered_under_every_copier() {
    let files = FileSettings { proxied: 1, cached: 4, files: 8, exponent_hundredths: 95, fetch_instructions: 100 };
    let of_proxy =
        AnswerSettings { instructions: 200, bytes: 4 * 1_448, segment_bytes: 1_448, forwarded_bytes: 300, files: None };
    let of_server = AnswerSettings { bytes: 5_000, forwarded_bytes: 0, files: Some(files), ..of_proxy };
    for (kernel, policy) in super::coherent::kernels() {
        for (answer, burst) in [(of_proxy, 4), (of_server, 1)] {
            let network = NetworkSettings {
                packets: 32,
                clients: 2,
                client_cycles: 5_000,
                burst,
                answer_packets: answer.packets(),
                ..NETWORK
            };
            let receiver = ReceiverSettings {
                message_bytes: burst * 1_448,
                packets_per_acknowledgment: 0,
                sent_per_100: 0,
                answer: Some(answer),
                ..RECEIVER
            };
            let outcome = play_receivers(receiver, network, kernel, (policy, Some(5)));
            let (_, wrong) = outcome.check.unwrap();
            assert!(wrong.is_none() && outcome.wrong.is_none(), "{kernel:?}: {wrong:?} {:?}", outcome.wrong);
            let counts = outcome.cores.iter().map(|core| core.counters.network);
            let (packets, sent) = counts.fold((0, 0), |sums, counts| (sums.0 + counts.packets, sums.1 + counts.sent));
            let answered = packets / burst * answer.packets();
            assert!(packets == 64 && sent <= answered && answered - sent <= 4 * answer.packets(), "{sent} {kernel:?}");
        }
    }
}

/// With a link ten times as fast and a slow receiver, packets are dropped, and each one is counted.
#[test]
fn packets_are_received_or_dropped() {
    let network = NetworkSettings { cycles_per_1000_bytes: 500, ..NETWORK };
    let receiver = ReceiverSettings { packet_instructions: 3_000, ..RECEIVER };
    let (_, policy) = super::coherent::kernels()[0];
    let outcome = play_receivers(receiver, network, settings().kernel, (policy, None));
    let counts = outcome.cores.iter().map(|core| core.counters.network);
    let (packets, dropped) =
        counts.fold((0, 0), |(packets, dropped), counts| (packets + counts.packets, dropped + counts.dropped));
    assert_eq!(packets + dropped, 60);
    assert!(dropped > 10 && packets >= 2 * 8, "{dropped}");
}

/// Time is busy or idle; idle time is that in which the core waits for interrupts.
#[test]
fn a_slow_link_leaves_the_cores_idle() {
    let (_, policy) = super::coherent::kernels()[0];
    let busy = |cycles_per_1000_bytes| {
        let network = NetworkSettings { cycles_per_1000_bytes, ..NETWORK };
        let outcome = play_receivers(RECEIVER, network, settings().kernel, (policy, None));
        let core = outcome.cores[0];
        let slots = core.cycles.0 * 3;
        (slots - core.counters.stalls.idle) as f64 / slots as f64
    };
    let (fast, slow) = (busy(27_680), busy(276_800));
    assert!(fast > 5.0 * slow && slow < 0.1, "{fast} and {slow}");
}
