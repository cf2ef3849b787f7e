//! Errors of programs.

use dram_spec::PhysicalAddress;
use os_alloc_sim::Fault;

/// Reason why a program cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramFault {
    /// The address is not mapped.
    #[error("address {:#x} of process {process} is not mapped", address.0)]
    NotMapped {
        /// The process, as the program numbers it.
        process: u32,
        /// The address.
        address: PhysicalAddress,
    },
    /// A page of the range is mapped.
    #[error("a page of the {bytes} bytes at {:#x} of process {process} is already mapped", address.0)]
    Mapped {
        /// The process.
        process: u32,
        /// First byte of the range.
        address: PhysicalAddress,
        /// Bytes of the range.
        bytes: u64,
    },
    /// The process does not exist.
    #[error("process {process} does not exist")]
    NoProcess {
        /// The process.
        process: u32,
    },
    /// The child of a fork exists.
    #[error("process {process} exists already")]
    ProcessExists {
        /// The process.
        process: u32,
    },
    /// The machine has no network adapter.
    #[error("the machine has no network adapter")]
    NoAdapter,
    /// A program awaits packets, and there are more receive queues than cores: packets begin to arrive once the core of
    /// each queue has awaited packets.
    #[error("packets never arrive: `network.queues` is {queues}, and the number of programs {cores}")]
    TooFewCores {
        /// Receive queues.
        queues: usize,
        /// Cores.
        cores: usize,
    },
    /// The network adapter has no such port.
    #[error("port {port} does not exist: the network adapter has {ports}")]
    NoPort {
        /// The port.
        port: usize,
        /// Ports of the adapter.
        ports: usize,
    },
    /// The receive queue of the core is full.
    #[error("the receive queue of the core holds {ring} buffers already")]
    NoRoomForBuffer {
        /// Buffers of the queue.
        ring: usize,
    },
    /// A header or a payload lies in two pages.
    #[error("the {bytes} bytes of a packet at {:#x} cross a page", address.0)]
    PacketCrossesPage {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// A range lies in another region than the step needs.
    #[error("the {bytes} bytes at {:#x} lie in the wrong region: addresses from 2^63 on are those of the \
        kernel", address.0)]
    WrongRegion {
        /// First byte.
        address: PhysicalAddress,
        /// Number of bytes.
        bytes: u64,
    },
    /// A range is moved to another offset within pages.
    #[error("{:#x} and {:#x} have different offsets within pages", from.0, to.0)]
    Unaligned {
        /// First byte.
        from: PhysicalAddress,
        /// Its new address.
        to: PhysicalAddress,
    },
    /// A step that changes mapped pages, where units of several pages are allocated.
    #[error("copy units of {pages} pages cannot be unmapped, discarded, moved or shared in parts")]
    LargeUnits {
        /// Pages per unit.
        pages: u64,
    },
    /// The kernel cannot serve the request.
    #[error(transparent)]
    Kernel(#[from] Fault),
}

impl ProgramFault {
    /// Suggested change.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::NotMapped { .. } => "map the address first: `map ADDRESS BYTES`",
            Self::Mapped { .. } => "map each page once",
            Self::NoProcess { .. } => {
                "a program begins as process 1; `fork` starts others, and `run` selects one that has not exited"
            }
            Self::ProcessExists { .. } => "give the child a number that no process has",
            Self::NoAdapter => "give the machine a network adapter, or leave out `post`, `await` and `send`",
            Self::NoPort { .. } => "ports are counted from 0",
            Self::TooFewCores { .. } => "set `network.queues` to at most the number of programs, or run more of them",
            Self::NoRoomForBuffer { .. } => "use a longer ring or post fewer buffers; core N has receive queue N",
            Self::PacketCrossesPage { .. } => "place each header and each payload within a page of 4 KiB",
            Self::WrongRegion { .. } => {
                "keep each range on one side of 2^63: `share` maps pages of a process to pages of the kernel, and \
                    `move` \
                 stays on one side"
            }
            Self::Unaligned { .. } => "move pages to whole pages",
            Self::LargeUnits { .. } => {
                "use a machine with `kernel.copy_unit = \"page\"`, or leave out `unmap`, `discard`, `move` and `share`"
            }
            Self::Kernel(_) => "use more memory, or less of it in use before the run",
        }
    }
}
