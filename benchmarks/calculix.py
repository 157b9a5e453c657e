#!/usr/bin/env python3
"""Compares `topopt solve` with CalculiX (`ccx`) on decks with each kind of load.

    python3 benchmarks/calculix.py [--topopt PROGRAM] [--runs N] [--record FOLDER]

Every deck has eight bricks and one to three steps: distorted ones of C3D8, beside full integration, in the deck
`modes` regular ones of C3D8I, beside incompatible modes, and in `tetrahedra` and `curved` bricks of six tetrahedra
C3D10 each, with straight and with curved edges. Those named `ply` are orthotropic in an oblique frame, those named `warm`
expand, and `bimetal` is of steel and aluminium. `topopt init` makes a case of the deck. ccx prints seven digits. Reactions are compared with more: with --runs N all loads are scaled
by N factors in as many runs, and the mean of the scaled reactions loses the rounding. --record writes decks and printed
numbers to a folder, for the test of the program.

Needs numpy. Skipped where there is no `ccx`.
"""

import argparse
import csv
import itertools
import math
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Bricks along each axis, and their width.
N = (2, 2, 2)
MATERIAL = "*Material, name=STEEL\n*Elastic\n210000., 0.3\n*Density\n7.85e-9\n"
SECTION = "*Solid section, elset=EALL, material=STEEL\n"
SPRINGS = (4000.0, 2500.0, 1500.0)


def grid(shift):
    """Bricks whose nodes are moved by up to `shift`: coordinates by node, nodes by element in the order of C3D8."""
    numbers = np.arange(1, 1 + math.prod(n + 1 for n in N)).reshape([n + 1 for n in N])
    random = np.random.default_rng(3)
    nodes = {}
    for place, number in np.ndenumerate(numbers):
        moved = random.uniform(-shift, shift, 3)
        moved[0] *= place[0] > 0  # the held end stays flat
        nodes[int(number)] = np.round(np.array(place) + moved, 6)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    elements = {}
    for place in np.ndindex(*N):
        at = [tuple(np.add(place, corner)) for corner in corners]
        elements[len(elements) + 1] = [int(numbers[i]) for i in at]
    return nodes, elements, numbers


def use_bricks(kind, shift=0.2, size=(1.0, 1.0, 1.0)):
    """Goes on with bricks of an element type, whose nodes are moved by up to `shift`."""
    global TYPE, NODES, ELEMENTS, NUMBERS, WALL, END, TOP
    nodes, ELEMENTS, NUMBERS = grid(shift)
    TYPE, NODES = kind, {n: x * size for n, x in nodes.items()}
    WALL, END = ([int(n) for n in NUMBERS[i].flat] for i in (0, -1))
    # The faces at the top, away from the wall: of bricks S5 looks to y.
    top = NUMBERS[1:, -1]
    TOP = [(e, 5) for e, hex in ELEMENTS.items() if all(hex[a] in top for a in (2, 3, 6, 7))]


use_bricks("C3D8")
REGULAR = ("C3D8I", 0.0, (1.0, 0.6, 1.3))


def use_ply():
    """Goes on with an orthotropic material in an oblique frame."""
    global MATERIAL, SECTION
    MATERIAL = (
        "*Orientation, name=OBLIQUE\n0.8, 0.6, 0.2, -0.5, 0.8, 0.3\n*Material, name=PLY\n"
        "*Elastic, type=engineering constants\n30000., 8000., 5000., 0.25, 0.3, 0.35, 4000., 3000.\n2000.,\n"
    )
    SECTION = "*Solid section, elset=EALL, material=PLY, orientation=OBLIQUE\n"


def use_expansion(cards):
    """Goes on with a material that expands."""
    global MATERIAL
    MATERIAL += "*Expansion" + cards


