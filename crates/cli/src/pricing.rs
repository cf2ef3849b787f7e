//! What commands cost on a system: as the account prices them, and as a controller is told.

use energy::{EnergyError, EventPrices, Prices};
use memctrl::PriceTable;

use crate::CliError;
use crate::input::SystemConfig;

/// The prices of a system's commands.
///
/// # Errors
/// Its currents are of other chips.
pub fn prices(system: &SystemConfig) -> Result<Prices, CliError> {
    Prices::new(&system.system, &system.currents).map_err(|error| unpriced(&error))
}

/// Why energy cannot be told.
pub fn unpriced(error: &EnergyError) -> CliError {
    CliError::new(error).with_help(error.help())
}

/// What a choice between mechanisms costs: each command with its share of the channel, all chips of the rank together.
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
    use energy::Counts;

    use super::*;
    use crate::input::{Overrides, currents};

    /// One rank and two: with two, the idle one terminates the pins.
    #[test]
    fn the_price_of_a_command_is_what_the_account_books_for_it() {
        for ranks in ["1", "2"] {
            let overrides = Overrides::parse(&[format!("geometry.ranks={ranks}")]).unwrap();
            let system = SystemConfig::paper(&overrides).unwrap();
            for set in currents::shipped().unwrap().iter().filter(|set| set.width() == system.currents.width()) {
                let prices = Prices::new(&system.system, set).unwrap();
                let table = price_table(&prices);
                for (price, counts) in [
                    (table.activate, Counts { activates: 1, ..Counts::default() }),
                    (table.copy_activate, Counts { copy_activates: 1, ..Counts::default() }),
                    (table.read, Counts { reads: 1, ..Counts::default() }),
                    (table.write, Counts { writes: 1, ..Counts::default() }),
                    (table.transfer, Counts { transfers: 1, ..Counts::default() }),
                ] {
                    let booked = prices.operation(&counts).operation().0;
                    assert!((price.0 / booked - 1.0).abs() < 1e-12, "{}: {counts:?} {price:?} {booked}", set.name());
                }
            }
        }
    }
}
