//! Any bytes are a trace or an error, in every format and compression.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_io::trace::{FORMATS, TraceReader};

fuzz_target!(|bytes: &[u8]| {
    for format in FORMATS.into_iter().map(Some).chain([None]) {
        if let Ok(reader) = TraceReader::new(bytes, format) {
            reader.for_each(drop);
        }
    }
});
