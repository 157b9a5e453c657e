//! The appended section: raw bytes, in one piece or in compressed blocks.

use std::io::{self, Seek, SeekFrom, Write};

use flate2::write::ZlibEncoder;
use rayon::prelude::*;

use super::Compression;
use super::array::Column;

/// Bytes of a block before compression: a multiple of every value's width.
const BLOCK: usize = 1 << 18;

/// Blocks that are encoded while as many are written.
const BATCH: usize = 64;

/// zlib level: a mesh of a million elements takes 0.2 s and 35 MB by level 1, 0.7 s and 33 MB by 3,
/// 2.1 s and 33 MB by 6, 142 MB uncompressed (two cores).
const LEVEL: u32 = 1;

/// Writes one array and leaves the file at its end.
pub(super) fn write<W: Write + Seek>(
    file: &mut W,
    column: &Column,
    compression: Compression,
) -> io::Result<()> {
    let length = (column.len * column.width) as u64;
    if compression == Compression::None {
        file.write_all(&length.to_le_bytes())?;
        return for_each_block(column, Ok, |block| file.write_all(block));
    }

    // Number of blocks, size of a block, size of the last one if smaller, compressed sizes. These
    // are known only afterwards: room first, values later.
    let block = BLOCK as u64;
    let mut header = vec![length.div_ceil(block), block, length % block];
    let start = file.stream_position()?;
    file.write_all(&vec![0; 8 * (3 + header[0] as usize)])?;

    for_each_block(column, deflate, |block| {
        header.push(block.len() as u64);
        file.write_all(block)
    })?;

    let end = file.stream_position()?;
    file.seek(SeekFrom::Start(start))?;
    for value in header {
        file.write_all(&value.to_le_bytes())?;
    }
    file.seek(SeekFrom::Start(end)).map(drop)
}

/// Encodes the blocks of a column and passes them through `change` in parallel, and hands them to
/// `write` in their order while the next ones are encoded.
fn for_each_block(
    column: &Column,
    change: impl Fn(Vec<u8>) -> io::Result<Vec<u8>> + Sync,
    mut write: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<()> {
    let values = BLOCK / column.width;
    let blocks: Vec<usize> = (0..column.len).step_by(values).collect();
    let bytes = |&start: &usize| {
        let mut bytes = Vec::with_capacity(BLOCK);
        (column.encode)(start..(start + values).min(column.len), &mut bytes);
        change(bytes)
    };
    let encode = |batch: &[usize]| batch.par_iter().map(bytes).collect::<io::Result<Vec<_>>>();

    let mut ready = Vec::new();
    for batch in blocks.chunks(BATCH).chain([&[][..]]) {
        let mut next = Ok(Vec::new());
        rayon::in_place_scope(|scope| {
            scope.spawn(|_| next = encode(batch));
            ready.iter().try_for_each(|block: &Vec<u8>| write(block))
        })?;
        ready = next?;
    }
    Ok(())
}

fn deflate(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::new(LEVEL));
    encoder.write_all(&bytes)?;
    encoder.finish()
}
