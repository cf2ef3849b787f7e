//! Indices of the banks of a channel, sets of banks, and values per bank and per rank.

use crate::coordinates::BankId;

/// Implements indexing of a tuple of one array by a key.
macro_rules! index_by {
    ($type:ident by $key:ty: |$name:ident| $index:expr) => {
        impl<T> std::ops::Index<$key> for $type<T> {
            type Output = T;

            #[inline]
            fn index(&self, $name: $key) -> &T {
                &self.0[$index]
            }
        }

        impl<T> std::ops::IndexMut<$key> for $type<T> {
            #[inline]
            fn index_mut(&mut self, $name: $key) -> &mut T {
                &mut self.0[$index]
            }
        }
    };
}
pub(crate) use index_by;

/// Numbers of channels, ranks per channel, and bank groups and banks per rank.
///
/// A bank's number is that of its group times the banks per group, plus its number in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topology {
    /// Channels.
    pub channels: u8,
    /// Ranks per channel.
    pub ranks: u8,
    /// Banks per rank, in all groups.
    pub banks_per_rank: u8,
    /// Banks per bank group, a power of two: all of a rank in a standard without groups.
    pub banks_per_group: u8,
}

/// Index of a bank group on its channel: rank 0's groups first, then rank 1's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupIndex(u8);

impl GroupIndex {
    /// Group 0 of rank 0.
    pub const FIRST: GroupIndex = GroupIndex(0);

    /// As an array index.
    #[inline]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// Index of a bank on its channel: rank 0's banks first, then rank 1's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BankIndex(u8);

impl BankIndex {
    /// Bank 0 of rank 0.
    pub const FIRST: BankIndex = BankIndex(0);

    /// As an array index.
    #[inline]
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

/// A value for each bank of a channel.
#[derive(Clone, Debug)]
pub struct PerBank<T>([T; BankSet::CAPACITY]);

impl<T> PerBank<T> {
    /// The values of a function.
    pub fn from_fn(value: impl Fn(BankIndex) -> T) -> PerBank<T> {
        PerBank(std::array::from_fn(|index| value(BankIndex(index as u8))))
    }
}

impl<T: Clone> PerBank<T> {
    /// The same value for every bank.
    pub fn new(value: T) -> PerBank<T> {
        PerBank::from_fn(|_| value.clone())
    }
}

// The remainders leave the indices of banks and ranks as they are, and save the checks of the bounds.
index_by!(PerBank by BankIndex: |bank| bank.get() % BankSet::CAPACITY);

/// A value for each rank of a channel.
#[derive(Clone, Debug)]
pub struct PerRank<T>([T; Topology::RANKS_MAX]);

impl<T: Clone> PerRank<T> {
    /// The same value for every rank.
    pub fn new(value: T) -> PerRank<T> {
        PerRank(std::array::from_fn(|_| value.clone()))
    }
}

index_by!(PerRank by u8: |rank| usize::from(rank) % Topology::RANKS_MAX);

impl Topology {
    /// Maximum number of ranks per channel.
    pub const RANKS_MAX: usize = 4;

    /// Banks per channel, in all ranks.
    #[inline]
    pub const fn banks(self) -> usize {
        self.ranks as usize * self.banks_per_rank as usize
    }

    /// Maximum number of bank groups per channel.
    pub const GROUPS_MAX: usize = 16;

    /// Bank groups per rank; 1 in a standard without them.
    #[inline]
    pub const fn groups_per_rank(self) -> u8 {
        self.banks_per_rank / self.banks_per_group
    }

    /// Whether a rank has bank groups.
    #[inline]
    pub const fn has_groups(self) -> bool {
        self.groups_per_rank() > 1
    }

    /// Index of a bank's group on its channel.
    #[inline]
    pub const fn group(self, bank: BankId) -> GroupIndex {
        GroupIndex(self.index(bank).0 >> self.banks_per_group.trailing_zeros())
    }

