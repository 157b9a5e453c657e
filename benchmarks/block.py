"""A block that is warmed by its faces, beside its series:

    python3 benchmarks/block.py TOPOPT 8 16 32       as many elements along each edge, a multiple of four

The problem TTLV301 of Code_Aster's manual of validation, V4.25.301: [-1, 1] x [-1.6, 1.6] x [-2, 2], conductivity,
density and heat capacity 1, from 1 on, with all faces held at 2. Prints the temperatures at O = (0, 0, 0) and H = (0.5,
0.8, 1), those of the series with 100 terms in each direction, and the errors by the number of elements and by theta.
Needs numpy and meshio.
"""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import meshio
import numpy as np

HALVES, INITIAL, HELD = np.array([1.0, 1.6, 2.0]), 1.0, 2.0
TIMES = (0.1, 0.2, 0.3, 0.5, 1.0)
POINTS = {"O": (0.0, 0.0, 0.0), "H": (0.5, 0.8, 1.0)}

CASE = """\
title = "Block"

[physics]
kind = "heat"

[mesh]
file = "block.vtu"

[material]
conductivity = 1.0
mass_density = 1.0
heat_capacity = 1.0

[[select]]
name = "faces"
kind = "nodes"
any = [
  { plane = { normal = [1, 0, 0], point = [-1, 0, 0] } },
  { plane = { normal = [1, 0, 0], point = [1, 0, 0] } },
  { plane = { normal = [0, 1, 0], point = [0, -1.6, 0] } },
  { plane = { normal = [0, 1, 0], point = [0, 1.6, 0] } },
  { plane = { normal = [0, 0, 1], point = [0, 0, -2] } },
  { plane = { normal = [0, 0, 1], point = [0, 0, 2] } },
]

[[supports]]
set = "faces"
temperature = 2.0

[transient]
end = 1.0
steps = [[0.01, 0.0005], [0.1, 0.0025], [1.0, 0.01]]
initial = 1.0
probes = [{ name = "O", point = [0, 0, 0] }, { name = "H", point = [0.5, 0.8, 1] }]

[solver]
device = "cpu"
tolerance = 1e-10
"""


def series(point, time, terms=100):
    """The product of the series of three walls."""
    odd = 2 * np.arange(1, terms + 1) - 1
    share = 1.0
    for x, half in zip(point, HALVES):
        k = odd * np.pi / (2 * half)
        share *= (4 / np.pi / odd * np.sin(odd * np.pi / 2) * np.exp(-k * k * time) * np.cos(k * x)).sum()
    return HELD + (INITIAL - HELD) * share


def write_mesh(path, n):
    steps = np.linspace(-1, 1, n + 1)
    z, y, x = np.meshgrid(steps, steps, steps, indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1) * HALVES
    row, layer = n + 1, (n + 1) ** 2
    k, j, i = np.meshgrid(*[np.arange(n)] * 3, indexing="ij")
    corners = np.array([0, 1, row + 1, row])
    hexes = (i + row * j + layer * k).reshape(-1, 1) + np.concatenate([corners, corners + layer])
    meshio.write(path, meshio.Mesh(points, [("hexahedron", hexes)]))


def main():
    program = str(Path(sys.argv[1]).absolute())
    print("| elements | theta | " + " | ".join(f"{name}, t = {t:g}" for name in POINTS for t in TIMES) + " |")
    print("|" + "---|" * (2 + len(POINTS) * len(TIMES)))
    exact = [series(point, t) for point in POINTS.values() for t in TIMES]
    print("| series | | " + " | ".join(f"{value:.7f}" for value in exact) + " |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "case.toml").write_text(CASE)
        for n in map(int, sys.argv[2:]):
            write_mesh(Path(folder) / "block.vtu", n)
            for theta in (0.5, 1.0):
                command = [program, "solve", "case.toml", "-o", "out", "--overwrite"]
                command += ["--set", f"transient.theta={theta}"]
                subprocess.run(command, cwd=folder, check=True, capture_output=True)
                rows = list(csv.DictReader((Path(folder) / "out/transient.csv").open()))
                at = {t: min(rows, key=lambda row: abs(float(row["time"]) - t)) for t in TIMES}
                found = [float(at[t][name]) for name in POINTS for t in TIMES]
                errors = " | ".join(f"{value - right:+.1e}" for value, right in zip(found, exact))
                print(f"| {n}^3 | {theta:g} | {errors} |", flush=True)


main()
