"""Writes nastran_mixed.bdf and prints what pyNastran reads from it: the numbers of the test of the reader.

A brick, a wedge, a pyramid and a tetrahedron of second order, joined, in a turned system, in all three formats of
fields. Needs pyNastran 1.4 and numpy.
"""

from pathlib import Path

import numpy
from pyNastran.bdf.bdf import read_bdf
from pyNastran.bdf.mesh_utils.loads import sum_forces_moments

FILE = Path(__file__).with_suffix(".bdf")

CORNERS = {
    1: (0, 0, 0), 2: (2, 0, 0), 3: (2, 1, 0), 4: (0, 1, 0), 5: (0, 0, 1), 6: (2, 0, 1), 7: (2, 1, 1), 8: (0, 1, 1),
    # The ridge of the wedge on y = 1, the apex of the pyramid on x = 2, the fourth corner of the tetrahedron.
    9: (0, 1.75, 0.5), 10: (2, 1.75, 0.5), 11: (2.9, 0.5, 0.5), 12: (2.75, 0.25, 1.875),
}

# Corners, and edges in the order in which Nastran numbers the grids in their middles.
ELEMENTS = {
    "CHEXA": (21, 7, (1, 2, 3, 4, 5, 6, 7, 8),
              ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 5), (2, 6), (3, 7), (4, 5), (5, 6), (6, 7), (7, 4))),
    "CPENTA": (14, 7, (4, 9, 8, 3, 10, 7),
               ((0, 1), (1, 2), (2, 0), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3))),
    "CPYRAM": (33, 8, (2, 3, 7, 6, 11), ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4))),
    "CTETRA": (5, 8, (6, 11, 7, 12), ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))),
}


def nodes():
    """Corners and middles by number, and the numbers of the nodes of every element."""
    places, middles, connectivity = dict(CORNERS), {}, {}
    for name, (_, _, corners, edges) in ELEMENTS.items():
        numbers = list(corners)
        for a, b in edges:
            ends = tuple(sorted((corners[a], corners[b])))
            if ends not in middles:
                middles[ends] = 100 + len(middles)
                places[middles[ends]] = tuple(numpy.mean([CORNERS[end] for end in ends], axis=0))
            numbers.append(middles[ends])
        connectivity[name] = numbers
    return places, connectivity


def small(*fields):
    """An entry of fields of 8 columns, over as many lines as needed."""
    rows = [fields[1:][i:i + 8] for i in range(0, len(fields) - 1, 8)]
    heads = [fields[0]] + ["+"] * (len(rows) - 1)
    return ["".join(f"{field!s:8}" for field in (head, *row)).rstrip() for head, row in zip(heads, rows)]


def text():
    """The lines of the deck."""
    places, connectivity = nodes()
    lines = ["$ Made by nastran_mixed.py", "SOL 101", "CEND", "SPC = 30", "SUBCASE 1", "  LABEL = pull", "  LOAD = 10",
             "SUBCASE 2", "  LOAD = 2", "BEGIN BULK"]
    lines += small("CORD2R", 3, 4, 1.0, 2.0, 3.0, 2.0, 3.0, 5.0, 4.0, 2.5, 3.0)
    lines += ["CORD2C,4,,0.5,0.,0.,0.5,0.,1.", ",1.5,1.,0."]
    for number, place in places.items():
        if number < 100:
            x, y, z = (f"{value:.8e}".replace("e", "D") if number % 2 else repr(float(value)) for value in place)
            lines += [f"{'GRID*':8}{number:16}{3:16}{x:>16.16}{y:>16.16}", f"{'*':8}{z:>16.16}"]
        elif number % 2:
            lines += small("GRID", number, 3, *(float(value) for value in place))
        else:
            lines.append(",".join(map(str, ("GRID", number, 3, *(float(value) for value in place)))))
    for name, (number, part, *_) in ELEMENTS.items():
        lines += small(name, number, part, *connectivity[name])
    lines += small("PSOLID", 7, 1) + small("PSOLID", 8, 2)
    lines += small("MAT1", 1, "2.1+5", "", 0.3, "7.85-9") + small("MAT1", 2, "", "2.6+4", 0.33)
    lines += small("SPC1", 30, 123, 1, 4, 5, 8)
    lines += small("PLOAD4", 1, 21, 2.5, "", "", "", 1, 3)
    lines += small("PLOAD4", 1, 14, -1.25, "", "", "", 8)
    lines += small("PLOAD4", 1, 14, 0.75, "", "", "", 9, 7)
    lines += small("PLOAD4", 1, 33, 1.5, "", "", "", 2, 3)
    lines += small("PLOAD4", 1, 5, 3.0, "", "", "", 6, 7)
    lines += small("PLOAD4", 2, 21, 2.0, "", "", "", 5, 7, 0, 1.0, 2.0, -2.0)
    lines += small("FORCE", 2, 9, 3, 10.0, 1.0, 0.0, -0.5) + small("FORCE", 2, 10, "", 3.0, 0.0, 1.0, 0.25)
    lines += small("LOAD", 10, 2.0, 1.5, 1, -0.5, 2)
    return [*lines, "ENDDATA"]


def main():
    """Writes the deck and prints the numbers."""
    FILE.write_text("\n".join(text()) + "\n")
    model = read_bdf(str(FILE), debug=None)
    print("nodes", len(model.nodes), "elements", len(model.elements))
    places = {number: grid.get_position() for number, grid in sorted(model.nodes.items())}
    print("sum of corners", sum(places[number] for number in CORNERS).tolist())
    for number, element in sorted(model.elements.items()):
        print("element", number, "volume", repr(float(element.Volume())))
    for corners in ((1, 2, 3, 4), (4, 9, 8), (9, 10, 7, 8), (2, 3, 11), (6, 11, 12), (5, 6, 7, 8)):
        a, b, c, d = (places[n] for n in (corners if len(corners) == 4 else (*corners, corners[0])))
        print("face", corners, "area", repr(float(numpy.linalg.norm(numpy.cross(c - a, d - b)) / 2)))
    for case in (1, 2, 10):
        force, moment = sum_forces_moments(model, [0.0] * 3, case, include_grav=False)
        print("load set", case, "force", force.tolist(), "moment", moment.tolist())


if __name__ == "__main__":
    main()
