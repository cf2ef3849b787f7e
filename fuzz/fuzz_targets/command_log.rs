//! Any bytes are a command log or an error, and any log is checked without a panic.

#![no_main]

use dram_spec::EventSink;
use libfuzzer_sys::fuzz_target;
use protocol_check::Checker;
use trace_io::command_log::LogReader;

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = LogReader::new(bytes) else { return };
    let header = reader.header().clone();
    let mut checker = Checker::new(&header.system, header.dialect);
    for issued in reader.map_while(Result::ok) {
        checker.push(issued.at, issued.channel, &issued.command);
    }
    checker.finish(header.end.unwrap_or_default());
});
