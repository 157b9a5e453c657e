#!/usr/bin/env python3
"""Holds `topopt verify` against an independent solve of what is built.

    python3 benchmarks/independent.py [--topopt PROGRAM] [--method METHOD] [--elements COUNT] [--keep FOLDER] [PART ...]

Crisp parts, solids in files of OpenCASCADE and grids of bricks, each loaded on a free face and with the default
`design.keep_loaded`: run, verified, exported as STL. `--method` and `--elements` mesh the solids otherwise than by
tetrahedra of the size that the part has here. Gmsh fills the triangles, as they are, with tetrahedra of second
order, and CalculiX solves them (C3D10) under a uniform traction of the same resultant on what is left of the loaded
face. Prints a row per part: the compliances, verified and remeshed over independent, and how much of the load verify moved.
Fails where verified is not within 0.93 to 1.02, remeshed not within 0.98 to 1.02, or the resultants differ.

Needs numpy, the Python module of Gmsh, and `ccx`.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import gmsh
import numpy as np

E, NU = 210000.0, 0.3
RATIO = (0.93, 1.02)
REMESHED = (0.98, 1.02)
MATERIAL = f"[material]\nyoungs_modulus = {E}\npoissons_ratio = {NU}\n"
SOLVER = '[solver]\ndevice = "cpu"\ntolerance = 1e-6\n[output]\nvti_spacing = 0\ncheckpoint_every = 0\n'


def solid(make, size):
    """A writer of the solid that `make` adds, which returns the case's table of its mesh."""

    def write(folder):
        gmsh.model.add("part")
        make(gmsh.model.occ)
        gmsh.model.occ.synchronize()
        gmsh.write(str(folder / "part.brep"))
        gmsh.model.remove()
        count = f"elements = {ARGS.elements}" if ARGS.elements else f"element_size = {size}"
        return f'[mesh]\nfile = "part.brep"\nmethod = "{ARGS.method}"\n{count}\n'

    return write


def bricks(lengths, counts):
    """A writer of a box of equal bricks, which returns the case's table of its mesh."""

    def write(folder):
        lines = [np.linspace(0, length, n + 1) for length, n in zip(lengths, counts)]
        points = np.array([[x, y, z] for x in lines[0] for y in lines[1] for z in lines[2]])
        number = np.arange(1, len(points) + 1).reshape([n + 1 for n in counts])
        corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
        hexes = [[number[tuple(np.add(place, c))] for c in corners] for place in np.ndindex(*counts)]
        text = [f'$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 "part"\n$EndPhysicalNames\n$Nodes\n{len(points)}']
        text += [f"{i + 1} {x} {y} {z}" for i, (x, y, z) in enumerate(points)]
        text += [f"$EndNodes\n$Elements\n{len(hexes)}"]
        text += [f"{i + 1} 5 2 1 1 " + " ".join(map(str, nodes)) for i, nodes in enumerate(hexes)]
        (folder / "part.msh").write_text("\n".join(text) + "\n$EndElements\n")
        return '[mesh]\nfile = "part.msh"\n'

    return write


def select(name, kind, place):
    return f'[[select]]\nname = "{name}"\nkind = "{kind}"\n{place.key}\n'


def angle(occ):
    upright, arm = occ.addBox(0, 0, 0, 20, 100, 24), occ.addBox(0, 0, 0, 100, 20, 24)
    occ.fuse([(3, upright)], [(3, arm)])


def bored_plate(occ):
    plate, bore = occ.addBox(0, 0, 0, 110, 60, 16), occ.addCylinder(25, 30, -1, 0, 0, 18, 10)
    occ.cut([(3, plate)], [(3, bore)])


def quarter_ring(occ):
    outer = occ.addCylinder(0, 0, 0, 0, 0, 24, 70, angle=np.pi / 2)
    inner = occ.addCylinder(0, 0, 0, 0, 0, 24, 36, angle=np.pi / 2)
    occ.cut([(3, outer)], [(3, inner)])


def flange(occ):
    plate, hub = occ.addCylinder(0, 0, 0, 0, 0, 8, 50), occ.addCylinder(0, 0, 8, 0, 0, 40, 20)
    body, _ = occ.fuse([(3, plate)], [(3, hub)])
    turns = np.arange(6) * np.pi / 3
    bolts = [occ.addCylinder(38 * np.cos(a), 38 * np.sin(a), -1, 0, 0, 12, 4.5) for a in turns]
    occ.cut(body, [(3, bore) for bore in [*bolts, occ.addCylinder(0, 0, -1, 0, 0, 60, 14)]])


