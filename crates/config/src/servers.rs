//! Program files of servers: what the I/OAT measurements vary, and their web server and proxy.

use std::path::Path;

use crate::key::{Holds, Key, key};
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
    key!(ServersConfig, options.call_bytes, Holds::Bytes(1, COUNT_MAX), "\"1MiB\"", "bytes that the application receives with one call from a large socket buffer"),
    key!(ServersConfig, options.offloaded_send_instructions, Holds::Count(0, COUNT_MAX), "320", "instructions per packet sent with segmentation offload"),
    key!(ServersConfig, options.coalesced_cycles, Holds::Count(0, COUNT_MAX), "1_730_000", "core cycles for which the adapter collects packets with interrupt coalescing"),
    Key::new("servers", Holds::Table, "", "web server and proxy"),
    key!(ServersConfig, servers.ports, Holds::Count(1, 64), "4", "ports"),
    key!(ServersConfig, servers.request_bytes, Holds::Bytes(1, 4096), "300", "payload of a request"),
    key!(ServersConfig, servers.instructions, Holds::Count(0, COUNT_MAX), "60_000", "instructions of the application per request"),
    key!(ServersConfig, servers.client_cycles, Holds::Count(0, COUNT_MAX), "520_000", "core cycles from the end of an answer to the client's next request"),
    Key::new("web", Holds::Table, "", "the web server"),
    key!(ServersConfig, web.clients => web_clients, Holds::Count(1, 1 << 16), "64", "threads of clients on all ports"),
    key!(ServersConfig, web.files => web_files, Holds::Count(1, 1 << 16), "2_048", "files, equally popular"),
    Key::new("zipf", Holds::Table, "", "the web server behind a proxy"),
    key!(ZipfConfig, zipf.clients, Holds::Count(1, 1 << 16), "64", "threads of clients on all ports"),
    key!(ZipfConfig, zipf.file_bytes, Holds::Bytes(1, 1 << 20), "\"8KiB\"", "size of a file"),
    key!(ZipfConfig, zipf.files, Holds::Count(1, 1 << 16), "4_096", "files; more than `zipf.proxied`"),
    key!(ZipfConfig, zipf.proxied, Holds::Count(0, 1 << 16), "256", "most popular files, for which the proxy answers"),
    key!(ZipfConfig, zipf.cached, Holds::Count(0, 1 << 16), "2_048", "most popular files, `zipf.proxied` among them, whose other ones the page cache holds"),
    key!(ZipfConfig, zipf.fetch_instructions, Holds::Count(0, COUNT_MAX), "6_000", "instructions to fetch another file from the disk cache"),
    Key::new("proxy", Holds::Table, "", "the proxy"),
    key!(ServersConfig, proxy.file_bytes => proxy_file_bytes, Holds::Bytes(1, 1 << 20), "\"16KiB\"", "size of a file"),
    key!(ServersConfig, proxy.reply_cycles, Holds::Count(0, COUNT_MAX), "1_040_000", "core cycles of the server behind the proxy"),
];

/// Servers and options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Clients of the web server.
    pub web_clients: u64,
    /// Files of the web server.
    pub web_files: u64,
    /// The web server behind a proxy.
    pub zipf: ZipfConfig,
    /// Size of a file that the proxy passes on.
    pub proxy_file_bytes: u64,
    /// Cycles of the server behind the proxy.
    pub reply_cycles: u64,
}

/// A web server behind a proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
        let tables = ["options", "servers", "web", "proxy"].map(|table| root.table_or_empty(table));
        let mut config = tables.iter().fold(ServersConfig::default(), |config, table| table.over(config));
        let zipf = root.table_or_empty("zipf");
        config.zipf = zipf.over(config.zipf);
        zipf.within("proxied", config.zipf.proxied, 0, config.zipf.files - 1)?;
        Ok(config)
    }
}
