//! Mapped pages of the processes of a recording.

use std::collections::BTreeMap;

use dram_spec::address::FRAME_BYTES;
use trace_io::recording::ObjectAddress;

/// What pages are mapped to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backing {
    /// Memory of the process.
    Anonymous,
    /// A file whose pages a store copies. The address is that of the first page.
    Private(ObjectAddress),
    /// An object, in place. The address is that of the first page.
    Shared(ObjectAddress),
}

impl Backing {
    /// The backing of a page some pages after the first one.
    fn after(self, pages: u64) -> Backing {
        let plus = |of: ObjectAddress| ObjectAddress { address: of.address + pages * FRAME_BYTES, ..of };
        match self {
            Backing::Anonymous => self,
            Backing::Private(of) => Backing::Private(plus(of)),
            Backing::Shared(of) => Backing::Shared(plus(of)),
        }
    }
}

/// Consecutive pages with one backing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) pages: u64,
    pub(super) backing: Backing,
}

/// The mapped pages of a process, by first page.
#[derive(Clone, Debug, Default)]
pub(super) struct Mappings {
    ranges: BTreeMap<u64, Mapping>,
}

impl Mappings {
    /// The mapping from a page on, if it is mapped.
    pub(super) fn at(&self, page: u64) -> Option<Mapping> {
        let (first, mapping) = self.ranges.range(..=page).next_back()?;
        let before = page - first;
        (before < mapping.pages)
            .then(|| Mapping { pages: mapping.pages - before, backing: mapping.backing.after(before) })
    }

    /// Maps pages that are not mapped.
    pub(super) fn insert(&mut self, first: u64, mapping: Mapping) {
        self.ranges.insert(first, mapping);
    }

    /// Removes pages from one on and before another; returns the mappings that they had.
    pub(super) fn remove(&mut self, first: u64, end: u64) -> Vec<(u64, Mapping)> {
        self.split_at(first);
        self.split_at(end);
        let removed: Vec<(u64, Mapping)> = self.ranges.range(first..end).map(|(page, it)| (*page, *it)).collect();
        for (page, _) in &removed {
            self.ranges.remove(page);
        }
        removed
    }

    /// Splits the mapping of a page before the page, unless it begins there.
    fn split_at(&mut self, page: u64) {
        if let Some((&first, mapping)) = self.ranges.range_mut(..page).next_back()
            && first + mapping.pages > page
        {
            let rest = Mapping { pages: first + mapping.pages - page, backing: mapping.backing.after(page - first) };
            mapping.pages = page - first;
            self.ranges.insert(page, rest);
        }
    }
}
