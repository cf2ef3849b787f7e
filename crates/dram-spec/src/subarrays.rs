//! Sizes of the subarrays of a bank: one number, or a pattern that repeats.

use std::fmt;
use std::ops::Range;

/// Most numbers of a pattern.
const NUMBERS_MAX: usize = 8;

/// Least and most rows of a subarray, but for the last of a bank.
const ROWS: (u64, u64) = (128, 1024);

/// A number that fits every bank.
const USUAL: RowsPerSubarray = RowsPerSubarray { numbers: [512, 0, 0, 0, 0, 0, 0, 0], count: 1 };

/// Least rows of the last subarray of a bank: its zero row and the temporary row of the bank.
const LAST_ROWS_MIN: u32 = 2;

/// Rows per subarray in a user's notation, not validated: one number, or 1 to 8 numbers that repeat
/// from row 0 of each bank. The last subarray of a bank may be cut short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsPerSubarray {
    /// The numbers, 0 after the last.
    numbers: [u64; NUMBERS_MAX],
    /// Numbers given. Those after the eighth are only counted.
    count: usize,
}

impl RowsPerSubarray {
    /// The numbers, at most the first eight.
    pub fn numbers(&self) -> &[u64] {
        &self.numbers[..self.count.min(NUMBERS_MAX)]
    }

    /// Whether each number is within its range.
    fn is_in_range(&self) -> bool {
        let (least, most) = ROWS;
        (1..=NUMBERS_MAX).contains(&self.count) && self.numbers().iter().all(|rows| (least..=most).contains(rows))
    }

    /// The nearest pattern in range.
    fn in_range(&self) -> RowsPerSubarray {
        let (least, most) = ROWS;
        self.numbers().iter().map(|&rows| rows.clamp(least, most)).collect()
    }

    /// The pattern without repetitions of a shorter one.
    fn shortest(&self) -> RowsPerSubarray {
        let numbers = self.numbers();
        let repeats = |&period: &usize| {
            numbers.len().is_multiple_of(period)
                && numbers.iter().zip(&numbers[period..]).all(|(one, next)| one == next)
        };
        let period = (1..numbers.len()).find(repeats).unwrap_or(numbers.len());
        numbers[..period].iter().copied().collect()
    }

    /// A pattern that fits a bank, with one number changed as little as possible.
    fn near(&self, rows_per_bank: u32) -> RowsPerSubarray {
        let (_, most) = ROWS;
        let with = |index: usize, rows: u64| {
            let mut changed = *self;
            changed.numbers[index] = rows;
            Subarrays::new(&changed, rows_per_bank).is_ok().then_some(changed)
        };
        let by = |step: u64| {
            let change = |index: usize| {
                let rows = self.numbers[index];
                with(index, rows + step).or_else(|| with(index, rows.saturating_sub(step)))
            };
            (0..self.numbers().len()).rev().find_map(change)
        };
        (1..most).find_map(by).unwrap_or(USUAL)
    }
}

impl From<u64> for RowsPerSubarray {
    fn from(rows: u64) -> RowsPerSubarray {
        RowsPerSubarray::from([rows])
    }
}

impl<const N: usize> From<[u64; N]> for RowsPerSubarray {
    fn from(numbers: [u64; N]) -> RowsPerSubarray {
        RowsPerSubarray::from_iter(numbers)
    }
}

impl FromIterator<u64> for RowsPerSubarray {
    fn from_iter<I: IntoIterator<Item = u64>>(all: I) -> RowsPerSubarray {
        let (mut numbers, mut count) = ([0; NUMBERS_MAX], 0);
        for rows in all {
            if let Some(number) = numbers.get_mut(count) {
                *number = rows;
            }
            count += 1;
        }
        RowsPerSubarray { numbers, count }
    }
}

/// Formats `512` or `[640, 640, 768]`, as TOML.
impl fmt::Display for RowsPerSubarray {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [rows] = self.numbers() {
            return rows.fmt(f);
        }
        let numbers = self.numbers().iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        write!(f, "[{numbers}{}]", if self.count > NUMBERS_MAX { ", ..." } else { "" })
    }
}

/// Reason why subarrays are impossible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubarraysError {
    /// A number, or their count, is out of range.
    Range,
    /// The last subarray of a bank has too few rows.
    LastRows(u32),
}

/// Suggested change of rows per subarray.
pub(crate) fn help(found: &RowsPerSubarray, rows_per_bank: Option<u32>) -> String {
    if found.count > NUMBERS_MAX {
        return format!("list at most {NUMBERS_MAX} numbers: they repeat from row 0 of each bank");
    }
    let near = match rows_per_bank {
        _ if found.count == 0 => USUAL,
        None => found.in_range(),
        Some(rows_per_bank) => found.near(rows_per_bank),
    };
    format!("try `rows_per_subarray = {near}`")
}

