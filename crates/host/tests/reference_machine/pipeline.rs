//! Classes of instructions: when an instruction begins, the unit it occupies, and its result.

use host::machine::{ClassUnits, Order};
use trace_io::program::{InstructionClass, Needs};

use crate::core::{Core, Data, Stall};

/// What an instruction needs.
#[derive(Clone, Copy, Debug)]
pub struct Wants {
    pub class: InstructionClass,
    /// Numbers of the instructions whose results are its operands.
    operands: [Option<u64>; 2],
}

impl Wants {
    pub fn class(class: InstructionClass) -> Wants {
        Wants { class, operands: [None; 2] }
    }
}

impl Core {
    /// The operands of the next instruction of the program.
    pub fn wants(&self, needs: Needs) -> Wants {
        let operand = |distance: u16| {
            let number = self.numbered.checked_sub(u64::from(distance)).filter(|_| distance > 0)?;
            (number >= self.operands_from).then_some(number)
        };
        Wants { class: needs.class, operands: needs.after.map(operand) }
    }

    /// The first slot from one on in which all operands are there, if it is known.
    fn with_operands(&self, wants: Wants, slot: u64) -> Option<u64> {
        let result = |number: u64| {
            let entry = self.window.iter().find(|entry| entry.number == Some(number));
            match entry.map(|entry| entry.data) {
                None => Some(0),
                Some(Data::At(at)) => Some(at),
                Some(_) => None,
            }
        };
        wants.operands.into_iter().flatten().try_fold(slot, |slot, number| Some(slot.max(result(number)?)))
    }

    /// The class that has the units of a class, and their number.
    fn units(&self, class: InstructionClass) -> Option<(InstructionClass, u64)> {
        match self.settings.classes.of(class).units {
            ClassUnits::Unlimited => None,
            ClassUnits::Own(units) => Some((class, units)),
            ClassUnits::Of(other) => self.units(other),
        }
    }

    /// The first slot from one on from which a unit is free.
    pub fn with_unit(&self, class: InstructionClass, from: u64) -> u64 {
        let width = self.settings.width;
        let Some((owner, units)) = self.units(class) else { return from };
        let interval = self.settings.classes.of(class).interval;
        let is_busy = |cycle: u64| self.occupied.get(&(owner, cycle)).is_some_and(|occupied| *occupied >= units);
        let mut first = from / width;
        while (first..first + interval).any(is_busy) {
            first += 1;
        }
        from.max(first * width)
    }

    /// The first slot in which an instruction that dispatches in a slot can begin, if it is known.
    pub fn begin(&self, wants: Wants, slot: u64) -> Option<u64> {
        Some(self.with_unit(wants.class, self.with_operands(wants, slot)?))
    }

    /// Occupies a unit from the cycle of a slot on.
    pub fn occupy(&mut self, class: InstructionClass, slot: u64) {
        let Some((owner, _)) = self.units(class) else { return };
        let cycle = slot / self.settings.width;
        for cycle in cycle..cycle + self.settings.classes.of(class).interval {
            *self.occupied.entry((owner, cycle)).or_default() += 1;
        }
    }

    /// Chooses units of the instructions whose operands are known, in program order.
    pub fn choose_units(&mut self) {
        let width = self.settings.width;
        for index in 0..self.window.len() {
            let entry = self.window[index];
            let Some(wants) = entry.wants.filter(|_| entry.begin.is_none()) else { continue };
            let Some(begin) = self.begin(wants, entry.dispatched) else { continue };
            self.occupy(wants.class, begin);
            self.window[index].begin = Some(begin);
            if !wants.class.accesses_memory() {
                let result = begin + self.settings.classes.of(wants.class).latency * width;
                self.window[index].data = Data::At(result.max(entry.dispatched + width));
            }
        }
    }

    /// The result of an access that took place in a slot.
    pub fn result(&self, class: InstructionClass, is_load: bool, slot: u64, data: Data) -> Data {
        let (width, latency) = (self.settings.width, self.settings.classes.of(class).latency);
        match data {
            Data::At(there) if is_load => Data::At(there + latency * width),
            _ if !is_load => Data::At(slot + latency.max(1) * width),
            other => other,
        }
    }

    /// Why an in-order core cannot begin an instruction in a slot, apart from its access.
    pub fn check_begin(&self, wants: Wants, slot: u64) -> Result<(), Stall> {
        if self.settings.order == Order::OutOfOrder {
            return Ok(());
        }
        let width = self.settings.width;
        let is_alone = !self.settings.classes.of(wants.class).is_paired && !slot.is_multiple_of(width);
        if is_alone || self.alone == Some(slot / width) {
            return Err(Stall::Unit);
        }
        if self.with_operands(wants, slot) != Some(slot) {
            return Err(Stall::Operand);
        }
        if self.with_unit(wants.class, slot) != slot {
            return Err(Stall::Unit);
        }
        Ok(())
    }

    /// Whether the load/store queue is full.
    pub fn is_queue_full(&self) -> bool {
        let entries = self.window.iter().filter(|entry| entry.is_queued).count();
        self.settings.load_store_queue.is_some_and(|most| entries >= most)
    }
}
