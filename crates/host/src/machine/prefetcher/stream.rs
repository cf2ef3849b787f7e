//! Prefetcher of sequences of lines.

use super::super::settings::PrefetchSettings;
use super::{Observed, Prefetcher};

/// Sequences that are followed, as many as in the POWER4 and POWER5.
const STREAMS: usize = 8;

/// A sequence of accesses.
#[derive(Clone, Copy, Debug)]
struct Sequence {
    /// The line of its last access.
    line: u64,
    /// 1 upwards, -1 downwards; 0 after one access.
    direction: i64,
    /// Lines from the last access to the farthest one that was named.
    ahead: i64,
}

/// Follows sequences of adjacent lines, which begin with two misses, and keeps a number of lines ahead of each
/// requested: `distance + degree - 1`.
#[derive(Debug)]
pub(super) struct StreamPrefetcher {
    settings: PrefetchSettings,
    /// Sequences, that of the last access last.
    sequences: Vec<Sequence>,
}

impl StreamPrefetcher {
    pub(super) const fn new(settings: PrefetchSettings) -> StreamPrefetcher {
        StreamPrefetcher { settings, sequences: Vec::new() }
    }

    /// Follows a sequence to the line of an access, and names the lines ahead that it has not named.
    fn advance(&self, sequence: Sequence, direction: i64, access: &Observed, wanted: &mut Vec<u64>) -> Sequence {
        let PrefetchSettings { degree, distance, .. } = self.settings;
        let named = (sequence.ahead - 1).max(0);
        let lines = (distance + degree - 1).cast_signed();
        let mut ahead = named;
        for (lines, line) in (named + 1..=lines).map_while(|lines| Some((lines, access.at(lines * direction)?))) {
            wanted.push(line);
            ahead = lines;
        }
        Sequence { line: access.line, direction, ahead }
    }
}

impl Prefetcher for StreamPrefetcher {
    fn observe(&mut self, access: &Observed, wanted: &mut Vec<u64>) {
        let distance = |sequence: &Sequence| access.line.cast_signed() - sequence.line.cast_signed();
        // The latest sequence of which the access is part.
        let is_part = |sequence: &Sequence| match distance(sequence) {
            0 => true,
            step @ (1 | -1) => sequence.direction == step || (sequence.direction == 0 && !access.is_hit),
            _ => false,
        };
        if let Some(place) = self.sequences.iter().rposition(is_part) {
            let sequence = self.sequences.remove(place);
            let sequence = match distance(&sequence) {
                0 => sequence,
                direction => self.advance(sequence, direction, access, wanted),
            };
            return self.sequences.push(sequence);
        }
        if !access.is_hit {
            if self.sequences.len() == STREAMS {
                self.sequences.remove(0);
            }
            self.sequences.push(Sequence { line: access.line, direction: 0, ahead: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(prefetcher: &mut StreamPrefetcher, line: u64, is_hit: bool) -> Vec<u64> {
        let mut wanted = Vec::new();
        prefetcher.observe(&Observed { line, is_hit, is_first_use: false, lines_per_page: 32 }, &mut wanted);
        wanted
    }

    fn stream(degree: u64, distance: u64) -> StreamPrefetcher {
        StreamPrefetcher::new(PrefetchSettings { degree, distance, mshrs: 4 })
    }

    /// Three lines ahead: the second miss names three, and each further access one, also if it hits.
    #[test]
    fn lines_ahead_of_a_sequence_are_named_once() {
        let mut stream = stream(1, 3);
        assert_eq!([wanted(&mut stream, 4, false), wanted(&mut stream, 4, true)], [const { Vec::<u64>::new() }; 2]);
        assert_eq!(wanted(&mut stream, 5, false), [6, 7, 8]);
        assert_eq!([wanted(&mut stream, 6, true), wanted(&mut stream, 6, true)], [vec![9], vec![]]);
        // Another sequence, downwards, between accesses of the first one.
        assert_eq!([wanted(&mut stream, 20, false), wanted(&mut stream, 19, false)], [vec![], vec![18, 17, 16]]);
        assert_eq!([wanted(&mut stream, 7, true), wanted(&mut stream, 18, true)], [vec![10], vec![15]]);
        // A step back does not belong to the sequence.
        assert_eq!([wanted(&mut stream, 6, true), wanted(&mut stream, 8, true)], [vec![], vec![11]]);
    }

    /// The page of lines 0 to 31 ends the lines ahead; the sequence continues in the next page.
    #[test]
    fn no_line_of_another_page_is_named() {
        let mut stream = stream(2, 2);
        assert_eq!([wanted(&mut stream, 28, false), wanted(&mut stream, 29, false)], [vec![], vec![30, 31]]);
        assert_eq!([30, 31].map(|line| wanted(&mut stream, line, true)), [const { Vec::<u64>::new() }; 2]);
        assert_eq!(wanted(&mut stream, 32, false), [33, 34, 35]);
    }

    /// A ninth sequence replaces the least recently used one, and a hit begins none.
    #[test]
    fn eight_sequences_are_followed() {
        let mut stream = stream(1, 1);
        for first in 0..8 {
            assert_eq!(wanted(&mut stream, 100 * first, false), Vec::<u64>::new());
        }
        assert_eq!(wanted(&mut stream, 1, false), [2]);
        assert_eq!(wanted(&mut stream, 1_000, true), Vec::<u64>::new());
        assert_eq!(wanted(&mut stream, 101, false), [102]);
        assert_eq!(wanted(&mut stream, 2_000, false), Vec::<u64>::new());
        assert_eq!(
            [wanted(&mut stream, 201, false), wanted(&mut stream, 301, false)],
            [const { Vec::<u64>::new() }; 2]
        );
        assert_eq!(wanted(&mut stream, 202, false), [203]);
    }
}
