//! A planned segment as the commands that it needs: which rows each bank opens in turn, and the column accesses in order.
//!
//! Column accesses of a channel go in the order of the plan; row commands of different banks go as early as each bank
//! allows, so that an activation hides behind the accesses of another bank.

use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, Cycle, Row};
use rowclone::{Line, LineWrite, Work};

/// A stay of one bank at one row.
#[derive(Clone, Debug)]
struct Visit {
    row: Row,
    /// The row that a copy activation then moves it to.
    copy_to: Option<Row>,
    /// Column accesses still to come.
    accesses: usize,
}

/// What a bank does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Activate,
    CopyActivate,
    Access,
    Precharge,
}

/// One bank's part in a segment, to its last precharge.
#[derive(Clone, Debug)]
struct Lane {
    bank: BankId,
    visits: Vec<Visit>,
    current: usize,
    stage: Stage,
}

impl Lane {
    fn is_done(&self) -> bool {
        self.current == self.visits.len()
    }

    /// The row command that the bank waits for, if it waits for one. In a rank that yields to a refresh, an open row is
    /// closed before its accesses are done, and none is opened; a copy activation, once begun, is finished.
    fn row_command(&self, yielding: bool) -> Option<Command> {
        let visit = self.visits.get(self.current)?;
        let bank = self.bank;
        match self.stage {
            Stage::Activate => (!yielding).then_some(Command::Activate { bank, row: visit.row }),
            Stage::CopyActivate => Some(Command::Activate { bank, row: visit.copy_to? }),
            Stage::Access => yielding.then_some(Command::Precharge { bank }),
            Stage::Precharge => Some(Command::Precharge { bank }),
        }
    }

    fn row_command_issued(&mut self) {
        let visit = &self.visits[self.current];
        self.stage = match self.stage {
            Stage::Activate if visit.copy_to.is_some() => Stage::CopyActivate,
            Stage::Activate | Stage::CopyActivate if visit.accesses > 0 => Stage::Access,
            Stage::Activate | Stage::CopyActivate => Stage::Precharge,
            // Closed for a refresh: the same row is opened again.
            Stage::Access => Stage::Activate,
            Stage::Precharge => {
                self.current += 1;
                Stage::Activate
            }
        };
    }

    fn access_issued(&mut self) {
        let visit = &mut self.visits[self.current];
        visit.accesses -= 1;
        if visit.accesses == 0 {
            self.stage = Stage::Precharge;
        }
    }
}

/// A column access. Lanes are indices into the stream.
#[derive(Clone, Copy, Debug)]
enum Access {
    Read { lane: usize, line: Line },
    Write { lane: usize, write: LineWrite },
    Transfer { src: usize, src_column: Column, dst: usize, dst_column: Column },
}

/// What a segment does on one channel.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) channel: Channel,
    lanes: Vec<Lane>,
    accesses: Vec<Access>,
    next: usize,
}

/// Which command of a stream was issued.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Turn {
    /// The next column access.
    Access,
    /// The row command of a lane.
    Row(usize),
}

/// What the issue of a command means for the segment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Progress {
    /// Nothing but itself.
    Row,
    /// The bank is free again.
    BankDone(BankId),
    /// A line was read.
    Read(Line),
    /// A line is written.
    Write(LineWrite),
    /// A line was moved inside the rank.
    Transfer,
}

impl Stream {
    fn new(channel: Channel) -> Stream {
        Stream { channel, lanes: Vec::new(), accesses: Vec::new(), next: 0 }
    }

    /// The bank's lane, with a visit to that row as its last one.
    fn visit(&mut self, bank: BankId, row: Row) -> usize {
        let lane = self.lanes.iter().position(|lane| lane.bank == bank).unwrap_or_else(|| {
            self.lanes.push(Lane { bank, visits: Vec::new(), current: 0, stage: Stage::Activate });
            self.lanes.len() - 1
        });
        let visits = &mut self.lanes[lane].visits;
        if visits.last().is_none_or(|last| last.row != row) {
            visits.push(Visit { row, copy_to: None, accesses: 0 });
        }
        lane
    }

    fn access(&mut self, lane: usize) {
        self.lanes[lane].visits.last_mut().expect("`visit` made one").accesses += 1;
    }

    fn transfer(&mut self, src: (BankId, Row), dst: (BankId, Row), columns: impl Iterator<Item = (Column, Column)>) {
        let (src, dst) = (self.visit(src.0, src.1), self.visit(dst.0, dst.1));
        for (src_column, dst_column) in columns {
            self.access(src);
            self.access(dst);
            self.accesses.push(Access::Transfer { src, src_column, dst, dst_column });
        }
    }

    pub(crate) fn banks(&self) -> impl Iterator<Item = BankId> {
        self.lanes.iter().map(|lane| lane.bank)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.lanes.iter().all(Lane::is_done)
    }

