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
    /// Writes what `block` holds into `bytes`, which it must fill.
    ///
    /// # Errors
    /// What is wrong with the block.
    pub fn decompress(self, block: &[u8], bytes: &mut [u8]) -> Result<(), String> {
        let found = match self {
            Self::Zlib => filled(ZlibDecoder::new(block), bytes)
                .map_err(|error| format!("zlib says: {error}"))?,
            Self::Lzma => filled(XzReader::new_mem_limit(block, false, LZMA_MEMORY), bytes)
                .map_err(|error| format!("LZMA says: {error}"))?,
            Self::Lz4 => lz4_flex::block::decompress_into(block, bytes)
                .map_err(|error| format!("LZ4 says: {error}"))?,
        };
        if found == bytes.len() {
            return Ok(());
        }
        Err(format!("a compressed block holds {found} bytes instead of {}", bytes.len()))
    }
}

/// Fills `bytes` with what `reader` gives; returns how many it gives, at most one more than fit.
fn filled(mut reader: impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut found = 0;
    while found < bytes.len() {
        match reader.read(&mut bytes[found..])? {
            0 => return Ok(found),
            more => found += more,
        }
    }
    Ok(found + reader.read(&mut [0])?)
}
