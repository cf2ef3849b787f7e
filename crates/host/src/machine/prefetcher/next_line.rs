//! Prefetcher of the next lines.

use super::super::settings::PrefetchSettings;
use super::{Observed, Prefetcher};

/// Requests the lines that follow that of an access which misses, or is the first one to a prefetched
/// line, up to the end of the page: tagged prefetch (Smith, "Cache Memories", 1982).
#[derive(Debug)]
pub(super) struct NextLine(PrefetchSettings);

impl NextLine {
    pub(super) const fn new(settings: PrefetchSettings) -> NextLine {
        NextLine(settings)
    }
}

impl Prefetcher for NextLine {
    fn observe(&mut self, access: &Observed, wanted: &mut Vec<u64>) {
        let PrefetchSettings { degree, distance, .. } = self.0;
        if access.is_hit && !access.is_first_use {
            return;
        }
        wanted.extend((distance..distance + degree).filter_map(|lines| access.at(lines.cast_signed())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_after_an_access_are_wanted_up_to_the_end_of_its_page() {
        let mut prefetcher = NextLine::new(PrefetchSettings { degree: 2, distance: 3, mshrs: 4 });
        for (line, expected) in [(64, vec![67, 68]), (124, vec![127]), (125, vec![])] {
            for (is_hit, is_first_use) in [(false, false), (true, true), (true, false)] {
                let mut wanted = Vec::new();
                prefetcher.observe(&Observed { line, is_hit, is_first_use, lines_per_page: 64 }, &mut wanted);
                let expected = if is_hit && !is_first_use { &[][..] } else { &expected };
                assert_eq!(wanted, expected, "{line}");
            }
        }
    }
}
