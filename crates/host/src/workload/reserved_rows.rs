//! Detection of addresses in reserved rows.

use dram_spec::{PhysicalAddress, Row};
use rowclone::Planner;

/// The reserved rows of a memory as patterns of address bits, each tested by one comparison.
/// (Address maps do not hash rows, so a row number corresponds to fixed address bits.)
///
/// Where subarrays are not of one size, a power of two, the zero rows have no pattern: the planner then
/// looks at each address.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReservedRows {
    /// Row bits that are all ones in the last row of a subarray; none without a pattern.
    zero: u64,
    /// All row bits, and their values in a bank's temporary row.
    row: u64,
    temporary: u64,
    has_pattern: bool,
}

impl ReservedRows {
    /// Creates the patterns for the map of a planner.
    pub(super) fn new(planner: &Planner) -> ReservedRows {
        let map = planner.map();
        let geometry = map.geometry();
        let has_pattern = geometry.subarray_row_bits().is_some();
        ReservedRows {
            zero: if has_pattern { map.row_bits(geometry.zero_row(0)) } else { 0 },
            row: map.row_bits(Row(geometry.rows_per_bank() - 1)),
            temporary: map.row_bits(geometry.temporary_row()),
            has_pattern,
        }
    }

    /// Whether an address of the memory lies in a reserved row.
    #[inline]
    pub(super) fn hold(self, planner: &Planner, address: PhysicalAddress) -> bool {
        let fits = address.0 & self.zero == self.zero || address.0 & self.row == self.temporary;
        fits && (self.has_pattern || !planner.is_usable_line(address))
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::{MapPreset, RawAddressMap};
    use dram_spec::{AddressMap, Density, Geometry, RawGeometry, System, Width};
    use rowclone::FaultyRows;

    use super::*;

    #[test]
    fn reserved_rows_are_those_of_the_geometry() {
        let paper = System::paper(2, Density::Gb1, Width::X16).geometry.raw();
        let fields = |fields: &[&str]| {
            let list: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
            RawAddressMap { fields: list.into(), xor: Vec::new() }
        };
        let scattered = fields(&["row", "bank", "channel", "column:3", "row:2", "column", "offset"]);
        let split = fields(&["row", "subarray", "column:1", "bank", "channel", "column", "offset"]);
        let presets = MapPreset::ALL.map(MapPreset::raw);
        let cases = [512.into(), [640, 640, 768].into(), 576.into()].into_iter().flat_map(|rows_per_subarray| {
            let geometry = Geometry::try_from(RawGeometry { rows_per_subarray, ..paper }).unwrap();
            let split = geometry.subarray_row_bits().map(|_| &split);
            presets.iter().chain([&scattered]).chain(split).map(move |raw| (geometry, raw))
        });
        for (geometry, raw) in cases {
            let map = AddressMap::new(geometry, raw).expect("the map is a bijection");
            let planner = Planner::new(map.clone(), FaultyRows::default());
            let rows = ReservedRows::new(&planner);
            let (everywhere, end) =
                ((0..geometry.bytes()).step_by(64 * 61), geometry.bytes() - (1 << 20)..geometry.bytes());
            for address in everywhere.chain(end.step_by(64)).map(PhysicalAddress) {
                let row = map.locate(address).expect("the address is one of the memory").row;
                assert_eq!(
                    rows.hold(&planner, address),
                    geometry.reserved(row).is_some(),
                    "{address} of {:?}",
                    map.parts()
                );
            }
        }
    }
}
