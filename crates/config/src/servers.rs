//! Program files of servers: what the I/OAT measurements vary, and their web server and proxy.

use std::path::Path;

use crate::key::{Holds, Key};
use crate::section::Section;
use crate::{Document, Failure};

/// The servers of the I/OAT measurements, `configs/programs/ioat-2006-servers.toml`.
const SHIPPED: &str = include_str!("../../../configs/programs/ioat-2006-servers.toml");
/// Path of the shipped file in the repository.
const SHIPPED_PATH: &str = "configs/programs/ioat-2006-servers.toml";

const COUNT_MAX: u64 = 1 << 30;

/// Keys of servers.
#[rustfmt::skip]
pub const KEYS: &[Key] = &[
    Key::new("options", Holds::Table, "", "socket options"),
    Key::new("options.call_bytes", Holds::Bytes(1, COUNT_MAX), "\"1MiB\"", "bytes that the application receives with one call from a large socket buffer"),
    Key::new("options.offloaded_send_instructions", Holds::Count(0, COUNT_MAX), "320", "instructions per packet sent with segmentation offload"),
    Key::new("options.coalesced_cycles", Holds::Count(0, COUNT_MAX), "1_730_000", "core cycles for which the adapter collects packets with interrupt coalescing"),
    Key::new("servers", Holds::Table, "", "web server and proxy"),
    Key::new("servers.ports", Holds::Count(1, 64), "4", "ports"),
    Key::new("servers.request_bytes", Holds::Bytes(1, 4096), "300", "payload of a request"),
    Key::new("servers.instructions", Holds::Count(0, COUNT_MAX), "60_000", "instructions of the application per request"),
    Key::new("servers.client_cycles", Holds::Count(0, COUNT_MAX), "520_000", "core cycles from the end of an answer to the client's next request"),
    Key::new("web", Holds::Table, "", "the web server"),
    Key::new("web.clients", Holds::Count(1, 1 << 16), "64", "threads of clients on all ports"),
    Key::new("web.files", Holds::Count(1, 1 << 16), "2_048", "files, equally popular"),
    Key::new("zipf", Holds::Table, "", "the web server behind a proxy"),
    Key::new("zipf.clients", Holds::Count(1, 1 << 16), "64", "threads of clients on all ports"),
    Key::new("zipf.file_bytes", Holds::Bytes(1, 1 << 20), "\"8KiB\"", "size of a file"),
    Key::new("zipf.files", Holds::Count(1, 1 << 16), "4_096", "files; more than `zipf.proxied`"),
    Key::new("zipf.proxied", Holds::Count(0, 1 << 16), "256", "most popular files, for which the proxy answers"),
    Key::new("zipf.cached", Holds::Count(0, 1 << 16), "2_048", "most popular files, `zipf.proxied` among them, whose other ones the page cache holds"),
    Key::new("zipf.fetch_instructions", Holds::Count(0, COUNT_MAX), "6_000", "instructions to fetch another file from the disk cache"),
    Key::new("proxy", Holds::Table, "", "the proxy"),
    Key::new("proxy.file_bytes", Holds::Bytes(1, 1 << 20), "\"16KiB\"", "size of a file"),
    Key::new("proxy.reply_cycles", Holds::Count(0, COUNT_MAX), "1_040_000", "core cycles of the server behind the proxy"),
];

/// Servers and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServersConfig {
    /// Bytes of a call with large socket buffers.
    pub call_bytes: u64,
    /// Instructions per packet sent with segmentation offload.
    pub offloaded_send_instructions: u64,
    /// Cycles of interrupt coalescing.
    pub coalesced_cycles: u64,
    /// Ports of web server and proxy.
    pub ports: usize,
    /// Payload of a request.
    pub request_bytes: u64,
    /// Instructions of the application per request.
    pub instructions: u64,
    /// Cycles of a client from an answer to the next request.
    pub client_cycles: u64,
    /// Clients of the web server, and its files.
    pub web: (u64, u64),
    /// The web server behind a proxy.
    pub zipf: ZipfConfig,
    /// Size of a file that the proxy passes on.
    pub proxy_file_bytes: u64,
    /// Cycles of the server behind the proxy.
    pub reply_cycles: u64,
}

/// A web server behind a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZipfConfig {
    /// Clients.
    pub clients: u64,
    /// Size of a file.
    pub file_bytes: u64,
    /// Number of files.
    pub files: u64,
    /// Those for which the proxy answers.
    pub proxied: u64,
    /// Those that the proxy or the page cache holds.
    pub cached: u64,
    /// Instructions to fetch a file from the disk cache.
    pub fetch_instructions: u64,
}

impl ServersConfig {
    /// The servers of the I/OAT measurements, which are part of the program.
    ///
    /// # Errors
    /// Never: the file is tested.
    pub fn shipped() -> Result<ServersConfig, Failure> {
        ServersConfig::of(Document::parse(Path::new(SHIPPED_PATH), SHIPPED, KEYS)?)
    }

    /// Reads and checks a program file.
    ///
    /// # Errors
    /// It cannot be read, or has an error.
    pub fn read(path: &Path) -> Result<ServersConfig, Failure> {
        ServersConfig::of(Document::read(path, KEYS)?)
    }

    /// Checks the document of a program file.
    ///
    /// # Errors
    /// It has an error.
    pub fn of(mut document: Document) -> Result<ServersConfig, Failure> {
        document.check()?;
        let root = document.root();
        let [options, servers, web, zipf, proxy] =
            ["options", "servers", "web", "zipf", "proxy"].map(|table| root.table_or_empty(table));
        let of = |table: &Section<'_>, key: &str| table.of::<u64>(key);
        let zipf_config = ZipfConfig {
            clients: of(&zipf, "clients"),
            file_bytes: of(&zipf, "file_bytes"),
            files: of(&zipf, "files"),
            proxied: of(&zipf, "proxied"),
            cached: of(&zipf, "cached"),
            fetch_instructions: of(&zipf, "fetch_instructions"),
        };
        zipf.within("proxied", zipf_config.proxied, 0, zipf_config.files - 1)?;
        Ok(ServersConfig {
            call_bytes: of(&options, "call_bytes"),
            offloaded_send_instructions: of(&options, "offloaded_send_instructions"),
            coalesced_cycles: of(&options, "coalesced_cycles"),
            ports: of(&servers, "ports") as usize,
            request_bytes: of(&servers, "request_bytes"),
            instructions: of(&servers, "instructions"),
            client_cycles: of(&servers, "client_cycles"),
            web: (of(&web, "clients"), of(&web, "files")),
            zipf: zipf_config,
            proxy_file_bytes: of(&proxy, "file_bytes"),
            reply_cycles: of(&proxy, "reply_cycles"),
        })
    }
}
