"""Meshes of hexahedra: boxes and benchmarks, moved and renumbered, written as .msh, .inp, .cdb and .vtu."""

from dataclasses import dataclass

FACES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
TURN = (1, 2, 3, 0, 5, 6, 7, 4)  # corners of a hexahedron, a quarter turn on


@dataclass
class Mesh:
    """Coordinates, corners of elements by number of node from 0, and sets by name: (dimension, list).

    Sets are of nodes (0), of faces as corners (2) or of elements (3).
    """

    nodes: list
    elements: list
    sets: dict

    def volume(self):
        """Volume of all elements."""
        return sum(self.element_volume(e) for e in range(len(self.elements)))

    def element_volume(self, e):
        """Volume of an element, exact for bilinear faces: the mean of both ways to cut each into triangles."""
        corners = [self.nodes[n] for n in self.elements[e]]
        total = 0.0
        for face in FACES:
            a, b, c, d = (corners[i] for i in face)
            total += sum(determinant(*t) for t in ((a, b, c), (a, c, d), (b, c, d), (b, d, a)))
        return total / 12

    def moved(self, move):
        """The same mesh with every coordinate moved."""
        return Mesh([move(x) for x in self.nodes], self.elements, self.sets)

    def renumbered(self, random):
        """The same mesh in another order of nodes and elements, and with other first corners."""
        nodes = shuffled(random, len(self.nodes))
        elements = shuffled(random, len(self.elements))
        place = {old: new for new, old in enumerate(nodes)}
        turned = [[place[n] for n in self.elements[e]] for e in elements]
        turned = [[corners[i] for i in TURN] if random.random() < 0.5 else corners for corners in turned]
        where = {old: new for new, old in enumerate(elements)}
        sets = {}
        for name, (dimension, members) in self.sets.items():
            if dimension == 2:
                members = [[place[n] for n in face] for face in members]
            else:
                members = [(where if dimension == 3 else place)[m] for m in members]
            sets[name] = (dimension, random.sample(members, len(members)))
        return Mesh([self.nodes[n] for n in nodes], turned, sets)


def determinant(a, b, c):
    """Six times the volume between three points and the origin."""
    return (a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0]))


def shuffled(random, count):
    """The numbers below `count` in random order."""
    return random.sample(range(count), count)


