//! A planned segment as the commands that it needs: which rows each bank opens in turn, and the column accesses in order.
//!
//! Column accesses of a channel go in the order of the plan; row commands of different banks go as early as each bank
//! allows, so that an activation hides behind the accesses of another bank.

use dram_spec::{AutoPrecharge, BankId, Channel, Column, Command, Row};
use rowclone::{Line, LineWrite, Run, RunWrite, Work};

/// A stay of one bank at one row.
#[derive(Clone, Debug)]
struct Visit {
    row: Row,
    /// The row that a copy activation then moves it to.
    copy_to: Option<Row>,
    /// Column accesses still to come; a run of lines is one.
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

/// Column accesses of lines that follow each other in a row, or a TRANSFER. Lanes are indices into the stream.
#[derive(Clone, Copy, Debug)]
enum Access {
    Read { lane: usize, run: Run },
    Write { lane: usize, write: RunWrite },
    Transfer { src: usize, src_column: Column, dst: usize, dst_column: Column },
}

/// What a segment does on one channel.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    pub(crate) channel: Channel,
    lanes: Vec<Lane>,
    accesses: Vec<Access>,
    next: usize,
    /// Lines of the next access that are done.
    line: u16,
}

/// A line that crosses the channel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moved {
    /// It is read.
    Read(Line),
    /// It is written.
    Write(LineWrite),
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
        Stream { channel, lanes: Vec::with_capacity(2), accesses: Vec::new(), next: 0, line: 0 }
    }

    /// The bank's lane, with a visit to that row as its last one.
    fn visit(&mut self, bank: BankId, row: Row) -> usize {
        let visit = Visit { row, copy_to: None, accesses: 0 };
        let Some(lane) = self.lanes.iter().position(|lane| lane.bank == bank) else {
            self.lanes.push(Lane { bank, visits: vec![visit], current: 0, stage: Stage::Activate, held: false });
            return self.lanes.len() - 1;
        };
        let visits = &mut self.lanes[lane].visits;
        if visits.last().is_none_or(|last| last.row != row) {
            visits.push(visit);
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
        let mut reads = self.accesses.iter().map(|access| matches!(access, Access::Read { .. }));
        let first = reads.next();
        reads.all(|other| Some(other) == first)
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

    /// The row commands that could come next, by lane, and the bank of each.
    pub(crate) fn row_commands(&self, giving_way: bool) -> impl Iterator<Item = (usize, BankId, Command)> {
        let lanes = self.lanes.iter().enumerate();
        lanes.filter_map(move |(index, lane)| Some((index, lane.bank, lane.row_command(giving_way)?)))
    }

    /// The column access that comes next, once the rows that it needs are open.
    pub(crate) fn next_access(&self) -> Option<(Kind, Command)> {
        let open = |lane: usize| self.lanes[lane].held && self.lanes[lane].stage == Stage::Access;
        let auto_precharge = AutoPrecharge::No;
        let (ready, kind, command) = match *self.accesses.get(self.next)? {
            Access::Read { lane, run } => {
                let (bank, column) = (self.lanes[lane].bank, self.column(&run));
                (open(lane), Kind::Read, Command::Read { bank, column, auto_precharge })
            }
            Access::Write { lane, write } => {
                let (bank, column) = (self.lanes[lane].bank, self.column(&write.run));
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

    /// The column that comes next of a run.
    #[inline]
    fn column(&self, run: &Run) -> Column {
        Column(run.first.location.column.0 + self.line)
    }

    /// The column of the column access that comes next, where it is a RD or WR as the last one was, and to the same row.
    #[inline]
    pub(crate) fn next_alike(&self) -> Option<Column> {
        let next = self.accesses.get(self.next)?;
        let (lane, run) = match next {
            Access::Read { lane, run } | Access::Write { lane, write: RunWrite { run, .. } } => (*lane, run),
            Access::Transfer { .. } => return None,
        };
        if self.line == 0 {
            match (self.accesses.get(self.next.checked_sub(1)?)?, next) {
                (Access::Read { lane: before, .. }, Access::Read { .. })
                | (Access::Write { lane: before, .. }, Access::Write { .. })
                    if *before == lane && self.lanes[lane].stage == Stage::Access => {}
                _ => return None,
            }
        }
        Some(self.column(run))
    }

    /// How many column accesses come next that are alike: RD or WR of one column after another.
    pub(crate) fn alike(&self) -> u16 {
        match self.accesses.get(self.next) {
            Some(Access::Read { run, .. } | Access::Write { write: RunWrite { run, .. }, .. }) => run.count - self.line,
            Some(Access::Transfer { .. }) | None => 1,
        }
    }

    /// The line that crosses the channel so many column accesses after the next one, where they are alike and do so.
    pub(crate) fn line(&self, further: u16) -> Option<Moved> {
        let number = self.line + further;
        match self.accesses.get(self.next)? {
            Access::Read { run, .. } => Some(Moved::Read(run.line(number))),
            Access::Write { write, .. } => Some(Moved::Write(write.write(number))),
            Access::Transfer { .. } => None,
        }
    }

    /// The row command of a lane was issued. Says whether its bank is let go of, and which that is.
    pub(crate) fn row_command_issued(&mut self, lane: usize, giving_way: bool) -> Option<BankId> {
        let lane = &mut self.lanes[lane];
        lane.row_command_issued();
        let released = lane.is_done() || (giving_way && !lane.is_open());
        lane.held &= !released;
        released.then_some(lane.bank)
    }

    /// The next column accesses were issued, so many that are alike. Says what they were.
    pub(crate) fn accesses_issued(&mut self, count: u16) -> Kind {
        let access = &self.accesses[self.next];
        let (kind, lanes, all) = match *access {
            Access::Read { lane, run } => (Kind::Read, [lane, lane], run.count),
            Access::Write { lane, write } => (Kind::Write, [lane, lane], write.run.count),
            Access::Transfer { src, dst, .. } => (Kind::Transfer, [src, dst], 1),
        };
        self.line += count;
        if self.line == all {
            (self.next, self.line) = (self.next + 1, 0);
            let [src, dst] = lanes;
            self.lanes[src].access_issued();
            if src != dst {
                self.lanes[dst].access_issued();
            }
        }
        kind
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
            let mut streams = Vec::new();
            for &run in reads {
                let (stream, lane) = enter(&mut streams, &run);
                stream.accesses.push(Access::Read { lane, run });
            }
            for &write in writes {
                let (stream, lane) = enter(&mut streams, &write.run);
                stream.accesses.push(Access::Write { lane, write });
            }
            streams
        }
    }
}

/// Counts an access of a run in the stream of its channel. Says which that is, and the lane.
fn enter<'a>(streams: &'a mut Vec<Stream>, run: &Run) -> (&'a mut Stream, usize) {
    let place = run.first.location;
    let index = streams.iter().position(|stream| stream.channel == place.channel).unwrap_or_else(|| {
        streams.push(Stream::new(place.channel));
        streams.len() - 1
    });
    let stream = &mut streams[index];
    let lane = stream.visit(place.bank, place.row);
    stream.access(lane);
    (stream, lane)
}
