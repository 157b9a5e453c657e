"""Reads what the program writes: arrays of design.vtu, rows of history.csv; reads and writes checkpoints."""

import array
import csv
import json
import re
import struct
import zlib

MAGIC = b"topopt checkpoint 1\n"


def arrays(path, *names):
    """Arrays of doubles of a .vtu file of the program, by name."""
    head, data = path.read_bytes().split(b'<AppendedData encoding="raw">\n_', 1)
    compressed = b"compressor=" in head.split(b"\n", 2)[1]
    found = []
    for name in names:
        offset = int(re.search(rb'Name="%s"[^>]*offset="(\d+)"' % name.encode(), head)[1])
        values = array.array("d", block(data, offset) if compressed else raw(data, offset))
        found.append(values)
    return found


def raw(data, offset):
    """Bytes that stand as they are behind their number."""
    (size,) = struct.unpack_from("<Q", data, offset)
    return data[offset + 8:offset + 8 + size]


def block(data, offset):
    """Bytes in compressed blocks behind their number, sizes and compressed sizes."""
    (count,) = struct.unpack_from("<Q", data, offset)
    sizes = struct.unpack_from(f"<{count}Q", data, offset + 24)
    at, parts = offset + 24 + 8 * count, []
    for size in sizes:
        parts.append(zlib.decompress(data[at:at + size]))
        at += size
    return b"".join(parts)


def history(folder):
    """Rows of history.csv by the names of its columns."""
    with open(folder / "history.csv", newline="") as file:
        return list(csv.DictReader(file))


def exact(folder):
    """What two runs of one case have in common to the last bit: densities, and the history except its times."""
    rows = [{name: value for name, value in row.items() if not name.endswith("seconds")} for row in history(folder)]
    return arrays(folder / "design.vtu", "density")[0].tobytes(), rows


def read_checkpoint(data):
    """Header and values of a checkpoint."""
    (length,) = struct.unpack_from("<Q", data, len(MAGIC))
    at = len(MAGIC) + 8
    return json.loads(data[at:at + length]), array.array("d", data[at + length:-4])


def checkpoint(header, values):
    """A checkpoint with its checksum; the header is text or what JSON can hold."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return checked(MAGIC + struct.pack("<Q", len(text)) + text + values.tobytes())


def checked(data):
    """Data with the checksum of a checkpoint behind."""
    return data + struct.pack("<I", zlib.crc32(data))
