//! Who goes first on a channel.

use dram_core::P;
use dram_spec::{BankId, Channel, Command, Cycle};
use memctrl::RowPolicy;

use super::plain::Plain;

/// Whom a command is for.
#[derive(Clone, Copy)]
pub enum Whom {
    Nobody,
    /// The index of an access.
    Access(usize),
    /// The place of a segment, and the index of one of its banks.
    Row(u64, usize),
    /// The place of a segment, and the index of one of its steps.
    Column(u64, usize),
}

/// Column accesses that stand behind one another.
struct Party {
    key: (u8, u64),
    /// In the order in which they are asked.
    commands: Vec<(Command, Whom)>,
}

/// Whether an older column access that waits keeps a younger one back.
fn keeps_back(older: &Command, younger: &Command) -> bool {
    let transfers = |command: &Command| matches!(command, Command::Transfer { .. });
    (!transfers(older) && !transfers(younger)) || older.rank() == younger.rank()
}

impl Plain {
    /// The command of a channel at this cycle.
    pub fn choose(&self, channel: Channel) -> Option<(Command, Whom)> {
        let ranks = 0..self.config.system.geometry.ranks();
        let own = ranks.clone().filter_map(|rank| self.own_command(channel, rank));
        let own: Vec<_> = own.map(|command| (command, Whom::Nobody)).collect();
        let candidates = self.candidates(channel);
        let (hasty, mut rows) = self.segment_rows(channel);
        for candidate in candidates.iter().filter(|candidate| !candidate.is_column()) {
            rows.push(((1, candidate.age), candidate.command, Whom::Access(candidate.access)));
        }
        let in_turn = |mut rows: Vec<((u8, u64), Command, Whom)>| {
            rows.sort_by_key(|&(key, ..)| key);
            rows.into_iter().map(|(_, command, whom)| (command, whom)).collect::<Vec<_>>()
        };
        let first =
            |commands: Vec<(Command, Whom)>| commands.into_iter().find(|(command, _)| self.can(channel, command));
        first(own)
            .or_else(|| first(in_turn(hasty)))
            .or_else(|| self.choose_column(channel))
            .or_else(|| first(in_turn(rows)))
            .or_else(|| first(self.timed_out(channel)))
    }

    /// The row commands of segments: those in ranks that must, and all.
    #[expect(clippy::type_complexity, reason = "two lists of what is sorted next")]
    fn segment_rows(&self, channel: Channel) -> (Vec<((u8, u64), Command, Whom)>, Vec<((u8, u64), Command, Whom)>) {
        let (mut hasty, mut all) = (Vec::new(), Vec::new());
        for segment in &self.segments {
            for (index, used) in segment.banks.iter().enumerate().filter(|(_, used)| used.channel == channel) {
                if let Some(command) = self.row_command(segment, used) {
                    let entry = (segment.key(), command, Whom::Row(segment.place, index));
                    all.push(entry);
                    if self.must(channel, used.bank.rank) {
                        hasty.push(entry);
                    }
                }
            }
        }
        (hasty, all)
    }

    fn choose_column(&self, channel: Channel) -> Option<(Command, Whom)> {
        let mut parties = Vec::new();
        for segment in &self.segments {
            if let Some(index) = self.column_access(segment, channel) {
                let command = segment.steps[index].command;
                if !self.must(channel, command.rank()) {
                    let commands = vec![(command, Whom::Column(segment.place, index))];
                    parties.push(Party { key: segment.key(), commands });
                }
            }
        }
        let mut accesses: Vec<_> =
            self.candidates(channel).into_iter().filter(super::accesses::Candidate::is_column).collect();
        accesses.sort_by_key(|candidate| candidate.age);
        if let Some(oldest) = accesses.first() {
            let key = (1, oldest.age);
            let commands =
                accesses.iter().map(|candidate| (candidate.command, Whom::Access(candidate.access))).collect();
            parties.push(Party { key, commands });
        }
        parties.sort_by_key(|party| party.key);
        let mut waiting: Vec<Command> = Vec::new();
        for party in parties {
            for (command, whom) in &party.commands {
                let kept_back = waiting.iter().any(|older| keeps_back(older, command));
                if !kept_back && self.can(channel, command) {
                    return Some((*command, *whom));
                }
            }
            waiting.extend(party.commands.iter().map(|(command, _)| *command));
        }
        None
    }

