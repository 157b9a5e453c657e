#!/usr/bin/env python3
"""Films of convection beside CalculiX and beside dense matrices of their own.

    python3 films.py PROGRAM... (each a `topopt`; `ccx` is in PATH)

Every part is of bricks (DC3D8 in CalculiX) with films on some sides, some held at one. Printed are the largest
differences of temperatures as shares of their range. CalculiX prints seven digits. Needs numpy.
"""

import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
# S1 to S6 of C3D8.
FACES = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
SIDES = {"low": (0, 0), "high": (0, 1), "front": (1, 0), "back": (1, 1), "bottom": (2, 0), "top": (2, 1)}
GAUSS = 1 / math.sqrt(3)


class Part:
    """Bricks, as many as `n` along each axis of a unit cube that `place` maps."""

    def __init__(self, n, place):
        numbers = np.arange(math.prod(k + 1 for k in n)).reshape([k + 1 for k in n])
        self.at = np.array([np.array(p) / n for p, _ in np.ndenumerate(numbers)])
        self.x = np.array([np.round(place(u), 10) for u in self.at])
        self.bricks = np.array([[int(numbers[tuple(np.add(p, c))]) for c in CORNERS] for p in np.ndindex(*n)])

    def faces(self, side):
        axis, value = SIDES[side]
        on = lambda brick, face: all(abs(self.at[brick[a]][axis] - value) < 1e-9 for a in face)
        return [(e, s) for e, brick in enumerate(self.bricks) for s, face in enumerate(FACES) if on(brick, face)]

    def nodes(self, side):
        return sorted({int(self.bricks[e][a]) for e, s in self.faces(side) for a in FACES[s]})


def conduction(part, conductivity, source):
    n = len(part.x)
    matrix, flows = np.zeros((n, n)), np.zeros(n)
    signs = 2 * CORNERS - 1
    for brick in part.bricks:
        for point in np.ndindex(2, 2, 2):
            xi = GAUSS * (2 * np.array(point) - 1)
            sides = 1 + signs * xi
            shape = np.prod(sides, axis=1) / 8
            slopes = np.stack([signs[:, i] * np.prod(np.delete(sides, i, 1), axis=1) / 8 for i in range(3)], axis=1)
            jacobian = part.x[brick].T @ slopes
            det, gradients = np.linalg.det(jacobian), slopes @ np.linalg.inv(jacobian)
            matrix[np.ix_(brick, brick)] += conductivity * det * gradients @ gradients.T
            flows[brick] += source * det * shape
    return matrix, flows


def add_film(part, side, h, ambient, matrix, flows):
    signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    for e, s in part.faces(side):
        nodes = [part.bricks[e][a] for a in FACES[s]]
        for point in np.ndindex(2, 2):
            sides = 1 + signs * (GAUSS * (2 * np.array(point) - 1))
            shape = np.prod(sides, axis=1) / 4
            along, across = [(signs[:, i] * sides[:, 1 - i] / 4) @ part.x[nodes] for i in range(2)]
            area = np.linalg.norm(np.cross(along, across))
            flows[nodes] += h * ambient * area * shape
            matrix[np.ix_(nodes, nodes)] += h * area * np.outer(shape, shape)


def dense(part, case):
    """Temperatures by dense matrices."""
    matrix, flows = conduction(part, case["conductivity"], case["source"])
    for side, h, ambient in case["films"]:
        add_film(part, side, h, ambient, matrix, flows)
    held = {node: value for side, value in case["held"] for node in part.nodes(side)}
    free = [k for k in range(len(part.x)) if k not in held]
    found = np.array([held.get(k, 0.0) for k in range(len(part.x))])
    found[free] = np.linalg.solve(matrix[np.ix_(free, free)], (flows - matrix @ found)[free])
    return found


def cards(part, kind):
    text = "*Node, nset=NALL\n" + "".join(f"{k + 1}, {x:.10f}, {y:.10f}, {z:.10f}\n" for k, (x, y, z) in enumerate(part.x))
    text += f"*Element, type={kind}, elset=EALL\n"
    text += "".join(f"{e + 1}, {', '.join(str(a + 1) for a in brick)}\n" for e, brick in enumerate(part.bricks))
    for side in SIDES:
        text += f"*Surface, name={side}, type=element\n" + "".join(f"{e + 1}, S{s + 1}\n" for e, s in part.faces(side))
    return text


