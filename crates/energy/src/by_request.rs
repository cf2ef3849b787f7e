//! Command counts by request.

use std::collections::BTreeMap;

use dram_spec::{CommandCounts, CommandEvent, EventSink, RequestId};

/// Counts the commands of each request, or of each group of requests, by the causes of the events.
/// Memory grows with the number of requests or groups.
#[derive(Clone, Debug)]
pub struct ByRequest {
    /// Requests whose numbers are equal modulo this number are counted together.
    groups: u64,
    counts: BTreeMap<RequestId, CommandCounts>,
}

impl Default for ByRequest {
    fn default() -> ByRequest {
        ByRequest::in_groups(u64::MAX)
    }
}

impl ByRequest {
    /// Creates the counts of groups: request `n` belongs to the group `n` modulo `groups`, at least
    /// 1. The default is one group per request.
    pub const fn in_groups(groups: u64) -> ByRequest {
        ByRequest { groups, counts: BTreeMap::new() }
    }

    /// Counts of a request or, by its number, of a group; all 0 if it has no command.
    pub fn of(&self, request: RequestId) -> CommandCounts {
        self.counts.get(&request).copied().unwrap_or_default()
    }
}

impl EventSink for ByRequest {
    fn command(&mut self, event: &CommandEvent) {
        let Some(request) = event.cause.request() else { return };
        self.counts.entry(RequestId(request.0 % self.groups)).or_default().count(&event.command, event.effect);
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::{Channel, CommandKind, Cycle, IssueCause, Mechanism};

    use super::*;

    fn event(kind: CommandKind, cause: IssueCause) -> CommandEvent {
        let (command, effect) = kind.examples()[0];
        CommandEvent { cause, ..CommandEvent::new(Cycle(0), Channel(0), command, effect) }
    }

    /// Each kind, as often as its number in the list of kinds.
    #[test]
    fn a_command_counts_for_the_request_of_its_cause_by_its_kind() {
        let mut reader = ByRequest::default();
        let (read, copy) = (RequestId(4), RequestId(7));
        let copies = IssueCause::Copy { request: copy, mechanism: Mechanism::CHANNEL, program: 0 };
        for (count, kind) in (0..).zip(CommandKind::ALL) {
            for cause in [
                IssueCause::Refresh,
                IssueCause::Power,
                IssueCause::RowPolicy,
                IssueCause::Unknown,
                IssueCause::Read(read),
            ] {
                reader.command(&event(kind, cause));
            }
            (0..count).for_each(|_| reader.command(&event(kind, copies)));
        }
        assert_eq!(reader.of(read), CommandCounts::new(1));
        assert_eq!(reader.of(copy), CommandCounts::from_fn(|kind| kind as u64));
        assert_eq!(reader.of(RequestId(0)), CommandCounts::default());
    }

    #[test]
    fn requests_of_a_group_are_counted_together() {
        let mut reader = ByRequest::in_groups(2);
        for request in [2, 3, 5, 7] {
            reader.command(&event(CommandKind::Read, IssueCause::Read(RequestId(request))));
        }
        assert_eq!([0, 1].map(|group| reader.of(RequestId(group))[CommandKind::Read]), [1, 3]);
    }
}
