#!/usr/bin/env python3
"""Compares `topopt solve` with CalculiX (`ccx`) on thin parts of C3D10: tip displacement and stresses at nodes.

    python3 benchmarks/tetrahedra.py [--topopt PROGRAM] [PART ...]

Gmsh makes each part in several sizes of elements; both programs solve the same deck, with forces on the middles of the
faces at the end, as a traction has them. Of a tube there are straight and curved elements. ccx prints seven digits. Its
stresses at nodes are means of the extrapolated ones of the elements. Peaks are the largest stress of von Mises at nodes
farther than two thicknesses from the support and from the load, where it converges.

Needs numpy and the module gmsh. Skipped where there is no `ccx`.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import gmsh
import numpy as np

from calculix import vtu_array

# Nodes of the faces of gmsh's tetrahedron in the middles of their edges, by the vertices.
EDGES = ((0, 1), (1, 2), (0, 2), (0, 3), (2, 3), (1, 3))
# Gmsh and Abaqus number the last two nodes in turn.
ORDER = [0, 1, 2, 3, 4, 5, 6, 7, 9, 8]


def strip():
    """A strip of 120 x 20 x 2, bent by a force along z."""
    gmsh.model.occ.addBox(0, 0, 0, 120, 20, 2)
    return 120.0, (0.0, 0.0, 10.0), 2.0


def profile(points, width):
    """Extrudes a polygon of the plane of x and z along y, by `width`."""
    corners = [gmsh.model.occ.addPoint(x, 0, z) for x, z in points]
    lines = [gmsh.model.occ.addLine(a, b) for a, b in zip(corners, corners[1:] + corners[:1])]
    face = gmsh.model.occ.addPlaneSurface([gmsh.model.occ.addCurveLoop(lines)])
    return gmsh.model.occ.extrude([(2, face)], 0, width, 0)


def rounded(volume, bends):
    """Rounds the edges along y at these places (x, z, radius)."""
    gmsh.model.occ.synchronize()
    edges, radii = [], []
    for x, z, radius in bends:
        for _, edge in gmsh.model.getEntities(1):
            low, high = np.split(np.array(gmsh.model.getBoundingBox(1, edge)), 2)
            if np.allclose([low[0], high[0], low[2], high[2]], [x, x, z, z], atol=1e-4):
                edges.append(edge)
                radii.append(radius)
    gmsh.model.occ.fillet([volume], edges, radii)


def angle():
    """An angle of sheet of 3 mm, legs of 60 and 80 and 30 wide, rounded inside by 3; bent by a force along z."""
    new = profile([(0, 0), (60, 0), (60, 80), (57, 80), (57, 3), (0, 3)], 30)
    rounded(new[1][1], [(57, 3, 3.0), (60, 0, 6.0)])
    return None, (100.0, 0.0, 0.0), 3.0


def bracket():
    """An angle of 8 mm with a bore in its upright leg, rounded inside by 8; pulled at the end of that leg."""
    new = profile([(0, 0), (60, 0), (60, 70), (52, 70), (52, 8), (0, 8)], 40)
    rounded(new[1][1], [(52, 8, 8.0)])
    body = gmsh.model.occ.getEntities(3)
    bore = gmsh.model.occ.addCylinder(45, 20, 45, 20, 0, 0, 8)
    gmsh.model.occ.cut(body, [(3, bore)])
    return None, (500.0, 0.0, 0.0), 8.0


def tube():
    """A tube of radius 10 and thickness 1.5 along x, 150 long; bent by a force along z."""
    outer = gmsh.model.occ.addCylinder(0, 0, 0, 150, 0, 0, 10)
    inner = gmsh.model.occ.addCylinder(0, 0, 0, 150, 0, 0, 8.5)
    gmsh.model.occ.cut([(3, outer)], [(3, inner)])
    return 150.0, (0.0, 0.0, 100.0), 1.5


PARTS = {"strip": (strip, (8.0, 4.0)), "angle": (angle, (8.0, 4.0)), "bracket": (bracket, (8.0, 4.0)),
         "tube": (tube, (5.0, 4.0)), "curved tube": (tube, (5.0, 4.0))}


class Mesh:
    """Tetrahedra of ten nodes of a part: held at x = 0, loaded at the other end."""

    def __init__(self, name, size):
        build, _ = PARTS[name]
        gmsh.initialize()
        for option, value in (("General.Terminal", 0), ("Mesh.MeshSizeMax", size), ("Mesh.MeshSizeMin", size)):
            gmsh.option.setNumber(option, value)
        if name != "curved tube":
            gmsh.option.setNumber("Mesh.SecondOrderLinear", 1)
        end, self.force, self.thickness = build()
        gmsh.model.occ.synchronize()
        gmsh.model.mesh.generate(3)
        gmsh.model.mesh.setOrder(2)
        tags, x, _ = gmsh.model.mesh.getNodes()
        place = {int(tag): i for i, tag in enumerate(tags)}
        self.x = np.round(x.reshape(-1, 3), 9)
        _, elements = gmsh.model.mesh.getElementsByType(11)
        gmsh.finalize()
        self.elements = np.array([place[int(t)] for t in elements]).reshape(-1, 10)
        axis, at = (0, end) if end else (2, self.x[:, 2].max())
        self.wall = np.flatnonzero(self.x[:, 0] < 1e-6)
        self.forces = self.traction(np.abs(self.x[:, axis] - at) < 1e-6)
        self.end = np.flatnonzero(np.abs(self.x[:, axis] - at) < 1e-6)
        near = lambda nodes: np.array([np.linalg.norm(self.x[nodes] - x, axis=1).min() for x in self.x])
        self.away = (near(self.wall) > 2 * self.thickness) & (near(self.end) > 2 * self.thickness)

    def traction(self, is_end):
        """A third of the force on a face goes to the middle of each edge."""
        shares = np.zeros(len(self.x))
        for nodes in self.elements:
            for corners in ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)):
                if is_end[nodes[list(corners)]].all():
                    a, b, c = self.x[nodes[list(corners)]]
                    for edge, ends in enumerate(EDGES):
                        if set(ends) <= set(corners):
                            shares[nodes[4 + edge]] += np.linalg.norm(np.cross(b - a, c - a)) / 6
        return np.outer(shares / shares.sum(), self.force)

    def deck(self, is_theirs):
        """The deck for ccx or topopt."""
        text = "*Node, nset=NALL\n" + "".join(f"{n + 1}, {x:.9f}, {y:.9f}, {z:.9f}\n" for n, (x, y, z) in enumerate(self.x))
        text += "*Element, type=C3D10, elset=EALL\n"
        text += "".join(f"{e + 1}, {', '.join(str(n + 1) for n in nodes[ORDER])}\n" for e, nodes in enumerate(self.elements))
        text += "*Nset, nset=WALL\n" + "".join(f"{n + 1}\n" for n in self.wall)
        text += "*Material, name=STEEL\n*Elastic\n210000., 0.3\n*Solid section, elset=EALL, material=STEEL\n"
        text += "*Step\n*Static\n*Boundary\nWALL, 1, 3\n*Cload\n"
        text += "".join(f"{n + 1}, {i + 1}, {f:.13e}\n" for n, force in enumerate(self.forces) for i, f in enumerate(force) if f)
        prints = "*Node print, nset=NALL\nU\n*El file\nS\n" if is_theirs else ""
        return text + prints + "*End step\n"


def run(folder, *args):
    done = subprocess.run(args, cwd=folder, capture_output=True, text=True)
    if done.returncode or "*ERROR" in done.stdout:
        sys.exit(done.stdout[-2000:] + done.stderr)


def von_mises(s):
    """Of stresses xx, yy, zz, xy, yz, zx."""
    xx, yy, zz, xy, yz, zx = s.T
    return np.sqrt(0.5 * ((xx - yy) ** 2 + (yy - zz) ** 2 + (zz - xx) ** 2) + 3 * (xy**2 + yz**2 + zx**2))


def by_ccx(folder, mesh):
    """Displacements and stresses of von Mises at nodes."""
    (folder / "part.inp").write_text(mesh.deck(True))
    run(folder, "ccx", "part")
    rows = (line.split() for line in (folder / "part.dat").read_text().splitlines())
    u = np.array([[float(v) for v in row[1:]] for row in rows if len(row) == 4 and row[0].isdigit()])
    stresses, is_stress = np.zeros((len(mesh.x), 6)), False
    for line in (folder / "part.frd").read_text().splitlines():
        is_stress = line.startswith(" -4  STRESS") or is_stress and not line.startswith(" -3")
        if is_stress and line.startswith(" -1"):
            stresses[int(line[3:13]) - 1] = [float(line[13 + 12 * i : 25 + 12 * i]) for i in range(6)]
    return u, von_mises(stresses)


def by_topopt(program, folder, mesh):
    """The same by topopt."""
    (folder / "part.inp").write_text(mesh.deck(False))
    run(folder, program, "init", "part.inp")
    run(folder, program, "solve", "part.toml", "-o", "out", "--device", "cpu", "--set", "solver.tolerance=1e-8",
        "--set", "output.compression=none")
    path = folder / "out/analysis.vtu"
    return vtu_array(path, "displacement").reshape(-1, 3), vtu_array(path, "nodal_von_mises")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--topopt", default="topopt")
    arguments.add_argument("parts", nargs="*", default=list(PARTS), metavar="PART")
    arguments = arguments.parse_args()
    if not shutil.which("ccx"):
        print("skipped: there is no ccx (Debian: apt-get install calculix-ccx)")
        return
    program = str(Path(shutil.which(arguments.topopt) or arguments.topopt).resolve())

    print("| part | size | tetrahedra | tip | difference from ccx | peak at nodes | peak by ccx |")
    print("|---|---|---|---|---|---|---|")
    for name in arguments.parts:
        for size in PARTS[name][1]:
            mesh = Mesh(name, size)
            with tempfile.TemporaryDirectory() as folder:
                folder = Path(folder)
                theirs, their_stresses = by_ccx(folder, mesh)
                ours, stresses = by_topopt(program, folder, mesh)
            tip = np.linalg.norm(ours[mesh.end].mean(axis=0))
            off = np.abs(ours - theirs).max() / np.abs(theirs).max()
            peaks = [s[mesh.away].max() for s in (stresses, their_stresses)]
            print(f"| {name} | {size:g} | {len(mesh.elements):,} | {tip:.6g} | {off:.1e} | {peaks[0]:.5g} | {peaks[1]:.5g} |",
                  flush=True)


if __name__ == "__main__":
    main()
