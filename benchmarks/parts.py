"""Meshes every part of meshes/parts at four sizes, and optimizes each for three iterations:

    python3 benchmarks/parts.py TOPOPT

TOPOPT is the program. Gmsh is found as the program finds it. Prints a row per mesh, and fails where a mesh cannot be
made or a run ends with an error.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PARTS = Path(__file__).parent.parent / "meshes" / "parts"
SIZES = (12.0, 8.0, 5.0, 3.5)

# Held at one end of the longest axis, loaded at the other.
CASE = """
[mesh]
file = "part.msh"

[[select]]
name = "held"
kind = "nodes"
box = {{ min = {held[0]}, max = {held[1]} }}

[[select]]
name = "loaded"
kind = "nodes"
box = {{ min = {loaded[0]}, max = {loaded[1]} }}

[[supports]]
set = "held"

[[loads]]
set = "loaded"
total_force = [0.0, -10.0, -10.0]

[design]
style = "smooth"
keep_loaded = "free"
volume_fraction = 0.4

[filter]
radius_in_elements = 2.0

[optimizer]
max_iterations = 3
change_tolerance = 0.0
"""


def run(folder, *words):
    done = subprocess.run([PROGRAM, *map(str, words)], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done.stdout


def case(info):
    """The case, with the tenths of the part at the ends of its longest axis."""
    low, high = info["bounding_box"]["min"], info["bounding_box"]["max"]
    extent = [b - a for a, b in zip(low, high)]
    axis = extent.index(max(extent))
    boxes = {}
    for name, start in (("held", -0.01), ("loaded", 0.9)):
        a = [x - 0.01 * e for x, e in zip(low, extent)]
        b = [x + 0.01 * e for x, e in zip(high, extent)]
        a[axis] = low[axis] + start * extent[axis]
        b[axis] = a[axis] + 0.11 * extent[axis]
        boxes[name] = (a, b)
    return CASE.format(**boxes)


def main():
    print("part            size  elements  scaled Jacobian  meshing s  run s  PCG iterations  compliance")
    for part in sorted(PARTS.glob("*.geo")):
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                start = time.time()
                run(folder, "mesh", part.resolve(), "--element-size", size, "-o", "part.msh")
                meshed = time.time() - start
                info = json.loads(run(folder, "info", "part.msh", "--json"))
                Path(folder, "case.toml").write_text(case(info))
                start = time.time()
                run(folder, "run", "case.toml", "--output", "out")
                seconds = time.time() - start
                summary = json.loads(Path(folder, "out", "summary.json").read_text())
                history = Path(folder, "out", "history.csv").read_text().splitlines()
                column = history[0].split(",").index("pcg_iterations")
                pcg = sum(int(row.split(",")[column]) for row in history[1:])
                least = info["quality"]["scaled_jacobian"]["min"]
                print(f"{part.stem:14}{size:6}{info['elements']:10}{least:17.3f}{meshed:11.1f}{seconds:7.1f}{pcg:16}"
                      f"{summary['compliance']:12.4e}", flush=True)
                assert least >= 0.05, "a flat element"


PROGRAM = str(Path(sys.argv[1]).resolve())
main()
