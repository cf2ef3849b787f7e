//! Answers to requests: files, or messages that are sent on.

use dram_spec::address::FRAME_BYTES;
use dram_spec::{LINE_BYTES, PhysicalAddress};
use os_alloc_sim::Generator;
use trace_io::program::DeviceStep;

use super::work_steps::WorkSteps;

/// How the messages of a receiver are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerSettings {
    /// Instructions of the application per request.
    pub instructions: u64,
    /// Bytes of an answer.
    pub bytes: u64,
    /// Bytes of an answer that a packet carries, at most.
    pub segment_bytes: u64,
    /// Bytes of a request to another server, sent before each answer; 0 for none.
    pub forwarded_bytes: u64,
    /// The files of which one is the answer; if none, the message is.
    pub files: Option<FileSettings>,
}

/// Files, by number: the most popular one first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileSettings {
    /// Files that no request reaches, because a proxy in front answers them.
    pub proxied: u64,
    /// Files that lie in the page cache, with those that no request reaches.
    pub cached: u64,
    /// All files. Those beyond the page cache are copied from the disk cache to it.
    pub files: u64,
    /// Hundredths of the exponent of Zipf's law, by which the popularity falls with the number.
    pub exponent_hundredths: u64,
    /// Instructions to fetch a file from the disk cache.
    pub fetch_instructions: u64,
}

impl AnswerSettings {
    /// Packets of an answer, with the request to another server.
    pub const fn packets(&self) -> u64 {
        self.bytes.div_ceil(self.segment_bytes) + (self.forwarded_bytes > 0) as u64
    }
}

/// First addresses of the parts of the program's memory.
const FILES: u64 = 1 << 39;
const DISK_CACHE: u64 = 1 << 40;
const FETCHED: u64 = 1 << 41;
const SOCKETS: u64 = 1 << 42;

/// Places in the page cache to which files are fetched, used in turn.
const FETCHED_FILES: u64 = 64;
/// Buffers of packets that are sent, a page each, used in turn: more than the packets of a batch.
const SOCKET_BUFFERS: u64 = 512;
/// The seed of the choice of files.
const SEED: u64 = 1;

/// The answers of a receiver.
#[derive(Debug)]
pub(super) struct Answers {
    settings: AnswerSettings,
    header_bytes: u64,
    send_instructions: u64,
    generator: Generator,
    /// The sum of the popularities up to each file that requests reach.
    popularity: Vec<f64>,
    fetched: u64,
    /// Buffers used.
    buffers: u64,
    /// Packets that are sent once their copies are over: the port, the buffer, and the bytes of the payload.
    copied: Vec<(u32, u64, u64)>,
}

impl Answers {
    pub(super) fn new(
        settings: AnswerSettings,
        (header_bytes, send_instructions): (u64, u64),
        steps: &mut WorkSteps,
    ) -> Answers {
        let mut popularity = Vec::new();
        if let Some(FileSettings { proxied, files, cached, exponent_hundredths, .. }) = settings.files {
            let exponent = -(exponent_hundredths as f64) / 100.0;
            let mut sum = 0.0;
            for number in proxied..files {
                sum += ((number + 1) as f64).powf(exponent);
                popularity.push(sum);
            }
            let bytes = settings.bytes.next_multiple_of(FRAME_BYTES);
            steps.present(FILES, cached.min(files) * bytes);
            if cached < files {
                steps.present(DISK_CACHE + cached * bytes, (files - cached) * bytes);
                steps.present(FETCHED, FETCHED_FILES * bytes);
            }
        }
        steps.present(SOCKETS, (1 + SOCKET_BUFFERS) * FRAME_BYTES);
        Answers {
            settings,
            header_bytes,
            send_instructions,
            generator: Generator::new(SEED),
            popularity,
            fetched: 0,
            buffers: 0,
            copied: Vec::new(),
        }
    }

    /// Begins the answer to a message, which lies at an address and came through a port.
    pub(super) fn begin(&mut self, message: u64, port: u32, steps: &mut WorkSteps) {
        let AnswerSettings { instructions, bytes, segment_bytes, forwarded_bytes, files } = self.settings;
        steps.work(instructions);
        if forwarded_bytes > 0 {
            self.send((port, SOCKETS + SOCKET_BUFFERS * FRAME_BYTES, forwarded_bytes), steps);
        }
        let source = files.map_or(message, |files| self.file(&files, steps));
        for first in (0..bytes).step_by(segment_bytes as usize) {
            let buffer = SOCKETS + self.buffers % SOCKET_BUFFERS * FRAME_BYTES;
            self.buffers += 1;
            let bytes = segment_bytes.min(bytes - first);
            let (dst, src) = (PhysicalAddress(buffer + self.header_bytes), PhysicalAddress(source + first));
            steps.device(DeviceStep::Begin { dst, src, bytes });
            self.copied.push((port, buffer, bytes));
        }
    }

    /// Sends the answers that were begun, once their copies are over.
    pub(super) fn send_all(&mut self, steps: &mut WorkSteps) {
        if self.copied.is_empty() {
            return;
        }
        steps.device(DeviceStep::Issue);
        steps.device(DeviceStep::Wait);
        for packet in std::mem::take(&mut self.copied) {
            self.send(packet, steps);
        }
    }

