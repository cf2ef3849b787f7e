//! What the fuzz targets of the trace readers share.

pub mod find_copies;

use trace_io::trace::{Format, Record, TraceReader, TraceWriter};

/// Any bytes are records of a format and an error, or an end. If the format is written, the records
/// are written and read back as they were.
pub fn read_and_write_back(name: &str, bytes: &[u8]) {
    let format = Format::named(name).expect("the name of a format");
    let Ok(reader) = TraceReader::new(bytes, Some(format)) else { return };
    let records: Vec<Record> = reader.map_while(Result::ok).collect();
    if !format.is_written() || records.is_empty() {
        return;
    }
    let mut writer = TraceWriter::new(Vec::new(), format);
    for record in &records {
        writer.write_record(record).expect("a format expresses what it reads");
    }
    let text = writer.into_inner();
    let read: Result<Vec<Record>, _> = TraceReader::new(&text[..], Some(format)).expect("it has records").collect();
    assert_eq!(read.expect("each line written is a record"), records);
}