def strip(occ):
    occ.addBox(0, 0, 0, 120, 40, 5)


def bored_angle(occ):
    base, wall = occ.addBox(0, 0, 0, 100, 40, 30), occ.addBox(0, 0, 0, 20, 40, 60)
    part, _ = occ.fuse([(3, base)], [(3, wall)])
    bores = [
        occ.addCylinder(80, 20, -5, 0, 0, 50, 8),
        occ.addCylinder(-5, 20, 48, 40, 0, 0, 6),
        occ.addCylinder(50, -5, 15, 0, 60, 0, 5),
    ]
    occ.cut(part, [(3, bore) for bore in bores])


def lug_bracket(occ):
    plate, lug = occ.addBox(-60, -30, 0, 120, 60, 10), occ.addBox(-38, -15, 10, 76, 30, 60)
    part, _ = occ.fuse([(3, plate)], [(3, lug)])
    bolts = [occ.addCylinder(x, y, -1, 0, 0, 12, 4.5) for x in (-48, 48) for y in (-20, 20)]
    occ.cut(part, [(3, bore) for bore in [*bolts, occ.addCylinder(0, -16, 50, 0, 32, 0, 10)]])


class Box:
    """Points in a box, to rounding of STL files."""

    def __init__(self, low, high):
        self.low, self.high = np.array(low), np.array(high)
        self.key = f"box = {{ min = {low}, max = {high} }}"

    def has(self, x):
        return np.all((x > self.low - 1e-3) & (x < self.high + 1e-3), axis=1)


class Bore:
    """Points on a bore along an axis, to the depth of chords."""

    DEPTH = 0.1

    def __init__(self, point, axis, radius):
        self.point, self.axis, self.radius = np.array(point), np.array(axis), radius
        inner, outer = radius - self.DEPTH, radius + self.DEPTH
        self.key = f"cylinder = {{ point = {point}, axis = {axis}, radius = {outer}, inner_radius = {inner} }}"

    def has(self, x):
        across = np.linalg.norm(np.cross(x - self.point, self.axis), axis=1)
        return np.abs(across - self.radius) < self.DEPTH


# Of each part: its mesh, the sets of its case, the supports by set and the axes that each holds, the load, and
# what of the case is its own. The last two say where the new mesh is held and loaded.
PARTS = {
    "angle": {
        "mesh": solid(angle, 5.0),
        "held": Box([-1, 99.9, -1], [21, 100.1, 25]),
        "loaded": Box([99.99, -1, -1], [100.01, 21, 25]),
        "force": [0.0, -1000.0, 0.0],
        "case": "[design]\nvolume_fraction = 0.4\n[filter]\nradius = 6.0\n",
    },
    "cantilever": {
        "mesh": bricks((60, 30, 24), (30, 15, 12)),
        "held": Box([-1, -1, -1], [0.01, 31, 25]),
        "loaded": Box([59.99, -1, -1], [60.01, 31, 25]),
        "force": [0.0, -800.0, 0.0],
        "case": "[design]\nvolume_fraction = 0.35\n[filter]\nradius_in_elements = 1.5\n",
    },
    # Whole faces: in part of one, the edge of a set follows the elements of either mesh.
    "bored plate": {
        "mesh": solid(bored_plate, 5.5),
        "held": Box([-0.01, -1, -1], [0.01, 61, 17]),
        "loaded": Box([109.99, -1, -1], [110.01, 61, 17]),
        "force": [0.0, -600.0, 300.0],
        "case": "[design]\nvolume_fraction = 0.45\n[filter]\nradius = 5.0\n",
    },
    "bridge": {
        "mesh": bricks((64, 16, 24), (64, 16, 24)),
        "held": Box([-1, -0.01, -1], [6.01, 0.01, 25]),
        "rolling": Box([57.99, -0.01, -1], [65, 0.01, 25]),
        "loaded": Box([19.99, 15.99, -1], [44.01, 16.01, 25]),
        "force": [0.0, -2000.0, 0.0],
        "case": "[design]\nvolume_fraction = 0.3\n[filter]\nradius = 3.6\n",
    },
    "quarter ring": {
        "mesh": solid(quarter_ring, 6.5),
        "held": Box([30, -0.01, -1], [75, 0.01, 25]),
        "loaded": Box([-0.01, 35, -1], [0.01, 75, 25]),
        "force": [500.0, 0.0, 200.0],
        "case": "[design]\nvolume_fraction = 0.4\n[filter]\nradius = 5.0\n",
    },
    "flange": {
        "mesh": solid(flange, 3.5),
        "held": Box([-51, -51, -0.01], [51, 51, 0.01]),
        "loaded": Box([-21, -21, 47.99], [21, 21, 48.01]),
        "force": [2000.0, 0.0, 500.0],
        "case": "[design]\nvolume_fraction = 0.4\n[filter]\nradius = 5.0\n",
    },
    "strip": {
        "mesh": solid(strip, 2.5),
        "held": Box([-0.01, -1, -1], [0.01, 41, 6]),
        "loaded": Box([119.99, -1, -1], [120.01, 41, 6]),
        "force": [0.0, -200.0, 50.0],
        "case": "[design]\nvolume_fraction = 0.5\n[filter]\nradius = 4.0\n",
    },
    "bored angle": {
        "mesh": solid(bored_angle, 4.5),
        "held": Box([-0.01, -1, -1], [0.01, 41, 61]),
        "loaded": Bore([80, 20, 0], [0, 0, 1], 8),
        "force": [0.0, 0.0, -2000.0],
        "case": "[design]\nvolume_fraction = 0.35\n[filter]\nradius = 5.0\n",
    },
    "lug bracket": {
        "mesh": solid(lug_bracket, 4.5),
        "held": Box([-61, -31, -0.01], [61, 31, 0.01]),
        "loaded": Bore([0, 0, 50], [0, 1, 0], 10),
        "force": [3000.0, 0.0, 3000.0],
        "case": "[design]\nvolume_fraction = 0.3\n[filter]\nradius = 5.0\n",
    },
}


