//! Command counts by request.

use std::collections::BTreeMap;

use dram_spec::rows::{Activation, OpenRows};
use dram_spec::{Command, CommandEvent, EventSink, Geometry, RequestId};

use crate::counts::Counts;

/// Counts the commands of each request, or of each group of requests, by the causes of the events.
/// Memory grows with the number of requests or groups.
#[derive(Clone, Debug)]
pub struct ByRequest {
    rows: OpenRows,
    /// Requests whose numbers are equal modulo this number are counted together.
    groups: u64,
    counts: BTreeMap<RequestId, Counts>,
}

impl ByRequest {
    /// Creates the counts before any command.
    pub const fn new(geometry: Geometry) -> ByRequest {
        ByRequest::in_groups(geometry, u64::MAX)
    }

    /// Creates the counts of groups: request `n` belongs to the group `n` modulo `groups`, at least
    /// 1.
    pub const fn in_groups(geometry: Geometry, groups: u64) -> ByRequest {
        ByRequest { rows: OpenRows::new(geometry), groups, counts: BTreeMap::new() }
    }

    /// Counts of a request or, by its number, of a group; all 0 if it has no command.
    pub fn of(&self, request: RequestId) -> Counts {
        self.counts.get(&request).copied().unwrap_or_default()
    }
}

impl EventSink for ByRequest {
    fn command(&mut self, event: &CommandEvent) {
        let activation = self.rows.follow(event.channel, &event.command);
        let Some(request) = event.cause.request() else { return };
        let counts = self.counts.entry(RequestId(request.0 % self.groups)).or_default();
        match (event.command, activation) {
            (_, Some(Activation::Opens)) => counts.activates += 1,
            (_, Some(Activation::Copies { .. })) => counts.copy_activates += 1,
            (_, Some(Activation::Dropped { .. })) => counts.dropped_activates += 1,
            (Command::Read { .. }, _) => counts.reads += 1,
            (Command::Write { .. }, _) => counts.writes += 1,
            (Command::Transfer { .. }, _) => counts.transfers += 1,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{BankId, Cause, Channel, Column, Cycle, Density, Mechanism, Row, System, Width};

    use super::*;

    #[test]
    fn a_command_counts_for_the_request_of_its_cause() {
        let mut reader = ByRequest::new(System::paper(1, Density::Gb2, Width::X8).geometry);
        let bank = BankId { rank: 0, bank: 0 };
        let (read, copy) = (RequestId(4), RequestId(7));
        let copies = Cause::Copy { request: copy, mechanism: Mechanism::CHANNEL, program: 0 };
        let auto_precharge = dram_spec::AutoPrecharge::No;
        let column = Column(0);
        for (command, cause) in [
            (Command::Activate { bank, row: Row(1) }, Cause::Read(read)),
            (Command::Read { bank, column, auto_precharge }, Cause::Read(read)),
            (Command::Read { bank, column, auto_precharge }, copies),
            (Command::PrechargeAll { rank: 0 }, Cause::Refresh),
            (Command::Activate { bank, row: Row(1) }, copies),
            (Command::Activate { bank, row: Row(2) }, copies),
            (Command::Activate { bank, row: Row(5000) }, copies),
            (Command::Write { bank, column, auto_precharge }, copies),
        ] {
            reader.command(&CommandEvent { at: Cycle(0), channel: Channel(0), command, cause, held_by: None });
        }
        assert_eq!(reader.of(read), Counts { activates: 1, reads: 1, ..Counts::default() });
        let copied =
            Counts { activates: 1, copy_activates: 1, dropped_activates: 1, reads: 1, writes: 1, ..Counts::default() };
        assert_eq!(reader.of(copy), copied);
        assert_eq!(reader.of(RequestId(0)), Counts::default());
    }

    #[test]
    fn requests_of_a_group_are_counted_together() {
        let mut reader = ByRequest::in_groups(System::paper(1, Density::Gb2, Width::X8).geometry, 2);
        let bank = BankId { rank: 0, bank: 0 };
        let command = Command::Read { bank, column: Column(0), auto_precharge: dram_spec::AutoPrecharge::No };
        for request in [2, 3, 5, 7] {
            let cause = Cause::Read(RequestId(request));
            reader.command(&CommandEvent { at: Cycle(0), channel: Channel(0), command, cause, held_by: None });
        }
        assert_eq!([0, 1].map(|group| reader.of(RequestId(group)).reads), [1, 3]);
    }
}
