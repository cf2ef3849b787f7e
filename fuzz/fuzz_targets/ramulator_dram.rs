//! Any bytes as a trace of the format `ramulator-dram`.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::read_and_write_back("ramulator-dram", bytes));