def use_two_metals():
    """Goes on with steel below and aluminium above, which expand."""
    global MATERIAL, SECTION
    metal = "*Material, name={}\n*Elastic\n{}\n*Expansion\n{}\n"
    MATERIAL = metal.format("STEEL", "210000., 0.3", "1.2e-5") + metal.format("ALUMINIUM", "70000., 0.33", "2.3e-5")
    height = lambda nodes: np.mean([NODES[n][2] for n in nodes])
    sets = {"BELOW": [], "ABOVE": []}
    for e, nodes in ELEMENTS.items():
        sets["ABOVE" if height(nodes) > N[2] / 2 else "BELOW"].append(e)
    SECTION = "".join(f"*Elset, elset={name}\n" + lines(members) for name, members in sets.items())
    SECTION += "*Solid section, elset=BELOW, material=STEEL\n*Solid section, elset=ABOVE, material=ALUMINIUM\n"


# Vertices of the faces S1 to S4 of C3D10.
FACES = ((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0))
EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))


def use_tetrahedra(shift):
    """Goes on with the distorted bricks as six tetrahedra each, whose middle nodes are moved by up to `shift`."""
    global TYPE, NODES, ELEMENTS, WALL, END, TOP
    TYPE = "C3D10"
    NODES, ELEMENTS, random, middles = grid(0.1)[0], {}, np.random.default_rng(4), {}

    def middle(ends):
        if ends not in middles:
            middles[ends] = len(NODES) + 1
            moved = random.uniform(-shift, shift, 3)
            moved[0] *= not set(ends) <= wall
            NODES[middles[ends]] = np.round(np.mean([NODES[n] for n in ends], axis=0) + moved, 6)
        return middles[ends]

    wall, end = ({int(n) for n in NUMBERS[i].flat} for i in (0, -1))
    for place in np.ndindex(*N):
        for axes in itertools.permutations(range(3)):
            at = [place]
            for axis in axes:
                at.append(tuple(np.add(at[-1], np.eye(3, dtype=int)[axis])))
            if np.linalg.det(np.eye(3)[list(axes)]) < 0:
                at[1], at[2] = at[2], at[1]
            corners = [int(NUMBERS[i]) for i in at]
            edges = [frozenset((corners[a], corners[b])) for a, b in EDGES]
            ELEMENTS[len(ELEMENTS) + 1] = corners + [middle(edge) for edge in edges]
    between = lambda vertices: sorted(vertices) + [n for ends, n in middles.items() if ends <= vertices]
    on_faces = set().union(*(
        {frozenset(pair) for pair in itertools.combinations([tet[a] for a in face], 2)}
        for tet in ELEMENTS.values() for face in FACES if {tet[a] for a in face} <= wall or {tet[a] for a in face} <= end
    ))
    middles = {ends: n for ends, n in middles.items() if ends in on_faces}
    WALL, END = between(wall), between(end)
    top = {int(n) for n in NUMBERS[1:, -1].flat}
    TOP = [(e, f + 1) for e, tet in ELEMENTS.items() for f, face in enumerate(FACES) if {tet[a] for a in face} <= top]


def lines(numbers):
    return "\n".join(str(n) for n in numbers) + "\n"


def mesh_cards():
    text = "*Node, nset=NALL\n"
    text += "".join(f"{n}, {x[0]:.6f}, {x[1]:.6f}, {x[2]:.6f}\n" for n, x in NODES.items())
    text += f"*Element, type={TYPE}, elset=EALL\n"
    text += "".join(f"{e}, {', '.join(map(str, hex))}\n" for e, hex in ELEMENTS.items())
    text += "*Nset, nset=WALL\n" + lines(WALL) + "*Nset, nset=END\n" + lines(END)
    text += "*Surface, name=TOP, type=element\n" + "".join(f"{e}, S{f}\n" for e, f in TOP)
    if TYPE != "C3D10":
        text += "*Surface, name=TIP, type=element\n"
        text += "".join(f"{e}, S4\n" for e, hex in ELEMENTS.items() if hex[1] in END)
    return text + MATERIAL + SECTION


def traction_forces(vector):
    """Nodal forces of a traction on the faces of TOP, by the Gauss rule on the faces."""
    forces = {}
    for element, _ in TOP:
        face = [ELEMENTS[element][a] for a in (2, 6, 7, 3)]
        x = np.array([NODES[n] for n in face])
        for s in (-1, 1):
            for t in (-1, 1):
                a, b = s / math.sqrt(3), t / math.sqrt(3)
                signs = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
                shape = (1 + a * signs[:, 0]) * (1 + b * signs[:, 1]) / 4
                along = (signs[:, 0] * (1 + b * signs[:, 1]) / 4) @ x
                across = (signs[:, 1] * (1 + a * signs[:, 0]) / 4) @ x
                area = np.linalg.norm(np.cross(along, across))
                for node, share in zip(face, shape):
                    forces[node] = forces.get(node, 0) + share * area * np.array(vector)
    return forces


