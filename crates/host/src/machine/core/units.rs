//! Units of execution: the cycles in which instructions of a class may begin.

use trace_io::program::InstructionClass;

use super::super::settings::{ClassUnits, Classes};

/// The units of all classes of a core.
#[derive(Debug)]
pub(super) struct Units {
    /// By class.
    pools: Box<[Pool]>,
    classes: Classes,
    /// No instruction will begin before this cycle.
    now: u64,
}

/// The units of a class.
#[derive(Debug, Default)]
struct Pool {
    /// Their number; `None` for no limit.
    units: Option<u64>,
    /// First cycle, and cycle after the last one, for which each instruction occupies a unit.
    occupied: Vec<(u64, u64)>,
}

impl Units {
    /// Units that no instruction occupies.
    pub(super) fn new(classes: &Classes) -> Units {
        let pool = |class| {
            let units = if let ClassUnits::Own(units) = classes.of(class).units { Some(units) } else { None };
            Pool { units, occupied: Vec::new() }
        };
        Units { pools: InstructionClass::ALL.map(pool).into(), classes: *classes, now: 0 }
    }

    const fn pool_of(&self, class: InstructionClass) -> usize {
        match self.classes.of(class).units {
            ClassUnits::Of(other) => other as usize,
            ClassUnits::Own(_) | ClassUnits::Unlimited => class as usize,
        }
    }

    /// Latency of a class, in cycles.
    pub(super) const fn latency(&self, class: InstructionClass) -> u64 {
        self.classes.of(class).latency
    }

    /// Whether the class has units of its own, or shares those of another class.
    #[inline]
    pub(super) const fn are_limited(&self, class: InstructionClass) -> bool {
        !matches!(self.classes.of(class).units, ClassUnits::Unlimited)
    }

    /// The first cycle from `from` on in which an instruction can begin.
    #[inline(never)]
    pub(super) fn earliest(&self, class: InstructionClass, from: u64) -> u64 {
        let pool = &self.pools[self.pool_of(class)];
        let Some(units) = pool.units else { return from };
        let mut begin = from;
        while let Some(next) = pool.next_after_conflict(units, begin, begin + self.classes.of(class).interval) {
            begin = next;
        }
        begin
    }

    /// The first cycle from `from` on in which an instruction cannot begin; `None` without one.
    pub(super) fn first_busy(&self, class: InstructionClass, from: u64) -> Option<u64> {
        let pool = &self.pools[self.pool_of(class)];
        let (units, interval) = (pool.units?, self.classes.of(class).interval);
        // The first one is `from`, or ends the time that an instruction needs before a unit becomes occupied.
        let before = pool.occupied.iter().map(|&(first, _)| (first + 1).saturating_sub(interval));
        let cycles = before.chain([from]).filter(|&cycle| cycle >= from);
        cycles.filter(|&cycle| pool.next_after_conflict(units, cycle, cycle + interval).is_some()).min()
    }

    /// Occupies a unit from the cycle on in which an instruction begins. No instruction will begin before
    /// `now`.
    #[inline(never)]
    pub(super) fn take(&mut self, class: InstructionClass, begin: u64, now: u64) {
        let interval = self.classes.of(class).interval;
        let pool = self.pool_of(class);
        let pool = &mut self.pools[pool];
        if pool.units.is_some() {
            // Instructions of other classes advance `now` where those of this class begin only after events.
            self.now = self.now.max(now);
            let now = self.now;
            pool.occupied.retain(|&(_, end)| end > now);
            pool.occupied.push((begin, begin + interval));
        }
    }
}

impl Pool {
    /// If all units are occupied in any cycle from `begin` to before `end`: the next cycle in which a unit
    /// becomes free.
    fn next_after_conflict(&self, units: u64, begin: u64, end: u64) -> Option<u64> {
        let is_full = |cycle: u64| {
            self.occupied.iter().filter(|&&(first, after)| (first..after).contains(&cycle)).count() as u64 >= units
        };
        // Units become occupied where instructions begin.
        let later = self.occupied.iter().map(|&(first, _)| first).filter(|&first| begin < first && first < end);
        let has_conflict = is_full(begin) || later.into_iter().any(is_full);
        has_conflict.then(|| {
            let ends = self.occupied.iter().map(|&(_, after)| after).filter(|&after| after > begin);
            ends.min().expect("an instruction occupies a unit")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(interval: u64, units: u64) -> Units {
        let mut classes = Classes::PLAIN;
        let class = classes.of_mut(InstructionClass::Multiply);
        (class.interval, class.units) = (interval, ClassUnits::Own(units));
        let class = classes.of_mut(InstructionClass::Float);
        (class.interval, class.units) = (3, ClassUnits::Of(InstructionClass::Multiply));
        Units::new(&classes)
    }

    fn begin(units: &mut Units, class: InstructionClass, from: u64) -> u64 {
        let at = units.earliest(class, from);
        units.take(class, at, 0);
        at
    }

    #[test]
    fn as_many_instructions_begin_per_cycle_as_there_are_units() {
        let mut two = units(1, 2);
        assert_eq!(
            [4, 4, 4, 2, 4, 4].map(|from| begin(&mut two, InstructionClass::Multiply, from)),
            [4, 4, 5, 2, 5, 6]
        );
        assert_eq!([4, 4, 4].map(|from| begin(&mut two, InstructionClass::Load, from)), [4, 4, 4], "no limit");
    }

    /// An instruction of three cycles takes the gap between two others only if it ends in time.
    #[test]
    fn an_instruction_occupies_a_unit_of_its_own_or_of_another_class() {
        let mut one = units(1, 1);
        assert_eq!([10, 14].map(|from| begin(&mut one, InstructionClass::Multiply, from)), [10, 14]);
        assert_eq!(begin(&mut one, InstructionClass::Float, 9), 11, "cycles 11 to 13");
        assert_eq!(begin(&mut one, InstructionClass::Float, 11), 15);
        assert_eq!(begin(&mut one, InstructionClass::Multiply, 11), 18);
        let busy = |from| one.first_busy(InstructionClass::Float, from);
        assert_eq!([7, 8, 9, 18, 19].map(busy), [Some(8), Some(8), Some(9), Some(18), None]);
        assert_eq!(one.first_busy(InstructionClass::Load, 9), None, "no limit");
    }
}
