//! Effects of commands.

use dram_core::P;
use dram_spec::{BankId, Command, Cycle, Effect, Min};
use rowclone::CopyStep;

use super::access::Kind;
use super::arbiter::Owner;
use super::channel::Channel;
use super::figures::Recorder;
use super::front::FrontEnd;
use super::scheduler::attain;

impl Channel {
    /// Effect of a command that is about to be issued, from the open rows.
    pub fn effect(&self, command: &Command) -> Effect {
        let subarray = |row| self.config.system.geometry.subarray(row);
        let (bank, row) = match *command {
            Command::Activate { bank, row } => (bank, row),
            Command::MoveRowBuffer { bank, row } => {
                let src = self.device.open_row(bank).expect("a row is open");
                return Effect::Moved { src, hops: subarray(src).abs_diff(subarray(row)) as u16 };
            }
            _ => return Effect::Plain,
        };
        let moved = self.moved.iter().find(|(of, _)| *of == bank);
        match self.device.open_row(bank) {
            None => moved.map_or(Effect::Plain, |&(_, src)| Effect::Copied { src }),
            Some(open) if subarray(open) == subarray(row) => Effect::Copied { src: open },
            Some(open) => Effect::Dropped { open },
        }
    }

    /// Issues a command.
    pub fn apply(&mut self, now: u64, owner: Owner, command: &Command, front: &mut FrontEnd, recorder: &mut Recorder) {
        let open: Vec<BankId> =
            self.all_banks().into_iter().filter(|bank| self.device.open_row(*bank).is_some()).collect();
        let latency = match command {
            Command::Write { .. } => self.device.timings().get(P::Cwl).0,
            _ => self.device.timings().get(P::Cl).0,
        };
        let effect = self.effect(command);
        recorder.command(command, effect);
        match (effect, *command) {
            (Effect::Moved { src, .. }, Command::MoveRowBuffer { bank, .. }) => self.moved.push((bank, src)),
            (_, Command::Activate { bank, .. }) => self.moved.retain(|(of, _)| *of != bank),
            _ => {}
        }
        self.device.issue(Cycle(now), command);
        let done = now + latency + self.config.system.burst().0;
        let source = match owner {
            Owner::Rank(_) | Owner::RowPolicy => None,
            Owner::Access(at) => Some(self.accesses[at].source),
            Owner::ThreadRow(at, _) | Owner::ThreadColumn(at) => {
                Some(front.programs[self.threads[at].program].source())
            }
        };
        if let Some(source) = source {
            let clock = self.config.system.clock();
            let movement = |hops: u16| clock.at_least(Min::ps(8_000 + 8_000 * u64::from(hops))).0;
            attain(&mut self.scheduler, source, command, (effect, movement), self.device.timings());
        }
        match owner {
            Owner::Rank(_) => self.apply_to_rank(now, command),
            Owner::RowPolicy => {}
            Owner::Access(at) => {
                front.issued_for(self.accesses[at].request, now);
                self.apply_to_access(at, command, done, front, recorder);
            }
            Owner::ThreadRow(at, bank) => {
                front.issued_for(self.threads[at].request, now);
                self.bank(bank).served = 0;
                self.threads[at].row_command_issued(bank, command);
                self.settle(now, at, bank, front, recorder);
            }
            Owner::ThreadColumn(at) => {
                front.issued_for(self.threads[at].request, now);
                self.move_line(at, done, front);
                self.threads[at].column_command_issued();
                let banks = self.threads[at].held.clone();
                for bank in banks {
                    self.settle(now, at, bank, front, recorder);
                }
            }
        }
        for bank in open {
            if self.device.open_row(bank).is_none() && self.bank(bank).unused.take().is_some() {
                recorder.figures.unused_activates += 1;
            }
        }
        self.remove_done(front);
    }

    fn apply_to_rank(&mut self, now: u64, command: &Command) {
        let parameter = match command {
            Command::Refresh { .. } => P::Rfc,
            Command::PowerDownExit { .. } => P::Xp,
            Command::SelfRefreshExit { .. } => P::Dllk,
            _ => return,
        };
        let recovered = &mut self.recovered[usize::from(command.rank())];
        *recovered = (*recovered).max(now + self.device.timings().get(parameter).0);
    }

    fn apply_to_access(
        &mut self,
        at: usize,
        command: &Command,
        done: u64,
        front: &mut FrontEnd,
        recorder: &mut Recorder,
    ) {
        let place = self.accesses[at].place;
        match command {
            Command::Activate { .. } => {
                self.accesses[at].activated = true;
                let unused = Some(self.accesses[at].kind);
                let bank = self.bank(place.bank);
                (bank.unused, bank.served) = (unused, 0);
            }
            Command::Precharge { .. } => self.accesses[at].precharged = true,
            _ => {
                let access = self.accesses.remove(at);
                let bank = self.bank(place.bank);
                (bank.unused, bank.served) = (None, bank.served + 1);
                let left: Vec<_> = self.queued(Kind::Read).map(|read| read.source).collect();
                self.scheduler.served(&access, &left);
                recorder.outcome(&access);
                if let Some(data) = access.data {
                    self.device.write_line(place.bank, place.row, place.column, &data);
                }
                let read = access.kind == Kind::Read;
                let data = read.then(|| self.device.read_line(place.bank, place.row, place.column)).flatten();
                front.served(&access, data.as_ref().map(|line| &line[..]), done);
            }
        }
    }

    /// Moves the line of a thread's column command; the device moves that of a TRANSFER.
    fn move_line(&mut self, at: usize, done: u64, front: &mut FrontEnd) {
        let thread = &self.threads[at];
        let program = &mut front.programs[thread.program];
        match thread.column_step(&self.device) {
            Some((&CopyStep::Read { run, .. }, number)) => {
                let line = run.line(number);
                let place = line.location;
                program.read(line.address.0, self.device.read_line(place.bank, place.row, place.column), done);
            }
            Some((&CopyStep::Write { write, .. }, number)) => {
                let write = write.write(number);
                let (place, data) = (write.line.location, program.write(&write));
                self.device.write_line(place.bank, place.row, place.column, &data);
            }
            _ => {}
        }
    }
}
