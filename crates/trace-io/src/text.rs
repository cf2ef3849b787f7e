//! Text that may be compressed.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

/// The first two bytes of every gzip file. No text starts so: 0x1f is a control character.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Plain or gzip text (of any number of gzip members), told apart by its first two bytes, and buffered.
#[derive(Debug)]
pub struct Text<R: Read> {
    source: Source<R>,
}

/// The input, with the bytes that were looked at put back.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

#[derive(Debug)]
enum Source<R: Read> {
    Plain(BufReader<Whole<R>>),
    Gzip(BufReader<MultiGzDecoder<Whole<R>>>),
}

impl<R: Read> Text<R> {
    /// Looks at the first two bytes.
    ///
    /// # Errors
    /// What the input says. (A damaged gzip file is found out only where it is read.)
    pub fn new(mut input: R) -> io::Result<Self> {
        let mut start = Vec::with_capacity(GZIP_MAGIC.len());
        input.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut start)?;
        let compressed = start == GZIP_MAGIC;
        let whole = Cursor::new(start).chain(input);
        let source = if compressed {
            Source::Gzip(BufReader::new(MultiGzDecoder::new(whole)))
        } else {
            Source::Plain(BufReader::new(whole))
        };
        Ok(Text { source })
    }
}

impl<R: Read> Read for Text<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::Plain(plain) => plain.read(buffer),
            Source::Gzip(gzip) => gzip.read(buffer),
        }
    }
}

impl<R: Read> BufRead for Text<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &mut self.source {
            Source::Plain(plain) => plain.fill_buf(),
            Source::Gzip(gzip) => gzip.fill_buf(),
        }
    }

    fn consume(&mut self, bytes: usize) {
        match &mut self.source {
            Source::Plain(plain) => plain.consume(bytes),
            Source::Gzip(gzip) => gzip.consume(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn read(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        Text::new(bytes)?.read_to_string(&mut text)?;
        Ok(text)
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).expect("a vector takes all");
        encoder.finish().expect("a vector takes all")
    }

    #[test]
    fn plain_text_short_text_and_several_gzip_members_read_the_same() {
        for text in ["", "R", "R 1 0 0\n", "\u{1f}"] {
            assert_eq!(read(text.as_bytes()).unwrap(), text);
            assert_eq!(read(&gzip(text)).unwrap(), text);
        }
        assert_eq!(read(&[gzip("one\n"), gzip("two\n")].concat()).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn a_gzip_file_cut_anywhere_is_an_error() {
        let whole = gzip("R 7c025cc0 0 0\nR 7c025d00 0 5\n");
        for bytes in 2..whole.len() {
            assert!(read(&whole[..bytes]).is_err(), "{bytes} of {} bytes", whole.len());
        }
    }
}
