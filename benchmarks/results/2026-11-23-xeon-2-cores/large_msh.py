"""Writes a cube of 6 n^3 tetrahedra as binary .msh 4.1: python3 large_msh.py N FILE. Needs numpy."""

import sys

import numpy

n, path = int(sys.argv[1]), sys.argv[2]
m = n + 1
x = numpy.linspace(0.0, 1.0, m)
points = numpy.stack(numpy.meshgrid(x, x, x, indexing="ij"), axis=-1).reshape(-1, 3)
i, j, k = (a.ravel() for a in numpy.meshgrid(*[numpy.arange(n)] * 3, indexing="ij"))
corner = lambda a, b, c: 1 + ((i + a) * m + (j + b)) * m + (k + c)
# The six tetrahedra around a diagonal of each cube, one for each order of the axes.
steps = numpy.eye(3, dtype=int)
tets = []
for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
    a = steps[order[0]]
    b = a + steps[order[1]]
    middle = [corner(*a), corner(*b)]
    if order in ((0, 2, 1), (1, 0, 2), (2, 1, 0)):
        middle.reverse()
    tets.append(numpy.stack([corner(0, 0, 0), *middle, corner(1, 1, 1)], axis=-1))
tets = numpy.stack(tets, axis=1).reshape(-1, 4)

with open(path, "wb") as file:
    size = lambda *values: numpy.array(values, "<u8").tofile(file)
    integers = lambda *values: numpy.array(values, "<i4").tofile(file)
    file.write(b"$MeshFormat\n4.1 1 8\n")
    integers(1)
    file.write(b"\n$EndMeshFormat\n$Nodes\n")
    size(1, len(points), 1, len(points))
    integers(3, 1, 0)
    size(len(points))
    numpy.arange(1, len(points) + 1, dtype="<u8").tofile(file)
    points.astype("<f8").tofile(file)
    file.write(b"\n$EndNodes\n$Elements\n")
    size(1, len(tets), 1, len(tets))
    integers(3, 1, 4)
    size(len(tets))
    numbers = numpy.arange(1, len(tets) + 1)[:, None]
    numpy.hstack([numbers, tets]).astype("<u8").tofile(file)
    file.write(b"\n$EndElements\n")
