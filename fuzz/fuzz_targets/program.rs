//! Any bytes as a program trace.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = trace_io::program::ProgramReader::new(bytes) else { return };
    let errors = reader.filter(Result::is_err).count();
    assert!(errors <= 1, "a reader ends after an error");
});
