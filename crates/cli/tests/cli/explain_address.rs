//! `explain address`, both ways round.

use crate::common::{Directory, run, workspace};
use cli::commands::explain_address::find;
use dram_spec::Location;
use proptest::prelude::*;
use rowclone_config::{Overrides, SystemConfig};

fn shipped() -> Vec<SystemConfig> {
    ["ddr3-1066-paper", "ddr3-1066-paper-line-interleaved", "ddr3-1600-8gb-dimm"]
        .map(|name| workspace().join("configs").join(name).with_extension("toml"))
        .iter()
        .map(|path| SystemConfig::read(path, &Overrides::default()).unwrap())
        .collect()
}

#[test]
fn addresses_and_their_coordinates_find_each_other() {
    let systems = shipped();
    let addresses = (0..systems.len(), any::<u64>());
    let mut runner = proptest::test_runner::TestRunner::default();
    let property = |(index, number): (usize, u64)| {
        let map = systems[index].memory.map();
        let number = number % map.geometry().bytes();
        let (address, location) = find(&format!("{number:#x}"), map).unwrap();
        prop_assert_eq!(address.0, number);
        prop_assert_eq!(find(&number.to_string(), map).unwrap().1, location);
        let Location { channel, bank, row, column, offset } = location;
        let coordinates = format!(
            "offset={offset}, row={}, channel={}, rank={}, bank={}, column={:#x}",
            row.0, channel.0, bank.rank, bank.bank, column.0
        );
        prop_assert_eq!(find(&coordinates, map).unwrap(), (address, location));
        Ok(())
    };
    runner.run(&addresses, property).unwrap();
}

/// By hand, row interleaving over 2 channels: `0xff85_51c5` is offset 5, column 7 of 64, channel 1, bank 2, subarray 5
/// of 128 (bits 16 to 22), and row 511 of it (bits 23 to 31): row 5 x 512 + 511.
#[test]
fn an_address_is_explained_in_full() {
    let expected = "\
system                  ddr3-1066-paper
address                 0xff8551c5 (4286927301)
channel                 1
rank                    0
bank                    2
subarray                5
row                     3071 (row 511 of its subarray)
column                  7 (a line of 64 bytes)
offset                  5 (bytes)
reserved                yes: the zero row of its subarray
frame                   1046613 (4096 bytes from 0xff855000)
the frame lies in       channel 1 rank 0 bank 2 subarray 5
frames sharing its rows 1 (itself included)
usable capacity         4,286,513,152 bytes, the addresses below 0xff7f0000
copy granularity        4096 bytes
";
    let system = "configs/ddr3-1066-paper.toml";
    assert_eq!(run(&["explain", "address", "0xff8551c5", "--system", system]), (0, expected.to_owned(), String::new()));
    let coordinates = "channel=1,rank=0,bank=2,row=3071,column=7,offset=5";
    assert_eq!(run(&["explain", "address", coordinates, "--system", system]).1, expected);
}

/// By hand, with subarrays of 640, 640 and 768 rows on the paper's system: `0x0502_51c5` is offset 5, column 7, channel
/// 1, bank 2 and row 0x502 = 1282 (bits 16 to 31), the third of its subarray. 16 banks have 96 zero rows and a
/// temporary row.
#[test]
fn the_row_is_whole_where_no_bits_select_the_subarray() {
    let rows = ("rows_per_subarray = 512", "rows_per_subarray = [640, 640, 768]");
    let directory = Directory::with(rows, ("", ""));
    let file = directory.path("system.toml");
    let text = run(&["explain", "address", "0x050251c5", "--system", file.to_str().unwrap()]).1;
    for line in [
        "subarray                2\n",
        "row                     1282 (row 2 of its subarray, which has 768 rows)\n",
        "reserved                no\n",
        "the frame lies in       channel 1 rank 0 bank 2 subarray 2\n",
        "usable capacity         4,288,610,304 bytes, with reserved rows between them\n",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
}

#[test]
fn what_is_no_place_of_the_memory_says_so() {
    let system = SystemConfig::paper(&Overrides::default()).unwrap();
    let cases = [
        ("", "`` is neither an address nor coordinates"),
        ("12 KB", "`12 KB` is neither an address nor coordinates"),
        ("0x100000000", "0x100000000 lies past the end of the memory at 0x100000000"),
        ("channel=0,rank=0,bank=3,row=17", "`column` is missing"),
        ("channel=0,rank=0,bank=8,row=17,column=0", "`bank` is 8, but must be a whole number from 0 to 7"),
        ("channel=0,rank=0,bank=3,row=-1,column=0", "`row` is -1, but must be a whole number from 0 to 65535"),
        ("channel=0,channel=0", "`channel` is given twice"),
        ("chanel=0", "`chanel` is no coordinate"),
        ("channel=0,rank", "`rank` has no `=`"),
    ];
    for (place, message) in cases {
        assert_eq!(find(place, system.memory.map()).unwrap_err().to_string(), message, "{place}");
    }
}
