"""Writes optistruct_block.fem, a deck with the optimization of a topology in the small fields of OptiStruct."""

from pathlib import Path

SIZES = (8, 4, 4)


def small(*fields):
    """An entry of fields of 8 columns, over as many lines as needed."""
    rows = [fields[1:][i:i + 8] for i in range(0, len(fields) - 1, 8)]
    heads = [fields[0]] + ["+"] * (len(rows) - 1)
    return ["".join(f"{field!s:8}" for field in (head, *row)).rstrip() for head, row in zip(heads, rows)]


def grid(x, y, z):
    """Number of the grid at a place."""
    return 1 + x + (SIZES[0] + 1) * (y + (SIZES[1] + 1) * z)


def places(sizes):
    """Places of a grid, x first."""
    return [(x, y, z) for z in range(sizes[2]) for y in range(sizes[1]) for x in range(sizes[0])]


def text():
    """The lines of the deck."""
    lines = ["$$ Made by optistruct_block.py: a block that is held at x = 0 and pushed at its other end, down and aside;",
             "$$ its last elements along x are not designed.",
             "DESOBJ(MIN) = 3", "DESGLB = 20", "SPC = 1",
             "SUBCASE 1", "  LABEL = down", "  LOAD = 2", "  DESSUB = 21", "  WEIGHT = 2.0",
             "SUBCASE 2", "  LABEL = aside", "  LOAD = 3", "  WEIGHT = 1.0", "BEGIN BULK"]
    # Design space with its demands, responses, limits, and a variable that no relation uses.
    lines += small("DTPL", 1, "PSOLID", 1)
    lines += small("+", "MEMBSIZ", 3.0)
    lines += small("+", "PATRN", 1, 0.0, 2.0, 0.0, 0.0, 3.0, 0.0)
    lines += small("+", "DRAW", "SPLIT", 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    lines += small("+", "OBST", 2)
    lines += small("DESVAR", 1, "spare", 0.5, 0.0, 1.0)
    lines += small("DRESP1", 1, "vol", "VOLFRAC")
    lines += small("DRESP1", 2, "tip", "DISP", "", "", 3, "", grid(SIZES[0], 2, 0))
    lines += small("DRESP1", 3, "all", "WCOMP")
    lines += small("DCONSTR", 20, 1, "", 0.4) + small("DCONSTR", 21, 2, -9.0)
    for place in places([n + 1 for n in SIZES]):
        lines += small("GRID", grid(*place), "", *(float(x) for x in place))
    for number, (x, y, z) in enumerate(places(SIZES), 1):
        corners = [grid(x + i, y + j, z + k) for k in (0, 1) for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))]
        lines += small("CHEXA", number, 2 if x + 1 == SIZES[0] else 1, *corners)
    lines += small("PSOLID", 1, 1) + small("PSOLID", 2, 1)
    lines += small("MAT1", 1, 210.0, "", 0.29, 7.85)
    for _, y, z in places((1, SIZES[1] + 1, SIZES[2] + 1)):
        lines += small("SPC1", 1, 123, grid(0, y, z))
        lines += small("FORCE", 2, grid(SIZES[0], y, z), "", 0.02, 0.0, 0.0, -1.0)
        lines += small("FORCE", 3, grid(SIZES[0], y, z), "", 0.03, 0.0, 1.0, 0.0)
    return lines + ["ENDDATA"]


if __name__ == "__main__":
    Path(__file__).with_suffix(".fem").write_text("\n".join(text()) + "\n")