    /// Banks that have been open for long enough.
    fn timed_out(&self, channel: Channel) -> Vec<(Command, Whom)> {
        let RowPolicy::Timeout(after) = self.config.row_policy else { return Vec::new() };
        let mut commands = Vec::new();
        for rank in 0..self.config.system.geometry.ranks() {
            for bank in (0..8).map(|bank| BankId { rank, bank }) {
                let Some(open) = self.device(channel).open_row(bank) else { continue };
                let wanted = self.accesses.iter().any(|access| access.is_in(channel, bank) && access.at.row == open);
                let last = self.banks[usize::from(channel.0)][usize::from(rank)][usize::from(bank.bank)].last;
                if self.is_free(channel, bank) && !wanted && self.now.since(last) >= after {
                    commands.push((Command::Precharge { bank }, Whom::Nobody));
                }
            }
        }
        commands
    }

    /// Issues a command.
    pub fn issue(&mut self, channel: Channel, command: Command, whom: Whom) {
        let effect = self.devices[usize::from(channel.0)].issue(self.now, &command);
        self.note(channel, &command);
        self.figures.count(self.now, |figures| {
            super::figures::tally(&mut figures.commands, &command, effect);
            if matches!(command, Command::Read { .. } | Command::Write { .. }) {
                figures.channel_bytes += dram_spec::LINE_BYTES;
            }
        });
        match whom {
            Whom::Nobody => {}
            Whom::Access(index) => {
                self.issued_for(self.accesses[index].request, &command, effect);
                self.access_issued(index, &command);
            }
            Whom::Row(place, index) => {
                self.issued_for(self.segment(place).job, &command, effect);
                self.row_issued(place, index, &command);
            }
            Whom::Column(place, index) => {
                self.issued_for(self.segment(place).job, &command, effect);
                self.step_issued(place, index);
            }
        }
    }

    /// Remembers when banks and ranks had their last commands.
    fn note(&mut self, channel: Channel, command: &Command) {
        let now = self.now;
        let banks = match *command {
            Command::Activate { bank, .. } => {
                self.notes(channel, bank).served = 0;
                vec![bank]
            }
            Command::Precharge { bank } | Command::Read { bank, .. } | Command::Write { bank, .. } => vec![bank],
            Command::Transfer { src, dst, .. } => vec![src, dst],
            Command::PrechargeAll { .. }
            | Command::Refresh { .. }
            | Command::PowerDownEnter { .. }
            | Command::PowerDownExit { .. }
            | Command::SelfRefreshEnter { .. }
            | Command::SelfRefreshExit { .. } => vec![],
        };
        let back = match command {
            Command::Refresh { .. } => now.0 + self.cycles(P::Rfc),
            Command::PowerDownExit { .. } => now.0 + self.cycles(P::Xp),
            Command::SelfRefreshExit { .. } => now.0 + self.cycles(P::Dllk),
            _ => 0,
        };
        let rank = &mut self.back[usize::from(channel.0)][usize::from(command.rank())];
        *rank = (*rank).max(Cycle(back));
        for bank in banks {
            self.notes(channel, bank).last = now;
            self.used[usize::from(channel.0)][usize::from(bank.rank)] = now;
        }
    }

    /// A command of an access was issued.
    fn access_issued(&mut self, index: usize, command: &Command) {
        let access = &mut self.accesses[index];
        let column = match *command {
            Command::Activate { .. } => {
                access.activated = true;
                return;
            }
            Command::Read { column, .. } | Command::Write { column, .. } => column,
            _ => {
                access.precharged = true;
                return;
            }
        };
        let access = self.leave(index);
        let (channel, bank, row) = (access.at.channel, access.at.bank, access.at.row);
        self.notes(channel, bank).served += 1;
        self.figures.count(self.now, |figures| {
            let outcomes = if access.write { &mut figures.writes } else { &mut figures.reads };
            match (access.precharged, access.activated) {
                (true, _) => outcomes.conflicts += 1,
                (false, true) => outcomes.misses += 1,
                (false, false) => outcomes.hits += 1,
            }
        });
        let after = self.cycles(if access.write { P::Cwl } else { P::Cl }) + 4;
        let device = &mut self.devices[usize::from(channel.0)];
        let mut bytes = None;
        if !access.write {
            bytes = device.read_line(bank, row, column);
        } else if let Some(line) = self.written_line(access.request, access.address) {
            self.devices[usize::from(channel.0)].write_line(bank, row, column, &line);
        }
        self.answer(access.request, access.address, bytes, Cycle(self.now.0 + after));
        self.close_request(access.request);
    }
}
