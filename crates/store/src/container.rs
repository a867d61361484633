//! `Container`: bytes in compressed, checked blocks, in a file that is there whole or not at all. What the bytes mean
//! is not known here.
//!
//! All numbers are little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `anqitab1` |
//! | 4 | length of the head |
//! | 4 | length of a block before compression; the last one may be shorter |
//! | 8 | length of all blocks before compression |
//! | … | the head: text that says what the bytes are |
//! | 4 + 4 a block | its compressed length, and the CRC-32 of its compressed bytes |
//! | 4 | CRC-32 of everything so far |
//! | … | the blocks, each a zstd frame |
//!
//! Opening a file checks everything but the blocks, and that the file has the length it should have. A block is
//! checked every time it is taken out. So a damaged file gives an error or the right bytes, never wrong ones.
//!
//! Blocks are read by position and not mapped: a mapped file that another process shortens ends this process by a signal. The
//! file is opened anew for each block, so that a folder of thousands of tables holds no descriptors.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::{self, Access, Open};
use crate::whole::Part;

const MAGIC: &[u8; 8] = b"anqitab1";
/// Magic and the three lengths.
const PREFIX: u64 = 24;
/// No head is longer.
const LONGEST_HEAD: usize = 1 << 20;
/// No block is longer: a damaged length must not ask for all memory.
const LONGEST_BLOCK: usize = 1 << 26;
/// No file has more blocks: their places are kept in memory, 24 bytes each. Of 64 kB each they hold 256 GB.
const MOST_BLOCKS: u64 = 1 << 22;
/// Higher levels gain a few percent at several times the cost.
const LEVEL: i32 = 3;

/// What can go wrong with a container.
#[derive(Debug, thiserror::Error)]
pub enum ContainerError {
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// Another kind of file.
    #[error("{0}: not a table: it does not begin with anqitab1 at byte 0")]
    NotATable(String),
    /// The beginning of the file is not what was written.
    #[error("{path}: damaged at byte {at}: {what}")]
    Damaged {
        /// The file.
        path: String,
        /// Where.
        at: u64,
        /// In which way.
        what: &'static str,
    },
    /// A block is not what was written.
    #[error("{path}: block {block} is damaged: {what} (its bytes begin at byte {at})")]
    DamagedBlock {
        /// The file.
        path: String,
        /// Which one, from 0.
        block: usize,
        /// Where it begins.
        at: u64,
        /// In which way.
        what: &'static str,
    },
}

/// A container of which everything but the blocks has been read.
#[derive(Debug)]
pub struct Container {
    path: PathBuf,
    head: String,
    block_len: usize,
    len: u64,
    file_len: u64,
    /// Of everything before the blocks, their checksums among it.
    checksum: u32,
    blocks: Vec<Block>,
}

/// Where a block is in the file.
#[derive(Clone, Copy, Debug)]
struct Block {
    at: u64,
    len: u32,
    checksum: u32,
}

impl Container {
    /// Opens a file; its blocks are not looked at yet.
    ///
    /// # Errors
    /// If it cannot be read, is no container, or is damaged.
    pub fn open(path: &Path) -> Result<Container, ContainerError> {
        let io = |error| ContainerError::Io { path: path.display().to_string(), error };
        let damaged = |at, what| ContainerError::Damaged { path: path.display().to_string(), at, what };
        let file = disk::open(path, Open::Read).map_err(io)?;
        let file_len = file.len().map_err(io)?;
        let too_short = || damaged(file_len, "it is too short");
        // A file that is shortened meanwhile is too short as well.
        let read = |from, to| match file.read_range(from, to) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(too_short()),
            bytes => bytes.map_err(io),
        };
        let prefix = read(0, file_len.min(PREFIX))?;
        if !prefix.starts_with(MAGIC) {
            return Err(ContainerError::NotATable(path.display().to_string()));
        }
        let head_len = number(&prefix, 8).ok_or_else(too_short)? as usize;
        let block_len = number(&prefix, 12).ok_or_else(too_short)? as usize;
        let len = prefix.get(16..).and_then(|rest| rest.first_chunk()).map(|bytes| u64::from_le_bytes(*bytes));
        let len = len.ok_or_else(too_short)?;
        if head_len > LONGEST_HEAD || block_len > LONGEST_BLOCK || block_len == 0 {
            return Err(damaged(8, "its lengths make no sense"));
        }
        let count = len.div_ceil(block_len as u64);
        if count > MOST_BLOCKS {
            return Err(damaged(16, "it says that it has more blocks than any table"));
        }
        let head_end = PREFIX + head_len as u64;
        let table_end = head_end + 8 * count;
        if table_end + 4 > file_len {
            return Err(too_short());
        }
        let beginning = read(0, table_end + 4)?;
        let (beginning, sum) = beginning.split_at(beginning.len() - 4);
        let checksum = number(sum, 0).ok_or_else(too_short)?;
        if crc32fast::hash(beginning) != checksum {
            return Err(damaged(table_end, "this checksum does not fit all that is before it"));
        }
        let (head, places) = beginning[PREFIX as usize..].split_at(head_len);
        let head = std::str::from_utf8(head).map_err(|_| damaged(PREFIX, "its head is not text"))?;
        let mut blocks = Vec::with_capacity(places.len() / 8);
        let mut at = table_end + 4;
        for place in (0..places.len()).step_by(8) {
            let (Some(len), Some(checksum)) = (number(places, place), number(places, place + 4)) else {
                return Err(too_short());
            };
            if len as usize > zstd::zstd_safe::compress_bound(block_len) {
                return Err(damaged(head_end + place as u64, "this block is longer than zstd makes one"));
            }
            blocks.push(Block { at, len, checksum });
            at += u64::from(len);
        }
        if at != file_len {
            return Err(damaged(at.min(file_len), "the file should end at another byte"));
        }
        Ok(Container { path: path.to_owned(), head: head.to_owned(), block_len, len, file_len, checksum, blocks })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checksum of the beginning of the file, which covers those of all blocks.
    #[must_use]
    pub const fn checksum(&self) -> u32 {
        self.checksum
    }

