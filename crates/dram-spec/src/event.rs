//! Command events and event sinks.

use crate::command::{Command, CommandKind};
use crate::coordinates::Channel;
use crate::mechanism::Mechanism;
use crate::properties::Effect;
use crate::units::{Cycle, Cycles};

/// Identifier of a request. Its requester chooses it; the controller returns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Identifier of a source of requests: a core, a thread, or a device. Schedulers distinguish sources
/// by it.
///
/// The identifiers from `0x8000` on are those of [devices](SourceId::device); those below are of
/// cores and threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u16);

impl SourceId {
    /// The bit that distinguishes devices.
    const DEVICE: u16 = 1 << 15;

    /// The device with this number: a copy engine, a DMA channel, a network adapter.
    ///
    /// # Panics
    ///
    /// If the number is 32,768 or more.
    pub const fn device(number: u16) -> SourceId {
        assert!(number < SourceId::DEVICE, "the numbers of devices end at 32,767");
        SourceId(SourceId::DEVICE | number)
    }

    /// Whether the source is a device, and not a core or a thread.
    #[inline]
    pub const fn is_device(self) -> bool {
        self.0 & SourceId::DEVICE != 0
    }

    /// The number of the device, if the source is one.
    #[inline]
    pub const fn device_number(self) -> Option<u16> {
        if self.is_device() { Some(self.0 & !SourceId::DEVICE) } else { None }
    }
}

/// Reason why the controller issued a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueCause {
    /// For a line of a read.
    Read(RequestId),
    /// For a line of a write.
    Write(RequestId),
    /// A step of a copy program.
    Copy {
        /// The copy, initialization or partial-line write.
        request: RequestId,
        /// Mechanism of the program.
        mechanism: Mechanism,
        /// Number of the program, counted from 0 over the run.
        program: u64,
    },
    /// REF, and PREA and PDX or SRX on its behalf.
    Refresh,
    /// Entry into power-down or self-refresh, PREA before it, and exit because requests wait.
    Power,
    /// PRE of a row that no access needed (the row policy `timeout`).
    RowPolicy,
    /// Not known: the stream was read from a log.
    Unknown,
}

impl IssueCause {
    /// Request served by the command, if any.
    #[inline]
    pub const fn request(&self) -> Option<RequestId> {
        match self {
            IssueCause::Read(request) | IssueCause::Write(request) | IssueCause::Copy { request, .. } => Some(*request),
            IssueCause::Refresh | IssueCause::Power | IssueCause::RowPolicy | IssueCause::Unknown => None,
        }
    }
}

/// A command, its cycle and its channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issued {
    /// First command-bus cycle.
    pub at: Cycle,
    /// Channel.
    pub channel: Channel,
    /// Command.
    pub command: Command,
}

/// A command on the bus of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEvent {
    /// First command-bus cycle.
    pub at: Cycle,
    /// Channel.
    pub channel: Channel,
    /// Command.
    pub command: Command,
    /// Effect of the command on the rows of its bank.
    pub effect: Effect,
    /// Reason why the command was issued.
    pub cause: IssueCause,
    /// The timing rule that permits the command from `at` on, if it determined the cycle; `None` if
    /// there was another reason.
    pub held_by: Option<&'static str>,
}

impl CommandEvent {
    /// A command of unknown cause.
    pub const fn new(at: Cycle, channel: Channel, command: Command, effect: Effect) -> CommandEvent {
        CommandEvent { at, channel, command, effect, cause: IssueCause::Unknown, held_by: None }
    }

    /// Kind of the command, by its effect.
    #[inline]
    pub const fn kind(&self) -> CommandKind {
        CommandKind::of(&self.command, self.effect)
    }

    /// The command without its cause and its effect.
    #[inline]
    pub const fn issued(&self) -> Issued {
        Issued { at: self.at, channel: self.channel, command: self.command }
    }
}

