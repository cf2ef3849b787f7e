//! A search for copies in any bytes that are a trace of some format.

#![no_main]

use trace_io::trace::FORMATS;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for format in FORMATS.into_iter().map(Some).chain([None]) {
        fuzz::find_copies::search(bytes, format);
    }
});