# Points of a rule of degree 4 on triangles, by two of three coordinates, and weights that add up to 1/2.
NEAR, FAR = 0.445948490915965, 0.091576213509771
TRIANGLE = [(p, w) for a, w in ((NEAR, 0.111690794839005), (FAR, 0.054975871827661))
            for p in ((a, a), (1 - 2 * a, a), (a, 1 - 2 * a))]


def pressure_forces(pressure):
    """Nodal forces of a pressure on the faces of TOP, of six nodes. With three points ccx misses them on curved ones."""
    forces = {}
    for element, face in TOP:
        corners = FACES[face - 1]
        sides = [frozenset(pair) for pair in zip(corners, corners[1:] + corners[:1])]
        places = [*corners, *(4 + [frozenset(edge) for edge in EDGES].index(side) for side in sides)]
        nodes = [ELEMENTS[element][a] for a in places]
        x = np.array([NODES[n] for n in nodes])
        for (r, s), weight in TRIANGLE:
            l, slopes = np.array([1 - r - s, r, s]), np.array([(-1, -1), (1, 0), (0, 1)])
            shape = [*(l * (2 * l - 1)), *(4 * l[i] * l[i - 2] for i in range(3))]
            along = [*((4 * l - 1)[:, None] * slopes), *(4 * (slopes[i] * l[i - 2] + l[i] * slopes[i - 2]) for i in range(3))]
            inward = np.cross(*(np.array(along).T @ x))
            for node, share in zip(nodes, shape):
                forces[node] = forces.get(node, 0) + pressure * weight * share * inward
    return forces


def cload(forces):
    rows = [(n, i + 1, f) for n, force in forces.items() for i, f in enumerate(force) if f]
    return "*Cload, op=new\n" + "".join(f"{n}, {i}, {f:.13e}\n" for n, i, f in rows)


HELD = "*Boundary, op=new\nWALL, 1, 3\n"


