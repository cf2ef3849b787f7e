//! A planned segment as the commands that it needs: which rows each bank opens in turn, and the column accesses in order.
//!
//! Column accesses of a channel go in the order of the plan; row commands of different banks go as early as each bank
//! allows, so that an activation hides behind the accesses of another bank.

use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, Row};
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
    /// Closes the row that it was found with.
    Clear,
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
    /// Whether the segment holds the bank.
    held: bool,
}

impl Lane {
    fn is_done(&self) -> bool {
        self.current == self.visits.len()
    }

    /// Goes on with what the bank is found with.
    fn enter(&mut self, open: Option<Row>) {
        self.held = true;
        self.stage = match open {
            None => Stage::Activate,
            Some(row) if row == self.visits[self.current].row => {
                self.stage = Stage::Activate;
                self.row_opened()
            }
            Some(_) => Stage::Clear,
        };
    }

    /// What comes after an activation.
    fn row_opened(&self) -> Stage {
        let visit = &self.visits[self.current];
        match self.stage {
            Stage::Activate if visit.copy_to.is_some() => Stage::CopyActivate,
            _ if visit.accesses > 0 => Stage::Access,
            _ => Stage::Precharge,
        }
    }

    /// Whether the row of the present visit is open.
    fn is_open(&self) -> bool {
        matches!(self.stage, Stage::CopyActivate | Stage::Access | Stage::Precharge)
    }

    /// The row command that the bank waits for, if it waits for one.
    fn row_command(&self, giving_way: bool) -> Option<Command> {
        if !self.held {
            return None;
        }
        let visit = self.visits.get(self.current)?;
        let bank = self.bank;
        match self.stage {
            Stage::Activate => Some(Command::Activate { bank, row: visit.row }),
            Stage::CopyActivate => Some(Command::Activate { bank, row: visit.copy_to? }),
            Stage::Access => giving_way.then_some(Command::Precharge { bank }),
            Stage::Clear | Stage::Precharge => Some(Command::Precharge { bank }),
        }
    }

    fn row_command_issued(&mut self) {
        self.stage = match self.stage {
            Stage::Activate | Stage::CopyActivate => self.row_opened(),
            // Closed before its accesses were done: the same row is opened again.
            Stage::Clear | Stage::Access => Stage::Activate,
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
    /// A bank is not held any more.
    Released(BankId),
    /// A line was read.
    Read(Line),
    /// A line is written.
    Write(LineWrite),
    /// A line was moved inside the rank.
    Transfer,
}

/// Which column access comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Transfer,
}

impl Stream {
    fn new(channel: Channel) -> Stream {
        Stream { channel, lanes: Vec::new(), accesses: Vec::new(), next: 0 }
    }

