//! Energy of each command, for the copy policy `least-energy`.

use energy::Prices;
use memctrl::PriceTable;

/// Energy of each command including I/O, for all chips of the rank together.
pub fn price_table(prices: &Prices) -> PriceTable {
    PriceTable::from_fn(|kind| prices.events().total(kind))
}

#[cfg(test)]
mod tests {
    use dram_spec::{CommandCounts, CommandKind, Width};
    use energy::Counts;

    use super::*;
    use crate::SystemBuilder;

    /// One rank and two: with two, the idle rank terminates the pins.
    #[test]
    fn the_price_of_a_command_equals_its_energy_in_the_account() {
        for ranks in [1, 2] {
            let standard = SystemBuilder::default().build().unwrap().system().standard();
            let sets = energy::shipped().filter(|set| set.fits(standard, Width::X8));
            for set in sets {
                let name = set.name().to_owned();
                let system = SystemBuilder::default().ranks(ranks).currents(set).build().unwrap();
                let prices = system.prices().unwrap();
                let table = price_table(prices);
                for kind in CommandKind::ALL {
                    let counts = Counts { commands: CommandCounts::default().with(kind, 1), ..Counts::default() };
                    let booked = prices.report(&counts).unwrap().total().0;
                    assert!((table[kind].0 - booked).abs() <= 1e-12 * booked, "{name}: {kind:?} {booked}");
                }
            }
        }
    }
}
