//! Whatever is read as a trace of the simulator's own format is written, and reads back as it was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_io::trace::{Format, Reader, Record, Writer};

fuzz_target!(|bytes: &[u8]| {
    let native = Format::named("native");
    let Ok(reader) = Reader::new(bytes, native) else { return };
    let records: Vec<Record> = reader.map_while(Result::ok).collect();
    let mut writer = Writer::new(Vec::new(), native.expect("it has a name"));
    for record in &records {
        writer.write_record(record).expect("what is read can be written");
    }
    let text = writer.into_inner();
    if !records.is_empty() {
        let read: Result<Vec<Record>, _> = Reader::new(&text[..], None).expect("it has records").collect();
        assert_eq!(read.expect("what is written can be read"), records);
    }
});
