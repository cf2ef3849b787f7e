//! Readers of exported traces that share no code with their writers: line by line, from the grammars of
//! `docs/command-traces.md`.

/// A command as a format has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub cycle: u64,
    pub name: String,
    /// For a command of a bank.
    pub bank: Option<u8>,
    pub row: Option<u32>,
    /// Line of the row.
    pub column: Option<u16>,
}

/// `clock,command,bank`; the end, if there is one.
pub fn drampower(text: &str) -> (Vec<Read>, Option<u64>) {
    let (mut commands, mut end) = (Vec::new(), None);
    for line in text.lines() {
        assert_eq!(end, None, "{line} after END");
        let [cycle, name, bank] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (cycle, bank): (u64, u8) = (cycle.parse().unwrap(), bank.parse().unwrap());
        match name {
            "END" => end = Some(cycle),
            "ACT" | "PRE" | "RD" | "RDA" | "WR" | "WRA" => {
                commands.push(Read { cycle, name: name.into(), bank: Some(bank), row: None, column: None });
            }
            "PREA" | "REF" | "PDN_F_ACT" | "PDN_F_PRE" | "PDN_S_PRE" | "PUP_ACT" | "PUP_PRE" | "SREN" | "SREX" => {
                assert_eq!(bank, 0, "{line}");
                commands.push(Read { cycle, name: name.into(), bank: None, row: None, column: None });
            }
            _ => panic!("{line}"),
        }
    }
    (commands, end)
}

/// An HDL list: its header, its commands, and its remarks about TRANSFER.
#[derive(Debug)]
pub struct List {
    pub header: Vec<(String, String)>,
    pub commands: Vec<Read>,
    pub transfers: usize,
}

impl List {
    pub fn value(&self, key: &str) -> &str {
        &self.header.iter().find(|(name, _)| name == key).unwrap().1
    }
}

/// `cycle command bank address`, with the address pins taken apart.
pub fn hdl(text: &str) -> List {
    let mut list = List { header: Vec::new(), commands: Vec::new(), transfers: 0 };
    for line in text.lines() {
        if let Some(remark) = line.strip_prefix("# ") {
            if let Some((key, value)) = remark.split_once(" = ") {
                list.header.push((key.into(), value.into()));
            }
            list.transfers += usize::from(remark.contains(" TRANSFER "));
            continue;
        }
        let [cycle, name, bank, address] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let (cycle, bank): (u64, u8) = (cycle.parse().unwrap(), bank.parse().unwrap());
        let pins = u32::from_str_radix(address.strip_prefix("0x").unwrap(), 16).unwrap();
        let pin = |number: u32| pins >> number & 1;
        let (mut row, mut column, mut of_bank) = (None, None, true);
        match name {
            "ACT" => row = Some(pins),
            "RD" | "RDA" | "WR" | "WRA" => {
                assert_eq!((pin(12), pin(10)), (1, u32::from(name.ends_with('A'))), "{line}");
                let device_column: u32 =
                    (0..10).chain([11, 13]).enumerate().map(|(bit, number)| pin(number) << bit).sum();
                assert_eq!((device_column % 8, pin(14) + pin(15)), (0, 0), "{line}");
                column = Some((device_column / 8) as u16);
            }
            "PRE" => assert_eq!(pins, 0, "{line}"),
            "PREA" => (of_bank, column) = (pins != 1 << 10, None),
            "REF" | "PDE" | "PDX" | "SRE" | "SRX" => {
                assert_eq!((bank, pins), (0, 0), "{line}");
                of_bank = false;
            }
            _ => panic!("{line}"),
        }
        list.commands.push(Read { cycle, name: name.into(), bank: of_bank.then_some(bank), row, column });
    }
    list
}
