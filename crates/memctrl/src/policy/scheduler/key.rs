//! Keys of accesses, and their order.

use std::cmp::Ordering;

use crate::access::Stamp;

/// Key of an access: of the accesses of a channel, the one with the smallest key is served first, and
/// of equal keys the oldest.
///
/// A scheduler appends its fields, the most significant first, up to 64 bits. All keys of a
/// scheduler have the same fields.
///
/// ```
/// use memctrl::policy::scheduler::Key;
///
/// let key = |is_urgent, rank, is_hit| Key::EQUAL.first_if(is_urgent).rank(rank, 16).first_if(is_hit);
/// assert!(key(true, 9, false) < key(false, 2, true), "urgent first");
/// assert!(key(false, 2, false) < key(false, 9, true), "then the smaller rank");
/// assert!(key(false, 9, true) < key(false, 9, false), "then row hits");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u64);

impl Key {
    /// Key without fields.
    pub const EQUAL: Key = Key(0);
    /// After every other key.
    pub(crate) const LAST: Key = Key(u64::MAX);

    /// Appends a field of one bit: accesses with the property are first.
    #[inline]
    #[must_use]
    pub const fn first_if(self, has_property: bool) -> Key {
        Key(self.0 << 1 | !has_property as u64)
    }

    /// Appends a rank of 1 to 63 bits: the smallest is first. A larger number is reduced to the
    /// largest of that size.
    #[inline]
    #[must_use]
    pub const fn rank(self, rank: u64, bits: u32) -> Key {
        let largest = (1 << bits) - 1;
        Key(self.0 << bits | if rank < largest { rank } else { largest })
    }

    /// The key as an integer with equal order.
    #[inline]
    pub(crate) const fn order(self) -> u64 {
        self.0
    }
}

/// Priority of an access, the smallest first: key, then age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Priority {
    pub(crate) key: Key,
    pub(crate) stamp: Stamp,
}

impl Ord for Priority {
    /// Compares both as one number, in a third of the instructions of one after the other.
    #[inline]
    fn cmp(&self, other: &Priority) -> Ordering {
        let number = |of: &Priority| u128::from(of.key.0) << u64::BITS | u128::from(of.stamp.0);
        number(self).cmp(&number(other))
    }
}

impl PartialOrd for Priority {
    #[inline]
    fn partial_cmp(&self, other: &Priority) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Priority {
    /// After all others.
    pub(crate) const LAST: Priority = Priority { key: Key::LAST, stamp: Stamp(u64::MAX) };
}
