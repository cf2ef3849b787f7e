//! The requests of the run, far enough apart that each can be worked out by itself.

use std::fmt::Write;

/// Requests with their arrivals.
struct Trace(Vec<(u64, String)>);

/// The address of a line of channel 0: the rows of the eight banks follow each other in both channels.
fn line(bank: u64, row: u64, column: u64) -> u64 {
    row << 16 | bank << 13 | column << 6
}

/// The first line of a row of channel 1.
fn in_channel_1(bank: u64, row: u64) -> u64 {
    line(bank, row, 0) | 1 << 12
}

impl Trace {
    fn read(&mut self, at: u64, address: u64) {
        self.0.push((at, format!("R {address:#x}")));
    }

    fn write(&mut self, at: u64, address: u64) {
        self.0.push((at, format!("W {address:#x}")));
    }

    fn copy(&mut self, at: u64, dst: u64, src: u64, bytes: u64) {
        self.0.push((at, format!("COPY {dst:#x} {src:#x} {bytes}")));
    }

    fn zero(&mut self, at: u64, address: u64) {
        self.0.push((at, format!("ZERO {address:#x} 4096")));
    }
}

/// The trace, in the format `native`.
pub(super) fn text() -> String {
    let mut trace = Trace(Vec::new());
    // Warm-up: row 8 of bank 0 stays open until the refresh at 20,000.
    trace.write(0, line(0, 8, 0));
    trace.read(200, line(0, 8, 0));
    // 199 row hits, the last four at once; a miss; 11 conflicts.
    (0..195).for_each(|index| trace.read(1_200 + 40 * index, line(0, 8, index % 64)));
    (0..4).for_each(|index| trace.read(9_050, line(0, 8, index)));
    trace.read(9_100, line(1, 8, 0));
    (0..11).for_each(|index| trace.read(9_200 + 50 * index, line(1, 9 + index, 0)));
    // 16 row hits of writes, the last nine at once; a miss; 14 conflicts, the last with nine reads of its line behind
    // it.
    (0..7).for_each(|index| trace.write(10_000 + 50 * index, line(0, 8, index)));
    (0..9).for_each(|index| trace.write(10_400, line(0, 8, index)));
    trace.write(10_600, line(3, 8, 0));
    (0..14).for_each(|index| trace.write(10_700 + 50 * index, line(3, 9 + index, 0)));
    (0..9).for_each(|index| trace.read(11_351 + index, line(3, 22, 0)));
    // FPM: a copy with a read of its bank behind it, and nine zeroings.
    trace.copy(12_000, line(5, 20, 0), line(5, 8, 0), 4096);
    trace.read(12_012, line(5, 8, 0));
    (0..9).for_each(|index| trace.zero(12_500 + 100 * index, line(5, 30 + index, 0)));
    // PSM: five copies, each with a read of the source's bank, which preempts it after 200 clocks.
    for index in 0..5 {
        let at = 14_000 + 500 * index;
        trace.copy(at, line(6, 12 + index, 0), line(7, 12 + index, 0), 4096);
        trace.read(at + 150 + 9 * index, line(7, 20 + index, 0));
    }
    // Four copies from channel 1 to one bank, at once.
    for (index, bytes) in [4096, 2048, 1024, 512].into_iter().enumerate() {
        let row = 15 + 2 * index as u64;
        trace.copy(17_000, line(6, row, 0), in_channel_1(6, row + 1), bytes);
    }
    // After the refresh, a miss.
    trace.read(20_500, line(0, 8, 0));
    trace.0.sort_by_key(|&(at, _)| at);
    let mut text = String::new();
    for (at, request) in trace.0 {
        writeln!(text, "{request} @{at}").unwrap();
    }
    text
}
