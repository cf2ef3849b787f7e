//! Symbols of a kernel: the text of `System.map` and `/proc/kallsyms`.

use std::collections::BTreeMap;
use std::ops::Range;

use rowclone_config::Failure;

/// Routines of x86 that copy a page. A copy on write whose memory errors can be survived ends in `memcpy`; only calls
/// that copy a page are marked.
const COPY: [&str; 7] = [
    "copy_page",
    "copy_page_regs",
    "memcpy",
    "memcpy_orig",
    "memcpy_erms",
    "copy_mc_fragile",
    "copy_mc_enhanced_fast_string",
];
/// Routines of x86 that clear a page.
const CLEAR: [&str; 3] = ["clear_page_rep", "clear_page_orig", "clear_page_erms"];

/// Addresses of the functions of a kernel.
#[derive(Debug)]
pub struct KernelSymbols {
    /// Address by name; the first of several.
    addresses: BTreeMap<String, u64>,
}

impl KernelSymbols {
    /// The symbols of a text with lines of address, kind and name. A line of a module has its name in brackets.
    pub fn of(text: &str) -> KernelSymbols {
        let mut addresses = BTreeMap::new();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let (Some(address), Some(kind), Some(name), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let address = u64::from_str_radix(address, 16).unwrap_or(0);
            if address > 0 && matches!(kind, "t" | "T" | "w" | "W") {
                addresses.entry(name.to_owned()).or_insert(address);
            }
        }
        KernelSymbols { addresses }
    }

    /// The address of a function.
    ///
    /// # Errors
    /// There is no such function.
    pub fn address(&self, name: &str) -> Result<u64, Failure> {
        self.addresses.get(name).copied().ok_or_else(|| {
            let help = "`--from` takes a function of the kernel, such as `start_kernel` or `run_init_process`; \
                        `--symbols FILE` takes the text of its System.map or /proc/kallsyms";
            Failure::new(format!("the kernel has no symbol `{name}`")).with_help(help)
        })
    }

    /// The addresses of the routines that copy or clear pages, each up to the next function.
    ///
    /// # Errors
    /// The kernel has no such routines.
    pub fn page_routines(&self) -> Result<Vec<Range<u64>>, Failure> {
        let find = |names: &[&str]| names.iter().filter_map(|name| self.addresses.get(*name).copied()).collect();
        let (mut starts, clear): (Vec<u64>, Vec<u64>) = (find(&COPY), find(&CLEAR));
        for (found, names) in [(&starts, &COPY[..1]), (&clear, &CLEAR[..])] {
            if found.is_empty() {
                let message = format!("the kernel's symbols have none of {}", names.join(", "));
                let help = "give its symbols by `--symbols FILE`: the text of its System.map or /proc/kallsyms";
                return Err(Failure::new(message).with_help(help));
            }
        }
        starts.extend(clear);
        starts.sort_unstable();
        starts.dedup();
        let end = |start: u64| self.addresses.values().copied().filter(|address| *address > start).min();
        Ok(starts.into_iter().map(|start| start..end(start).unwrap_or(u64::MAX)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
        0000000000000000 A fixed_percpu_data\n\
        ffffffff81000010 T clear_page_rep\n\
        ffffffff81000020 T clear_page_orig\n\
        ffffffff81000060 T copy_page\n\
        ffffffff81000070 t copy_page_regs\n\
        ffffffff81000100 t next\n\
        ffffffff81000200 T __memcpy\n\
        ffffffff81000200 W memcpy\n\
        ffffffff81000220 D some_data\n\
        ffffffff81000240 T start_kernel\n\
        ffffffffc0000000 t copy_page\t[module]\n";

    #[test]
    fn a_routine_ends_at_the_next_function() {
        let symbols = KernelSymbols::of(TEXT);
        let ends = [(0x10, 0x20), (0x20, 0x60), (0x60, 0x70), (0x70, 0x100), (0x200, 0x240)];
        let expected = ends.map(|(start, end)| 0xffff_ffff_8100_0000 + start..0xffff_ffff_8100_0000 + end);
        assert_eq!(symbols.page_routines().unwrap(), expected);
        assert_eq!(symbols.address("start_kernel").unwrap(), 0xffff_ffff_8100_0240);
    }

    #[test]
    fn absent_symbols_are_named() {
        let symbols = KernelSymbols::of("ffffffffffffffff B The real System.map is in the linux-image-dbg package\n");
        assert!(symbols.page_routines().unwrap_err().message.contains("copy_page"));
        assert!(symbols.address("start_kernel").unwrap_err().message.contains("start_kernel"));
        let hidden = KernelSymbols::of("0000000000000000 T copy_page\n");
        assert!(hidden.page_routines().is_err(), "addresses that the kernel hides");
    }
}