def decks():
    """Name, cards before the steps, and the loads of each step by name: for ccx,
    and for topopt where it has a load of its own for them. Loads are functions of their scale."""
    spread = {n: (30.0, -20.0, 10.0) for n in END}
    scaled = lambda forces: lambda s: cload({n: s * np.array(f) for n, f in forces.items()})
    yield "forces", "", [
        ("node", scaled({END[-1]: (300.0, -500.0, 200.0)}), None),
        ("total", scaled(spread), None),
    ]
    traction = (4.0, -3.0, 6.0)
    ours = lambda s: (
        f"*Dsload, op=new\nTOP, TRVEC, {s * np.linalg.norm(traction):.13e}, "
        + ", ".join(f"{t:.1f}" for t in traction) + "\n"
    )
    pressure = "*Dload, op=new\n{}"
    pressed = lambda s: pressure.format("".join(f"{e}, P{f}, {s * 25.0:.13e}\n" for e, f in TOP))
    # Step 2 ends the pressure in ccx by a load of zero; in a deck of topopt `op=new` does.
    yield "faces", "", [
        ("pressure", pressed, None),
        ("traction", lambda s: pressed(0.0) + scaled(traction_forces(traction))(s), ours),
    ]
    yield "body", "", [
        ("gravity", lambda s: f"*Dload, op=new\nEALL, GRAV, {s * 9.81e6:.13e}, 0.6, -0.8, 0.\n", None),
        ("rotation",
         lambda s: f"*Dload, op=new\nEALL, CENTRIF, {s * 4.0e8:.13e}, -1., 0.5, 1., 0., 0.6, 0.8\n", None),
    ]
    moved = lambda s, d: HELD + "".join(
        f"END, {i + 1}, {i + 1}, {s * u:.13e}\n" for i, u in enumerate(d) if u is not None
    )
    yield "moved", "", [
        ("displaced", lambda s: moved(s, (0.01, -0.02, None)), None),
    ]
    elements = "".join(
        f"*Element, type=SPRING1, elset=SPRING{i}\n"
        + "".join(f"{1000 * i + n}, {n}\n" for n in END) + f"*Spring, elset=SPRING{i}\n{i}\n{k}\n"
        for i, k in enumerate(SPRINGS, 1)
    )
    yield "springs", elements, [
        ("pulled", scaled({END[0]: (900.0, 300.0, -200.0)}), None),
        ("weight", lambda s: cload({}) + f"*Dload, op=new\nEALL, GRAV, {s * 9.81e6:.13e}, 0., -1., 0.\n", None),
    ]
    coupling = (
        "*Node, nset=FAR\n9001, 4., 1.5, 0.5\n*Coupling, constraint name=C, ref node=9001, surface=TIP\n"
        "*Distributing\n1, 6\n"
    )
    yield "remote", coupling, [
        ("force", lambda s: f"*Cload, op=new\n9001, 2, {-s * 100.0:.13e}\n9001, 3, {s * 40.0:.13e}\n", None),
        ("moment", lambda s: f"*Cload, op=new\n9001, 4, {s * 300.0:.13e}\n9001, 6, {s * 200.0:.13e}\n", None),
    ]
    use_bricks(*REGULAR)
    yield "modes", "", [
        ("node", scaled({END[-1]: (300.0, -500.0, 200.0)}), None),
        ("weight", lambda s: cload({}) + f"*Dload, op=new\nEALL, GRAV, {s * 9.81e6:.13e}, 0.6, -0.8, 0.\n", None),
    ]
    for name, shift in (("tetrahedra", 0.0), ("curved", 0.03)):
        use_tetrahedra(shift)
        by_nodes = lambda s: cload(pressure_forces(s * 25.0))
        theirs = by_nodes if shift else lambda s: cload({}) + pressed(s)
        yield name, "", [
            ("node", scaled({END[0]: (300.0, -500.0, 200.0)}), None),
            ("pressure", theirs, lambda s: cload({}) + pressed(s)),
            ("weight", lambda s: cload({}) + f"*Dload, op=new\nEALL, GRAV, {s * 9.81e6:.13e}, 0.6, -0.8, 0.\n", None),
        ]
    yield from warm_decks()
    use_ply()
    yield "ply_curved", "", [("node", scaled({END[0]: (300.0, -500.0, 200.0)}), None)]
    use_bricks(*REGULAR)
    yield "ply_modes", "", [("node", scaled({END[-1]: (300.0, -500.0, 200.0)}), None)]
    use_bricks("C3D8")
    yield "ply", "", [("node", scaled({END[-1]: (300.0, -500.0, 200.0)}), None)]
    use_expansion(", type=ortho\n1e-5, 3e-5, -0.5e-5\n")
    yield "warm_ply", BEGIN, [("uniform", heated(0.0), None)]
    use_tetrahedra(0.0)
    use_two_metals()
    yield "bimetal", BEGIN, [("uniform", heated(0.0), None), ("graded", heated(-30.0), None)]


BEGIN = "*Initial conditions, type=temperature\nNALL, 20.\n"


def heated(slope):
    """Temperatures 20 + 100 + slope x at the nodes."""
    if slope == 0.0:
        rows = lambda s: f"NALL, {20.0 + 100.0 * s:.13e}\n"
    else:
        rows = lambda s: "".join(f"{n}, {20.0 + s * (100.0 + slope * x[0]):.13e}\n" for n, x in NODES.items())
    return lambda s: "*Cload, op=new\n*Temperature, op=new\n" + rows(s)


def warm_decks():
    """Parts that expand. C3D8 and C3D8I take the mean of the nodes in ccx: topopt that of the volume, and modes slopes."""
    global MATERIAL
    plain = MATERIAL
    use_expansion("\n1.2e-5\n")
    both = [("uniform", heated(0.0), None), ("graded", heated(-30.0), None)]
    yield "warm_curved", BEGIN, both
    use_bricks(*REGULAR)
    yield "warm_modes", BEGIN, both[:1]
    use_bricks("C3D8")
    yield "warm", BEGIN, both[:1]
    MATERIAL = plain
    use_tetrahedra(0.03)


