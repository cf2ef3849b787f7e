//! Page tables of the processes of each core, over the kernel of `os-alloc-sim`.

use std::collections::BTreeMap;

use os_alloc_sim::{Frame, Kernel, MemoryOperation, PageSize, ProcessId};

pub const PAGE: u64 = 4096;

#[derive(Clone, Debug)]
struct Table {
    process: ProcessId,
    /// The kernel's number of each mapped page.
    pages: BTreeMap<u64, u64>,
}

pub struct Processes {
    kernel: Kernel,
    /// Running process of each core, and its processes by their numbers in the program.
    cores: Vec<(u32, BTreeMap<u32, Table>)>,
}

impl Processes {
    pub fn new(mut kernel: Kernel, cores: usize) -> Processes {
        let first = |_| {
            let table = Table { process: kernel.spawn(), pages: BTreeMap::new() };
            (1, BTreeMap::from([(1, table)]))
        };
        let cores = (0..cores).map(first).collect();
        Processes { kernel, cores }
    }

    fn table(&mut self, core: usize) -> &mut Table {
        let (running, tables) = &mut self.cores[core];
        tables.get_mut(running).expect("the generator runs living processes")
    }

    fn page(&mut self, core: usize, address: u64) -> (ProcessId, u64) {
        let table = self.table(core);
        (table.process, table.pages[&(address / PAGE)])
    }

    /// The physical address, if an access does not fault.
    pub fn translate(&mut self, core: usize, address: u64, is_store: bool) -> Option<u64> {
        let (process, page) = self.page(core, address);
        let frame = self.kernel.address_space(process).expect("it lives").frame(page)?;
        let may = !is_store || self.kernel.references(frame) == 1;
        may.then_some(frame.address().0 + address % PAGE)
    }

    /// Handles the fault of an access.
    pub fn fault(&mut self, core: usize, address: u64, is_store: bool) -> Vec<MemoryOperation> {
        let (process, page) = self.page(core, address);
        let mut operations = Vec::new();
        let handled = if is_store {
            self.kernel.write(process, page, &mut operations)
        } else {
            self.kernel.touch(process, page, &mut operations)
        };
        let _: Frame = handled.expect("frames suffice");
        operations
    }

    pub fn map(&mut self, core: usize, address: u64, bytes: u64) {
        let pages = address / PAGE..=(address + bytes - 1) / PAGE;
        let count = pages.end() - pages.start() + 1;
        let process = self.table(core).process;
        let first = self.kernel.map(process, count, PageSize::Small).expect("the process lives");
        self.table(core).pages.extend(pages.zip(first..));
    }

    /// Forks the running process; returns its pages that have frames.
    pub fn fork(&mut self, core: usize, child: u32) -> u64 {
        let parent = self.table(core).clone();
        let process = self.kernel.fork(parent.process).expect("the process lives");
        self.cores[core].1.insert(child, Table { process, ..parent.clone() });
        self.kernel.address_space(parent.process).expect("it lives").present()
    }

    pub fn run(&mut self, core: usize, process: u32) {
        self.cores[core].0 = process;
    }

    /// Ends the running process; returns its pages that had frames.
    pub fn exit(&mut self, core: usize) -> u64 {
        let process = self.table(core).process;
        let pages = self.kernel.address_space(process).expect("it lives").present();
        self.kernel.exit(process, &mut Vec::new()).expect("the process lives");
        let (running, tables) = &mut self.cores[core];
        tables.remove(running);
        pages
    }
}
