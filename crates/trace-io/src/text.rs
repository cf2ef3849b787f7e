//! Text that may be compressed.

use std::io::{self, BufReader, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;
use zstd::stream::read::Decoder;

use crate::zstd::decoder;

/// Compression of a file, detected by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    /// Plain.
    None,
    /// Gzip (RFC 1952), of any number of members.
    Gzip,
    /// Zstandard (RFC 8878), of any number of frames.
    Zstd,
}

impl Compression {
    /// Detects the compression by the first four bytes. No text begins with these bytes: 0x1f and
    /// 0x18 are control characters, and 0xb5 begins no UTF-8 character.
    fn of(start: &[u8]) -> Compression {
        match start {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            // A frame, or a skippable frame before it (little-endian 0x184d2a50 to 0x184d2a5f).
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            _ => Compression::None,
        }
    }
}

/// The extension of a file, without `.gz` and `.zst`.
pub(crate) fn extension(file_name: &str) -> Option<&str> {
    let name = [".gz", ".zst"].iter().find_map(|packed| file_name.strip_suffix(packed)).unwrap_or(file_name);
    name.rsplit_once('.').map(|(_, extension)| extension)
}

/// Plain, gzip or zstd text, detected by its first bytes.
#[derive(derive_more::Debug)]
#[debug("Text")]
pub struct Text<R: Read> {
    source: Decompressor<R>,
}

/// The input, preceded by the bytes read for detection.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

enum Decompressor<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<Whole<R>>>),
    Zstd(Box<Decoder<'static, BufReader<Whole<R>>>>),
}

impl<R: Read> Text<R> {
    /// Detects the compression.
    ///
    /// # Errors
    /// Errors of the input. (Damage of a compressed file is reported by `read`.)
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut start = Vec::with_capacity(4);
        input.by_ref().take(4).read_to_end(&mut start)?;
        let compression = Compression::of(&start);
        let whole = Cursor::new(start).chain(input);
        let source = match compression {
            Compression::None => Decompressor::Plain(whole),
            Compression::Gzip => Decompressor::Gzip(Box::new(MultiGzDecoder::new(whole))),
            Compression::Zstd => Decompressor::Zstd(Box::new(decoder(whole)?)),
        };
        Ok(Text { source })
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Decompressor::Plain(plain) => plain.read(buffer),
            Decompressor::Gzip(gzip) => gzip.read(buffer),
            Decompressor::Zstd(zstd) => zstd.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::write::GzEncoder;

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Text::new(bytes)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }

    fn zstd(text: &str) -> Vec<u8> {
        zstd::encode_all(text.as_bytes(), 1).expect("a vector takes all")
    }

    /// `zstd -19 --check` of three lines, and a second frame; made by zstd 1.5.
    const FRAMES: &[u8] = include_bytes!("frames.zst");

    #[test]
    fn plain_and_compressed_text_read_the_same() {
        let long = "R 0x7c025cc0\n".repeat(100_000);
        for text in ["", "R", "R 1 0 0\n", "\u{1f}", "(", &long] {
            for (how, packed) in [("plain", text.as_bytes().to_vec()), ("gzip", gzip(text)), ("zstd", zstd(text))] {
                assert!(read(&packed).unwrap() == text, "{how}: {} bytes", text.len());
            }
        }
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        assert_eq!(read(&[gzip("one\n"), gzip("two\n")].concat()).unwrap(), "one\ntwo\n");
        let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        assert_eq!(read(&[&skippable[..], &zstd("one\n"), &skippable, &zstd("two\n")].concat()).unwrap(), "one\ntwo\n");
        assert_eq!(read(FRAMES).unwrap(), "R 0x1000\nW 0x1040\nCOPY 0x2000 0x1000 4096\nR 0x2000\n");
    }

    #[test]
    fn a_compressed_file_cut_anywhere_is_an_error() {
        let text = "R 7c025cc0 0 0\nR 7c025d00 0 5\n";
        for whole in [gzip(text), zstd(text)] {
            for bytes in 4..whole.len() {
                assert!(read(&whole[..bytes]).is_err(), "{bytes} of {} bytes", whole.len());
            }
        }
        assert!(read(&[&zstd(text)[..], b"tail"].concat()).is_err(), "bytes behind the last frame");
        let skippable = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, b'a', b'b', b'c'];
        for bytes in 8..skippable.len() {
            let error = read(&[&zstd(text)[..], &skippable[..bytes]].concat()).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{bytes} of {} bytes", skippable.len());
        }
    }

    #[test]
    fn a_frame_with_a_wrong_checksum_is_an_error() {
        let checked = FRAMES.len() - 1;
        let mut damaged = FRAMES.to_vec();
        damaged[checked] ^= 1;
        assert_eq!(read(&damaged).unwrap_err().to_string(), "Restored data doesn't match checksum");
    }
}
