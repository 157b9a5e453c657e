"""The mesh of heat_sink.toml, its designs by the plain algorithm with a direct solver, and a picture:

    python3 benchmarks/heat_sink.py mesh plate.msh          40 x 40 x 5 cubes; needs nothing but Python
    python3 benchmarks/heat_sink.py mesh plate.msh 4        the same plate by 160 x 160 x 20
    python3 benchmarks/heat_sink.py designs                 thermal compliances by numpy and scipy
    python3 benchmarks/heat_sink.py picture RESULT FILE     where the density is above 0.5, by pyvista

The designs are those of the algorithm of top3d [LiuTovar2014]: modified SIMP, density filter, optimality criteria,
with the multiplier to rounding. Printed are the first, second, third and tenth compliance, and the last one with its
number, when no density changes by 0.01 any more or after 200 designs.
"""

import sys
from array import array

SIZE = (40, 40, 5)


def write(path, parts):
    """The plate in cubes of edge 1 / parts, in Gmsh's format 2.2, binary; all of it is the set `plate`."""
    nx, ny, nz = (parts * n for n in SIZE)
    row, layer = nx + 1, (nx + 1) * (ny + 1)
    with open(path, "wb") as file:
        file.write(b"$MeshFormat\n2.2 1 8\n" + array("i", [1]).tobytes() + b"\n$EndMeshFormat\n")
        file.write(b'$PhysicalNames\n1\n3 1 "plate"\n$EndPhysicalNames\n$Nodes\n%d\n' % (layer * (nz + 1)))
        node = 0
        for k in range(nz + 1):
            for j in range(ny + 1):
                for i in range(nx + 1):
                    node += 1
                    file.write(array("i", [node]).tobytes())
                    file.write(array("d", [i / parts, j / parts, k / parts]).tobytes())
        file.write(b"\n$EndNodes\n$Elements\n%d\n" % (nx * ny * nz))
        file.write(array("i", [5, nx * ny * nz, 2]).tobytes())
        element = 0
        for k in range(nz):
            for j in range(ny):
                low = 1 + row * j + layer * k
                for a in range(low, low + nx):
                    element += 1
                    c = a + layer
                    corners = [a, a + 1, a + row + 1, a + row, c, c + 1, c + row + 1, c + row]
                    file.write(array("i", [element, 1, 1, *corners]).tobytes())
        file.write(b"\n$EndElements\n")


def designs():
    """Thermal compliances, design by design."""
    import numpy as np
    from scipy.sparse import coo_matrix, csr_matrix
    from scipy.sparse.linalg import splu
    from scipy.spatial import cKDTree

    (nx, ny, nz), volume, void, radius = SIZE, 0.3, 1e-3, 1.4
    k, j, i = (a.ravel() for a in np.meshgrid(*map(np.arange, (nz, ny, nx)), indexing="ij"))
    row, layer = nx + 1, (nx + 1) * (ny + 1)
    steps = np.array([0, 1, row, row + 1, layer, layer + 1, layer + row, layer + row + 1])
    nodes = (i + row * j + layer * k)[:, None] + steps
    # Of linear functions on edges of length 1: stiffness and mass, and their products.
    s, m = np.array([[1, -1], [-1, 1]]), np.array([[2, 1], [1, 2]]) / 6
    conduction = np.kron(s, np.kron(m, m)) + np.kron(m, np.kron(s, m) + np.kron(m, s))
    n = layer * (nz + 1)
    heat = np.full(n, 0.01)
    at = np.arange(n)
    x, y = at % row, at // row % (ny + 1)
    is_sink = (y == ny) & (np.abs(x - nx / 2) <= nx / 20)
    free = np.flatnonzero(~is_sink)
    rows, columns = np.repeat(nodes, 8, axis=1).ravel(), np.tile(nodes, 8).ravel()

    tree = cKDTree(np.stack([i, j, k], axis=1))
    pairs = tree.sparse_distance_matrix(tree, radius, output_type="coo_matrix")
    weights = csr_matrix((radius - pairs.data, (pairs.row, pairs.col)))
    weights.setdiag(radius)
    sums = np.asarray(weights.sum(1)).ravel()

    design = np.full(nx * ny * nz, volume)
    for _ in range(200):
        density = weights @ design / sums
        conductivity = void + density**3 * (1 - void)
        entries = conductivity[:, None] * conduction.ravel()
        matrix = coo_matrix((entries.ravel(), (rows, columns)), (n, n)).tocsc()
        temperature = np.zeros(n)
        temperature[free] = splu(matrix[free][:, free]).solve(heat[free])
        of_elements = temperature[nodes]
        squares = ((of_elements @ conduction) * of_elements).sum(1)
        yield conductivity @ squares
        slopes = weights @ (-3 * density**2 * (1 - void) * squares / sums)
        volumes = weights @ (1 / sums)
        low, high = 1e-30, 1e15
        while high / low > 1 + 1e-15:
            middle = np.sqrt(low * high)
            after = design * np.sqrt(-slopes / volumes / middle)
            after = np.clip(after, np.maximum(0, design - 0.2), np.minimum(1, design + 0.2))
            is_more = (weights @ after / sums).sum() > volume * len(design)
            low, high = (middle, high) if is_more else (low, middle)
        change, design = np.abs(after - design).max(), after
        if change < 0.01:
            return


def picture(result, path):
    import pyvista as pv

    design = pv.read(f"{result}/design.vtu")
    nodal = design.cell_data_to_point_data(pass_cell_data=False)
    nodal["temperature"] = design["temperature"]
    part = nodal.clip_scalar(scalars="density", value=0.5, invert=False).extract_surface(algorithm="dataset_surface")
    plotter = pv.Plotter(off_screen=True, window_size=(900, 650))
    bar = {"color": "black", "vertical": True, "position_x": 0.88, "position_y": 0.25, "height": 0.5, "fmt": "%.0f"}
    plotter.add_mesh(part, scalars="temperature", cmap="inferno", scalar_bar_args=bar)
    plotter.add_mesh(design.outline(), color="grey")
    plotter.camera_position = [(60, 15, 110), (22, 20, 2.5), (0, 1, 0)]
    plotter.camera.zoom(1.25)
    plotter.set_background("white")
    plotter.screenshot(path)


def main():
    match sys.argv[1:]:
        case ["mesh", path, *parts]:
            write(path, *map(int, parts or ["1"]))
        case ["picture", result, path]:
            picture(result, path)
        case ["designs"]:
            for number, compliance in enumerate(designs(), 1):
                if number in (1, 2, 3, 10):
                    print(number, f"{compliance:.10g}", flush=True)
            print(number, f"{compliance:.10g}")
        case _:
            sys.exit(__doc__)


main()
