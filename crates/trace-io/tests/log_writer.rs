//! Output of the command log writer.

mod common;

use std::cell::Cell;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::rc::Rc;

use dram_spec::{BankId, Channel, Column, Command, Cycle, Dialect, EventSink, Refresh, System};
use trace_io::command_log::{LogReader, LogWriter};

use common::system;

#[test]
fn the_log_may_begin_anywhere_in_its_output() {
    let mut output = Cursor::new(b"before\n".to_vec());
    output.set_position(7);
    let mut writer = LogWriter::new(output, &system(), Dialect::RowClone).unwrap();
    writer.push(Cycle(1), Channel(0), &Command::Refresh { rank: 1 });
    writer.finish(Cycle(u64::MAX));
    let mut output = writer.into_result().unwrap();
    output.write_all(b"# after").unwrap();
    let bytes = output.into_inner();
    let reader = LogReader::new(bytes.strip_prefix(b"before\n").unwrap()).unwrap();
    assert_eq!(reader.header().end, Some(Cycle(u64::MAX)));
    assert_eq!(reader.map(Result::unwrap).count(), 1);
    assert!(bytes.ends_with(b"1,REF,0,1,,,,,\n# after"));
}

/// Accepts a number of writes, and counts those after its failure.
struct Full {
    room: usize,
    late: Rc<Cell<usize>>,
    bytes: Cursor<Vec<u8>>,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.room == 0 {
            self.late.set(self.late.get() + 1);
            return Err(io::Error::new(io::ErrorKind::StorageFull, format!("failure {}", self.late.get())));
        }
        self.room -= 1;
        self.bytes.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Full {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

#[test]
fn the_first_error_is_kept_and_nothing_is_written_after_it() {
    let late = Rc::new(Cell::new(0));
    let output = Full { room: 1, late: Rc::clone(&late), bytes: Cursor::default() };
    let mut writer = LogWriter::new(output, &system(), Dialect::RowClone).unwrap();
    for cycle in 0..10_000 {
        writer.push(Cycle(cycle), Channel(0), &Command::Refresh { rank: 0 });
    }
    writer.finish(Cycle(10_000));
    let error = writer.into_result().err().unwrap();
    assert_eq!((error.kind(), error.to_string().as_str()), (io::ErrorKind::StorageFull, "failure 1"));
    assert_eq!(late.get(), 1);
}

#[test]
fn what_the_log_cannot_express_is_refused() {
    let refused = |system: &System| LogWriter::new(Cursor::new(Vec::new()), system, Dialect::RowClone).err().unwrap();
    let too_short = System { refresh: Refresh::Every { t_refi_ps: 1 }, ..system() };
    assert_eq!(refused(&too_short).to_string(), "`t_refi_ps` is 1, but a command log takes 15000 to 1000000000000");

    let mut writer = LogWriter::new(Cursor::new(Vec::new()), &system(), Dialect::RowClone).unwrap();
    let (src, dst) = (BankId { rank: 0, bank: 0 }, BankId { rank: 1, bank: 0 });
    let transfer = Command::Transfer { src, src_column: Column(0), dst, dst_column: Column(0) };
    writer.push(Cycle(7), Channel(0), &transfer);
    let error = writer.into_result().unwrap_err();
    assert!(error.to_string().starts_with("cycle 7: a TRANSFER between ranks has no line: "), "{error}");
}
