//! Page tables of the processes of each core, over the kernel of `os-alloc-sim`.

use std::collections::BTreeMap;

use os_alloc_sim::{Kernel, MemoryOperation, PageSize, ProcessId};

pub const PAGE: u64 = 4096;

/// First address of the kernel's region.
pub const KERNEL: u64 = 1 << 63;

/// Number of the kernel among the processes of a core, and of its array of entries.
const OF_KERNEL: u32 = u32::MAX;

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
    /// The page of the kernel's region whose frame a page shares.
    sources: BTreeMap<u64, u64>,
}

impl Table {
    fn new(process: ProcessId, array: u32) -> Table {
        Table { process, array, pages: BTreeMap::new(), sources: BTreeMap::new() }
    }
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
            let tables = [(1, Table::new(kernel.spawn(), 0)), (OF_KERNEL, Table::new(kernel.spawn(), OF_KERNEL))];
            (1, BTreeMap::from(tables))
        };
        let cores = (0..cores).map(first).collect();
        Processes { kernel, cores, arrays: BTreeMap::new() }
    }

    fn table(&mut self, core: usize, address: u64) -> &mut Table {
        let (running, tables) = &mut self.cores[core];
        let number = if address >= KERNEL { OF_KERNEL } else { *running };
        tables.get_mut(&number).expect("the generator runs living processes")
    }

    fn page(&mut self, core: usize, address: u64) -> (ProcessId, u64) {
        let table = self.table(core, address);
        (table.process, table.pages[&(address / PAGE)])
    }

    /// The address of the page whose frame the page of an address shares at its first access, which this is.
    pub fn source(&mut self, core: usize, address: u64) -> Option<u64> {
        if self.frame(core, address).is_some() {
            return None;
        }
        self.table(core, address).sources.get(&(address / PAGE)).map(|page| page * PAGE)
    }

    /// Gives the page of an address the frame of another.
    pub fn share_frame(&mut self, core: usize, address: u64, source: u64) {
        let (page, other) = (self.page(core, address), self.page(core, source));
        self.kernel.share_page(page, other).expect("the source has a frame");
    }

    /// The kernel's numbers of the mapped pages of a range.
    fn mapped(&mut self, core: usize, address: u64, bytes: u64) -> Vec<u64> {
        let table = self.table(core, address);
        table.pages.range(address / PAGE..(address + bytes).div_ceil(PAGE)).map(|(_, page)| *page).collect()
    }

    /// The kernel's numbers of the pages of a range that have frames, with the frames.
    fn present_in(&mut self, core: usize, address: u64, bytes: u64) -> Vec<(u64, u64)> {
        let (pages, process) = (self.mapped(core, address, bytes), self.table(core, address).process);
        let space = self.kernel.address_space(process).expect("it lives");
        pages.into_iter().filter_map(|page| Some((page, space.frame(page)?.0.into()))).collect()
    }

    /// The addresses of the frames of the pages of a range.
    pub fn frames_in(&mut self, core: usize, address: u64, bytes: u64) -> Vec<u64> {
        self.present_in(core, address, bytes).into_iter().map(|(_, frame)| frame * PAGE).collect()
    }

    /// Maps pages to pages of the kernel's region.
    pub fn share(&mut self, core: usize, address: u64, source: u64, bytes: u64) {
        self.map(core, address, bytes);
        let pages = address / PAGE..(address + bytes).div_ceil(PAGE);
        self.table(core, address).sources.extend(pages.zip(source / PAGE..));
    }

    /// Takes the frames of the pages of a range, or unmaps the pages; returns the data of each that had a frame.
    pub fn release(&mut self, core: usize, address: u64, bytes: u64, is_unmapped: bool) -> Vec<Vec<Datum>> {
        let (pages, present) = (self.mapped(core, address, bytes), self.present_in(core, address, bytes));
        let &mut Table { process, array, .. } = self.table(core, address);
        for page in pages {
            self.kernel.discard(process, page, 1, &mut Vec::new()).expect("it lives");
        }
        if is_unmapped {
            let range = address / PAGE..(address + bytes).div_ceil(PAGE);
            let table = self.table(core, address);
            table.pages.retain(|page, _| !range.contains(page));
            table.sources.retain(|page, _| !range.contains(page));
        }
        let data = |(page, frame)| vec![Datum::Entry { array, page }, Datum::Descriptor { frame }];
        present.into_iter().map(data).collect()
    }

    /// Maps the pages of a range at another address; returns the data of each that has a frame.
    pub fn move_pages(&mut self, core: usize, from: u64, to: u64, bytes: u64) -> Vec<Vec<Datum>> {
        let present = self.present_in(core, from, bytes);
        let table = self.table(core, from);
        let range = from / PAGE..(from + bytes).div_ceil(PAGE);
        for page in range {
            let new = page - from / PAGE + to / PAGE;
            for pages in [&mut table.pages, &mut table.sources] {
                if let Some(of_kernel) = pages.remove(&page) {
                    pages.insert(new, of_kernel);
                }
            }
        }
        let array = table.array;
        present.into_iter().map(|(page, _)| vec![Datum::Entry { array, page }]).collect()
    }

    /// The physical address, if an access does not fault.
    pub fn translate(&mut self, core: usize, address: u64, is_store: bool) -> Option<u64> {
        let (process, page) = self.page(core, address);
        let frame = self.kernel.address_space(process).expect("it lives").frame(page)?;
        let may = !is_store || address >= KERNEL || self.kernel.references(frame) == 1;
        may.then_some(frame.address().0 + address % PAGE)
    }

    /// The address of the frame of a page, if it has one.
    pub fn frame(&mut self, core: usize, address: u64) -> Option<u64> {
        let (process, page) = self.page(core, address);
        let frame = self.kernel.address_space(process).expect("it lives").frame(page)?;
        Some(frame.address().0)
    }

    /// Handles the fault of an access; returns its copy or zeroing, and the data of each page.
    pub fn fault(&mut self, core: usize, address: u64, is_store: bool) -> (Option<MemoryOperation>, Vec<Datum>) {
        let (process, page) = self.page(core, address);
        let array = self.table(core, address).array;
        let mut operations = Vec::new();
        let handled = if is_store {
            self.kernel.write(process, page, &mut operations)
        } else {
            self.kernel.touch(process, page, &mut operations)
        };
        let new = handled.expect("frames suffice");
        if operations.is_empty() {
            return (None, vec![Datum::Entry { array, page }, Datum::Descriptor { frame: new.0.into() }]);
        }
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
        (Some(operations[0]), data)
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

    /// Frames of the kernel for an array.
    pub fn kernel_frames(&mut self, bytes: u64) -> Vec<u64> {
        let mut frame = |_| {
            let owner = self.kernel.spawn();
            let page = self.kernel.map(owner, 1, PageSize::Small).expect("it lives");
            self.kernel.renew(owner, page, None).expect("frames suffice").address().0
        };
        (0..bytes.div_ceil(PAGE)).map(&mut frame).collect()
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
            if address < KERNEL {
                self.kernel.write(process, page, &mut Vec::new()).expect("frames suffice");
            }
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
        let table = self.table(core, address);
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
        self.table(core, address).pages.extend(pages.into_iter().map(of_kernel));
    }

    /// Forks the running process; returns the data of each page that has a frame.
    pub fn fork(&mut self, core: usize, child: u32) -> Vec<Vec<Datum>> {
        let parent = self.table(core, 0).clone();
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
        let Table { process, array, .. } = *self.table(core, 0);
        let data = |(page, frame)| vec![Datum::Entry { array, page }, Datum::Descriptor { frame }];
        let pages = self.present(process).into_iter().map(data).collect();
        self.kernel.exit(process, &mut Vec::new()).expect("the process lives");
        let (running, tables) = &mut self.cores[core];
        tables.remove(running);
        pages
    }
}
