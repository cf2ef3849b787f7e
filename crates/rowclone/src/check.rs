//! Validation of operations.

use dram_spec::address::AddressMap;
use dram_spec::geometry::ReservedRow;
use dram_spec::{Location, PhysicalAddress, Row};

/// Reason why an operation cannot be planned.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The operation has no bytes.
    #[error("the operation is about zero bytes")]
    ZeroBytes,
    /// The operation reaches past the end of the usable memory.
    #[error("`{operand}` = {address} with {bytes} bytes reaches past the end of the usable memory at {end}")]
    PastEnd {
        /// `src`, `dst` or `address`.
        operand: &'static str,
        /// Address of the operand.
        address: PhysicalAddress,
        /// Bytes of the operation.
        bytes: u64,
        /// End of the usable memory, exclusive.
        end: PhysicalAddress,
    },
    /// The operation covers a reserved row.
    #[error("`{operand}` reaches {address}, which lies in a reserved {} row: {location}", reserved_name(*.reserved))]
    Reserved {
        /// `src`, `dst` or `address`.
        operand: &'static str,
        /// First byte in the reserved row.
        address: PhysicalAddress,
        /// Location of that byte.
        location: Location,
        /// Use of the reserved row.
        reserved: ReservedRow,
    },
}

const fn reserved_name(reserved: ReservedRow) -> &'static str {
    match reserved {
        ReservedRow::Zero => "zero",
        ReservedRow::Temporary => "temporary",
    }
}

impl PlanError {
    /// Suggested change.
    pub fn help(&self) -> String {
        match self {
            Self::ZeroBytes => "leave the operation out, or give it a size".to_owned(),
            Self::PastEnd { bytes, end, .. } if *bytes <= end.0 => {
                let last = PhysicalAddress(end.0 - bytes);
                format!("the last address that fits is {last}; the usable capacity is {} bytes", end.0)
            }
            Self::PastEnd { end, .. } => format!("the usable capacity is {} bytes", end.0),
            Self::Reserved { reserved: ReservedRow::Zero, .. } => {
                "the last row of each subarray is its zero row: choose addresses in other rows, or take a preset \
                 map, or list `row` above `subarray` as the highest fields: all reserved rows are then the end of the \
                 memory, if `rows_per_subarray` is a power of two"
                    .to_owned()
            }
            Self::Reserved { reserved: ReservedRow::Temporary, .. } => {
                "the last row but one of each bank is the intermediate row of 2 x PSM: choose addresses in other rows"
                    .to_owned()
            }
        }
    }
}

/// The reserved rows, by address bits. Address maps never hash row bits, so a row number corresponds to
/// fixed address bits.
#[derive(Clone, Debug)]
pub(crate) struct Reserved {
    zero: Pattern,
    temporary: Pattern,
    /// The reserved rows one by one, if no pattern of address bits is that of all zero rows and of no
    /// other: with subarrays that are not of one size, a power of two. Every address fits `zero` then.
    rows: Option<RowList>,
}

/// The addresses whose bits in `mask` equal `ones`.
#[derive(Clone, Copy, Debug)]
struct Pattern {
    mask: u64,
    ones: u64,
}

impl Reserved {
    pub(crate) fn new(map: &AddressMap) -> Reserved {
        let geometry = map.geometry();
        let has_pattern = geometry.subarray_row_bits().is_some();
        let zero = if has_pattern { map.row_bits(geometry.zero_row(0)) } else { 0 };
        let zero = Pattern { mask: zero, ones: zero };
        let temporary = Pattern {
            mask: map.row_bits(Row(geometry.rows_per_bank() - 1)),
            ones: map.row_bits(geometry.temporary_row()),
        };
        Reserved { zero, temporary, rows: (!has_pattern).then(|| RowList::new(map)) }
    }

    /// Whether an aligned line lies in a reserved row. All bytes of a line lie in one row.
    #[inline]
    pub(crate) fn holds_line(&self, line: u64) -> bool {
        self.may_cover(line, 1) && self.rows.as_ref().is_none_or(|rows| rows.holds(line))
    }

    /// Whether an address within `bytes` from `start` may be reserved, by the bits that all of them
    /// share; `false` is certain.
    #[inline]
    pub(crate) fn may_cover(&self, start: u64, bytes: u64) -> bool {
        let differ = u64::MAX.checked_shr((start ^ (start + (bytes - 1))).leading_zeros()).unwrap_or(0);
        [self.zero, self.temporary].iter().any(|pattern| (start ^ pattern.ones) & pattern.mask & !differ == 0)
    }