/// The subarrays of a bank, validated. Equal subarrays have equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Subarrays {
    /// First row after each subarray of the pattern, `u16::MAX` after the last.
    ends: [u16; NUMBERS_MAX],
    /// Subarrays of the pattern.
    count: u8,
    /// log2 of the rows per subarray, or [`NO_SHIFT`]: a division by a constant of the system is then a
    /// shift, on the path of every command.
    shift: u8,
    rows_per_bank: u32,
}

/// Value of `shift` if the subarrays are not all of one size, a power of two.
const NO_SHIFT: u8 = u8::MAX;

impl Subarrays {
    /// Validates rows per subarray in banks of `rows_per_bank` rows.
    pub(crate) fn new(raw: &RowsPerSubarray, rows_per_bank: u32) -> Result<Subarrays, SubarraysError> {
        if !raw.is_in_range() {
            return Err(SubarraysError::Range);
        }
        let pattern = raw.shortest();
        let (mut ends, mut end) = ([u16::MAX; NUMBERS_MAX], 0);
        for (slot, &rows) in ends.iter_mut().zip(pattern.numbers()) {
            end += rows as u16;
            *slot = end;
        }
        let shift = match pattern.numbers() {
            [rows] if rows.is_power_of_two() => rows.trailing_zeros() as u8,
            _ => NO_SHIFT,
        };
        let subarrays = Subarrays { ends, count: pattern.numbers().len() as u8, shift, rows_per_bank };
        match subarrays.rows(subarrays.per_bank() - 1).len() as u32 {
            last if last < LAST_ROWS_MIN => Err(SubarraysError::LastRows(last)),
            _ => Ok(subarrays),
        }
    }

    /// The subarrays in a user's notation.
    pub(crate) fn raw(&self) -> RowsPerSubarray {
        let ends = &self.ends[..usize::from(self.count)];
        let starts = [0].into_iter().chain(ends.iter().copied());
        ends.iter().zip(starts).map(|(end, start)| u64::from(end - start)).collect()
    }

    /// log2 of the rows per subarray if all subarrays are of one size, a power of two.
    pub(crate) const fn row_bits(&self) -> Option<u32> {
        if self.shift == NO_SHIFT { None } else { Some(self.shift as u32) }
    }

    /// Rows of the pattern.
    const fn period(&self) -> u32 {
        self.ends[self.count as usize - 1] as u32
    }

    /// Index of a row's subarray.
    #[inline]
    pub(crate) const fn of(&self, row: u32) -> u32 {
        if self.shift == NO_SHIFT { self.of_pattern(row) } else { row >> self.shift }
    }

    #[cold]
    #[inline(never)]
    const fn of_pattern(&self, row: u32) -> u32 {
        let (repetition, row) = (row / self.period(), row % self.period());
        let mut index = 0;
        while row >= self.ends[index] as u32 {
            index += 1;
        }
        repetition * self.count as u32 + index as u32
    }

    /// Subarrays from that of one row to that of another.
    #[inline]
    pub(crate) const fn distance(&self, from: u32, to: u32) -> u16 {
        if self.shift == NO_SHIFT {
            return self.distance_in_pattern(from, to);
        }
        (from >> self.shift).abs_diff(to >> self.shift) as u16
    }

    #[cold]
    #[inline(never)]
    const fn distance_in_pattern(&self, from: u32, to: u32) -> u16 {
        self.of_pattern(from).abs_diff(self.of_pattern(to)) as u16
    }

    /// Whether two rows share sense amplifiers.
    #[inline]
    pub(crate) const fn is_same(&self, one: u32, other: u32) -> bool {
        if self.shift == NO_SHIFT {
            return self.distance_in_pattern(one, other) == 0;
        }
        (one ^ other) >> self.shift == 0
    }

    /// Rows of a subarray.
    #[inline]
    pub(crate) const fn rows(&self, subarray: u32) -> Range<u32> {
        if self.shift != NO_SHIFT {
            return subarray << self.shift..(subarray + 1) << self.shift;
        }
        let count = self.count as u32;
        let (first, index) = (subarray / count * self.period(), (subarray % count) as usize);
        let start = if index == 0 { 0 } else { self.ends[index - 1] as u32 };
        let end = first + self.ends[index] as u32;
        first + start..if end < self.rows_per_bank { end } else { self.rows_per_bank }
    }

    /// Rows per bank.
    #[inline]
    pub(crate) const fn rows_per_bank(&self) -> u32 {
        self.rows_per_bank
    }

    /// Subarrays per bank.
    #[inline]
    pub(crate) const fn per_bank(&self) -> u32 {
        self.of(self.rows_per_bank - 1) + 1
    }