    /// The groups of a rank.
    #[inline]
    pub fn groups(self, rank: u8) -> impl Iterator<Item = GroupIndex> {
        let groups = self.groups_per_rank();
        (rank * groups..(rank + 1) * groups).map(GroupIndex)
    }

    /// Number of a bank in its group: that of its REFsb.
    #[inline]
    pub const fn number_in_group(self, bank: BankId) -> u8 {
        bank.bank % self.banks_per_group
    }

    /// The banks of a rank with the same number in their groups as this one: those of a REFsb.
    pub fn bank_set(self, bank: BankId) -> BankSet {
        let number = self.number_in_group(bank);
        let banks = (0..self.groups_per_rank()).map(|group| group * self.banks_per_group + number);
        banks.map(|number| self.index(BankId { rank: bank.rank, bank: number })).collect()
    }

    /// Index of a bank on its channel.
    #[inline]
    pub const fn index(self, bank: BankId) -> BankIndex {
        BankIndex(bank.rank * self.banks_per_rank + bank.bank)
    }

    /// The bank with this index.
    #[inline]
    pub const fn bank(self, index: BankIndex) -> BankId {
        BankId { rank: index.0 / self.banks_per_rank, bank: index.0 % self.banks_per_rank }
    }

    /// All banks of a channel, in order.
    pub fn indices(self) -> impl Iterator<Item = BankIndex> {
        (0..self.banks() as u8).map(BankIndex)
    }

    /// The banks of a rank.
    #[inline]
    pub const fn rank(self, rank: u8) -> BankSet {
        let width = self.banks_per_rank as u32;
        let low = if width == u64::BITS { u64::MAX } else { (1 << width) - 1 };
        BankSet(low << (rank as u32 * width))
    }
}

/// A set of banks of one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BankSet(u64);

impl BankSet {
    /// Maximum number of banks per channel.
    pub const CAPACITY: usize = u64::BITS as usize;
    /// The empty set.
    pub const EMPTY: BankSet = BankSet(0);
    /// All banks that a channel can have.
    pub const ALL: BankSet = BankSet(u64::MAX);

    /// The set of one bank.
    #[inline]
    pub const fn of(bank: BankIndex) -> BankSet {
        BankSet(1 << bank.0)
    }

    /// Whether the set is empty.
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the set contains a bank.
    #[inline]
    pub const fn contains(self, bank: BankIndex) -> bool {
        self.0 >> bank.0 & 1 != 0
    }

    /// Whether two sets have a bank in common.
    #[inline]
    pub const fn intersects(self, other: BankSet) -> bool {
        self.0 & other.0 != 0
    }

    /// Adds a bank.
    #[inline]
    pub const fn insert(&mut self, bank: BankIndex) {
        self.0 |= 1 << bank.0;
    }

    /// Removes a bank.
    #[inline]
    pub const fn remove(&mut self, bank: BankIndex) {
        self.0 &= !(1 << bank.0);
    }

    /// Adds or removes a bank.
    #[inline]
    pub const fn set(&mut self, bank: BankIndex, is_in: bool) {
        self.0 = self.0 & !(1 << bank.0) | (is_in as u64) << bank.0;
    }

    /// The banks in either set.
    #[inline]
    #[must_use]
    pub const fn union(self, other: BankSet) -> BankSet {
        BankSet(self.0 | other.0)
    }

    /// The banks in both sets.
    #[inline]
    #[must_use]
    pub const fn intersection(self, other: BankSet) -> BankSet {
        BankSet(self.0 & other.0)
    }

    /// The banks of this set that are not in the other.
    #[inline]
    #[must_use]
    pub const fn without(self, other: BankSet) -> BankSet {
        BankSet(self.0 & !other.0)
    }
}

impl FromIterator<BankIndex> for BankSet {
    fn from_iter<I: IntoIterator<Item = BankIndex>>(banks: I) -> BankSet {
        banks.into_iter().fold(BankSet::EMPTY, |set, bank| set.union(BankSet::of(bank)))
    }
}

/// Iterator over the banks of a [`BankSet`], ascending.
#[derive(Clone, Debug)]
pub struct Banks(u64);

impl Iterator for Banks {
    type Item = BankIndex;