    /// The bank's lane, with a visit to that row as its last one.
    fn visit(&mut self, bank: BankId, row: Row) -> usize {
        let lane = self.lanes.iter().position(|lane| lane.bank == bank).unwrap_or_else(|| {
            self.lanes.push(Lane { bank, visits: Vec::new(), current: 0, stage: Stage::Activate, held: false });
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

    /// The banks that it is not done with.
    pub(crate) fn banks(&self) -> impl Iterator<Item = BankId> {
        self.lanes.iter().filter(|lane| !lane.is_done()).map(|lane| lane.bank)
    }

    /// The banks that it holds.
    pub(crate) fn held_banks(&self) -> impl Iterator<Item = BankId> {
        self.lanes.iter().filter(|lane| lane.held).map(|lane| lane.bank)
    }

    /// Whether it holds no bank any more.
    pub(crate) fn holds_nothing(&self) -> bool {
        self.lanes.iter().all(|lane| !lane.held)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.lanes.iter().all(Lane::is_done)
    }

    /// Whether it makes column accesses.
    pub(crate) fn has_accesses(&self) -> bool {
        !self.accesses.is_empty()
    }

    /// Whether it has only reads, only writes, or neither.
    pub(crate) fn is_one_way(&self) -> bool {
        let reads = self.accesses.iter().filter(|access| matches!(access, Access::Read { .. })).count();
        reads == 0 || reads == self.accesses.len()
    }

    /// Holds the banks that it is not done with, as they are found.
    pub(crate) fn begin(&mut self, open: impl Fn(BankId) -> Option<Row>) {
        for lane in self.lanes.iter_mut().filter(|lane| !lane.is_done()) {
            lane.enter(open(lane.bank));
        }
    }

    /// Whether a copy activation is under way, which nothing may break off.
    pub(crate) fn is_copying_rows(&self) -> bool {
        let copies = |lane: &Lane| lane.visits.get(lane.current).is_some_and(|visit| visit.copy_to.is_some());
        self.lanes.iter().any(|lane| lane.held && copies(lane) && lane.is_open())
    }

    /// Lets go of the banks where it has no row open; `released` hears of each.
    pub(crate) fn give_way(&mut self, mut released: impl FnMut(BankId)) {
        for lane in self.lanes.iter_mut().filter(|lane| lane.held && !lane.is_open()) {
            lane.held = false;
            released(lane.bank);
        }
    }

    /// The row commands that could come next, by lane.
    pub(crate) fn row_commands(&self, giving_way: bool) -> impl Iterator<Item = (Turn, Command)> {
        let lanes = self.lanes.iter().enumerate();
        lanes.filter_map(move |(index, lane)| Some((Turn::Row(index), lane.row_command(giving_way)?)))
    }

    /// The column access that comes next, once the rows that it needs are open.
    pub(crate) fn next_access(&self) -> Option<(Kind, Command)> {
        let open = |lane: usize| self.lanes[lane].held && self.lanes[lane].stage == Stage::Access;
        let auto_precharge = AutoPrecharge::No;
        let (ready, kind, command) = match *self.accesses.get(self.next)? {
            Access::Read { lane, line } => {
                let (bank, column) = (self.lanes[lane].bank, line.location.column);
                (open(lane), Kind::Read, Command::Read { bank, column, auto_precharge })
            }
            Access::Write { lane, write } => {
                let (bank, column) = (self.lanes[lane].bank, write.line.location.column);
                (open(lane), Kind::Write, Command::Write { bank, column, auto_precharge })
            }
            Access::Transfer { src, src_column, dst, dst_column } => {
                let (src_bank, dst_bank) = (self.lanes[src].bank, self.lanes[dst].bank);
                let command = Command::Transfer { src: src_bank, src_column, dst: dst_bank, dst_column };
                (open(src) && open(dst), Kind::Transfer, command)
            }
        };
        ready.then_some((kind, command))
    }

    /// The column access that comes next, where it is a RD or WR as the last one was, and to the same row.
    #[inline]
    pub(crate) fn next_alike(&self) -> Option<Command> {
        let auto_precharge = AutoPrecharge::No;
        let before = self.next.checked_sub(1)?;
        let (lane, before, command) = match (self.accesses.get(before)?, self.accesses.get(self.next)?) {
            (&Access::Read { lane: before, .. }, Access::Read { lane, line }) => {
                let (bank, column) = (self.lanes[before].bank, line.location.column);
                (*lane, before, Command::Read { bank, column, auto_precharge })
            }
            (&Access::Write { lane: before, .. }, Access::Write { lane, write }) => {
                let (bank, column) = (self.lanes[before].bank, write.line.location.column);
                (*lane, before, Command::Write { bank, column, auto_precharge })
            }
            _ => return None,
        };
        (lane == before && self.lanes[lane].stage == Stage::Access && self.lanes[lane].held).then_some(command)
    }

    /// The command of that turn was issued.
    pub(crate) fn advance(&mut self, turn: Turn, giving_way: bool) -> Progress {
        match turn {
            Turn::Row(index) => {
                let lane = &mut self.lanes[index];
                lane.row_command_issued();
                let released = lane.is_done() || (giving_way && !lane.is_open());
                lane.held &= !released;
                if released { Progress::Released(lane.bank) } else { Progress::Row }
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
            let mut stream = Stream::new(*channel);
            let lane = stream.visit(*bank, *src);
            stream.lanes[lane].visits[0].copy_to = Some(*dst);
            vec![stream]
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
            let mut entering = Entering { streams: Vec::new(), room: reads.len() + writes.len(), last: None };
            for line in reads {
                let (stream, lane) = entering.enter(line);
                stream.accesses.push(Access::Read { lane, line: *line });
            }
            for write in writes {
                let (stream, lane) = entering.enter(&write.line);
                stream.accesses.push(Access::Write { lane, write: *write });
            }
            entering.streams
        }
    }
}

/// Lines on their way into the streams of their channels.
struct Entering {
    streams: Vec<Stream>,
    /// How many accesses a stream may come to have.
    room: usize,
    /// The row of the last line, its stream and its lane: most lines lie in the row of the one before.
    last: Option<((Channel, BankId, Row), usize, usize)>,
}

impl Entering {
    /// Counts an access of a line in the stream of its channel.
    fn enter(&mut self, line: &Line) -> (&mut Stream, usize) {
        let place = line.location;
        let row = (place.channel, place.bank, place.row);
        let (index, lane) = match self.last {
            Some((last, index, lane)) if last == row => (index, lane),
            _ => self.visit(row),
        };
        let stream = &mut self.streams[index];
        stream.access(lane);
        (stream, lane)
    }

    /// The stream and the lane of a row, which is visited last there.
    fn visit(&mut self, row: (Channel, BankId, Row)) -> (usize, usize) {
        let (streams, room) = (&mut self.streams, self.room);
        let index = streams.iter().position(|stream| stream.channel == row.0).unwrap_or_else(|| {
            streams.push(Stream { accesses: Vec::with_capacity(room), ..Stream::new(row.0) });
            streams.len() - 1
        });
        let lane = streams[index].visit(row.1, row.2);
        self.last = Some((row, index, lane));
        (index, lane)
    }
}