    /// The text that says what the bytes are.
    #[must_use]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// How many bytes there are, before compression.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no caller needs it")]
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// How many bytes the file has.
    #[must_use]
    pub const fn file_len(&self) -> u64 {
        self.file_len
    }

    /// How many bytes a block has, but for the last.
    #[must_use]
    pub const fn block_len(&self) -> usize {
        self.block_len
    }

    /// How many blocks there are.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The bytes of block number `block`.
    ///
    /// # Errors
    /// If the block is damaged or cut off, or the file cannot be read.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block(&self, block: usize) -> Result<Box<[u8]>, ContainerError> {
        let Block { at, len, checksum } = self.blocks[block];
        let io = |error| ContainerError::Io { path: self.path.display().to_string(), error };
        let damaged = |what| ContainerError::DamagedBlock { path: self.path.display().to_string(), block, at, what };
        let file = disk::open(&self.path, Open::Read).map_err(io)?;
        let compressed = file.read_range(at, at + u64::from(len)).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("the file was shortened after it was opened"),
            _ => io(error),
        })?;
        let before = block as u64 * self.block_len as u64;
        let length = usize::try_from(self.len - before).map_or(self.block_len, |rest| rest.min(self.block_len));
        if crc32fast::hash(&compressed) != checksum {
            return Err(damaged("it does not fit its checksum"));
        }
        let bytes = zstd::bulk::decompress(&compressed, length).map_err(|_| damaged("it cannot be unpacked"))?;
        if bytes.len() != length {
            return Err(damaged("it unpacks to another length"));
        }
        Ok(bytes.into_boxed_slice())
    }
}

/// Four bytes as a number.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// The only right to make a file, while it is held. If it is dropped, or the process dies, there is no file, and the next
/// claim begins anew.
#[derive(Debug)]
pub struct FileClaim(Part);

impl FileClaim {
    /// Claims a file. `None` if it is there already, or if another process is making it.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn new(path: &Path) -> Result<Option<FileClaim>, ContainerError> {
        let io = |error| ContainerError::Io { path: path.display().to_string(), error };
        let Some(part) = Part::begin(path, Access::Ordinary).map_err(io)? else { return Ok(None) };
        // Another process may have finished the file before this one began.
        Ok(if disk::exists(path) { None } else { Some(FileClaim(part)) })
    }

    /// Writes the file: from now on it is there, and stays as it is.
    ///
    /// # Errors
    /// If the disk is full, for instance; there is no file then.
    ///
    /// # Panics
    /// If the head has more than a megabyte, or a block none or more than 64.
    pub fn write(mut self, head: &str, block_len: usize, bytes: &[u8]) -> Result<(), ContainerError> {
        let path = self.0.path().display().to_string();
        write_blocks(&mut self.0, head, block_len, bytes)
            .and_then(|()| self.0.finish())
            .map_err(|error| ContainerError::Io { path, error })
    }

    /// Writes a file that was made elsewhere, once `sound` has found nothing wrong with it.
    ///
    /// # Errors
    /// If it cannot be written, or is not sound; there is no file then.
    pub fn adopt<E: From<ContainerError>>(
        mut self,
        bytes: &[u8],
        sound: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<(), E> {
        let path = self.0.path().display().to_string();
        let io = |error| ContainerError::Io { path: path.clone(), error };
        self.0.write_all(bytes).and_then(|()| self.0.sync()).map_err(io)?;
        sound(self.0.part())?;
        self.0.finish().map_err(io)?;
        Ok(())
    }
}

fn write_blocks(out: impl Write, head: &str, block_len: usize, bytes: &[u8]) -> io::Result<()> {
    assert!(head.len() <= LONGEST_HEAD && (1..=LONGEST_BLOCK).contains(&block_len));
    let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
    let blocks = bytes.chunks(block_len).map(|block| compressor.compress(block)).collect::<io::Result<Vec<_>>>()?;
    let mut beginning = MAGIC.to_vec();
    beginning.extend((head.len() as u32).to_le_bytes());
    beginning.extend((block_len as u32).to_le_bytes());
    beginning.extend((bytes.len() as u64).to_le_bytes());
    beginning.extend(head.as_bytes());
    for block in &blocks {
        beginning.extend((block.len() as u32).to_le_bytes());
        beginning.extend(crc32fast::hash(block).to_le_bytes());
    }
    beginning.extend(crc32fast::hash(&beginning).to_le_bytes());
    let mut writer = BufWriter::new(out);
    writer.write_all(&beginning)?;
    blocks.iter().try_for_each(|block| writer.write_all(block))?;
    writer.flush()
}
