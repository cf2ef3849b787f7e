//! Writer of recordings.

use std::io::{self, Read, Seek, Write};

use sha2::{Digest, Sha256};

use super::block::{BlockKind, Head, MAGIC, METADATA_MAX, VERSION, wrong_length};
use super::checker::Checker;
use super::columns::Columns;
use super::error::{self, check_total};
use super::metadata::Metadata;
use crate::LineError;
use crate::zstd::Packed;

/// Writes a recording. The header has the totals, so that the blocks are compressed into a body as they come, and
/// the body follows the header at the end.
pub struct RecordingWriter<B: Write> {
    body: Packed<B>,
    level: i32,
    metadata: Metadata,
    checker: Checker,
    columns: Columns,
    digest: Sha256,
    /// Thread and process of a block whose contents are missing, and their bytes.
    missing: Option<(u32, u32, u32)>,
    payload: Vec<u8>,
}

impl<B: Read + Write + Seek> RecordingWriter<B> {
    /// Begins a recording. The body is a temporary file, empty and at its start. `level` is 0 for a plain recording,
    /// or a level of zstd, 1 to 22. The totals and the digest of the metadata are not used.
    ///
    /// # Errors
    /// If the compression cannot begin.
    pub fn new(body: B, metadata: Metadata, level: i32) -> io::Result<Self> {
        Ok(RecordingWriter {
            body: Packed::new(body, level)?,
            level,
            checker: Checker::new(&metadata),
            metadata,
            columns: Columns::default(),
            digest: Sha256::new(),
            missing: None,
            payload: Vec::new(),
        })
    }

    /// Sets what the recorder could not observe, which is complete at the end.
    pub fn set_unseen(&mut self, sentences: Vec<String>) {
        self.metadata.unseen = sentences;
    }

    /// Writes a block of words, at most 65,536.
    ///
    /// # Errors
    /// If the words are wrong, if contents of the block before are missing, or if the output fails.
    pub fn block(&mut self, thread: u32, process: u32, words: &[u64]) -> Result<(), LineError> {
        self.check_missing()?;
        let sums = self.checker.words(thread, process, words).map_err(|(_, fault)| fault)?;
        self.columns.columns_of(words, &mut self.payload);
        if self.metadata.contents && sums.bytes > 0 {
            self.missing = Some((thread, process, sums.bytes));
        }
        let payload_check = crc32fast::hash(&self.payload);
        let (count, instructions) = (words.len() as u32, sums.instructions);
        self.head(Head { kind: BlockKind::Words, thread, process, count, instructions, payload_check })?;
        Ok(write(&mut self.body, &mut self.digest, &self.payload)?)
    }

    /// Writes the contents of the accesses of the block before.
    ///
    /// # Errors
    /// If that block needs none or has another number of bytes, or if the output fails.
    pub fn contents(&mut self, contents: &[u8]) -> Result<(), LineError> {
        let (thread, process, bytes) = self.missing.take().ok_or_else(error::unexpected_contents)?;
        check_total("the number of bytes of contents", contents.len() as u64, bytes.into())?;
        self.checker.contents();
        let payload_check = crc32fast::hash(contents);
        self.head(Head { kind: BlockKind::Contents, thread, process, count: bytes, instructions: 0, payload_check })?;
        Ok(write(&mut self.body, &mut self.digest, contents)?)
    }

    /// Ends the recording, and writes it to `output`. Returns its metadata with totals and digest.
    ///
    /// # Errors
    /// If contents are missing, if the metadata are longer than 64 KiB, or if an output fails.
    pub fn finish(mut self, mut output: impl Write) -> Result<Metadata, LineError> {
        self.check_missing()?;
        let totals = self.checker.totals();
        let instructions = totals.instructions;
        let payload_check = crc32fast::hash(&[]);
        self.head(Head { kind: BlockKind::End, thread: 0, process: 0, count: 0, instructions, payload_check })?;
        let digest = hexadecimal(self.digest);
        let metadata = Metadata { totals, digest, ..self.metadata };
        // The header is a frame of its own.
        let mut packed = Packed::new(Vec::new(), self.level)?;
        packed.write_all(&header(&metadata)?)?;
        output.write_all(&packed.finish()?)?;
        let mut body = self.body.finish()?;
        body.rewind()?;
        io::copy(&mut body, &mut output)?;
        output.flush()?;
        Ok(metadata)
    }

    fn check_missing(&self) -> Result<(), LineError> {
        if self.missing.is_some() { Err(error::no_contents()) } else { Ok(()) }
    }

    fn head(&mut self, head: Head) -> io::Result<()> {
        write(&mut self.body, &mut self.digest, &head.bytes())
    }
}

fn write(body: &mut impl Write, digest: &mut Sha256, bytes: &[u8]) -> io::Result<()> {
    digest.update(bytes);
    body.write_all(bytes)
}

/// SHA-256 in hexadecimal digits.
pub(super) fn hexadecimal(digest: Sha256) -> String {
    format!("{:x}", digest.finalize())
}

/// The bytes of a header.
fn header(metadata: &Metadata) -> Result<Vec<u8>, LineError> {
    let text =
        serde_json::to_vec(metadata).map_err(|error| error::wrong(format!("the metadata are wrong: {error}")))?;
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    if length > METADATA_MAX {
        return Err(wrong_length("the length of the metadata", length));
    }
    let mut bytes = [&MAGIC[..], &VERSION.to_le_bytes(), &length.to_le_bytes(), &text].concat();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    Ok(bytes)
}
