"""The iterations of [LoebEarls2019]'s laminate on the tetrahedra of the paper, with a consistent mass:

    python3 tetrahedra.py 10 20 30 40

Six linear tetrahedra per cube, (M + dt/2 K) u_1 = (M - dt/2 K) u_0 + dt F, conjugate gradients with the diagonal to
||b - A u|| <= 1e-6 ||b||. Prints the iterations of 50 steps by the conductivity of steel and by the start: the last
state, the line through the last two, zero. Needs numpy and scipy.
"""

import sys

import numpy as np
import scipy.sparse as sp

TETRAHEDRA = [(0, 1, 3, 7), (0, 1, 5, 7), (0, 4, 5, 7), (0, 2, 3, 7), (0, 4, 6, 7), (0, 2, 6, 7)]
STARTS = ("last state", "line", "zero")


def matrices(n, steel):
    """K, M and F of 3n x 3n x n cubes of edge 10 / n."""
    h, row = 10 / n, 3 * n + 1
    stiffness, mass = np.zeros((2, 8, 8))
    for corners in TETRAHEDRA:
        # Along the way from corner 0 to corner 7.
        stiffness[np.ix_(corners, corners)] += (
            np.array([[1, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 1]]) * h / 6
        )
        mass[np.ix_(corners, corners)] += (np.ones((4, 4)) + np.eye(4)) * h**3 / 120
    k, j, i = (a.ravel() for a in np.meshgrid(np.arange(n), *[np.arange(3 * n)] * 2, indexing="ij"))
    corner = np.arange(8)
    steps = (corner & 1) + row * ((corner >> 1 & 1) + row * (corner >> 2))
    nodes = (i + row * (j + row * k))[:, None] + steps
    is_steel = (k + 0.5) * h < 5
    rows, columns = np.repeat(nodes, 8, axis=1).ravel(), np.tile(nodes, 8).ravel()
    size = row * row * (n + 1)

    def assembled(factors, matrix):
        entries = (factors[:, None] * matrix.ravel()).ravel()
        whole = sp.csr_matrix((entries, (rows, columns)), (size, size))
        whole.eliminate_zeros()
        return whole

    heat = np.zeros(size)
    edges, low = np.ones((3 * n, 3 * n)), np.arange(row * row).reshape(row, row)
    for corners in ((0, 1, 3), (0, 2, 3)):
        for at in corners:
            np.add.at(heat, low[at >> 1 :, at & 1 :][: 3 * n, : 3 * n], edges * h * h / 6)
    conduction = assembled(np.where(is_steel, steel, 4.0e6), stiffness)
    return conduction, assembled(np.where(is_steel, 3.724e6, 1.65e6), mass), heat


def iterations(n, steel, start):
    conduction, mass, heat = matrices(n, steel)
    a, dt = (mass + 0.005 * conduction).tocsr(), 0.01
    before, inverse = (mass - 0.005 * conduction).tocsr(), 1 / a.diagonal()
    u = last = np.zeros(len(heat))
    count = 0
    for _ in range(50):
        b = before @ u + dt * heat
        x = {"last state": u, "line": 2 * u - last, "zero": 0 * u}[start].copy()
        r = b - a @ x
        d = z = inverse * r
        delta, target = r @ z, 1e-6 * np.linalg.norm(b)
        while np.linalg.norm(r) > target:
            q = a @ d
            alpha = delta / (d @ q)
            x += alpha * d
            r -= alpha * q
            z = inverse * r
            earlier, delta = delta, r @ z
            d = z + delta / earlier * d
            count += 1
        last, u = u, x
    return count


def main():
    print("| conductivity of steel | start | " + " | ".join(f"n = {n}" for n in sys.argv[1:]) + " |")
    print("|" + "---|" * (1 + len(sys.argv)))
    for steel in (4.3e7, 4.9e8):
        for start in STARTS:
            counts = [iterations(int(n), steel, start) for n in sys.argv[1:]]
            print(f"| {steel:.2g} | {start} | " + " | ".join(map(str, counts)) + " |", flush=True)


main()
