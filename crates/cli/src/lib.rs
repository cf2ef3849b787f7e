//! Knows file names, TOML, threads and the terminal.