def box(nx, ny, nz, at=(0, 0, 0)):
    """A box of unit cubes, held by `fixed` (faces at its least x), loaded at `load` (an edge at its largest x)."""
    def node(i, j, k):
        return (k * (ny + 1) + j) * (nx + 1) + i

    nodes = [(at[0] + float(i), at[1] + float(j), at[2] + float(k))
             for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1)]
    elements = [[node(i + a, j + b, k + c) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
                for k in range(nz) for j in range(ny) for i in range(nx)]
    fixed = [[node(0, j + b, k + c) for b, c in ((0, 0), (1, 0), (1, 1), (0, 1))]
             for k in range(nz) for j in range(ny)]
    load = [node(nx, 0, k) for k in range(nz + 1)]
    design = list(range(len(elements)))
    return Mesh(nodes, elements, {"load": (0, load), "fixed": (2, fixed), "design": (3, design)})


def joined(meshes):
    """Meshes as one, nodes in the same place merged; the sets are those of the first and the last."""
    nodes, places, elements, sets = [], {}, [], {}
    for mesh in meshes:
        numbers = []
        for x in mesh.nodes:
            if x not in places:
                places[x] = len(nodes)
                nodes.append(x)
            numbers.append(places[x])
        elements += [[numbers[n] for n in corners] for corners in mesh.elements]
        sets.setdefault("fixed", (2, [[numbers[n] for n in face] for face in mesh.sets["fixed"][1]]))
        sets["load"] = (0, [numbers[n] for n in mesh.sets["load"][1]])
    return Mesh(nodes, elements, sets)


def benchmark(place, name, elements):
    """The mesh of a benchmark of the program, read from version 2.2 of the Gmsh format."""
    path = place.inside / f"{name}.msh"
    place.require("mesh", name, "--elements", str(elements), "--format", "2.2", "--ascii", "-o", path.name)
    lines = iter(path.read_text().splitlines())
    path.unlink()
    names, nodes, hexahedra, sets = {}, [], [], {}
    for line in lines:
        if line == "$PhysicalNames":
            for _ in range(int(next(lines))):
                dimension, number, name = next(lines).split(maxsplit=2)
                names[int(dimension), int(number)] = name.strip('"')
                sets[name.strip('"')] = (int(dimension), [])
        elif line == "$Nodes":
            nodes = [tuple(map(float, next(lines).split()[1:])) for _ in range(int(next(lines)))]
        elif line == "$Elements":
            for _ in range(int(next(lines))):
                _, shape, tags, physical, *rest = map(int, next(lines).split())
                corners = [n - 1 for n in rest[tags - 1:]]
                dimension = {5: 3, 3: 2, 15: 0}[shape]
                member = {3: len(hexahedra), 2: corners, 0: corners[0]}[dimension]
                hexahedra += [corners] if dimension == 3 else []
                sets[names[dimension, physical]][1].append(member)
    return Mesh(nodes, hexahedra, sets)


def msh(mesh):
    """The mesh in version 2.2 of the Gmsh format; an element is written once for each of its sets."""
    numbers = {name: i + 1 for i, name in enumerate(mesh.sets)}
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", str(len(numbers))]
    lines += [f'{mesh.sets[name][0]} {number} "{name}"' for name, number in numbers.items()]
    lines += ["$EndPhysicalNames", "$Nodes", str(len(mesh.nodes))]
    lines += [f"{i + 1} {x[0]!r} {x[1]!r} {x[2]!r}" for i, x in enumerate(mesh.nodes)]
    lines += ["$EndNodes", "$Elements"]
    rows, named = [], set()
    for name, (dimension, members) in mesh.sets.items():
        shape = {0: 15, 2: 3, 3: 5}[dimension]
        for member in members:
            named |= {member} if dimension == 3 else set()
            corners = {0: [member], 2: member, 3: mesh.elements[member] if dimension == 3 else None}[dimension]
            rows.append([shape, 2, numbers[name], numbers[name], *(n + 1 for n in corners)])
    rows += [[5, 2, 0, 0, *(n + 1 for n in corners)] for e, corners in enumerate(mesh.elements) if e not in named]
    rows.sort(key=lambda row: row[0] != 5)
    lines += [str(len(rows)), *(" ".join(map(str, [i + 1, *row])) for i, row in enumerate(rows)), "$EndElements"]
    return "\n".join(lines) + "\n"


def inp(mesh, same_name=None):
    """The mesh as an Abaqus deck: sets of nodes and elements; faces become sets of their nodes.

    With `same_name`, the elements that touch a set of nodes or faces become a set of its name as well.
    """
    lines = ["*HEADING", "attack", "*NODE"]
    lines += [f"{i + 1}, {x[0]!r}, {x[1]!r}, {x[2]!r}" for i, x in enumerate(mesh.nodes)]
    lines += ["*ELEMENT, TYPE=C3D8"]
    lines += [", ".join(map(str, [e + 1, *(n + 1 for n in corners)])) for e, corners in enumerate(mesh.elements)]
    for name, (dimension, members) in mesh.sets.items():
        nodes = {n for face in members for n in face} if dimension == 2 else set(members)
        lines += ["*ELSET, ELSET=" + name if dimension == 3 else "*NSET, NSET=" + name]
        lines += [str(n + 1) for n in sorted(nodes)]
        if name == same_name:
            lines += ["*ELSET, ELSET=" + name]
            lines += [str(e + 1) for e, corners in enumerate(mesh.elements) if nodes & set(corners)]
    return "\n".join(lines) + "\n"


def cdb(mesh):
    """The mesh as an Ansys archive, sets as components; faces become components of their nodes."""
    lines = ["/PREP7", "ET,1,185", f"NBLOCK,6,SOLID,{len(mesh.nodes)},{len(mesh.nodes)}", "(3i9,6e21.13e3)"]
    lines += [f"{i + 1:9d}{0:9d}{0:9d}" + "".join(f"{value:21.13E}" for value in x) for i, x in enumerate(mesh.nodes)]
    lines += ["N,R5.3,LOC,       -1,", f"EBLOCK,19,SOLID,{len(mesh.elements)},{len(mesh.elements)}", "(19i9)"]
    lines += ["".join(f"{n:9d}" for n in [1, 1, 1, 1, 0, 0, 0, 0, 8, 0, e + 1, *(n + 1 for n in corners)])
              for e, corners in enumerate(mesh.elements)]
    lines += ["       -1"]
    for name, (dimension, members) in mesh.sets.items():
        numbers = sorted({n for face in members for n in face} if dimension == 2 else members)
        lines += [f"CMBLOCK,{name.upper():8s},{'ELEM' if dimension == 3 else 'NODE'},{len(numbers):8d}", "(8i10)"]
        lines += ["".join(f"{n + 1:10d}" for n in numbers[i:i + 8]) for i in range(0, len(numbers), 8)]
    return "\n".join(lines + ["FINISH", ""])


def vtu(mesh, **cells):
    """The mesh as VTK's XML in text, with arrays of the cells."""
    def data(kind, name, values, more=""):
        return f'<DataArray type="{kind}" Name="{name}" format="ascii"{more}>{" ".join(map(str, values))}</DataArray>'

    count = len(mesh.elements)
    return "\n".join([
        '<?xml version="1.0"?>', '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian">',
        f'<UnstructuredGrid><Piece NumberOfPoints="{len(mesh.nodes)}" NumberOfCells="{count}">', "<CellData>",
        *(data("Float64", name, values) for name, values in cells.items()), "</CellData>", "<Points>",
        data("Float64", "Points", (repr(v) for x in mesh.nodes for v in x), ' NumberOfComponents="3"'), "</Points>",
        "<Cells>", data("Int64", "connectivity", (n for corners in mesh.elements for n in corners)),
        data("Int64", "offsets", range(8, 8 * count + 1, 8)), data("UInt8", "types", [12] * count),
        "</Cells>", "</Piece></UnstructuredGrid></VTKFile>", ""])


def bdf(mesh):
    """The mesh as a Nastran deck, fields between commas; nodes of the sets are held."""
    lines = ["BEGIN BULK"] + [f"GRID,{i + 1},,{x[0]!r},{x[1]!r},{x[2]!r}" for i, x in enumerate(mesh.nodes)]
    for e, corners in enumerate(mesh.elements):
        numbers = [n + 1 for n in corners]
        lines += ["CHEXA," + ",".join(map(str, [e + 1, 1, *numbers[:6]])), f",{numbers[6]},{numbers[7]}"]
    for i, (dimension, members) in enumerate(mesh.sets.values()):
        nodes = {n for face in members for n in face} if dimension == 2 else set(members)
        lines += [f"SPC1,{i + 1},123,{n + 1}" for n in sorted(nodes) if dimension != 3]
    return "\n".join([*lines, "ENDDATA", ""])


def vtk(mesh):
    """The mesh as a legacy file of VTK in text."""
    count = len(mesh.elements)
    lines = ["# vtk DataFile Version 3.0", "attack", "ASCII", "DATASET UNSTRUCTURED_GRID"]
    lines += [f"POINTS {len(mesh.nodes)} double", *(" ".join(map(repr, x)) for x in mesh.nodes)]
    lines += [f"CELLS {count} {9 * count}", *(" ".join(map(str, [8, *corners])) for corners in mesh.elements)]
    lines += [f"CELL_TYPES {count}", *["12"] * count, f"CELL_DATA {count}", "SCALARS part int 1", "LOOKUP_TABLE default"]
    return "\n".join([*lines, *("01"[e % 2] for e in range(count)), ""])
