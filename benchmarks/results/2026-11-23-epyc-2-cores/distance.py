#!/usr/bin/env python3
"""Distances on 101^3 nodes of a regular grid by fast marching and by Dijkstra's algorithm, one core.

    pip install numpy scipy scikit-fmm
    python3 distance.py

The sources are those of `cargo run --release -p topopt-distance --example million`: a face, a corner,
the middle node, and a sphere of radius 20 around it. Seconds are the least of three; errors are the mean
and the largest one, in widths of a cell.
"""

import itertools
import os
import time

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph
import skfmm

SIDE = 101
x = np.stack(np.meshgrid(*[np.arange(float(SIDE))] * 3, indexing="ij"), axis=-1)
from_middle = np.linalg.norm(x - 50.0, axis=-1)
# Signed distances. scikit-fmm takes every array as contiguous.
SOURCES = {
    "face": np.ascontiguousarray(x[..., 0]),
    "corner": np.linalg.norm(x, axis=-1),
    "middle": from_middle,
    "sphere": from_middle - 20.0,
}


def graph():
    """Edges from each node to the 26 around it, with their lengths, and to a node of the sources."""
    number = np.arange(SIDE**3).reshape([SIDE] * 3)
    rows, columns, lengths = [], [], []
    for step in itertools.product([-1, 0, 1], repeat=3):
        if any(step):
            here = tuple(slice(max(0, -s), SIDE - max(0, s)) for s in step)
            there = tuple(slice(max(0, s), SIDE + min(0, s)) for s in step)
            rows.append(number[here].ravel())
            columns.append(number[there].ravel())
            lengths.append(np.full(rows[-1].size, np.sqrt(np.dot(step, step))))
    return [np.concatenate(part) for part in (rows, columns, lengths)]


def near(phi):
    """Nodes where the distance is zero, and those with a neighbor of the other sign."""
    is_near = phi == 0.0
    for axis in range(3):
        a, b = [np.take(phi, range(i, SIDE - 1 + i), axis) for i in (0, 1)]
        cut = a * b < 0
        is_near |= np.pad(cut, [(0, int(d == axis)) for d in range(3)])
        is_near |= np.pad(cut, [(int(d == axis), 0) for d in range(3)])
    return is_near


def dijkstra(phi, rows, columns, lengths):
    """With the exact distance at the nodes near the zero set, as edges from one more node."""
    nodes = np.flatnonzero(near(phi).ravel())
    # An edge of length zero is no edge of a sparse matrix.
    starts = 1.0 + np.abs(phi.ravel()[nodes])
    source = np.full(nodes.size, SIDE**3)
    edges = (
        np.concatenate([lengths, starts]),
        (np.concatenate([rows, source]), np.concatenate([columns, nodes])),
    )
    matrix = scipy.sparse.csr_matrix(edges, shape=(SIDE**3 + 1,) * 2)
    clock = time.perf_counter()
    found = scipy.sparse.csgraph.dijkstra(matrix, indices=SIDE**3)[:-1] - 1.0
    return time.perf_counter() - clock, found.reshape(phi.shape)


def marching(phi, order):
    clock = time.perf_counter()
    found = skfmm.distance(phi, dx=1.0, order=order)
    return time.perf_counter() - clock, np.abs(np.asarray(found))


def report(name, source, seconds, found):
    error = np.abs(found - np.abs(SOURCES[source]))
    print(f"{name:22} {source:6} {seconds:6.2f} s; {error.mean():.4f} {error.max():.4f}", flush=True)


print("load", *os.getloadavg(), "| scikit-fmm", skfmm.__version__)
for source, phi in SOURCES.items():
    for order in (1, 2):
        runs = [marching(phi, order) for _ in range(3)]
        report(f"fast marching, order {order}", source, *min(runs, key=lambda run: run[0]))
edges = graph()
for source, phi in SOURCES.items():
    runs = [dijkstra(phi, *edges) for _ in range(3)]
    report("Dijkstra, 26 neighbors", source, *min(runs, key=lambda run: run[0]))
print("load", *os.getloadavg())
