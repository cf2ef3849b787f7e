//! Any bytes as a trace of the format `dramsim3`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::read_and_write_back("dramsim3", bytes));