/// Column commands of one step of a copy to consecutive columns, at equal distances, between which
/// the channel issues no other command.
#[derive(Clone, Copy, Debug)]
pub struct ColumnRun {
    /// The first command.
    pub first: CommandEvent,
    /// Number of commands.
    pub lines: u64,
    /// Distance from one command to the next.
    pub pitch: Cycles,
    /// The rule that determined the cycle of each command but the first.
    pub rest_held_by: Option<&'static str>,
}

impl ColumnRun {
    /// Cycle of the last command.
    #[inline]
    pub fn last(&self) -> Cycle {
        self.first.at + self.pitch * (self.lines - 1)
    }

    /// The command with this number, counted from 0.
    pub fn event(&self, number: u64) -> CommandEvent {
        let ColumnRun { first, pitch, rest_held_by, .. } = *self;
        CommandEvent {
            at: first.at + pitch * number,
            command: first.command.further(number as u16),
            held_by: if number == 0 { first.held_by } else { rest_held_by },
            ..first
        }
    }

    /// The commands one by one.
    pub fn events(&self) -> impl Iterator<Item = CommandEvent> {
        (0..self.lines).map(|number| self.event(number))
    }
}

/// Number of accesses in the queues of a channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Entries in the read queue.
    pub reads: u64,
    /// Entries in the write queue.
    pub writes: u64,
}

/// A sink of the commands of a run, called as each command is issued.
///
/// Cycles never decrease: over all channels, or for a sink that [needs no
/// order](EventSink::wants_order) on each channel.
pub trait EventSink {
    /// Called for each command.
    fn command(&mut self, event: &CommandEvent);

    /// Called instead of [`Self::command`] for the commands of a run; by default, passes them on one
    /// by one.
    fn run(&mut self, run: &ColumnRun) {
        run.events().for_each(|event| self.command(&event));
    }

    /// Whether commands must be reported in order of time over all channels. If not, those of each
    /// channel are in order.
    #[inline]
    fn wants_order(&self) -> bool {
        true
    }

    /// Whether [`Self::queued`] must be called.
    #[inline]
    fn wants_queues(&self) -> bool {
        false
    }

    /// Reports the accesses in the queues of `channel` after a command at `at`.
    #[inline]
    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        let _ = (at, channel, queued);
    }

    /// Reports that a run without commands has reached a cycle: that of a memory whose commands are not modeled.
    fn reached(&mut self, at: Cycle) {
        let _ = at;
    }

    /// Called after the last command; the run lasted until `end`.
    fn finish(&mut self, end: Cycle) {
        let _ = end;
    }
}

/// A sink without effect.
impl EventSink for () {
    fn command(&mut self, _: &CommandEvent) {}
    fn run(&mut self, _: &ColumnRun) {}
    fn wants_order(&self) -> bool {
        false
    }
}

/// The methods of a sink made of sinks, except [`EventSink::command`]: each passes its arguments on to each sink.
macro_rules! pass_on {
    (|$self:ident| $($sink:expr),+) => {
        fn run(&mut $self, run: &ColumnRun) {
            $($sink.run(run);)+
        }
        #[inline]
        fn wants_order(&$self) -> bool {
            $($sink.wants_order())||+
        }
        fn wants_queues(&$self) -> bool {
            $($sink.wants_queues())||+
        }
        fn queued(&mut $self, at: Cycle, channel: Channel, queued: Queued) {
            $($sink.queued(at, channel, queued);)+
        }
        fn reached(&mut $self, at: Cycle) {
            $($sink.reached(at);)+
        }
        fn finish(&mut $self, end: Cycle) {
            $($sink.finish(end);)+
        }
    };
}

impl<S: EventSink + ?Sized> EventSink for &mut S {
    #[inline]
    fn command(&mut self, event: &CommandEvent) {
        (**self).command(event);
    }

    pass_on!(|self| (**self));
}

