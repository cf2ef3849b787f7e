//! Energy of each command, for the copy policy `least-energy`.

use energy::{EventPrices, Prices};
use memctrl::PriceTable;

/// Energy of each command including I/O, for all chips of the rank together.
pub fn price_table(prices: &Prices) -> PriceTable {
    let EventPrices { activate, read, write, transfer, read_io, write_io, idle_rank_read, idle_rank_write, refresh: _ } =
        *prices.events();
    PriceTable {
        activate,
        copy_activate: activate,
        read: read + read_io + idle_rank_read,
        write: write + write_io + idle_rank_write,
        transfer,
    }
}

#[cfg(test)]
mod tests {
    use dram_spec::Width;
    use energy::Counts;

    use super::*;
    use crate::SystemBuilder;

    /// One rank and two: with two, the idle rank terminates the pins.
    #[test]
    fn the_price_of_a_command_equals_its_energy_in_the_account() {
        for ranks in [1, 2] {
            let sets = energy::shipped().filter(|set| set.width() == Width::X8);
            for set in sets {
                let name = set.name().to_owned();
                let system = SystemBuilder::default().ranks(ranks).currents(set).build().unwrap();
                let prices = system.prices();
                let table = price_table(prices);
                for (price, counts) in [
                    (table.activate, Counts { activates: 1, ..Counts::default() }),
                    (table.copy_activate, Counts { copy_activates: 1, ..Counts::default() }),
                    (table.read, Counts { reads: 1, ..Counts::default() }),
                    (table.write, Counts { writes: 1, ..Counts::default() }),
                    (table.transfer, Counts { transfers: 1, ..Counts::default() }),
                ] {
                    let booked = prices.operation(&counts).operation().0;
                    assert!((price.0 / booked - 1.0).abs() < 1e-12, "{name}: {counts:?} {price:?} {booked}");
                }
            }
        }
    }
}
