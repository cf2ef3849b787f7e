//! Detection of addresses in reserved rows.

use dram_spec::{AddressMap, PhysicalAddress, Row};

/// The reserved rows of a memory as patterns of address bits, each tested by one comparison.
/// (Address maps do not hash rows, so a row number corresponds to fixed address bits.)
#[derive(Clone, Copy, Debug)]
pub(super) struct ReservedRows {
    /// Row bits that are all ones in the last row of a subarray.
    zero: u64,
    /// All row bits, and their values in a bank's temporary row.
    row: u64,
    temporary: u64,
}

impl ReservedRows {
    /// Creates the patterns for a map.
    pub(super) fn new(map: &AddressMap) -> ReservedRows {
        let geometry = map.geometry();
        ReservedRows {
            zero: map.row_bits(geometry.zero_row(0)),
            row: map.row_bits(Row(geometry.rows_per_bank() - 1)),
            temporary: map.row_bits(geometry.temporary_row()),
        }
    }

    /// Whether an address lies in a reserved row.
    pub(super) const fn hold(self, address: PhysicalAddress) -> bool {
        address.0 & self.zero == self.zero || address.0 & self.row == self.temporary
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::address::{Preset, RawAddressMap};
    use dram_spec::{Density, System, Width};

    use super::*;

    #[test]
    fn reserved_rows_are_those_of_the_geometry() {
        let geometry = System::paper(2, Density::Gb1, Width::X16).geometry;
        let fields = |fields: &[&str]| RawAddressMap {
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            xor: Vec::new(),
        };
        let raws = [
            fields(&["row", "bank", "channel", "column:3", "row:2", "column", "offset"]),
            fields(&["row", "subarray", "column:1", "bank", "channel", "column", "offset"]),
        ];
        for raw in Preset::ALL.map(Preset::raw).iter().chain(&raws) {
            let map = AddressMap::new(geometry, raw).expect("the map is a bijection");
            let rows = ReservedRows::new(&map);
            let (everywhere, end) =
                ((0..geometry.bytes()).step_by(64 * 61), geometry.bytes() - (1 << 20)..geometry.bytes());
            for address in everywhere.chain(end.step_by(64)).map(PhysicalAddress) {
                let row = map.locate(address).expect("the address is one of the memory").row;
                assert_eq!(rows.hold(address), geometry.reserved(row).is_some(), "{address} of {:?}", map.parts());
            }
        }
    }
}