    fn send(&self, (port, buffer, bytes): (u32, u64, u64), steps: &mut WorkSteps) {
        steps.work(self.send_instructions);
        steps.touch(buffer, self.header_bytes.div_ceil(LINE_BYTES));
        let (address, bytes) = (PhysicalAddress(buffer), self.header_bytes + bytes);
        steps.device(DeviceStep::Send { port, address, bytes });
    }

    /// Chooses a file; returns where it lies in the page cache, to which it may have to be copied.
    fn file(&mut self, files: &FileSettings, steps: &mut WorkSteps) -> u64 {
        let sum = self.popularity.last().expect("there are files");
        let drawn = self.generator.number() as f64 / 2.0_f64.powi(64) * sum;
        let among = self.popularity.partition_point(|&sum| sum <= drawn).min(self.popularity.len() - 1);
        let number = files.proxied + among as u64;
        let size = self.settings.bytes.next_multiple_of(FRAME_BYTES);
        if number < files.cached {
            return FILES + number * size;
        }
        let place = FETCHED + self.fetched % FETCHED_FILES * size;
        self.fetched += 1;
        steps.work(files.fetch_instructions);
        let (dst, src) = (PhysicalAddress(place), PhysicalAddress(DISK_CACHE + number * size));
        steps.device(DeviceStep::Begin { dst, src, bytes: self.settings.bytes });
        steps.device(DeviceStep::Issue);
        steps.device(DeviceStep::Wait);
        place
    }
}

#[cfg(test)]
mod tests {
    use trace_io::program::Step;

    use super::*;

    const ANSWER: AnswerSettings =
        AnswerSettings { instructions: 3, bytes: 2_000, segment_bytes: 1_448, forwarded_bytes: 0, files: None };

    fn answers(settings: AnswerSettings) -> Answers {
        Answers::new(settings, (66, 3), &mut WorkSteps::default())
    }

    fn all(mut steps: WorkSteps) -> Vec<Step> {
        std::iter::from_fn(|| steps.next()).collect()
    }

    fn devices(steps: Vec<Step>) -> Vec<DeviceStep> {
        steps.into_iter().filter_map(|step| if let Step::Device(step) = step { Some(step) } else { None }).collect()
    }

    /// 2,000 bytes are two packets, behind whose headers the message is copied.
    #[test]
    fn a_message_is_copied_to_packets_and_sent() {
        let settings = AnswerSettings { forwarded_bytes: 300, ..ANSWER };
        assert_eq!((settings.packets(), ANSWER.packets()), (3, 2));
        let (mut answers, mut steps) = (answers(settings), WorkSteps::default());
        answers.begin(5_000, 1, &mut steps);
        answers.send_all(&mut steps);
        answers.send_all(&mut steps);
        let copy = |number: u64, bytes| DeviceStep::Begin {
            dst: PhysicalAddress(SOCKETS + number * FRAME_BYTES + 66),
            src: PhysicalAddress(5_000 + number * 1_448),
            bytes,
        };
        let sent = |number: u64, bytes: u64| DeviceStep::Send {
            port: 1,
            address: PhysicalAddress(SOCKETS + number * FRAME_BYTES),
            bytes: 66 + bytes,
        };
        let steps = all(steps);
        // Work for the request, and per packet with two lines of header.
        assert_eq!(steps.len(), 1 + (1 + 4 + 1) + 2 + 2 + 2 * (1 + 4 + 1));
        let expected =
            [sent(512, 300), copy(0, 1_448), copy(1, 552), DeviceStep::Issue, DeviceStep::Wait, sent(0, 1_448)];
        let found = devices(steps);
        assert_eq!((&found[..6], found[6]), (&expected[..], sent(1, 552)));
    }

    /// With exponent 1, file 0 of four has 12 of 25 parts; a proxy for it leaves 6, 4 and 3 parts of 13.
    #[test]
    fn files_have_the_popularity_of_zipfs_law_and_are_fetched_beyond_the_page_cache() {
        let files = FileSettings { proxied: 1, cached: 2, files: 4, exponent_hundredths: 100, fetch_instructions: 0 };
        let mut answers = answers(AnswerSettings { files: Some(files), ..ANSWER });
        let mut counts = [0_u32; 4];
        for _ in 0..13_000 {
            let mut steps = WorkSteps::default();
            let found = answers.file(&files, &mut steps);
            let number = match devices(all(steps))[..] {
                [] => (found - FILES) / FRAME_BYTES,
                [DeviceStep::Begin { dst, src, bytes: 2_000 }, DeviceStep::Issue, DeviceStep::Wait] => {
                    assert!(dst.0 == found && (FETCHED..FETCHED + 64 * FRAME_BYTES).contains(&found));
                    (src.0 - DISK_CACHE) / FRAME_BYTES
                }
                ref steps => panic!("{steps:?}"),
            };
            counts[number as usize] += 1;
        }
        let expected = [0, 6_000, 4_000, 3_000];
        assert!(counts.iter().zip(expected).all(|(found, expected)| found.abs_diff(expected) < 250), "{counts:?}");
    }
}
