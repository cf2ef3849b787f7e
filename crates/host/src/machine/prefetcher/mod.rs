//! Prefetchers: which lines a cache requests before accesses to them.
//!
//! A prefetcher is a file of this folder and a line of [`prefetcher`]. It has no access to the caches: it observes
//! accesses, and names lines. The cache requests those that it lacks.

mod next_line;
mod stream;
mod stride;

use std::fmt::Debug;

use self::next_line::NextLine;
use self::stream::StreamPrefetcher;
use self::stride::Stride;
use super::settings::{PrefetchSettings, PrefetcherKind};

/// An access of a level.
#[derive(Clone, Copy, Debug)]
pub struct Observed {
    /// Number of the line: its address divided by the size of a line.
    pub line: u64,
    /// Whether the level held its data.
    pub is_hit: bool,
    /// Whether the line was prefetched, and no access has used it before.
    pub is_first_use: bool,
    /// Lines of a page; a prefetcher names lines of the page of the access only.
    pub lines_per_page: u64,
}

impl Observed {
    /// Number of the page.
    const fn page(&self) -> u64 {
        self.line / self.lines_per_page
    }

    /// The line a number of lines away, if it belongs to the page.
    fn at(&self, distance: i64) -> Option<u64> {
        let line = self.line.checked_add_signed(distance)?;
        (line / self.lines_per_page == self.page()).then_some(line)
    }
}

/// What decides which lines to request.
pub trait Prefetcher: Debug {
    /// Observes an access, and adds the lines to request, in this order.
    fn observe(&mut self, access: &Observed, wanted: &mut Vec<u64>);
}

/// The prefetcher of a kind, if it is one.
pub fn prefetcher(kind: PrefetcherKind, settings: PrefetchSettings) -> Option<Box<dyn Prefetcher>> {
    match kind {
        PrefetcherKind::None => None,
        PrefetcherKind::NextLine => Some(Box::new(NextLine::new(settings))),
        PrefetcherKind::Stride => Some(Box::new(Stride::new(settings))),
        PrefetcherKind::Stream => Some(Box::new(StreamPrefetcher::new(settings))),
    }
}
