//! Blocks of numbers that are compressed, by any of the compressors of VTK.

use std::io::Read;

use flate2::read::ZlibDecoder;
use lzma_rust2::XzReader;

/// A compressor of VTK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compressor {
    Zlib,
    /// In blocks that are a file of xz each.
    Lzma,
    /// In blocks without a frame.
    Lz4,
}

/// KiB that LZMA may take: those of its strongest setting, and some more. A small file may claim more.
const LZMA_MEMORY: u32 = 80 << 10;

impl Compressor {
    /// Appends the `size` bytes that `block` holds, for which `bytes` has room; never more.
    ///
    /// # Errors
    /// What is wrong with the block.
    pub fn decompress(self, block: &[u8], size: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
        let before = bytes.len();
        match self {
            Self::Zlib => limited(ZlibDecoder::new(block), size, bytes)
                .map_err(|error| format!("zlib says: {error}"))?,
            Self::Lzma => limited(XzReader::new_mem_limit(block, false, LZMA_MEMORY), size, bytes)
                .map_err(|error| format!("LZMA says: {error}"))?,
            Self::Lz4 => {
                bytes.resize(before + usize::try_from(size).unwrap_or(usize::MAX - before), 0);
                let found = lz4_flex::block::decompress_into(block, &mut bytes[before..]);
                bytes.truncate(before + found.map_err(|error| format!("LZ4 says: {error}"))?);
            }
        }
        let found = (bytes.len() - before) as u64;
        if found == size {
            return Ok(());
        }
        Err(format!("a compressed block holds {found} bytes instead of {size}"))
    }
}

/// Appends what `reader` gives, one byte beyond `size` at most.
fn limited(reader: impl Read, size: u64, bytes: &mut Vec<u8>) -> std::io::Result<()> {
    reader.take(size.saturating_add(1)).read_to_end(bytes).map(drop)
}