def calculix(part, case, folder):
    """Temperatures by ccx."""
    text = cards(part, "DC3D8") + f"*Material, name=M\n*Conductivity\n{case['conductivity']}, 0.\n"
    text += "*Solid section, elset=EALL, material=M\n*Step\n*Heat transfer, steady state\n1., 1.\n"
    held = [(node, value) for side, value in case["held"] for node in part.nodes(side)]
    text += "*Boundary\n" + "".join(f"{node + 1}, 11, 11, {value}\n" for node, value in held) if held else ""
    text += "*Film\n"
    for side, h, ambient in case["films"]:
        text += "".join(f"{e + 1}, F{s + 1}, {ambient}, {h}\n" for e, s in part.faces(side))
    text += f"*Dflux\nEALL, BF, {case['source']}\n" if case["source"] else ""
    (folder / "deck.inp").write_text(text + "*Node print, nset=NALL\nNT\n*End step\n")
    subprocess.run(["ccx", "deck"], cwd=folder, check=True, capture_output=True)
    rows = re.findall(r"^\s+\d+\s+([-\d]\S*)$", (folder / "deck.dat").read_text(), re.M)
    return np.array([float(value) for value in rows])


def topopt(program, part, case, folder):
    """Temperatures by `topopt solve`, and its iterations."""
    (folder / "mesh.inp").write_text(cards(part, "C3D8"))
    text = "[physics]\nkind = \"heat\"\n[mesh]\nfile = \"mesh.inp\"\n[solver]\ndevice = \"cpu\"\ntolerance = 1e-13\n"
    text += f"[material]\nconductivity = {case['conductivity']}\n[output]\ncompression = \"none\"\n"
    text += "".join(f"[[supports]]\nset = \"{side}\"\ntemperature = {value}\n" for side, value in case["held"])
    for side, h, ambient in case["films"]:
        text += f"[[convection]]\nset = \"{side}\"\nfilm_coefficient = {h}\nambient = {ambient}\n"
    text += f"[[loads]]\nheat_source = {case['source'] or 1e-30}\n"
    (folder / "case.toml").write_text(text)
    command = [program, "solve", "case.toml", "-o", "out", "--overwrite"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    raw = (folder / "out" / "analysis.vtu").read_bytes()
    begin = raw.index(b"_", raw.index(b"<AppendedData")) + 1
    begin += int(re.search(rb'Name="temperature"[^>]*offset="(\d+)"', raw).group(1))
    size = int.from_bytes(raw[begin:begin + 8], "little")
    values = np.frombuffer(raw[begin + 8:begin + 8 + size], "<f8")
    return values, json.loads((folder / "out" / "analysis.json").read_text())["pcg_iterations"]


def box(*size):
    return lambda u: np.array(size) * u


def tube(u):
    radius, angle = 1 + u[0], math.pi / 2 * u[1]
    return np.array([radius * math.cos(angle), radius * math.sin(angle), 2 * u[2]])


def wavy(u):
    bent = 4 * u[0] + 0.3 * math.sin(5 * u[1] + 3 * u[2])
    return np.array([bent, 2 * u[1] + 0.2 * math.cos(4 * u[0]), u[2] * (1 + 0.4 * u[0] * u[1])])


def case(conductivity, source, films, held=()):
    return {"conductivity": conductivity, "source": source, "films": films, "held": held}


HOT = [("low", 100.0)]
PARTS = {
    "one brick": (Part((1, 1, 1), box(1, 2, 3)), case(2.0, 5.0, [("top", 3.0, 20.0), ("front", 1.0, 50.0)])),
    "a fin of 4": (Part((4, 1, 1), box(4, 1, 1)),
                   case(50.0, 0.0, [("top", 20.0, 10.0), ("front", 20.0, 10.0), ("back", 5.0, 100.0)], HOT)),
    "a box of 8": (Part((2, 2, 2), box(2, 1, 1)), case(1.0, 0.0, [("high", 50.0, 0.0), ("top", 10.0, 30.0)], HOT)),
    "a box of 192": (Part((8, 6, 4), box(8, 6, 4)), case(45.0, 0.5, [("top", 0.5, 20.0), ("high", 2.0, 20.0)], HOT)),
    "a quarter of a tube, 72": (Part((4, 6, 3), tube), case(4.0, 0.0, [("high", 30.0, 20.0), ("top", 3.0, 0.0)], HOT)),
    "warped, 72": (Part((6, 4, 3), wavy),
                   case(4.0, 2.0, [("high", 30.0, 20.0), ("top", 3.0, 0.0), ("bottom", 3.0, 0.0)], HOT)),
    "a film of 1e5 k / m, 125": (Part((5, 5, 5), box(1, 1, 1)), case(1.0, 10.0, [("high", 1e5, 20.0), ("top", 1e3, 0.0)])),
}


def main():
    print("part, by each program: from dense matrices, from CalculiX, iterations; CalculiX from dense matrices")
    for name, (part, posed) in PARTS.items():
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            exact, theirs = dense(part, posed), calculix(part, posed, folder)
            spread = np.ptp(exact)
            away = lambda a, b: f"{abs(a - b).max() / spread:.1e}"
            columns = [name]
            for program in sys.argv[1:]:
                found, iterations = topopt(str(Path(program).resolve()), part, posed, folder)
                columns += [away(found, exact), away(found, theirs), str(iterations)]
            print(" | ".join([*columns, away(theirs, exact)]))


if __name__ == "__main__":
    main()
