//! Reads any bytes as a command trace, checks the commands, and exports them.

use dram_spec::{Channel, Cycle, Density, Dialect, EventSink, System, Width};
use protocol_check::Checker;
use trace_io::commands::{CommandFormat, CommandReader, Exporter, FileRank, Peeked, Target, Unsupported};

pub fn read_check_export(format: &str, bytes: &[u8]) {
    let system = System::paper(2, Density::Gb2, Width::X8);
    let format = CommandFormat::named(format).expect("a format");
    let mut reader = CommandReader::new(Peeked::new(bytes), format, FileRank::default(), &system).expect("it is read");
    let mut checker = Checker::new(&system, Dialect::Jedec);
    let mut exporters: Vec<_> = [Target::DramPower, Target::Ramulator, Target::Hdl]
        .into_iter()
        .map(|target| {
            let places = [0, 1].map(|channel| (FileRank { channel: Channel(channel), rank: 0 }, Vec::new()));
            Exporter::new(target, Unsupported::Drop, &system, places.into()).expect("a vector takes all")
        })
        .collect();
    let mut last = Cycle::ZERO;
    for issued in reader.by_ref().map_while(Result::ok) {
        checker.push(issued.at, issued.channel, &issued.command);
        for exporter in &mut exporters {
            // A command that the system cannot execute is an error, after which others follow.
            let _ = exporter.command(&issued);
        }
        last = last.max(issued.at);
    }
    let end = reader.end();
    checker.finish(end.unwrap_or(last));
    for exporter in exporters {
        exporter.finish(end).expect("a vector takes all");
    }
}