/// A sequence of sinks, each of which receives all commands.
impl<S: EventSink> EventSink for Vec<S> {
    #[inline]
    fn command(&mut self, event: &CommandEvent) {
        // The sinks read a copy: if there are none, the event need not be in memory.
        if !self.is_empty() {
            command_to_all(self, *event);
        }
    }
    fn run(&mut self, run: &ColumnRun) {
        for sink in self {
            sink.run(run);
        }
    }
    #[inline]
    fn wants_order(&self) -> bool {
        self.iter().any(S::wants_order)
    }
    #[inline]
    fn wants_queues(&self) -> bool {
        self.iter().any(S::wants_queues)
    }
    fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
        for sink in self {
            sink.queued(at, channel, queued);
        }
    }
    fn reached(&mut self, at: Cycle) {
        for sink in self {
            sink.reached(at);
        }
    }
    fn finish(&mut self, end: Cycle) {
        for sink in self {
            sink.finish(end);
        }
    }
}

#[inline(never)]
fn command_to_all<S: EventSink>(sinks: &mut [S], event: CommandEvent) {
    for sink in sinks {
        sink.command(&event);
    }
}

impl<A: EventSink, B: EventSink> EventSink for (A, B) {
    #[inline(always)]
    fn command(&mut self, event: &CommandEvent) {
        self.0.command(event);
        self.1.command(event);
    }

    pass_on!(|self| self.0, self.1);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stores all events.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Kept {
        commands: Vec<CommandEvent>,
        queues: Vec<(Cycle, Channel, Queued)>,
        ends: Vec<Cycle>,
    }

    impl EventSink for Kept {
        fn command(&mut self, event: &CommandEvent) {
            self.commands.push(*event);
        }
        fn wants_queues(&self) -> bool {
            true
        }
        fn queued(&mut self, at: Cycle, channel: Channel, queued: Queued) {
            self.queues.push((at, channel, queued));
        }
        fn finish(&mut self, end: Cycle) {
            self.ends.push(end);
        }
    }

    const EVENT: CommandEvent = CommandEvent::new(Cycle(7), Channel(1), Command::Refresh { rank: 1 }, Effect::Plain);
    const QUEUED: Queued = Queued { reads: 3, writes: 4 };

    /// Sends a command, queue depths and the end.
    fn feed(mut sink: impl EventSink) {
        assert!(sink.wants_queues());
        sink.command(&EVENT);
        sink.queued(Cycle(7), Channel(1), QUEUED);
        sink.finish(Cycle(9));
    }

    #[test]
    fn devices_have_the_upper_half_of_the_identifiers() {
        assert_eq!(SourceId::device(2), SourceId(0x8002));
        assert!(SourceId::device(0).is_device() && SourceId(u16::MAX).is_device());
        assert!(!SourceId(0).is_device() && !SourceId(0x7FFF).is_device());
        assert_eq!([SourceId::device(2), SourceId(2)].map(SourceId::device_number), [Some(2), None]);
    }

    #[test]
    fn sinks_made_of_sinks_pass_everything_on_to_each() {
        let expected =
            Kept { commands: vec![EVENT], queues: vec![(Cycle(7), Channel(1), QUEUED)], ends: vec![Cycle(9)] };
        let [mut first, mut second] = [Kept::default(), Kept::default()];
        let mut third = Kept::default();
        let mut others = vec![Kept::default(), Kept::default()];
        feed(((&mut first, &mut second), (&mut third, &mut others)));
        assert_eq!([&first, &second, &third], [&expected; 3]);
        assert_eq!(others, [expected.clone(), expected]);
    }

    #[test]
    fn depths_are_wanted_if_any_sink_wants_them() {
        assert!(!((), ()).wants_queues() && !Vec::<Kept>::new().wants_queues());
        assert!(((), Kept::default()).wants_queues() && (Kept::default(), ()).wants_queues());
        assert!(vec![Kept::default()].wants_queues());
    }
}
