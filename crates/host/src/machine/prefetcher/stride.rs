//! Prefetcher of lines at a constant distance.

use super::super::settings::PrefetchSettings;
use super::{Observed, Prefetcher};

/// Pages whose accesses are compared.
const PAGES: usize = 16;

/// The last accesses to a page.
#[derive(Clone, Copy, Debug)]
struct PageHistory {
    page: u64,
    line: u64,
    /// Lines from the access before to the last one; 0 after one access.
    stride: i64,
}

/// Requests the lines that follow at the distance of the last two accesses to a page, once two
/// distances in succession are equal. Accesses to one line in succession count as one.
#[derive(Debug)]
pub(super) struct Stride {
    settings: PrefetchSettings,
    /// Pages, that of the last access last.
    streams: Vec<PageHistory>,
}

impl Stride {
    pub(super) const fn new(settings: PrefetchSettings) -> Stride {
        Stride { settings, streams: Vec::new() }
    }

    /// The stream of a page before its last access, if it is known; the least recently used one is
    /// forgotten.
    fn take(&mut self, page: u64) -> Option<PageHistory> {
        let known = self.streams.iter().position(|stream| stream.page == page);
        let oldest = (self.streams.len() == PAGES).then_some(0);
        let taken = known.or(oldest).map(|place| self.streams.remove(place));
        taken.filter(|stream| stream.page == page)
    }
}

impl Prefetcher for Stride {
    fn observe(&mut self, access: &Observed, wanted: &mut Vec<u64>) {
        let (line, page) = (access.line, access.page());
        let Some(stream) = self.take(page) else {
            return self.streams.push(PageHistory { page, line, stride: 0 });
        };
        let stride = line.cast_signed() - stream.line.cast_signed();
        if stride == 0 {
            return self.streams.push(stream);
        }
        self.streams.push(PageHistory { page, line, stride });
        if stride == stream.stride {
            let PrefetchSettings { degree, distance, .. } = self.settings;
            let steps = distance.cast_signed()..(distance + degree).cast_signed();
            wanted.extend(steps.map_while(|steps| access.at(steps * stride)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(prefetcher: &mut Stride, line: u64) -> Vec<u64> {
        let mut wanted = Vec::new();
        prefetcher.observe(&Observed { line, is_hit: false, is_first_use: false, lines_per_page: 64 }, &mut wanted);
        wanted
    }

    /// Distances of +3, +3 and then -2, -2; the accesses to page 1 between them do not count.
    #[test]
    fn two_equal_distances_in_a_page_are_continued() {
        let mut stride = Stride::new(PrefetchSettings { degree: 2, distance: 2, mshrs: 4 });
        assert_eq!([10, 13, 13, 70].map(|line| wanted(&mut stride, line)), [const { Vec::<u64>::new() }; 4]);
        assert_eq!(wanted(&mut stride, 16), [22, 25]);
        assert_eq!(wanted(&mut stride, 14), Vec::<u64>::new());
        assert_eq!(wanted(&mut stride, 12), [8, 6]);
        assert_eq!([wanted(&mut stride, 10), wanted(&mut stride, 2)], [vec![6, 4], vec![]]);
    }

    #[test]
    fn no_line_of_another_page_is_wanted() {
        let mut stride = Stride::new(PrefetchSettings { degree: 3, distance: 1, mshrs: 4 });
        assert_eq!([40, 50, 60].map(|line| wanted(&mut stride, line)), [const { Vec::<u64>::new() }; 3]);
        assert_eq!([68, 66, 64].map(|line| wanted(&mut stride, line)), [const { Vec::<u64>::new() }; 3]);
    }

    /// With 16 pages in the table, a 17th replaces the least recently used one.
    #[test]
    fn the_least_recently_used_page_is_forgotten() {
        let mut stride = Stride::new(PrefetchSettings { degree: 1, distance: 1, mshrs: 4 });
        let mut touch = |page: u64, line: u64| wanted(&mut stride, page * 64 + line).len();
        for line in [0, 1] {
            assert_eq!((0..16).map(|page| touch(page, line)).sum::<usize>(), 0);
        }
        assert_eq!((touch(0, 2), touch(16, 0)), (1, 0), "page 1 is forgotten");
        assert_eq!((touch(1, 2), touch(3, 2), touch(0, 3)), (0, 1, 1));
    }
}
