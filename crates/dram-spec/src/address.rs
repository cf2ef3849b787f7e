//! Address maps between physical addresses and DRAM coordinates.
//!
//! Every map is linear over GF(2): each coordinate bit is one address bit, or the parity of
//! several. Its inverse, its granularity and the frames that share rows follow by linear algebra on
//! at most 42 bits, computed once.

mod fields;
mod matrix;
mod raw;
mod stride;

/// Locates addresses of one map that usually lie near their predecessors: it decodes only at the
/// first access to a run.
///
/// The caller chooses what is stored of a run: its first location, or a value derived from it.
#[derive(Clone, Copy, Debug)]
pub struct Locator<T> {
    /// First byte of the run.
    run: u64,
    /// Bytes of the run; 0 before the first.
    bytes: u64,
    first: T,
}

impl<T: Copy + Default> Default for Locator<T> {
    fn default() -> Locator<T> {
        Locator { run: 0, bytes: 0, first: T::default() }
    }
}

impl<T: Copy> Locator<T> {
    /// The value that `keep` derives from the first location of the address's run, and the column
    /// offset of the address within the run; `None` past the end of the memory.
    #[inline]
    pub fn locate(
        &mut self,
        map: &AddressMap,
        address: PhysicalAddress,
        keep: impl FnOnce(Location) -> T,
    ) -> Option<(T, u16)> {
        if address.0.wrapping_sub(self.run) >= self.bytes {
            self.enter_run(map, address, keep)?;
        }
        Some((self.first, ((address.0 - self.run) / LINE_BYTES) as u16))
    }

    /// Decodes the run of an address.
    #[inline(never)]
    fn enter_run(
        &mut self,
        map: &AddressMap,
        address: PhysicalAddress,
        keep: impl FnOnce(Location) -> T,
    ) -> Option<()> {
        let run = PhysicalAddress(address.0 & !(map.run_bytes - 1));
        self.first = keep(map.locate(run)?);
        (self.run, self.bytes) = (run.0, map.run_bytes);
        Some(())
    }
}

#[cfg(test)]
mod tests;

use derive_more::{BitXor, Display};

use crate::coordinates::{BankId, Channel, Column, Row};
use crate::geometry::{Geometry, LINE_BYTES, SubarrayId};

use fields::{FieldEntry, lay_out, read_hashes, row_bit};

pub use stride::Stride;

pub use raw::{AddressMapError, Field, Fields, MapPreset, RawAddressMap, RawXor};

/// Bytes per page frame.
pub const FRAME_BYTES: u64 = 4096;

/// A physical address, in bytes from the start of the memory.
///
/// Displayed as `0x1f40`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Display)]
#[display("{:#x}", self.0)]
pub struct PhysicalAddress(pub u64);

/// DRAM coordinates of a byte.
///
/// Maps are linear over XOR: the location of `a ^ b` is that of `a` `^` that of `b`.
///
/// Displayed as `channel 0 rank 0 bank 3 row 511 column 17`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BitXor, Display)]
#[display("channel {} {bank} row {} column {}", channel.0, row.0, column.0)]
pub struct Location {
    /// Channel.
    pub channel: Channel,
    /// Rank and bank.
    pub bank: BankId,
    /// Row of the bank.
    pub row: Row,
    /// Line of the row.
    pub column: Column,
    /// Byte of the line, 0 to 63.
    pub offset: u16,
}

/// Consecutive address bits that are consecutive bits of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPart {
    /// Coordinate.
    pub field: Field,
    /// Lowest address bit.
    pub address_bit: u32,
    /// Lowest bit of the coordinate.
    pub bit: u32,
    /// Number of bits, at least 1.
    pub bits: u32,
}

/// An address map: a bijection between the bytes of the memory and the locations of a geometry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressMap {
    geometry: Geometry,
    layout: Layout,
    parts: Vec<FieldPart>,
    /// End of the memory, exclusive; used for each run.
    end: u64,
    /// End of the usable memory, exclusive.
    usable_end: u64,
    /// Address bits with an unchanged position: the offset, and in most maps all others.
    stays: u64,
    other_shifts: Vec<Shift>,
    hashes: Vec<Hash>,
    /// Whether any address bit changes its position; false in most maps.
    moves_bits: bool,
    /// By bit of the word: the address bits that change with it.
    inverse: Vec<u64>,
    granularity: u64,
    run_bytes: u64,
    stride: Stride,
    /// Basis of the frame-number differences between the frames that share rows.
    frame_basis: Vec<u64>,
}

/// `word |= (address & mask).rotate_left(left)`: all address bits that go equally far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shift {
    mask: u64,
    left: u32,
}

