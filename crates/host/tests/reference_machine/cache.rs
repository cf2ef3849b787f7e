//! A cache: a list of lines per set, least recently used first.

use host::machine::{CacheShape, Purpose};

/// A line of a cache, by its number: the physical address divided by the bytes of a line.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub number: u64,
    pub is_in_flight: bool,
    /// Who made it dirty.
    pub dirty: Option<Purpose>,
    /// The core whose prefetcher has requested it, until its first access.
    pub prefetched_by: Option<usize>,
    /// Its place in the set.
    pub way: usize,
}

impl Line {
    /// A clean line whose data are there.
    pub fn clean(number: u64) -> Line {
        Line { number, is_in_flight: false, dirty: None, prefetched_by: None, way: 0 }
    }
}

pub struct Cache {
    pub shape: CacheShape,
    sets: Vec<Vec<Line>>,
    /// The cores whose prefetched lines left it without an access.
    pub useless: Vec<usize>,
}

impl Cache {
    pub fn new(shape: CacheShape, line_bytes: u64) -> Cache {
        let sets = shape.bytes / line_bytes / shape.ways as u64;
        Cache { shape, sets: vec![Vec::new(); sets as usize], useless: Vec::new() }
    }

    pub fn set_of(&self, number: u64) -> usize {
        (number % self.sets.len() as u64) as usize
    }

    fn set(&mut self, number: u64) -> &mut Vec<Line> {
        let set = self.set_of(number);
        &mut self.sets[set]
    }

    pub fn has_empty_way(&mut self, number: u64) -> bool {
        self.set(number).len() < self.shape.ways
    }

    pub fn holds(&self, number: u64) -> bool {
        self.find(number).is_some()
    }

    pub fn find(&self, number: u64) -> Option<&Line> {
        self.sets[self.set_of(number)].iter().find(|line| line.number == number)
    }

    pub fn get(&mut self, number: u64) -> Option<&mut Line> {
        self.set(number).iter_mut().find(|line| line.number == number)
    }

    /// Makes a line the most recently used of its set.
    pub fn touch(&mut self, number: u64) {
        let set = self.set(number);
        if let Some(at) = set.iter().position(|line| line.number == number) {
            set[at..].rotate_left(1);
        }
    }

    pub fn remove(&mut self, number: u64) -> Option<Line> {
        let set = self.set(number);
        let at = set.iter().position(|line| line.number == number)?;
        let line = set.remove(at);
        self.useless.extend(line.prefetched_by);
        Some(line)
    }

    /// Whether one of the first ways of its set is a place for a line.
    pub fn has_place_within(&self, number: u64, ways: usize) -> bool {
        let set = &self.sets[self.set_of(number)];
        set.iter().filter(|line| line.way < ways && line.is_in_flight).count() < ways
    }

    /// Places for a line in its set: those that are empty, or whose line is not in flight.
    pub fn places(&self, number: u64) -> usize {
        let set = &self.sets[self.set_of(number)];
        self.shape.ways - set.iter().filter(|line| line.is_in_flight).count()
    }

    pub fn has_place(&self, number: u64) -> bool {
        self.places(number) > 0
    }

    /// Inserts a line as the most recently used; returns the line it replaces.
    pub fn insert(&mut self, line: Line) -> Option<Line> {
        self.insert_within(line, self.shape.ways)
    }

    /// Inserts a line in one of the first ways of its set: in the first one that is empty, or else for the least
    /// recently used line.
    pub fn insert_within(&mut self, line: Line, ways: usize) -> Option<Line> {
        let set = self.set(line.number);
        let empty = (0..ways).find(|way| set.iter().all(|line| line.way != *way));
        let victim = empty.is_none().then(|| {
            let is_victim = |line: &Line| !line.is_in_flight && line.way < ways;
            let at = set.iter().position(is_victim).expect("the set has a place");
            set.remove(at)
        });
        let way = empty.or(victim.map(|victim| victim.way)).expect("a way is empty now");
        set.push(Line { way, ..line });
        self.useless.extend(victim.and_then(|victim| victim.prefetched_by));
        victim
    }
}
