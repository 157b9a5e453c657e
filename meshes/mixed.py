"""Writes mixed.* and prints what other programs read from them: the numbers of the tests of the readers.

The mesh of nastran_mixed.py three times, one above the other: of first order, of second order with straight edges, and
of second order and bent. Written by Gmsh, meshio, VTK, mapdl-archive and, for Abaqus, here; read by meshio, VTK and
mapdl-archive. Needs gmsh 4.15, meshio 5.3, mapdl-archive 0.4 and pyvista 0.49.
"""

from pathlib import Path

import gmsh
import mapdl_archive
import meshio
import numpy
import pyvista
from meshio._mesh import topological_dimension
from meshio.abaqus import _abaqus
from nastran_mixed import CORNERS, ELEMENTS

# Shapes that meshio reads without knowing them everywhere.
topological_dimension.update({"wedge15": 3, "pyramid13": 3})
_abaqus.abaqus_to_meshio_type["C3D5"] = "pyramid"

FOLDER = Path(__file__).parent

# Number of the element, corners, edges in the order of VTK's quadratic cells, VTK's types of both orders.
SHAPES = {
    "hexahedron": ("CHEXA", ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6),
                             (3, 7)), (12, 25)),
    "wedge": ("CPENTA", ((0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (0, 3), (1, 4), (2, 5)), (13, 26)),
    "pyramid": ("CPYRAM", ((0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4), (2, 4), (3, 4)), (14, 27)),
    "tetra": ("CTETRA", ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)), (10, 24)),
}
CELLS = {name: (*ELEMENTS[card][::2], edges, types) for name, (card, edges, types) in SHAPES.items()}

# Sets, of the straight parts: corners, shapes, and faces by their shape, their number in Abaqus and in the archive, and
# their corners. mapdl-archive begins the wedge with its second corner, so that its third face is the second one.
EDGE = (1, 4, 9)
STIFF = ("hexahedron", "wedge")
FACES = {
    "held": (("hexahedron", 6, 5, (1, 4, 8, 5)), ("wedge", 1, 1, (4, 9, 8))),
    "pressed": (("wedge", 4, 2, (9, 10, 7, 8)), ("pyramid", 2, 2, (2, 3, 11)), ("tetra", 2, 2, (6, 11, 12))),
    "inner": (("hexahedron", 4, 3, (2, 3, 7, 6)),),
}
PARTS = (0, 1, 2)
STRAIGHT = (0, 1)


def place(part, corners):
    """The middle of corners, bent in the last part; parts lie one above the other."""
    x, y, z = numpy.mean([CORNERS[corner] for corner in corners], axis=0)
    if part not in STRAIGHT:
        x, y, z = x + 0.1 * y * z, y + 0.1 * x * x, z + 0.05 * x * y
    return float(x), float(y), float(z) + 3 * part


class Mesh:
    """Nodes by number, and elements in the order of the file: part, shape, number, nodes."""

    def __init__(self):
        self.places, self.numbers = {}, {}
        self.elements = []
        for part in PARTS:
            for name, (number, corners, edges, _) in CELLS.items():
                nodes = [self.node(part, (corner,)) for corner in corners]
                if part > 0:
                    nodes += [self.node(part, (corners[a], corners[b])) for a, b in edges]
                self.elements.append((part, name, number + 100 * part, nodes))

    def node(self, part, corners):
        """The number of the node in the middle of corners, which is a corner if there is one."""
        corners = tuple(sorted(corners))
        key = (part, corners)
        if key not in self.numbers:
            others = sum(len(middle) > 1 for _, middle in self.numbers)
            self.numbers[key] = corners[0] + 100 * part if len(corners) == 1 else 1000 + others
            self.places[self.numbers[key]] = place(part, corners)
        return self.numbers[key]

    def grid(self):
        """For VTK, with sets as arrays of zeros and ones."""
        numbers = sorted(self.places)
        cells = [[len(nodes), *(numbers.index(node) for node in nodes)] for *_, nodes in self.elements]
        types = [CELLS[name][3][min(part, 1)] for part, name, *_ in self.elements]
        grid = pyvista.UnstructuredGrid(numpy.concatenate(cells), types, [self.places[n] for n in numbers])
        edge = [self.node(part, (corner,)) for part in STRAIGHT for corner in EDGE]
        grid.point_data["edge"] = numpy.isin(numbers, edge).astype(numpy.uint8)
        grid.cell_data["stiff"] = numpy.array([is_stiff(*element) for element in self.elements], numpy.uint8)
        return grid


