//! Measurements of servers: request loops of a web server and of a proxy.

use host::machine::{AnswerSettings, FileSettings, NetworkSettings, ReceiverSettings, Spread};
use report::ioat::Published;
use rowclone_config::{ServersConfig, ZipfConfig};

use super::measurement::{Measurement, Plan};

/// Requests of each client at least.
const REQUESTS: u64 = 8;

/// Published transactions per second.
const fn transactions(without: f64, with: f64, gain: f64) -> Published {
    Published { transactions_s: Some([without, with]), throughput_gain: Some(gain), ..Published::NONE }
}

/// A server's request loop.
#[derive(Clone, Copy, Debug)]
struct RequestLoop {
    /// Threads of clients on all ports.
    threads: u64,
    client_cycles: u64,
    /// Packets of a request, and the payload of each.
    request: (u64, u64),
    answer: AnswerSettings,
}

impl Plan {
    /// Web server, web server behind a proxy, and proxy.
    pub(super) fn servers(&self) -> Vec<Measurement> {
        [self.web(), self.zipf(), self.proxy()].concat()
    }

    fn answer(&self, bytes: u64, files: Option<FileSettings>) -> AnswerSettings {
        let ServersConfig { instructions, .. } = self.servers;
        AnswerSettings { instructions, bytes, segment_bytes: self.network.payload_bytes, forwarded_bytes: 0, files }
    }

    /// Files of 2 to 10 KiB.
    fn web(&self) -> Vec<Measurement> {
        let ServersConfig { request_bytes, client_cycles, web_clients: threads, web_files: count, .. } = self.servers;
        let files =
            FileSettings { proxied: 0, cached: count, files: count, exponent_hundredths: 0, fetch_instructions: 0 };
        let of = |kib: u64| {
            let answer = self.answer(kib << 10, Some(files));
            let request_loop = RequestLoop { threads, client_cycles, request: (1, request_bytes), answer };
            let published = (kib == 4).then_some(transactions(8_569.0, 9_754.0, 0.14));
            self.request_loop(("web server", format!("{kib} KiB")), request_loop, published)
        };
        [2, 4, 6, 8, 10].map(of).into()
    }

    /// Files whose popularity follows Zipf's law, behind a proxy.
    fn zipf(&self) -> Vec<Measurement> {
        let ServersConfig { request_bytes, client_cycles, zipf, .. } = self.servers;
        let ZipfConfig { clients, file_bytes, files, proxied, cached, fetch_instructions } = zipf;
        let of = |exponent_hundredths: u64| {
            let files = FileSettings { proxied, cached, files, exponent_hundredths, fetch_instructions };
            let answer = self.answer(file_bytes, Some(files));
            let request_loop = RequestLoop { threads: clients, client_cycles, request: (1, request_bytes), answer };
            let name = format!("exponent 0.{exponent_hundredths}");
            self.request_loop(("web server behind a proxy", name), request_loop, None)
        };
        [95, 90, 75, 50].map(of).into()
    }

    /// Files that come from another server, with 1 to 256 threads of clients.
    fn proxy(&self) -> Vec<Measurement> {
        let ServersConfig { request_bytes, client_cycles, proxy_file_bytes, reply_cycles, .. } = self.servers;
        let payload = self.network.payload_bytes;
        let packets = proxy_file_bytes.div_ceil(payload);
        // The answer has whole packets, as the reply has.
        let answer = AnswerSettings { forwarded_bytes: request_bytes, ..self.answer(packets * payload, None) };
        let equal = Some(Published { throughput_gain: Some(0.0), ..Published::NONE });
        let of = |threads: u64| {
            let published = match threads {
                256 => Some(transactions(12_928.0, 14_996.0, 0.16)),
                64 => None,
                _ => equal,
            };
            let client_cycles = client_cycles + reply_cycles;
            let request_loop = RequestLoop { threads, client_cycles, request: (packets, payload), answer };
            let name = format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
            self.request_loop(("proxy", name), request_loop, published)
        };
        [1, 4, 16, 64, 256].map(of).into()
    }

    fn request_loop(
        &self,
        (group, name): (&'static str, String),
        of: RequestLoop,
        published: Option<Published>,
    ) -> Measurement {
        let RequestLoop { threads, client_cycles, request: (burst, payload_bytes), answer } = of;
        let ports = self.servers.ports.min(threads as usize);
        let clients = threads / ports as u64;
        let requests = (self.network.packets / 4).max(REQUESTS * clients);
        let network = NetworkSettings {
            ports,
            payload_bytes,
            connections: clients,
            burst,
            spread: Spread::Connections,
            packets: requests * burst,
            clients,
            client_cycles,
            answer_packets: answer.packets(),
            ..self.network
        };
        let receiver = ReceiverSettings {
            message_bytes: burst * payload_bytes,
            // The answers acknowledge the requests.
            packets_per_acknowledgment: 0,
            sent_per_100: 0,
            read_stride: if burst == 1 { 64 } else { 0 },
            answer: Some(answer),
            ..self.receiver.settings(&network, false)
        };
        Measurement { group, name, network, receiver, published }
    }
}