impl Shift {
    /// One shift per distance.
    fn all(parts: &[FieldPart], place: impl Fn(Field) -> u32) -> Vec<Shift> {
        let mut shifts: Vec<Shift> = Vec::new();
        for part in parts {
            let mask = !(u64::MAX << part.bits) << part.address_bit;
            let left = (place(part.field) + part.bit).wrapping_sub(part.address_bit) % u64::BITS;
            match shifts.iter_mut().find(|shift| shift.left == left) {
                Some(shift) => shift.mask |= mask,
                None => shifts.push(Shift { mask, left }),
            }
        }
        shifts
    }

    fn of(self, address: PhysicalAddress) -> u64 {
        (address.0 & self.mask).rotate_left(self.left)
    }
}

/// `word ^= parity(address & mask) << bit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hash {
    field: Field,
    mask: u64,
    bit: u32,
}

/// Packing of a location's coordinates into one word, from low to high: offset, column, channel,
/// bank, rank, row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    column: u32,
    channel: u32,
    bank: u32,
    rank: u32,
    row: u32,
    end: u32,
    /// Bits of the bank number within its group.
    group_bank_bits: u32,
    /// Bits of the row number within its subarray; all of them if subarrays are no field of bits.
    subarray_row_bits: u32,
    /// Bits of the fields whose width depends on the geometry.
    column_mask: u16,
    channel_mask: u8,
    bank_mask: u8,
    rank_mask: u8,
}

/// The numbers of which a map lists the high bits as a field of their own: the bank group, the subarray.
#[derive(Clone, Copy, Debug, Default)]
struct Split {
    bank: bool,
    row: bool,
}

impl Split {
    fn of(entries: &[FieldEntry]) -> Split {
        let lists = |field| entries.iter().any(|entry| entry.field == field);
        Split { bank: lists(Field::BankGroup), row: lists(Field::Subarray) }
    }
}

impl Layout {
    fn new(geometry: &Geometry) -> Layout {
        let column = LINE_BYTES.trailing_zeros();
        let channel = column + geometry.columns().trailing_zeros();
        let bank = channel + geometry.channels().trailing_zeros();
        let rank = bank + geometry.banks().trailing_zeros();
        let row = rank + geometry.ranks().trailing_zeros();
        let end = row + geometry.rows_per_bank().trailing_zeros();
        Layout {
            column,
            channel,
            bank,
            rank,
            row,
            end,
            group_bank_bits: geometry.topology().banks_per_group.trailing_zeros(),
            subarray_row_bits: geometry.subarray_row_bits().unwrap_or(end - row),
            column_mask: geometry.columns() - 1,
            channel_mask: geometry.channels() - 1,
            bank_mask: geometry.banks() - 1,
            rank_mask: geometry.ranks() - 1,
        }
    }

    /// First bit of a field in the word, and its width; a split `bank` is that within its group, and a
    /// split `row` that within its subarray.
    fn place(&self, field: Field, split: Split) -> (u32, u32) {
        let group = self.bank + self.group_bank_bits;
        match field {
            Field::Offset => (0, self.column),
            Field::Column => (self.column, self.channel - self.column),
            Field::Channel => (self.channel, self.bank - self.channel),
            Field::Bank if split.bank => (self.bank, self.group_bank_bits),
            Field::Bank => (self.bank, self.rank - self.bank),
            Field::BankGroup => (group, self.rank - group),
            Field::Rank => (self.rank, self.row - self.rank),
            Field::Row if split.row => (self.row, self.subarray_row_bits),
            Field::Row => (self.row, self.end - self.row),
            Field::Subarray => (self.row + self.subarray_row_bits, self.end - self.row - self.subarray_row_bits),
        }
    }

    fn pack(&self, location: Location) -> u64 {
        u64::from(location.offset)
            | u64::from(location.column.0) << self.column
            | u64::from(location.channel.0) << self.channel
            | u64::from(location.bank.bank) << self.bank
            | u64::from(location.bank.rank) << self.rank
            | u64::from(location.row.0) << self.row
    }

    #[inline]
    fn unpack(&self, word: u64) -> Location {
        Location {
            channel: Channel((word >> self.channel) as u8 & self.channel_mask),
            bank: BankId {
                rank: (word >> self.rank) as u8 & self.rank_mask,
                bank: (word >> self.bank) as u8 & self.bank_mask,
            },
            row: Row((word >> self.row) as u32),
            column: Column((word >> self.column) as u16 & self.column_mask),
            offset: word as u16 & (LINE_BYTES - 1) as u16,
        }
    }
}

/// The address bits of a row number.
fn row_bits(layout: &Layout, parts: &[FieldPart], row: Row) -> u64 {
    let bits = |part: &FieldPart| {
        let first = match part.field {
            Field::Row => part.bit,
            Field::Subarray => part.bit + layout.subarray_row_bits,
            Field::Rank | Field::BankGroup | Field::Bank | Field::Column | Field::Channel | Field::Offset => return 0,
        };
        (u64::from(row.0) >> first & ((1 << part.bits) - 1)) << part.address_bit
    };
    parts.iter().map(bits).sum()
}

