"""Mutations of files: of their bits, lines and numbers."""

import re
import struct

NUMBERS = ["0", "-1", "1", "2", "1e308", "-1e308", "1e-320", "1e999", "nan", "-nan", "inf", "0.5", "1e20", "4294967296",
           "2147483648", "-2147483648", "9223372036854775807", "18446744073709551615", "999999999999", "0x10", "",
           "1" * 30]
TOKEN = re.compile(rb"(?<![\w.+-])[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
PACKED = ([struct.pack("<i", n) for n in (0, -1, 1, 1 << 30, -(1 << 31), (1 << 31) - 1)]
          + [struct.pack("<q", n) for n in (0, -1, 1 << 40, (1 << 63) - 1, -(1 << 63))]
          + [struct.pack("<d", x) for x in (0.0, -1.0, 1e308, 1e-320, float("nan"), float("inf"))])


def mutated(random, data, binary):
    """The data after one to three mutations."""
    ways = [flip, cut, insert, repeat_line, drop_line, swap_lines] + [number] * 4 + [header] * 3
    ways += [packed] * 8 if binary else []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(ways)(random, data)
    return data


def flip(random, data):
    """Turns a bit round."""
    at = random.randrange(max(1, len(data)))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1:] if data else data


def cut(random, data):
    """Takes away the end, or a piece."""
    at = random.randrange(len(data) + 1)
    return data[:at] + (b"" if random.random() < 0.5 else data[at + random.randrange(1, 100):])


def insert(random, data):
    """Puts in a few random bytes."""
    at = random.randrange(len(data) + 1)
    return data[:at] + random.randbytes(random.randrange(1, 9)) + data[at:]


def on_lines(change):
    """A mutation of the list of lines, given a place in it."""
    def mutation(random, data):
        lines = data.split(b"\n")
        at = random.randrange(len(lines))
        return b"\n".join(change(random, lines, at))
    return mutation


repeat_line = on_lines(lambda random, lines, at: lines[:at] + lines[at:at + 1] * random.choice((2, 9)) + lines[at + 1:])
drop_line = on_lines(lambda random, lines, at: lines[:at] + lines[at + random.choice((1, 1, 5)):])


@on_lines
def swap_lines(random, lines, at):
    """Two lines change places."""
    other = random.randrange(len(lines))
    lines[at], lines[other] = lines[other], lines[at]
    return lines


def number(random, data):
    """Replaces a number in the text by another, in any part of it."""
    return replaced(random, data, list(TOKEN.finditer(data)))


def header(random, data):
    """Replaces one of the numbers of the first kilobyte, or on a line with letters, where counts stand."""
    found = [match for match in TOKEN.finditer(data) if match.start() < 1000]
    for line in re.finditer(rb"[^\n]*[A-Za-z$*][^\n]*\n[^\n]*", data[:200_000]):
        found += list(TOKEN.finditer(data, line.start(), line.end()))
    return replaced(random, data, found)


def replaced(random, data, found):
    """Replaces one of the matches by a number."""
    if not found:
        return data
    match = random.choice(found)
    return data[:match.start()] + random.choice(NUMBERS).encode() + data[match.end():]


def packed(random, data):
    """Overwrites some bytes by a binary number."""
    at, new = random.randrange(max(1, len(data))), random.choice(PACKED)
    return data[:at] + new + data[at + len(new):]
