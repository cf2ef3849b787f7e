//! Shards of a sweep: `2/8` is the second of eight.

use std::str::FromStr;

/// One of `count` shards: every `count`-th point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the shard, from 1.
    pub number: u64,
    /// Number of shards.
    pub count: u64,
}

impl Shard {
    /// The shard of `count` to which a point belongs, by the number of the point from 0.
    pub const fn of(point: u64, count: u64) -> Shard {
        Shard { number: point % count + 1, count }
    }

    /// Whether a point belongs to the shard, by its number from 0.
    pub const fn has(self, point: u64) -> bool {
        Shard::of(point, self.count).number == self.number
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parsed = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
        match parsed {
            Some((number, count)) if 1 <= number && number <= count => Ok(Shard { number, count }),
            _ => Err("write K/N with K from 1 to N, for example 2/8".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_shard() {
        for point in 0..100 {
            let shards = (1..=7).filter(|&number| Shard { number, count: 7 }.has(point));
            assert_eq!(shards.count(), 1);
        }
        assert!(Shard { number: 1, count: 3 }.has(0) && Shard { number: 3, count: 3 }.has(5));
    }

    #[test]
    fn a_shard_is_written_as_a_fraction() {
        for number in [1, 2, 8] {
            assert_eq!(format!("{number}/8").parse(), Ok(Shard { number, count: 8 }));
        }
        for wrong in ["0/8", "9/8", "2", "2/", "a/b", "-1/2", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
