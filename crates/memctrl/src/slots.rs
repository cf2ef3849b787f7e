//! Numbered places that are used again: as many as are needed at once, however many come and go.

use std::ops::{Index, IndexMut};

/// Things by slot.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub(crate) fn insert(&mut self, thing: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(thing);
            return slot;
        }
        self.slots.push(Some(thing));
        self.slots.len() as u32 - 1
    }

    pub(crate) fn remove(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.slots[slot as usize].take().expect("a slot is emptied once")
    }
}

impl<T> Index<u32> for Slots<T> {
    type Output = T;
    fn index(&self, slot: u32) -> &T {
        self.slots[slot as usize].as_ref().expect("the slot is in use")
    }
}

impl<T> IndexMut<u32> for Slots<T> {
    fn index_mut(&mut self, slot: u32) -> &mut T {
        self.slots[slot as usize].as_mut().expect("the slot is in use")
    }
}
