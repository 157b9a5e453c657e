"""Random and uniform designs on boxes as STL, OBJ and 3MF: closed, no triangle twice, inside the part, as said."""

import re
import struct
import zipfile
from collections import Counter

import meshes
from verdict import WRONG, require, sound

NUMBER = r"[-+0-9.eE]+"


def attempt(place, random, number):
    """A design, exported in one way."""
    size = [random.randrange(3, 7) for _ in range(3)]
    mesh = meshes.box(*size)
    count = len(mesh.elements)
    level = random.choice((0.01, 0.25, 0.3, 0.5, random.random(), 1.0))
    density = [level] * count if random.random() < 0.2 else [random.random() for _ in range(count)]
    arguments = []
    if random.random() < 0.6:
        arguments += ["--threshold", str(random.choice((0.01, 0.5, 0.9, random.random())))]
    if random.random() < 0.4:
        arguments += ["--quality", random.choice(("draft", "print"))]
    if random.random() < 0.6:
        arguments += ["--decimate", random.choice(("0.01", "0.1", "0.5", str(random.random())))]
    check(place, mesh, density, f"x.{random.choice(('stl', 'obj', '3mf'))}", arguments)


def check(place, mesh, density, file, arguments):
    """Exports a design and judges the surface, if there is one."""
    place.write("design.vtu", meshes.vtu(mesh, density=density))
    before = place.state()
    done = place.run("export", "design.vtu", "-o", file, *arguments, limit=10)
    sound(done, statuses=(0, 1))
    place.unchanged(before, but=[file])
    if done.status == 0:
        points, triangles = read(place.inside / file)
        said = float(re.search(rf"volume ({NUMBER})", done.out)[1])
        judge(points, triangles, mesh, said)


def judge(points, triangles, mesh, said):
    """The surface against the box of the mesh and the volume that was said."""
    require(triangles, WRONG, "no triangles, and status 0")
    sides = Counter((t[i], t[(i + 1) % 3]) for t in triangles for i in range(3))
    open_sides = [side for side, n in sides.items() if sides[side[1], side[0]] != n]
    require(not open_sides, WRONG, f"{len(open_sides)} open edges")
    twice = [t for t, n in Counter(tuple(sorted(t)) for t in triangles).items() if n > 1]
    require(not twice, WRONG, f"{len(twice)} triangles that stand twice")
    far = 0.0
    for i in range(3):
        low, high = min(x[i] for x in mesh.nodes), max(x[i] for x in mesh.nodes)
        far = max([far, *(max(low - x[i], x[i] - high) for x in points)])
    require(far < 1e-6, WRONG, f"vertices {far:.3g} outside the part")
    volume = sum(meshes.determinant(*(points[n] for n in t)) for t in triangles) / 6
    require(abs(volume - said) <= 1e-3 * abs(said) + 1e-6, WRONG, f"volume {volume} where {said} is said")


def read(path):
    """Points and triangles of a file; points of STL are merged where they are the same."""
    if path.suffix == ".stl":
        data, points = path.read_bytes(), {}
        (count,) = struct.unpack_from("<I", data, 80)
        require(len(data) == 84 + 50 * count, WRONG, f"{len(data)} bytes for {count} triangles")
        triangles = []
        for at in range(84, len(data), 50):
            corners = struct.unpack_from("<9f", data, at + 12)
            triangles.append([points.setdefault(corners[i:i + 3], len(points)) for i in (0, 3, 6)])
        return list(points), [t for t in triangles if len(set(t)) == 3]
    if path.suffix == ".obj":
        rows = [line.split() for line in path.read_text().splitlines()]
        points = [tuple(map(float, row[1:4])) for row in rows if row[:1] == ["v"]]
        return points, [[int(word.split("/")[0]) - 1 for word in row[1:4]] for row in rows if row[:1] == ["f"]]
    with zipfile.ZipFile(path) as file:
        text = file.read(next(name for name in file.namelist() if name.endswith(".model"))).decode()
    points = re.findall(rf'<vertex x="({NUMBER})" y="({NUMBER})" z="({NUMBER})"', text)
    triangles = re.findall(r'<triangle v1="(\d+)" v2="(\d+)" v3="(\d+)"', text)
    return [tuple(map(float, x)) for x in points], [list(map(int, t)) for t in triangles]