def is_stiff(part, name, *_):
    """Whether an element is in the set of elements."""
    return part in STRAIGHT and name in STIFF


def write_vtk(mesh):
    """The legacy file by meshio, the other one by VTK: each is read by the other."""
    grid = mesh.grid()
    grid.save(FOLDER / "mixed.vtu", binary=False)
    pyvista.to_meshio(grid).write(FOLDER / "mixed.vtk", file_format="vtk")


def write_ansys(mesh):
    """By mapdl-archive; it cannot write pressures, which are added."""
    grid = mesh.grid()
    grid.point_data["ansys_node_num"] = numpy.array(sorted(mesh.places), numpy.int32)
    # SOLID185, and 186 for all of second order except one tetrahedron.
    kinds = [185 if part == 0 else 187 if part == 1 and name == "tetra" else 186 for part, name, *_ in mesh.elements]
    grid.cell_data["ansys_elem_num"] = numpy.array([number for _, _, number, _ in mesh.elements], numpy.int32)
    grid.cell_data["ansys_elem_type_num"] = numpy.array(kinds, numpy.int32)
    grid.cell_data["ansys_etype"] = numpy.array(kinds, numpy.int32) - 184
    for name in ("ansys_material_type", "ansys_real_constant"):
        grid.cell_data[name] = numpy.ones(grid.n_cells, numpy.int32)
    file = FOLDER / "mixed.cdb"
    mapdl_archive.save_as_archive(file, grid, node_sig_digits=9)
    with file.open("a") as out:
        for pressure, faces in enumerate(FACES.values(), 1):
            for name, _, face, _ in faces:
                for part in STRAIGHT:
                    out.write(f"SFE,{CELLS[name][0] + 100 * part},{face},PRES,1,{pressure}.0\n")
        out.write("FINISH\n")


def write_abaqus(mesh):
    """Abaqus has no pyramid of second order: in the other parts too it is C3D5."""
    lines = ["*NODE", *(f"{number}, {', '.join(map(repr, x))}" for number, x in sorted(mesh.places.items()))]
    for part, name, number, nodes in mesh.elements:
        nodes = nodes[:5] if name == "pyramid" else nodes
        lines.append(f"*ELEMENT, TYPE=C3D{len(nodes)}")
        words = [str(word) for word in (number, *nodes)]
        lines += [", ".join(words[i:i + 16]) + ("," if i + 16 < len(words) else "") for i in range(0, len(words), 16)]
    edge = [mesh.node(part, (corner,)) for part in STRAIGHT for corner in EDGE]
    stiff = [number for part, name, number, _ in mesh.elements if is_stiff(part, name)]
    lines += ["*NSET, NSET=edge", ", ".join(map(str, edge)), "*ELSET, ELSET=stiff", ", ".join(map(str, stiff))]
    for name, faces in FACES.items():
        lines.append(f"*SURFACE, NAME={name}")
        lines += [f"{CELLS[shape][0] + 100 * part}, S{face}" for shape, face, *_ in faces for part in STRAIGHT]
    (FOLDER / "mixed.inp").write_text("\n".join(lines) + "\n")



def nodes_of_gmsh(mesh, family, part, corners, complete):
    """Gmsh's type of an element and its nodes, placed by Gmsh's own tables."""
    linear = gmsh.model.mesh.getElementType(family, 1)
    kind = gmsh.model.mesh.getElementType(family, 1 + min(part, 1), serendip=not complete)
    _, dimension, _, count, local, _ = gmsh.model.mesh.getElementProperties(kind)
    places = numpy.zeros((count, 3))
    places[:, :dimension] = numpy.reshape(local, (count, dimension))
    _, weights, _ = gmsh.model.mesh.getBasisFunctions(linear, places.ravel(), "Lagrange")
    weights = numpy.reshape(weights, (count, -1)) > 1e-9
    return kind, [mesh.node(part, numpy.array(corners)[row].tolist()) for row in weights]


