#!/usr/bin/env python3
"""Writes skin.inp: a curved bar of jittered hexahedra in random numbering, with a skin.

    python3 benchmarks/hard/skin.py [elements through the thickness]

A third of a ring, 1.5 times as long as wide; every node inside is moved by up to 15 % of an element
edge. Sets: `fixed` and `load`, the nodes of the two ends' faces and of the outer edge of the free
one; `skin`, the elements on the surface. The default, 20, gives 18,000 elements.
"""

import sys

import numpy as np

n = int(sys.argv[1]) if len(sys.argv) > 1 else 20
cells = np.array([9 * n // 4, n, n])  # along the ring, radially, across
random = np.random.default_rng(1)
grid = np.stack(np.meshgrid(*(np.arange(c + 1) for c in cells), indexing="ij"), axis=-1)
inside = ((grid > 0) & (grid < cells)).all(axis=-1)
moved = grid + 0.3 * (random.random(grid.shape) - 0.5) * inside[..., None]
angle = 2 * np.pi / 3 * moved[..., 0] / cells[0]
radius = n * (0.6 + moved[..., 1] / cells[1])
points = np.stack([radius * np.cos(angle), radius * np.sin(angle), moved[..., 2]], axis=-1).reshape(-1, 3)
number = np.arange(len(points)).reshape(grid.shape[:3])
corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
part = lambda c: number[c[0]:cells[0] + c[0], c[1]:cells[1] + c[1], c[2]:cells[2] + c[2]]
# Along the ring the angle grows, and with it x falls: the first two corners change places.
elements = np.stack([part(c).ravel() for c in corners], axis=-1)[:, [1, 0, 3, 2, 5, 4, 7, 6]]
place = np.stack(np.meshgrid(*(np.arange(c) for c in cells), indexing="ij"), axis=-1).reshape(-1, 3)
skin = ((place == 0) | (place == cells - 1)).any(axis=-1)

new_node = random.permutation(len(points)) + 1
order = random.permutation(len(elements))
new_element = np.empty(len(elements), int)
new_element[order] = np.arange(len(elements)) + 1


def lines(values, width=8):
    values = sorted(values)
    return "".join(", ".join(map(str, values[i:i + width])) + "\n" for i in range(0, len(values), width))


with open("skin.inp", "w") as file:
    file.write("*NODE\n")
    for node in np.argsort(new_node):
        file.write(f"{new_node[node]}, " + ", ".join(f"{x:.12g}" for x in points[node]) + "\n")
    file.write("*ELEMENT, TYPE=C3D8\n")
    for element in order:
        file.write(f"{new_element[element]}, " + ", ".join(map(str, new_node[elements[element]])) + "\n")
    file.write("*NSET, NSET=fixed\n" + lines(new_node[number[0].ravel()]))
    file.write("*NSET, NSET=load\n" + lines(new_node[number[-1, -1].ravel()]))
    file.write("*ELSET, ELSET=skin\n" + lines(new_element[skin]))