    #[inline]
    fn next(&mut self) -> Option<BankIndex> {
        if self.0 == 0 {
            return None;
        }
        let bank = BankIndex(self.0.trailing_zeros() as u8);
        self.0 &= self.0 - 1;
        Some(bank)
    }
}

impl IntoIterator for BankSet {
    type Item = BankIndex;
    type IntoIter = Banks;

    #[inline]
    fn into_iter(self) -> Banks {
        Banks(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR_RANKS_OF_SIXTEEN: Topology = Topology { channels: 2, ranks: 4, banks_per_rank: 16, banks_per_group: 4 };

    #[test]
    fn every_bank_has_a_number_and_its_rank_a_set() {
        let topology = FOUR_RANKS_OF_SIXTEEN;
        assert_eq!(topology.indices().count(), BankSet::CAPACITY);
        for index in topology.indices() {
            let bank = topology.bank(index);
            assert_eq!(topology.index(bank), index);
            for rank in 0..topology.ranks {
                assert_eq!(topology.rank(rank).contains(index), bank.rank == rank, "{bank}, rank {rank}");
            }
        }
        let one_rank = Topology { channels: 1, ranks: 1, banks_per_rank: 64, banks_per_group: 64 };
        assert_eq!(one_rank.rank(0).into_iter().count(), 64);
    }

    /// DDR4 x8: bank 6 of a rank is bank 2 of group 1, and a REFsb to it is one to banks 2, 6, 10 and 14.
    #[test]
    fn a_bank_lies_in_a_group_and_in_a_set_over_all_groups() {
        let topology = FOUR_RANKS_OF_SIXTEEN;
        let bank = BankId { rank: 1, bank: 6 };
        assert_eq!((topology.group(bank).get(), topology.banks_per_group), (5, 4));
        assert_eq!(topology.groups(1).map(GroupIndex::get).collect::<Vec<_>>(), [4, 5, 6, 7]);
        let set = topology.bank_set(bank).into_iter().map(|bank| topology.bank(bank).bank);
        assert_eq!(set.collect::<Vec<_>>(), [2, 6, 10, 14]);
    }

    #[test]
    fn each_bank_and_each_rank_has_a_value() {
        let topology = FOUR_RANKS_OF_SIXTEEN;
        let (mut by_bank, mut by_rank) = (PerBank::from_fn(BankIndex::get), PerRank::new(7));
        for bank in topology.indices().step_by(3) {
            by_bank[bank] += 100;
        }
        by_rank[2] = 8;
        let expected = (0..64).map(|number| if number % 3 == 0 { number + 100 } else { number });
        assert!(topology.indices().map(|bank| by_bank[bank]).eq(expected));
        assert_eq!([0, 1, 2, 3].map(|rank| by_rank[rank]), [7, 7, 8, 7]);
    }

    #[test]
    fn sets_hold_what_was_put_in() {
        let topology = FOUR_RANKS_OF_SIXTEEN;
        let banks: Vec<BankIndex> = topology.indices().filter(|bank| bank.get() % 7 == 3).collect();
        let mut set: BankSet = banks.iter().copied().collect();
        assert_eq!(set.into_iter().collect::<Vec<_>>(), banks);
        assert!(set.intersects(topology.rank(0)) && !set.intersects(BankSet::EMPTY));
        set.remove(banks[0]);
        assert_eq!(set, banks[1..].iter().copied().collect());
        assert_eq!(set.union(BankSet::of(banks[0])).without(set), BankSet::of(banks[0]));
        set.set(banks[0], true);
        set.set(banks[1], false);
        assert!(set.contains(banks[0]) && !set.contains(banks[1]) && !set.is_empty());
        assert_eq!(set.intersection(BankSet::of(banks[1])), BankSet::EMPTY);
    }
}
