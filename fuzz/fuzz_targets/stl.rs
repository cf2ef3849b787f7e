//! Any bytes as a trace of the format `stl`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::read_and_write_back("stl", bytes));
