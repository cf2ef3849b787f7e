//! Reads the command stream and prices it, by cause.
