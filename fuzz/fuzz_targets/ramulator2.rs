//! Any bytes are a command trace of Ramulator 2 or an error, and any trace is checked and exported without a panic.

#![no_main]

mod any_command_trace;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| any_command_trace::read_check_export("ramulator2-commands", bytes));