    /// First reserved address within `bytes` from `start`.
    pub(crate) fn first_in(&self, start: u64, bytes: u64) -> Option<PhysicalAddress> {
        let first = match &self.rows {
            Some(rows) => rows.first_from(start)?,
            None => [self.zero, self.temporary].into_iter().filter_map(|pattern| pattern.first_from(start)).min()?,
        };
        (first - start < bytes).then_some(PhysicalAddress(first))
    }
}

impl Pattern {
    /// Lowest matching address from `start` on.
    fn first_from(self, start: u64) -> Option<u64> {
        let wrong = (start & self.mask) ^ self.ones;
        if wrong == 0 {
            return Some(start);
        }
        // Bits above the highest mismatch remain. If that bit must rise, all lower bits become
        // minimal; if it must fall, the lowest free zero above it rises instead.
        let highest = wrong.ilog2();
        let from = |bit: u32| u64::MAX << bit;
        let rises = if self.ones >> highest & 1 == 1 {
            highest
        } else {
            let free = !self.mask & !start & from(highest);
            if free == 0 {
                return None;
            }
            free.trailing_zeros()
        };
        // Bits above remain; at and below, the pattern, and the risen bit if it is a free one.
        Some(start & from(rises) | self.ones & !from(rises) | 1 << rises)
    }
}

/// Rows, each by the address bits of its number.
#[derive(Clone, Debug)]
struct RowList {
    /// All bits of row numbers.
    mask: u64,
    /// The address bits of each row, ascending.
    bits: Vec<u64>,
}

impl RowList {
    /// The reserved rows of a map.
    fn new(map: &AddressMap) -> RowList {
        let geometry = map.geometry();
        let zero = (0..geometry.subarrays_per_bank()).map(|subarray| geometry.zero_row(subarray));
        let mut bits: Vec<u64> = zero.chain([geometry.temporary_row()]).map(|row| map.row_bits(row)).collect();
        bits.sort_unstable();
        RowList { mask: map.row_bits(Row(geometry.rows_per_bank() - 1)), bits }
    }

    /// Whether an address lies in one of the rows.
    fn holds(&self, address: u64) -> bool {
        self.bits.binary_search(&(address & self.mask)).is_ok()
    }

    /// Lowest address in one of the rows from `start` on.
    fn first_from(&self, start: u64) -> Option<u64> {
        if self.holds(start) {
            return Some(start);
        }
        // One bit of the address rises, the lowest that can; the bits above remain, those below become minimal.
        (0..u64::BITS).filter(|bit| start >> bit & 1 == 0).find_map(|bit| {
            let (rises, above) = (1 << bit, u64::MAX.checked_shl(bit + 1).unwrap_or(0));
            let shared = start & above & self.mask;
            let least = shared | rises & self.mask;
            let next = self.bits.get(self.bits.partition_point(|&row| row < least))?;
            (next & above == shared).then_some(start & above | rises | next & !above)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_of_a_list_is_that_of_a_search() {
        let subset = |mask: u64, of: u64| (0..64).filter(move |bits| bits & !mask == 0 && of >> (bits % 7) & 1 == 1);
        for mask in 0..64_u64 {
            for of in 0..128 {
                let rows = RowList { mask, bits: subset(mask, of).collect() };
                for start in 0..64 {
                    let search = (start..64).find(|address| rows.bits.contains(&(address & mask)));
                    assert_eq!(rows.holds(start), search == Some(start));
                    let found = rows.first_from(start).filter(|&address| address < 64);
                    assert_eq!(found, search, "mask {mask:#b} rows {:?} start {start}", rows.bits);
                }
            }
        }
    }

    #[test]
    fn the_first_fit_is_that_of_a_search() {
        for mask in 0..64_u64 {
            for ones in (0..64).filter(|ones| ones & !mask == 0) {
                for start in 0..64 {
                    let search = (start..64).find(|address| address & mask == ones);
                    let found = Pattern { mask, ones }.first_from(start).filter(|&address| address < 64);
                    assert_eq!(found, search, "mask {mask:#b} ones {ones:#b} start {start}");
                }
            }
        }
    }
}