/// The lowest address in a reserved row.
fn first_reserved(geometry: &Geometry, layout: &Layout, parts: &[FieldPart]) -> u64 {
    let first = |row| row_bits(layout, parts, row);
    // With subarrays of one size, a power of two, the zero row of subarray 0 has no other bits than those that
    // all zero rows have.
    let subarrays = if geometry.subarray_row_bits().is_some() { 1 } else { geometry.subarrays_per_bank() };
    let zero = (0..subarrays).map(|subarray| first(geometry.zero_row(subarray)));
    zero.fold(first(geometry.temporary_row()), u64::min)
}

impl AddressMap {
    /// Validates a user-defined map against a geometry.
    ///
    /// # Errors
    ///
    /// An unknown field, the field `subarray` where subarrays are no field of bits, widths that do not add up, an
    /// invalid hash, or a hash that maps two addresses to one location.
    ///
    /// # Panics
    ///
    /// Never: the widths add up, so only a hash can make a map singular.
    pub fn new(geometry: Geometry, raw: &RawAddressMap) -> Result<AddressMap, AddressMapError> {
        let RawAddressMap { fields, xor } = raw;
        let layout = Layout::new(&geometry);
        let entries = fields.entries(&geometry)?;
        let split = Split::of(&entries);
        if split.row && geometry.subarray_row_bits().is_none() {
            return Err(AddressMapError::SubarrayField { rows: geometry.rows_per_subarray() });
        }
        let parts = lay_out(&entries, |field| layout.place(field, split).1)?;
        let shifts = Shift::all(&parts, |field| layout.place(field, split).0);
        let hashes = read_hashes(xor, &layout, &parts)?;

        let mut rows = vec![0; layout.end as usize];
        for part in &parts {
            for bit in 0..part.bits {
                rows[(layout.place(part.field, split).0 + part.bit + bit) as usize] = 1 << (part.address_bit + bit);
            }
        }
        for hash in &hashes {
            rows[hash.bit as usize] ^= hash.mask;
        }
        // Hashed bits last, in the order written, so that an error names the entry that causes it.
        let plain = |bit: &usize| hashes.iter().all(|hash| hash.bit as usize != *bit);
        let order = (0..rows.len()).filter(plain).chain(hashes.iter().map(|hash| hash.bit as usize));
        let inverse = matrix::inverse(&rows, order).map_err(|bit| {
            let hash = hashes.iter().find(|hash| hash.bit as usize == bit).expect("only a hash can depend on others");
            let field = hash.field;
            AddressMapError::Singular {
                field: field.name(),
                bit: hash.bit - layout.place(field, split).0,
                row_bit: row_bit(&parts),
            }
        })?;
        Ok(AddressMap::from_matrices(geometry, layout, parts, shifts, hashes, &rows, inverse))
    }

    /// The map of a preset, which fits every geometry.
    ///
    /// # Panics
    ///
    /// Never: a preset lists every field once and hashes nothing.
    pub fn preset(geometry: Geometry, preset: MapPreset) -> AddressMap {
        AddressMap::new(geometry, &preset.raw()).expect("a preset lists every field once and hashes nothing")
    }

    fn from_matrices(
        geometry: Geometry,
        layout: Layout,
        parts: Vec<FieldPart>,
        shifts: Vec<Shift>,
        hashes: Vec<Hash>,
        rows: &[u64],
        inverse: Vec<u64>,
    ) -> AddressMap {
        // The addresses of one row differ by sums of the address differences of column and offset
        // bits, and by no others. An aligned block contains whole rows if and only if it contains
        // all these differences.
        let kernel = &inverse[..layout.channel as usize];
        let reach = kernel.iter().fold(0, |all, word| all | word);
        let granularity = 1 << (u64::BITS - u64::leading_zeros(reach));
        // An address bit belongs to the run if it determines the bit of the word with its own
        // number and nothing else.
        let plain = |bit: u32| {
            let fed = |(word_bit, row): (usize, &u64)| (row >> bit & 1 == 1) == (word_bit as u32 == bit);
            rows.iter().enumerate().all(fed)
        };
        let run_bytes = 1 << (0..layout.channel).take_while(|&bit| plain(bit)).count();
        let stride = Stride::new(run_bytes, rows, layout.channel);
        let frame_basis = matrix::basis(kernel.iter().map(|word| word / FRAME_BYTES));
        let (stay, other_shifts): (Vec<_>, Vec<_>) = shifts.into_iter().partition(|shift| shift.left == 0);
        let stays = stay.iter().fold(0, |all, shift| all | shift.mask);
        let (usable, end) = (geometry.usable_bytes(), geometry.bytes());
        let usable_end = if first_reserved(&geometry, &layout, &parts) == usable { usable } else { end };
        AddressMap {
            geometry,
            layout,
            parts,
            end,
            usable_end,
            stays,
            moves_bits: !other_shifts.is_empty() || !hashes.is_empty(),
            other_shifts,
            hashes,
            inverse,
            granularity,
            run_bytes,
            stride,
            frame_basis,
        }
    }

