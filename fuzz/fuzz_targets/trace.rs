//! Any bytes are a trace or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_io::ramulatorsharp::Reader;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(reader) = Reader::new(bytes, None) {
        reader.for_each(drop);
    }
});