def write_gmsh(version, complete, binary):
    """By Gmsh, from elements without a geometry: middles of edges alone, or of faces and cells too."""
    mesh = Mesh()
    families = {"hexahedron": "Hexahedron", "wedge": "Prism", "pyramid": "Pyramid", "tetra": "Tetrahedron"}
    flat = {2: "Line", 3: "Triangle", 4: "Quadrangle"}
    entities = {(3, 1): [], (3, 2): [], (1, 1): []}
    for part, name, number, _ in mesh.elements:
        found = nodes_of_gmsh(mesh, families[name], part, CELLS[name][1], complete)
        entities[3, 1 if is_stiff(part, name) else 2].append((number, *found))
    flats = [((1, 1), ends) for ends in zip(EDGE, EDGE[1:])]
    flats += [((2, tag), face) for tag, faces in enumerate(FACES.values(), 1) for *_, face in faces]
    for entity, corners in flats:
        for part in STRAIGHT:
            found = nodes_of_gmsh(mesh, flat[len(corners)], part, corners, complete)
            number = 1000 + sum(map(len, entities.values()))
            entities.setdefault(entity, []).append((number, *found))

    for dimension, tag in entities:
        gmsh.model.addDiscreteEntity(dimension, tag)
    numbers = sorted(mesh.places)
    gmsh.model.mesh.addNodes(3, 1, numbers, numpy.ravel([mesh.places[number] for number in numbers]))
    names = {(3, 1): "stiff", (3, 2): "rest", (1, 1): "edge", **{(2, i): n for i, n in enumerate(FACES, 1)}}
    for (dimension, tag), elements in entities.items():
        for number, kind, nodes in elements:
            gmsh.model.mesh.addElements(dimension, tag, [kind], [[number]], [nodes])
        gmsh.model.addPhysicalGroup(dimension, [tag], tag, names[dimension, tag])
    gmsh.option.setNumber("Mesh.MshFileVersion", version)
    gmsh.option.setNumber("Mesh.Binary", binary)
    gmsh.write(str(FOLDER / f"mixed_{str(version).replace('.', '_')}.msh"))
    gmsh.clear()


def straight(points, cells):
    """A grid of the corners of cells: shapes and nodes."""
    numbers = [[len(CELLS[name][1]), *nodes[:len(CELLS[name][1])]] for name, nodes in cells]
    types = [CELLS[name][3][0] for name, _ in cells]
    return pyvista.UnstructuredGrid(numpy.concatenate(numbers), types, points)


def area(points, faces):
    """Of triangles and quadrilaterals by their corners."""
    diagonals = ((points[face[2]] - points[face[0]], points[face[-1 if len(face) > 3 else 0]] - points[face[1]])
                 for face in faces)
    return float(sum(numpy.linalg.norm(numpy.cross(*pair)) / 2 for pair in diagonals))


def show(file, grid, n_nodes, sets):
    """Prints what a reader found: cells with their volumes and the surface by VTK, of the straight parts alone."""
    shapes = {kind: name for name, (*_, kinds) in CELLS.items() for kind in kinds}
    counts = {name: sum(shapes[kind] == name for kind in grid.celltypes) for name in CELLS}
    print(f"\n{file}: nodes {n_nodes}, cells {counts}")
    chosen = grid.extract_cells(grid.cell_centers().points[:, 2] < 3 * len(STRAIGHT) - 0.5)
    volumes = chosen.compute_cell_sizes(length=False, area=False)["Volume"]
    print("  ", *(f"{shapes[kind]} {float(volume)!r}," for kind, volume in zip(chosen.celltypes, volumes)))
    linear = straight(chosen.points, [(shapes[cell.type], cell.point_ids) for cell in chosen.cell])
    skin = linear.extract_surface(algorithm="dataset_surface")
    print("   surface", repr(area(skin.points, skin.irregular_faces)))
    for name, value in sets.items():
        print("   set", name, value)


