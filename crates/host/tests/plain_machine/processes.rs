//! Page tables of the processes of each core, over the kernel of `os-alloc-sim`.

use std::collections::BTreeMap;

use os_alloc_sim::{Kernel, MemoryOperation, PageSize, ProcessId};

pub const PAGE: u64 = 4096;

/// An element of an array of the kernel's data.
#[derive(Clone, Copy, Debug)]
pub enum Datum {
    /// The entry of a page, by the number of the process's array.
    Entry { array: u32, page: u64 },
    /// The descriptor of a frame.
    Descriptor { frame: u64 },
}

#[derive(Clone, Debug)]
struct Table {
    process: ProcessId,
    /// Number of its array of entries.
    array: u32,
    /// The kernel's number of each mapped page.
    pages: BTreeMap<u64, u64>,
}

pub struct Processes {
    kernel: Kernel,
    /// Running process of each core, and its processes by their numbers in the program.
    cores: Vec<(u32, BTreeMap<u32, Table>)>,
    /// Addresses of the pages of each core's arrays, by core, array (none: the descriptors) and page.
    arrays: BTreeMap<(usize, Option<u32>, u64), u64>,
}

impl Processes {
    pub fn new(mut kernel: Kernel, cores: usize) -> Processes {
        let first = |_| {
            let table = Table { process: kernel.spawn(), array: 0, pages: BTreeMap::new() };
            (1, BTreeMap::from([(1, table)]))
        };
        let cores = (0..cores).map(first).collect();
        Processes { kernel, cores, arrays: BTreeMap::new() }
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

    /// The address of the frame of a page, if it has one.
    pub fn frame(&mut self, core: usize, address: u64) -> Option<u64> {
        let (process, page) = self.page(core, address);
        let frame = self.kernel.address_space(process).expect("it lives").frame(page)?;
        Some(frame.address().0)
    }

    /// Handles the fault of an access; returns its copy or zeroing, and the data of each page.
    pub fn fault(&mut self, core: usize, address: u64, is_store: bool) -> (MemoryOperation, Vec<Datum>) {
        let (process, page) = self.page(core, address);
        let array = self.table(core).array;
        let mut operations = Vec::new();
        let handled = if is_store {
            self.kernel.write(process, page, &mut operations)
        } else {
            self.kernel.touch(process, page, &mut operations)
        };
        let new = handled.expect("frames suffice");
        assert_eq!(operations.len(), 1);
        let (src, dst, frames) = match operations[0] {
            MemoryOperation::Copy { src, dst, frames, .. } => (Some(src), dst, frames),
            MemoryOperation::Zero { dst, frames, .. } => (None, dst, frames),
        };
        let mut data = Vec::new();
        for at in 0..u64::from(frames) {
            data.push(Datum::Entry { array, page: page + u64::from(dst.0) + at - u64::from(new.0) });
            data.extend(src.map(|src| Datum::Descriptor { frame: u64::from(src.0) + at }));
            data.push(Datum::Descriptor { frame: u64::from(dst.0) + at });
        }
        (operations[0], data)
    }

    /// The address of an element of this size, and that of its frame if the frame is new.
    pub fn address_of(&mut self, core: usize, datum: Datum, bytes: u64) -> (u64, Option<u64>) {
        let (array, offset) = match datum {
            Datum::Entry { array, page } => (Some(array), page * bytes),
            Datum::Descriptor { frame } => (None, frame * bytes),
        };
        let key = (core, array, offset / PAGE);
        let is_new = !self.arrays.contains_key(&key);
        if is_new {
            let owner = self.kernel.spawn();
            let page = self.kernel.map(owner, 1, PageSize::Small).expect("it lives");
            let frame = self.kernel.renew(owner, page, None).expect("frames suffice");
            self.arrays.insert(key, frame.address().0);
        }
        let frame = self.arrays[&key];
        (frame + offset % PAGE, is_new.then_some(frame))
    }

    /// The pages of a process that have frames.
    fn present(&self, process: ProcessId) -> Vec<(u64, u64)> {
        let space = self.kernel.address_space(process).expect("it lives");
        space.pages().map(|(page, frame)| (page, frame.0.into())).collect()
    }

    /// Gives a page an unshared frame; returns the frame's address if the page had none.
    pub fn give_frame(&mut self, core: usize, address: u64) -> Option<u64> {
        let (process, page) = self.page(core, address);
        if self.kernel.address_space(process).expect("it lives").frame(page).is_some() {
            self.kernel.write(process, page, &mut Vec::new()).expect("frames suffice");
            return None;
        }
        Some(self.kernel.renew(process, page, None).expect("frames suffice").address().0)
    }

    /// Bytes of a copy unit.
    pub fn unit_bytes(&self) -> u64 {
        u64::from(self.kernel.frame_set().grain_frames()) * PAGE
    }

    /// Maps pages. The mapped pages of an aligned copy unit are of one unit of the kernel.
    pub fn map(&mut self, core: usize, address: u64, bytes: u64) {
        let pages: Vec<u64> = (address / PAGE..=(address + bytes - 1) / PAGE).collect();
        let per_unit = self.unit_bytes() / PAGE;
        let table = self.table(core);
        let process = table.process;
        // The kernel's first page of each unit.
        let mut units: BTreeMap<u64, u64> =
            table.pages.iter().map(|(page, of_kernel)| (page / per_unit, of_kernel / per_unit * per_unit)).collect();
        let mut new: Vec<u64> =
            pages.iter().map(|page| page / per_unit).filter(|unit| !units.contains_key(unit)).collect();
        new.dedup();
        if !new.is_empty() {
            let count = new.len() as u64 * per_unit;
            let first = self.kernel.map(process, count, PageSize::Small).expect("the process lives");
            units.extend(new.into_iter().zip((first..).step_by(per_unit as usize)));
        }
        let of_kernel = |page: u64| (page, units[&(page / per_unit)] + page % per_unit);
        self.table(core).pages.extend(pages.into_iter().map(of_kernel));
    }

    /// Forks the running process; returns the data of each page that has a frame.
    pub fn fork(&mut self, core: usize, child: u32) -> Vec<Vec<Datum>> {
        let parent = self.table(core).clone();
        let process = self.kernel.fork(parent.process).expect("the process lives");
        let mut array = 0;
        while self.cores[core].1.values().any(|table| table.array == array) {
            array += 1;
        }
        self.cores[core].1.insert(child, Table { process, array, ..parent.clone() });
        let data = |(page, frame)| {
            vec![Datum::Entry { array: parent.array, page }, Datum::Descriptor { frame }, Datum::Entry { array, page }]
        };
        self.present(process).into_iter().map(data).collect()
    }

    pub fn run(&mut self, core: usize, process: u32) {
        self.cores[core].0 = process;
    }

    /// Ends the running process; returns the data of each page that had a frame.
    pub fn exit(&mut self, core: usize) -> Vec<Vec<Datum>> {
        let Table { process, array, .. } = *self.table(core);
        let data = |(page, frame)| vec![Datum::Entry { array, page }, Datum::Descriptor { frame }];
        let pages = self.present(process).into_iter().map(data).collect();
        self.kernel.exit(process, &mut Vec::new()).expect("the process lives");
        let (running, tables) = &mut self.cores[core];
        tables.remove(running);
        pages
    }
}
