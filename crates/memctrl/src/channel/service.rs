//! Reports of the service of sources to the scheduler, if it wants them.

use dram_core::{Device, KeptKind};
use dram_spec::{BankIndex, Command, CommandKind, Cycle, Effect, SourceId};

use super::Channel;
use super::accesses::Accesses;
use crate::access::QueuedAccess;
use crate::policy::scheduler::{Reads, Service, bank_time};
use crate::queues::Queues;

impl Channel {
    /// Reports a command for the access at a place of the pool.
    #[inline]
    pub(super) fn served_access(&mut self, at: Cycle, kind: CommandKind, place: u16) {
        if self.accesses.wants_service() {
            let access = self.queues.get(place);
            let of = (access.source(), access.bank());
            serve(&mut self.accesses, (&self.device, &self.queues), at, kind, of, 1, Some(access));
        }
    }

    /// Reports the next row step in a bank, which has been issued.
    #[inline(always)]
    pub(super) fn served_row_step(&mut self, at: Cycle, bank: BankIndex) {
        if self.accesses.wants_service() {
            let step = self.port.row_step(bank);
            let kind = match step.next.kind {
                KeptKind::ActCopy => CommandKind::CopyActivate,
                _ => CommandKind::of(&step.next.command, Effect::Plain),
            };
            let source = step.source;
            if let Some(bank_time) = self.device.own_time(bank) {
                let reads = Reads(&self.queues);
                let service = Service { at, source, bank, kind, commands: 1, bank_time, access: None, reads };
                return self.accesses.serve(&service);
            }
            serve(&mut self.accesses, (&self.device, &self.queues), at, kind, (source, bank), 1, None);
        }
    }

    /// Reports a run of column steps of the thread in a slot.
    #[inline(always)]
    pub(super) fn served_columns(&mut self, at: Cycle, slot: u8, command: &Command, commands: u64) {
        if self.accesses.wants_service() {
            let (source, kind) = (self.port.source(slot), CommandKind::of(command, Effect::Plain));
            let banks = match *command {
                Command::Transfer { src, dst, .. } => [Some(src), Some(dst)],
                Command::Read { bank, .. } | Command::Write { bank, .. } => [Some(bank), None],
                _ => [None; 2],
            };
            for bank in banks.into_iter().flatten() {
                let bank = self.topology.index(bank);
                serve(&mut self.accesses, (&self.device, &self.queues), at, kind, (source, bank), commands, None);
            }
        }
    }
}

/// Reports commands for a source in a bank to the scheduler; `access` is what they serve, if it is
/// no copy.
fn serve(
    accesses: &mut Accesses,
    (device, queues): (&Device, &Queues),
    at: Cycle,
    kind: CommandKind,
    (source, bank): (SourceId, BankIndex),
    commands: u64,
    access: Option<&QueuedAccess>,
) {
    let bank_time = bank_time(kind, device.timings()) * commands;
    accesses.serve(&Service { at, source, bank, kind, commands, bank_time, access, reads: Reads(queues) });
}