def set_of(points, blocks):
    """What is known of a set of cells: how many solids, the area of faces, or how many nodes of lines."""
    kinds = [kind.rstrip("0123456789") for kind, _ in blocks]
    if kinds[0] in CELLS:
        return f"{sum(len(cells) for _, cells in blocks)} cells"
    if kinds[0] == "line":
        return f"{len(numpy.unique(numpy.concatenate([cells[:, :2].ravel() for _, cells in blocks])))} nodes"
    sizes = {"triangle": 3, "quad": 4}
    faces = [nodes[:sizes[kind]] for kind, (_, cells) in zip(kinds, blocks) for nodes in cells]
    return f"area {area(points, faces)!r}"


def read_meshio(file):
    """Of a file: solid cells in its order, and its sets by what is known of them."""
    mesh = meshio.read(FOLDER / file)
    points = numpy.array(mesh.points, float)
    kinds = {block.type: block.type.rstrip("0123456789") for block in mesh.cells}
    solids = [(kinds[block.type], cell) for block in mesh.cells if kinds[block.type] in CELLS for cell in block.data]
    chosen = {name: members for name, members in mesh.cell_sets.items() if not name.startswith("gmsh:")}
    # Of version 2.2 meshio gives the physical groups by number alone; of VTK arrays of zeros and ones.
    groups = mesh.cell_data.get("gmsh:physical", [])
    for name, (number, dimension) in mesh.field_data.items():
        dimensions = [topological_dimension[block.type] for block in mesh.cells]
        chosen[name] = [numpy.flatnonzero((group == number) & (dim == dimension))
                        for group, dim in zip(groups, dimensions)]
    chosen |= {name: [numpy.flatnonzero(values) for values in data] for name, data in mesh.cell_data.items()
               if not name.startswith("gmsh:")}
    sets = {name: f"{len(nodes)} nodes" for name, nodes in mesh.point_sets.items()}
    sets |= {name: f"{int(numpy.sum(values))} nodes" for name, values in mesh.point_data.items()
             if not name.startswith("gmsh:")}
    for name, members in chosen.items():
        blocks = [(block.type, block.data[which]) for block, which in zip(mesh.cells, members) if len(which) > 0]
        sets[name] = set_of(points, blocks)
    show(file, straight(points, solids), len(points), sets)


def read_vtk():
    """The file of VTK by VTK."""
    grid = pyvista.read(FOLDER / "mixed.vtu")
    sets = {"edge": f"{grid['edge'].sum()} nodes", "stiff": f"{grid['stiff'].sum()} cells"}
    show("mixed.vtu", grid, grid.n_points, sets)


def read_ansys():
    """The archive by mapdl-archive."""
    archive = mapdl_archive.Archive(FOLDER / "mixed.cdb")
    sets = {name: f"{len(nodes)} nodes" for name, nodes in archive.node_components.items()}
    sets |= {name: f"{len(cells)} cells" for name, cells in archive.element_components.items()}
    show("mixed.cdb", archive.grid, archive.n_node, sets)


def main():
    """Writes the files and reads them."""
    mesh = Mesh()
    write_vtk(mesh)
    write_ansys(mesh)
    write_abaqus(mesh)
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    write_gmsh(4.1, False, False)
    write_gmsh(2.2, True, True)
    gmsh.finalize()

    for file in ("mixed_4_1.msh", "mixed_2_2.msh", "mixed.inp", "mixed.vtk"):
        read_meshio(file)
    read_vtk()
    read_ansys()
    corners = {number: numpy.array(x) for number, x in CORNERS.items()}
    for name, faces in FACES.items():
        print("faces", name, "area", repr(len(STRAIGHT) * area(corners, [face for *_, face in faces])))


if __name__ == "__main__":
    main()
