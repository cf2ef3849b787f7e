//! The L1 and the L2 of a core: lines of the last level that it finds sooner.

use host::machine::{MachineSettings, StoreMiss};

use crate::cache::{Cache, Line};

/// A level between the core and the last-level cache.
pub struct Level {
    /// 1 or 2.
    pub number: u64,
    pub cache: Cache,
}

/// The levels of a core, the L1 first.
pub struct Levels(Vec<Level>);

impl Levels {
    pub fn new(settings: &MachineSettings, is_uncached: bool) -> Levels {
        let shapes = [(1, settings.l1), (2, settings.l2)].into_iter().filter(|_| !is_uncached);
        let level =
            |(number, shape): (u64, Option<_>)| Some(Level { number, cache: Cache::new(shape?, settings.lines.bytes) });
        Levels(shapes.filter_map(level).collect())
    }

    /// The first level that holds a line.
    pub fn first_with(&self, line: u64) -> Option<&Level> {
        self.0.iter().find(|level| level.cache.holds(line))
    }

    /// An access: the first level that holds the line makes it its most recently used one, and those before it take
    /// the line.
    pub fn serve(&mut self, line: u64, is_store: bool) {
        for level in &mut self.0 {
            if level.cache.holds(line) {
                level.cache.touch(line);
                return;
            }
            if !is_store || level.cache.shape.store_miss == StoreMiss::Allocate {
                level.cache.insert(Line::clean(line));
            }
        }
    }

    /// A line enters a level, by its number, and those behind it.
    pub fn enter(&mut self, line: u64, number: usize) {
        self.enter_within(line, number, |ways| ways);
    }

    /// A line enters these levels, each within a part of its ways.
    pub fn enter_within(&mut self, line: u64, number: usize, part: impl Fn(usize) -> usize) {
        for level in self.0.iter_mut().filter(|level| level.number as usize >= number) {
            if level.cache.holds(line) {
                level.cache.touch(line);
            } else {
                level.cache.insert_within(Line::clean(line), part(level.cache.shape.ways));
            }
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Level> {
        self.0.iter()
    }

    pub fn remove(&mut self, line: u64) {
        for level in &mut self.0 {
            level.cache.remove(line);
        }
    }
}