PRINTS = "*Node print, nset=NALL\nU\n*Node print, nset=NALL\nRF\n*El print, elset=EALL, global=yes\nS\n"


def deck_text(cards, steps, of_topopt, scale=1.0):
    """The deck for one of the programs."""
    text = mesh_cards() + cards
    for name, load, ours in steps:
        load = (ours if of_topopt and ours else load)(scale)
        held = "" if load.startswith("*Boundary") else HELD
        title = f"*Step, name={name}\n" if of_topopt else "*Step\n"
        text += title + "*Static\n" + held + load + ("" if of_topopt else PRINTS) + "*End step\n"
    return text


def by_ccx(folder, text):
    """For each step displacements, external forces (both by node) and stresses at Gauss points. Springs
    are elements to ccx; here what they do to the part is an external force."""
    (folder / "deck.inp").write_text(text)
    done = subprocess.run(["ccx", "deck"], cwd=folder, capture_output=True, text=True)
    if "*ERROR" in done.stdout or done.returncode:
        sys.exit(done.stdout[-2000:])
    tables, steps = None, []
    for line in (folder / "deck.dat").read_text().splitlines():
        if line.startswith(" displacements"):
            steps.append(({}, {}, {}))
            tables = steps[-1][0]
        elif line.startswith(" forces"):
            tables = steps[-1][1]
        elif line.startswith(" stresses"):
            tables = steps[-1][2]
        elif line.split():
            fields = line.split()
            key = int(fields[0]) if len(fields) == 4 else (int(fields[0]), int(fields[1]))
            tables[key] = np.array([float(x) for x in fields[-3:]] if len(fields) == 4 else
                                   [float(x) for x in fields[2:]])
    if "*Spring" in text:
        for u, forces, _ in steps:
            for n in END:
                forces[n] = forces[n] - np.array(SPRINGS) * u[n]
    return steps


def vtu_array(path, name):
    """An array of an uncompressed file with raw data."""
    data = path.read_bytes()
    mark = b'encoding="raw">\n_'
    start = data.index(mark) + len(mark)
    tag = next(t for t in data[:start].decode().split("<") if f'Name="{name}"' in t)
    offset = start + int(tag.split('offset="')[1].split('"')[0])
    length = int.from_bytes(data[offset : offset + 8], "little")
    return np.frombuffer(data[offset + 8 : offset + 8 + length], dtype="<f8")


def by_topopt(program, folder, text):
    """The same by topopt, with the coordinates of the Gauss points."""
    (folder / "deck.inp").write_text(text)

    def run(*args):
        done = subprocess.run([program, *args], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)

    run("init", "deck.inp")
    kind = "incompatible_modes" if TYPE == "C3D8I" else "full"
    run("solve", "deck.toml", "-o", "out", "--device", "cpu", "--gauss", "gauss.csv", "--set", f"elements.kind={kind}",
        "--set", "solver.tolerance=1e-13", "--set", "output.compression=none")
    with open(folder / "gauss.csv") as file:
        rows = list(csv.DictReader(file))
    names = list(dict.fromkeys(row["load_case"] for row in rows))
    steps = []
    for k, name in enumerate(names):
        def nodal(what):
            try:
                values = vtu_array(folder / "out/analysis.vtu", what + (f"_{name}" if k else ""))
            except StopIteration:
                return 0
            return values.reshape(-1, 3)

        external = nodal("force") + nodal("body_force") + nodal("reaction")
        points = {}
        for row in rows:
            if row["load_case"] == name:
                at = [float(row[i]) for i in "xyz"]
                stress = [float(row[i]) for i in ("xx", "yy", "zz", "xy", "zx", "yz")]
                points.setdefault(int(row["element"]), []).append((at, np.array(stress)))
        steps.append((nodal("displacement"), external, points))
    return names, steps


def gauss_point(element, point):
    """Coordinates of a point of ccx: x runs fastest in bricks."""
    x = np.array([NODES[n] for n in ELEMENTS[element]])
    if TYPE == "C3D10":
        at = np.full(4, 0.138196601125011)
        at[point - 1] = 0.585410196624968
        shape = [l * (2 * l - 1) for l in at] + [4 * at[a] * at[b] for a, b in EDGES]
        return np.array(shape) @ x
    corner = [(-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)]
    xi = [(1 if point - 1 >> i & 1 else -1) / math.sqrt(3) for i in range(3)]
    shape = [math.prod(1 + c * x for c, x in zip(at, xi)) / 8 for at in corner]
    return np.array(shape) @ x


