//! Conversion of a user's map: fields to parts, hashes to masks.

use super::raw::{AddressMapError, Field, Fields, RawXor};
use super::{FieldPart, Hash, Layout, Split};
use crate::geometry::Geometry;

/// A parsed entry of `fields`.
pub(super) struct FieldEntry {
    pub(super) field: Field,
    width: Option<u32>,
}

impl FieldEntry {
    fn read(text: &str) -> Result<FieldEntry, AddressMapError> {
        let (name, width) = match text.split_once(':') {
            None => (text.trim(), None),
            Some((name, width)) => (name.trim(), Some(width.trim())),
        };
        let field =
            Field::from_name(name).ok_or_else(|| AddressMapError::UnknownField { found: text.trim().to_owned() })?;
        let bad = || AddressMapError::BadWidth { found: text.trim().to_owned(), field: name.to_owned() };
        let width = width.map(|width| width.parse().ok().filter(|&bits| bits < 64).ok_or_else(bad)).transpose()?;
        Ok(FieldEntry { field, width })
    }
}

impl Fields {
    /// The entries in a geometry.
    pub(super) fn entries(&self, geometry: &Geometry) -> Result<Vec<FieldEntry>, AddressMapError> {
        match self {
            Fields::Preset(preset) => preset.fields_in(geometry).map(FieldEntry::read).collect(),
            Fields::List(list) => list.iter().map(|text| FieldEntry::read(text)).collect(),
        }
    }
}

/// Assigns address bits to each entry, from the low end. `needed` returns the width of a field.
pub(super) fn lay_out(
    entries: &[FieldEntry],
    needed: impl Fn(Field) -> u32,
) -> Result<Vec<FieldPart>, AddressMapError> {
    let split = Split::of(entries);
    let is_part_of_another = |field| field == Field::Subarray && !split.row || field == Field::BankGroup && !split.bank;
    for field in Field::ALL {
        let (name, bits) = (field.name(), needed(field));
        let widths = || entries.iter().filter(|entry| entry.field == field).map(|entry| entry.width);
        let found = widths().flatten().sum();
        match widths().filter(Option::is_none).count() {
            _ if widths().next().is_none() && (is_part_of_another(field) || bits == 0) => {}
            _ if widths().next().is_none() => return Err(AddressMapError::Missing { field: name, bits }),
            0 if found == bits => {}
            1 if found <= bits => {}
            0 | 1 => return Err(AddressMapError::WidthSum { field: name, found, bits }),
            _ => return Err(AddressMapError::TwoOpenParts { field: name }),
        }
    }
    let offsets = entries.iter().filter(|entry| entry.field == Field::Offset).count();
    if offsets != 1 || entries.last().is_none_or(|entry| entry.field != Field::Offset) {
        return Err(AddressMapError::OffsetNotLast);
    }
    let mut parts: Vec<FieldPart> = Vec::new();
    let mut address_bit = 0;
    for &FieldEntry { field, width } in entries.iter().rev() {
        let rest = || {
            let listed: u32 = entries.iter().filter(|other| other.field == field).filter_map(|other| other.width).sum();
            needed(field) - listed
        };
        let bits = width.unwrap_or_else(rest);
        let bit = parts.iter().filter(|part| part.field == field).map(|part| part.bits).sum();
        if bits > 0 {
            parts.push(FieldPart { field, address_bit, bit, bits });
        }
        address_bit += bits;
    }
    Ok(parts)
}

/// An address bit of the row, which is always valid in a hash.
pub(super) fn row_bit(parts: &[FieldPart]) -> u32 {
    parts.iter().find(|part| part.field == Field::Row).map_or(0, |part| part.address_bit)
}

/// Validates the hashes, in the order written.
pub(super) fn read_hashes(xor: &[RawXor], layout: &Layout, parts: &[FieldPart]) -> Result<Vec<Hash>, AddressMapError> {
    let mut hashes: Vec<Hash> = Vec::with_capacity(xor.len());
    for RawXor { field: name, bit, address_bits } in xor {
        let bit = *bit;
        let hashable = |field: &Field| matches!(field, Field::Bank | Field::Channel | Field::Rank);
        let found = Field::from_name(name.trim())
            .filter(hashable)
            .ok_or_else(|| AddressMapError::XorField { found: name.trim().to_owned() })?;
        let (first, bits) = layout.place(found, Split::default());
        let field = found.name();
        if bit >= bits {
            return Err(AddressMapError::XorBit { field, bit, bits });
        }
        if hashes.iter().any(|hash| hash.bit == first + bit) {
            return Err(AddressMapError::XorTwice { field, bit });
        }
        if address_bits.is_empty() {
            return Err(AddressMapError::XorNothing { field, bit, row_bit: row_bit(parts) });
        }
        let mut mask = 0;
        for &address_bit in address_bits {
            let (least, most) = (layout.column, layout.end - 1);
            if !(least..=most).contains(&address_bit) {
                return Err(AddressMapError::XorAddressBit { field, bit, address_bit, least, most });
            }
            if mask >> address_bit & 1 == 1 {
                return Err(AddressMapError::XorRepeated { field, bit, address_bit });
            }
            mask |= 1 << address_bit;
        }
        hashes.push(Hash { field: found, mask, bit: first + bit });
    }
    Ok(hashes)
}