    /// The commands that could come next, the column access first. `writable` is when a write may be issued, if known;
    /// `yielding` the ranks, as a mask, that yield to a refresh.
    pub(crate) fn candidates(
        &self,
        writable: Option<Cycle>,
        yielding: u8,
    ) -> impl Iterator<Item = (Turn, Command, Cycle)> {
        let yields = move |rank: u8| yielding & (1 << rank) != 0;
        let rows = self.lanes.iter().enumerate().filter_map(move |(index, lane)| {
            Some((Turn::Row(index), lane.row_command(yields(lane.bank.rank))?, Cycle::ZERO))
        });
        let access = self.next_access(writable).filter(move |(_, command, _)| !yields(command.rank()));
        access.into_iter().chain(rows)
    }

    fn next_access(&self, writable: Option<Cycle>) -> Option<(Turn, Command, Cycle)> {
        let open = |lane: usize| self.lanes[lane].stage == Stage::Access;
        let (ready, command, from) = match *self.accesses.get(self.next)? {
            Access::Read { lane, line } => (open(lane), self.read(lane, line.location.column), Cycle::ZERO),
            Access::Write { lane, write } => (open(lane), self.write(lane, write.line.location.column), writable?),
            Access::Transfer { src, src_column, dst, dst_column } => {
                let (src_bank, dst_bank) = (self.lanes[src].bank, self.lanes[dst].bank);
                let command = Command::Transfer { src: src_bank, src_column, dst: dst_bank, dst_column };
                (open(src) && open(dst), command, Cycle::ZERO)
            }
        };
        ready.then_some((Turn::Access, command, from))
    }

    fn read(&self, lane: usize, column: Column) -> Command {
        Command::Read { bank: self.lanes[lane].bank, column, auto_precharge: AutoPrecharge::No }
    }

    fn write(&self, lane: usize, column: Column) -> Command {
        Command::Write { bank: self.lanes[lane].bank, column, auto_precharge: AutoPrecharge::No }
    }

    /// The command of that turn was issued.
    pub(crate) fn advance(&mut self, turn: Turn) -> Progress {
        match turn {
            Turn::Row(index) => {
                let lane = &mut self.lanes[index];
                lane.row_command_issued();
                if lane.is_done() { Progress::BankDone(lane.bank) } else { Progress::Row }
            }
            Turn::Access => {
                let access = self.accesses[self.next];
                self.next += 1;
                match access {
                    Access::Read { lane, line } => {
                        self.lanes[lane].access_issued();
                        Progress::Read(line)
                    }
                    Access::Write { lane, write } => {
                        self.lanes[lane].access_issued();
                        Progress::Write(write)
                    }
                    Access::Transfer { src, dst, .. } => {
                        self.lanes[src].access_issued();
                        self.lanes[dst].access_issued();
                        Progress::Transfer
                    }
                }
            }
        }
    }
}

/// The streams of a segment, one a channel, in the order in which the plan first uses the channels.
pub(crate) fn streams(work: &Work) -> Vec<Stream> {
    match work {
        Work::Fpm { channel, bank, src, dst } => {
            let visit = Visit { row: *src, copy_to: Some(*dst), accesses: 0 };
            let lane = Lane { bank: *bank, visits: vec![visit], current: 0, stage: Stage::Activate };
            vec![Stream { lanes: vec![lane], ..Stream::new(*channel) }]
        }
        Work::Psm { channel, src, dst, columns } => {
            let mut stream = Stream::new(*channel);
            stream.transfer(*src, *dst, columns.iter().copied());
            vec![stream]
        }
        Work::Psm2 { channel, src, temporary, dst, columns } => {
            let mut stream = Stream::new(*channel);
            stream.transfer(*src, *temporary, columns.iter().copied());
            stream.transfer(*temporary, *dst, columns.iter().map(|&(_, column)| (column, column)));
            vec![stream]
        }
        Work::Channel { reads, writes } => {
            let mut streams: Vec<Stream> = Vec::new();
            for line in reads {
                let (stream, lane) = enter(&mut streams, line);
                stream.accesses.push(Access::Read { lane, line: *line });
            }
            for write in writes {
                let (stream, lane) = enter(&mut streams, &write.line);
                stream.accesses.push(Access::Write { lane, write: *write });
            }
            streams
        }
    }
}

/// Counts an access of a line in the stream of its channel.
fn enter<'a>(streams: &'a mut Vec<Stream>, line: &Line) -> (&'a mut Stream, usize) {
    let place = line.location;
    let index = streams.iter().position(|stream| stream.channel == place.channel).unwrap_or_else(|| {
        streams.push(Stream::new(place.channel));
        streams.len() - 1
    });
    let stream = &mut streams[index];
    let lane = stream.visit(place.bank, place.row);
    stream.access(lane);
    (stream, lane)
}