def unit(x):
    """One in the last of seven digits."""
    return 10.0 ** (math.floor(math.log10(abs(x))) - 6) if x else 1.0


def compared(theirs, ours):
    """Largest differences of displacements, external forces and stresses as shares of the largest of
    each, and that of all three in units of the last digit where the numbers are not small."""
    pairs = [
        [(theirs[0][n], ours[0][n - 1]) for n in NODES],
        [(theirs[1][n], ours[1][n - 1]) for n in NODES],
        [],
    ]
    for (element, point), stress in theirs[2].items():
        at = gauss_point(element, point)
        near = min(ours[2][element], key=lambda found: np.linalg.norm(found[0] - at))
        assert np.linalg.norm(near[0] - at) < 1e-6, "the order of the Gauss points"
        pairs[2].append((stress, near[1]))
    shares, last = [], 0.0
    for values in pairs:
        a, b = (np.array([pair[i] for pair in values]) for i in (0, 1))
        scale = np.abs(a).max()
        shares.append(np.abs(a - b).max() / scale)
        for x, y in zip(a.flat, b.flat):
            if abs(x) > 0.01 * scale:
                last = max(last, abs(x - y) / unit(x))
    return shares, last


def averaged_forces(folder, cards, steps, runs, names):
    """External forces by load case, the means of so many runs with loads of other sizes."""
    random = np.random.default_rng(5)
    sums = [np.zeros((len(NODES), 3)) for _ in names]
    for scale in random.uniform(1.0, 10.0, runs):
        found = by_ccx(folder, deck_text(cards, steps, False, scale))
        for total, (_, forces, _) in zip(sums, found):
            total += np.array([forces[n] for n in NODES]) / scale
    return [total / runs for total in sums]


def record(folder, name, text, names, steps):
    """The deck of topopt, and what ccx has printed."""
    (folder / f"{name}.inp").write_text(text)
    with open(folder / f"{name}.csv", "w") as file:
        file.write("load_case,what,number,x,y,z,values\n")
        for case, (u, forces, stresses) in zip(names, steps):
            for what, values in (("displacement", u), ("force", forces)):
                for n in NODES:
                    file.write(f"{case},{what},{n},,,," + " ".join(f"{v:.6e}" for v in values[n]) + "\n")
            for (element, point), stress in stresses.items():
                at = ",".join(f"{x:.6f}" for x in gauss_point(element, point))
                file.write(f"{case},stress,{element},{at}," + " ".join(f"{v:.6e}" for v in stress) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--topopt", default="topopt")
    arguments.add_argument("--runs", type=int, default=0)
    arguments.add_argument("--record", type=Path)
    arguments = arguments.parse_args()
    if not shutil.which("ccx"):
        print("skipped: there is no ccx (Debian: apt-get install calculix-ccx)")
        return
    program = str(Path(shutil.which(arguments.topopt) or arguments.topopt).resolve())

    print("| deck | load case | displacements | external forces | stresses | units of the 7th digit | averaged forces |")
    print("|---|---|---|---|---|---|---|")
    for name, cards, steps in decks():
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            text = deck_text(cards, steps, True)
            theirs = by_ccx(folder, deck_text(cards, steps, False))
            names, ours = by_topopt(program, folder, text)
            assert len(names) == len(theirs) == len(steps), names
            means = averaged_forces(folder, cards, steps, arguments.runs, names) if arguments.runs else None
            for k, case in enumerate(names):
                shares, last = compared(theirs[k], ours[k])
                row = [name, steps[k][0]] + [f"{share:.1e}" for share in shares] + [f"{last:.2f}"]
                if means:
                    row.append(f"{np.abs(means[k] - ours[k][1]).max() / np.abs(means[k]).max():.1e}")
                else:
                    row.append("")
                print("| " + " | ".join(row) + " |", flush=True)
            if arguments.record:
                record(arguments.record, name, text, names, theirs)


if __name__ == "__main__":
    main()