def case(part, mesh):
    sets = select("held", "nodes", part["held"]) + select("loaded", "faces", part["loaded"])
    supports = '[[supports]]\nset = "held"\n'
    if "rolling" in part:
        sets += select("rolling", "nodes", part["rolling"])
        supports += '[[supports]]\nset = "rolling"\nfix = ["y"]\n'
    load = f'[[loads]]\nset = "loaded"\ntotal_force = {part["force"]}\n'
    return mesh + MATERIAL + sets + supports + load + part["case"] + SOLVER


def topopt(folder, *words):
    done = subprocess.run([ARGS.topopt, *words], cwd=folder, capture_output=True, text=True)
    # 3: verified, and a limit is missed.
    if done.returncode not in (0, 3):
        sys.exit(f"topopt {' '.join(words)}: {done.stderr}")
    return done.stdout


def filled(stl):
    """The solid within the triangles of a file, as tetrahedra of ten nodes in the order of Gmsh."""
    gmsh.model.add("built")
    gmsh.merge(str(stl))
    surfaces = [tag for _, tag in gmsh.model.getEntities(2)]
    gmsh.model.geo.addVolume([gmsh.model.geo.addSurfaceLoop(surfaces)])
    gmsh.model.geo.synchronize()
    gmsh.option.setNumber("Mesh.MeshSizeMax", 1e22)
    gmsh.option.setNumber("Mesh.MeshSizeMin", 0)
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.setOrder(2)
    tags, points, _ = gmsh.model.mesh.getNodes()
    x = np.zeros((int(tags.max()) + 1, 3))
    x[tags.astype(int)] = points.reshape(-1, 3)
    tets = gmsh.model.mesh.getElementsByType(11)[1].reshape(-1, 10).astype(int)
    triangles = gmsh.model.mesh.getElementsByType(9)[1].reshape(-1, 6).astype(int)
    gmsh.model.remove()
    return x, tets, triangles