    /// Geometry of the map.
    #[inline]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// End of the usable memory, exclusive: the first reserved row if all reserved rows lie at the end of
    /// the memory, as under every preset if subarrays are of one size, a power of two. Otherwise the end of
    /// the memory, and [`Self::scatters_reserved_rows`].
    pub const fn usable_end(&self) -> PhysicalAddress {
        PhysicalAddress(self.usable_end)
    }

    /// Whether reserved rows lie between usable addresses.
    pub const fn scatters_reserved_rows(&self) -> bool {
        self.usable_end == self.end
    }

    /// The address bits of a row number. Hashes do not change them.
    pub fn row_bits(&self, row: Row) -> u64 {
        row_bits(&self.layout, &self.parts, row)
    }

    /// Address bits of each coordinate without hashes, from low to high.
    pub fn parts(&self) -> &[FieldPart] {
        &self.parts
    }

    /// The location of an address, or `None` past the end of the memory.
    #[inline]
    pub fn locate(&self, address: PhysicalAddress) -> Option<Location> {
        if address.0 >= self.end {
            return None;
        }
        let word = address.0 & self.stays;
        Some(self.layout.unpack(if self.moves_bits { self.with_moved_bits(word, address) } else { word }))
    }

    /// The word of an address, in a map with address bits that change their position.
    #[inline(never)]
    fn with_moved_bits(&self, stays: u64, address: PhysicalAddress) -> u64 {
        let shifted = self.other_shifts.iter().fold(stays, |word, shift| word | shift.of(address));
        let parity = |hash: &Hash| u64::from((address.0 & hash.mask).count_ones() & 1) << hash.bit;
        self.hashes.iter().fold(shifted, |word, hash| word ^ parity(hash))
    }

    /// The address of a location, or `None` if the geometry does not have it.
    pub fn address(&self, location: Location) -> Option<PhysicalAddress> {
        let Location { channel, bank, row, column, offset } = location;
        if !self.geometry.holds(channel, bank, row, column) || u64::from(offset) >= LINE_BYTES {
            return None;
        }
        let mut word = self.layout.pack(location);
        let mut address = 0;
        while word != 0 {
            address ^= self.inverse[word.trailing_zeros() as usize];
            word &= word - 1;
        }
        Some(PhysicalAddress(address))
    }

    /// Minimum copy granularity: bytes of the smallest aligned block of addresses that consists of
    /// whole rows.
    ///
    /// A power of two, at least the row: one row if a row is one block of addresses, row x channels
    /// under line interleaving.
    pub const fn granularity(&self) -> u64 {
        self.granularity
    }

    /// Bytes of a run: the largest aligned block of addresses in which only the column, counting
    /// up, and the offset vary, so that one `locate` decodes the block.
    ///
    /// A power of two from 64 to the row.
    #[inline]
    pub const fn run_bytes(&self) -> u64 {
        self.run_bytes
    }

    /// How the runs of a row follow each other in the memory.
    pub const fn stride(&self) -> Stride {
        self.stride
    }

    /// The subarrays that a 4 KiB frame lies in, sorted; none past the end of the memory.
    pub fn frame_subarrays(&self, frame: u64) -> Vec<SubarrayId> {
        if frame >= self.geometry.bytes() / FRAME_BYTES {
            return Vec::new();
        }
        let runs = (0..FRAME_BYTES).step_by(self.run_bytes.min(FRAME_BYTES) as usize);
        let mut subarrays: Vec<SubarrayId> = runs
            .filter_map(|offset| self.locate(PhysicalAddress(frame * FRAME_BYTES + offset)))
            .map(|Location { channel, bank, row, .. }| SubarrayId {
                channel,
                bank,
                subarray: self.geometry.subarray(row),
            })
            .collect();
        subarrays.sort_unstable();
        subarrays.dedup();
        subarrays
    }

    /// The 4 KiB frames that share a row with a frame, including the frame, sorted; none past the
    /// end of the memory.
    pub fn frames_sharing_rows(&self, frame: u64) -> Vec<u64> {
        if frame >= self.geometry.bytes() / FRAME_BYTES {
            return Vec::new();
        }
        let mut frames: Vec<u64> =
            matrix::span(&self.frame_basis).into_iter().map(|difference| frame ^ difference).collect();
        frames.sort_unstable();
        frames
    }
}
