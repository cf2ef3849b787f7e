//! How accesses join those that wait in the banks of a channel.

use dram_spec::Cycle;

use crate::access::{Accesses, Entry, Kind};
use crate::channel::ChannelState;
use crate::config::RowPolicy;
use crate::spot::Spot;

/// What accesses that came in may have changed: it is looked at once, after the last of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// Whether there was any.
    pub(crate) is_any: bool,
    /// Whether what a bank would do next may be something else.
    changes_candidates: bool,
    /// Whether the channel may have to turn.
    may_turn: bool,
}

impl ChannelState {
    /// An access joins those that wait in its bank.
    pub(crate) fn queue(&mut self, accesses: &mut Accesses, entry: Entry, kind: Kind, spot: Spot, now: Cycle) {
        let mut news = News::default();
        self.queue_among_others(accesses, entry, (kind, spot), now, &mut news);
        self.hear(news, now);
    }

    /// The same of one of several.
    #[inline]
    pub(crate) fn queue_among_others(
        &mut self,
        accesses: &mut Accesses,
        entry: Entry,
        (kind, spot): (Kind, Spot),
        now: Cycle,
        news: &mut News,
    ) {
        let matters = self.join(accesses, entry, kind, spot, now);
        // One more of the mode's own kind gives no reason to turn.
        if kind == self.mode {
            news.changes_candidates |= matters;
        } else {
            news.may_turn = true;
        }
    }

    /// The channel is looked at again, if there is a reason to.
    pub(crate) fn hear(&mut self, news: News, now: Cycle) {
        let turns = news.may_turn && self.should_turn();
        if turns || news.changes_candidates {
            self.look_at = self.look_at.min(now);
        }
    }

    /// An access joins those that wait in its bank; whether the channel must be looked at again, or turns, is left to the caller. Says
    /// whether the bank's candidate may be another.
    #[expect(clippy::inline_always, reason = "every line is queued, in one of two places")]
    #[inline(always)]
    pub(crate) fn join(&mut self, accesses: &mut Accesses, entry: Entry, kind: Kind, spot: Spot, now: Cycle) -> bool {
        let bank = spot.bank_index();
        let (is_first, matters) = self.queues.push(accesses, entry, kind, spot);
        if is_first {
            self.occupy((bank / 8) as u8, now);
        }
        if matters || self.row_policy == RowPolicy::Closed {
            self.known &= !(1 << bank);
            self.streak.forget();
            self.forget_prepared();
        }
        matters
    }
}