def solved(folder, part, x, tets, triangles):
    """Force times displacement of the built solid by CalculiX, the area left of the loaded face, and the volume."""
    used = np.unique(tets)
    loaded = triangles[np.all(part["loaded"].has(x[triangles].reshape(-1, 3)).reshape(-1, 6), axis=1)]
    corners = x[loaded[:, :3]]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    # A uniform traction acts on the middles of the sides alone, a third each.
    share = np.zeros(len(x))
    np.add.at(share, loaded[:, 3:].ravel(), np.repeat(areas / 3, 3))
    share /= areas.sum()

    text = ["*NODE"] + [f"{n}, {x[n][0]:.9g}, {x[n][1]:.9g}, {x[n][2]:.9g}" for n in used]
    # The last two nodes stand the other way round.
    order = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]
    text += ["*ELEMENT, TYPE=C3D10, ELSET=ALL"]
    text += [f"{i + 1}, " + ", ".join(map(str, tet[order])) for i, tet in enumerate(tets)]
    text += [f"*MATERIAL, NAME=M\n*ELASTIC\n{E}, {NU}\n*SOLID SECTION, ELSET=ALL, MATERIAL=M", "*BOUNDARY"]
    for name, axes in (("held", "1, 3"), ("rolling", "2, 2")):
        if name in part:
            text += [f"{n}, {axes}" for n in used[part[name].has(x[used])]]
    pushed = np.flatnonzero(share)
    text += ["*NSET, NSET=LOADED"] + [f"{n}," for n in pushed] + ["*STEP\n*STATIC\n*CLOAD"]
    text += [f"{n}, {i + 1}, {share[n] * f:.12g}" for n in pushed for i, f in enumerate(part["force"]) if f]
    text += ["*NODE PRINT, NSET=LOADED\nU\n*END STEP"]
    (folder / "built.inp").write_text("\n".join(text) + "\n")
    subprocess.run(["ccx", "built"], cwd=folder, check=True, capture_output=True)
    rows = [line.split() for line in (folder / "built.dat").read_text().splitlines()]
    moved = {int(row[0]): np.array(row[1:4], float) for row in rows if len(row) == 4 and row[0].isdigit()}
    corners = x[tets[:, :4]]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])).sum() / 6
    return sum(share[n] * np.dot(part["force"], moved[n]) for n in pushed), areas.sum(), volume


def held_against(name, folder):
    part = PARTS[name]
    (folder / "case.toml").write_text(case(part, part["mesh"](folder)))
    topopt(folder, "run", "case.toml", "--output", "out", "--log", "quiet", "--overwrite")
    found = json.loads(topopt(folder, "verify", "out", "--remesh", "--json"))
    topopt(folder, "export", "out", "--output", "built.stl", "--decimate", "0.3")
    x, tets, triangles = filled(folder / "built.stl")
    independent, area, volume = solved(folder, part, x, tets, triangles)

    verified, optimized = found["compliance"]["verified"], found["compliance"]["optimized"]
    applied = np.array(found["load_cases"][0]["applied"])
    if np.abs(applied - part["force"]).max() > 1e-6 * np.abs(part["force"]).max():
        sys.exit(f"{name}: verify applied {applied} of {part['force']}")
    ratio, remeshed = verified / independent, found["remeshed"]["compliance"] / independent
    summary = json.loads((folder / "out" / "summary.json").read_text())
    print(
        f"| {name} | {summary['elements']} | {summary['nodes']} | {summary['pcg_iterations'] / summary['iterations']:.1f} | {summary['kept_elements']} | {found['grey_level']:.3f} | {len(tets)} "
        f"({len(np.unique(tets))}) | {area:.1f} | {volume:.0f} | {optimized:.5g} | {verified:.5g} | {independent:.5g} | {ratio:.3f} | {remeshed:.3f} | "
        f"{'; '.join(found['notes']) or 'all of the load'} |",
        flush=True,
    )
    return RATIO[0] <= ratio <= RATIO[1] and REMESHED[0] <= remeshed <= REMESHED[1]


def main():
    gmsh.initialize()
    gmsh.option.setNumber("General.Verbosity", 1)
    print("| part | elements | nodes | PCG iterations a design | kept | grey | tetrahedra (nodes) | loaded area left | volume | optimized | verified | independent | verified / independent | remeshed / independent | load |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    are_right = []
    for name in ARGS.parts or PARTS:
        folder = (ARGS.keep or Path(tempfile.mkdtemp())) / name.replace(" ", "_")
        folder.mkdir(parents=True, exist_ok=True)
        are_right.append(held_against(name, folder))
        if ARGS.keep is None:
            shutil.rmtree(folder.parent)
    sys.exit(not all(are_right))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--topopt", default="topopt")
    parser.add_argument("--method", default="tetrahedra", help="elements of solids: tetrahedra, hexahedra or auto")
    parser.add_argument("--elements", type=int, help="elements of each solid, in place of its size")
    parser.add_argument("--keep", type=Path, help="folder in which all files stay")
    parser.add_argument("parts", nargs="*", metavar="PART")
    ARGS = parser.parse_args()
    ARGS.topopt = str(Path(shutil.which(ARGS.topopt) or ARGS.topopt).resolve())
    main()