    /// Whether a row is the last of its subarray.
    #[inline]
    pub(crate) const fn is_last(&self, row: u32) -> bool {
        if self.shift == NO_SHIFT {
            return row + 1 == self.rows(self.of_pattern(row)).end;
        }
        let mask = (1 << self.shift) - 1;
        row & mask == mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subarrays(raw: impl Into<RowsPerSubarray>, rows_per_bank: u32) -> Subarrays {
        Subarrays::new(&raw.into(), rows_per_bank).unwrap()
    }

    /// 640 + 640 + 768 = 2048 rows, 32 times per bank of 65,536 rows.
    #[test]
    fn a_pattern_repeats_from_row_zero() {
        let subarrays = subarrays([640, 640, 768], 65_536);
        assert_eq!(subarrays.per_bank(), 96);
        let rows = [0, 639, 640, 1279, 1280, 2047, 2048, 2687, 2688, 65_535];
        assert_eq!(rows.map(|row| subarrays.of(row)), [0, 0, 1, 1, 2, 2, 3, 3, 4, 95]);
        assert_eq!((subarrays.rows(1), subarrays.rows(2), subarrays.rows(3)), (640..1280, 1280..2048, 2048..2688));
        assert_eq!(
            rows.map(|row| subarrays.is_last(row)),
            [false, true, false, true, false, true, false, true, false, true]
        );
        assert_eq!((subarrays.row_bits(), subarrays.raw()), (None, [640, 640, 768].into()));
    }

    /// 65,536 = 113 x 576 + 448.
    #[test]
    fn the_last_subarray_is_cut_short() {
        let subarrays = subarrays(576, 65_536);
        assert_eq!(
            (subarrays.per_bank(), subarrays.rows(112), subarrays.rows(113)),
            (114, 64_512..65_088, 65_088..65_536)
        );
        assert_eq!([65_087, 65_088, 65_534, 65_535].map(|row| subarrays.of(row)), [112, 113, 113, 113]);
        assert_eq!([65_087, 65_088, 65_534, 65_535].map(|row| subarrays.is_last(row)), [true, false, false, true]);
    }

    #[test]
    fn equal_subarrays_are_one_value() {
        assert_eq!(subarrays([512, 512], 32_768), subarrays(512, 32_768));
        assert_eq!(subarrays([512], 32_768).row_bits(), Some(9));
        assert_eq!(subarrays([640, 768, 640, 768], 32_768), subarrays([640, 768], 32_768));
        assert_eq!(subarrays([640, 768, 640], 32_768).raw(), [640, 768, 640].into());
    }

    /// Each row belongs to the subarray whose rows contain it, and subarrays follow each other.
    #[test]
    fn subarrays_divide_the_rows_of_a_bank() {
        let patterns: [&[u64]; 6] =
            [&[128], &[1024], &[129], &[1000], &[640, 640, 768], &[128, 1024, 130, 131, 132, 133, 134, 135]];
        for pattern in patterns {
            let subarrays = Subarrays::new(&pattern.iter().copied().collect(), 32_768).unwrap();
            let mut next = 0;
            for subarray in 0..subarrays.per_bank() {
                let rows = subarrays.rows(subarray);
                assert_eq!(rows.start, next, "{pattern:?}");
                assert!(rows.clone().all(|row| subarrays.of(row) == subarray), "{pattern:?}");
                assert!(rows.clone().all(|row| subarrays.is_last(row) == (row + 1 == rows.end)), "{pattern:?}");
                next = rows.end;
            }
            assert_eq!(next, 32_768, "{pattern:?}");
        }
    }

    /// 65,535 = 255 x 257, so that one row of 65,536 is left.
    #[test]
    fn the_last_subarray_needs_a_zero_row_and_a_temporary_row() {
        assert_eq!(Subarrays::new(&257.into(), 65_536), Err(SubarraysError::LastRows(1)));
        assert_eq!(help(&257.into(), Some(65_536)), "try `rows_per_subarray = 258`");
        // 65,536 = 434 x 151 + 2.
        assert_eq!(subarrays(151, 65_536).rows(434), 65_534..65_536);
        assert_eq!(help(&[127, 640, 2000].into(), None), "try `rows_per_subarray = [128, 640, 1024]`");
        assert_eq!(help(&RowsPerSubarray::from_iter([]), None), "try `rows_per_subarray = 512`");
        assert_eq!(help(&[640; 9].into(), None), "list at most 8 numbers: they repeat from row 0 of each bank");
    }

    #[test]
    fn numbers_are_shown_as_in_a_file() {
        let shown = |raw: RowsPerSubarray| raw.to_string();
        assert_eq!(shown(512.into()), "512");
        assert_eq!(shown([512].into()), "512");
        assert_eq!(shown([640, 640, 768].into()), "[640, 640, 768]");
        assert_eq!(shown(RowsPerSubarray::from_iter([])), "[]");
        assert_eq!(shown([200; 9].into()), "[200, 200, 200, 200, 200, 200, 200, 200, ...]");
    }
}
