//! Zstandard (RFC 8878) streams.

use std::io::{self, BufReader, Read, Write};

use zstd::stream::{read, write};

/// Log2 of the greatest window, that of the `zstd` program: 128 MiB.
const WINDOW_LOG_MAX: u32 = 27;

/// A decoder of frames as one stream, which skips skippable frames, and verifies checksums, if present.
///
/// Memory is bounded: a frame with a window above 128 MiB, the limit of the `zstd` program, is an
/// error.
pub(crate) fn decoder<R: Read>(input: R) -> io::Result<read::Decoder<'static, BufReader<R>>> {
    let mut decoder = read::Decoder::new(input)?;
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    Ok(decoder)
}

/// Compresses an output into one frame with a checksum, or not at all.
pub(crate) enum Packed<W: Write> {
    Plain(W),
    Zstd(write::Encoder<'static, W>),
}

impl<W: Write> Packed<W> {
    /// Level 0 is plain, others those of zstd.
    pub(crate) fn new(output: W, level: i32) -> io::Result<Self> {
        if level == 0 {
            return Ok(Packed::Plain(output));
        }
        let mut encoder = write::Encoder::new(output, level)?;
        encoder.include_checksum(true)?;
        Ok(Packed::Zstd(encoder))
    }

    /// Ends the frame.
    pub(crate) fn finish(self) -> io::Result<W> {
        match self {
            Packed::Plain(output) => Ok(output),
            Packed::Zstd(encoder) => encoder.finish(),
        }
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(output) => output.write(bytes),
            Packed::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(output) => output.flush(),
            Packed::Zstd(encoder) => encoder.flush(),
        }
    }
}
