#!/usr/bin/env python3
"""Published topology optimizations of two dimensions, by the plain algorithm with a direct solver.

Needs numpy and scipy. Prints a line per problem: the objective of the last design, and those of the
first, second, third and tenth. The multiplier of the volume is found

    python3 benchmarks/literature.py             to rounding, as `topopt` does
    python3 benchmarks/literature.py published   by the bisection of [Andreassen2011], to 1e-3

The published numbers, in the order of the lines (the inverter to two decimals):
216.81366, 233.71457, 208.44294, 510.37278, 221.97206, -1.022, 473.7337
"""

import sys

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

VOID = 1e-9


def element_stiffness(nu=0.3):
    """K_e of a square of edge 1 in plane stress with E = 1, [8][8]."""
    gauss = 1 / np.sqrt(3)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    elasticity = np.array([[1, nu, 0], [nu, 1, 0], [0, 0, (1 - nu) / 2]]) / (1 - nu**2)
    stiffness = np.zeros((8, 8))
    for point in corners * gauss:
        slopes = corners * (1 + corners[:, ::-1] * point[::-1]) / 2
        strains = np.zeros((3, 8))
        strains[0, 0::2] = strains[2, 1::2] = slopes[:, 0]
        strains[1, 1::2] = strains[2, 0::2] = slopes[:, 1]
        stiffness += strains.T @ elasticity @ strains / 4
    return stiffness


def element_conduction():
    """K_e of a square with conductivity 1, [4][4]."""
    return np.array([[4, -1, -2, -1], [-1, 4, -1, -2], [-2, -1, 4, -1], [-1, -2, -1, 4]]) / 6


class Problem:
    """nx x ny elements with node (i, j) at x = i, y = j, and degrees of freedom 2 node + axis; a
    node is its only one where heat is conducted."""

    def __init__(self, nx, ny, volume, radius, is_density, held, loads, **more):
        self.nx, self.ny, self.volume, self.is_density = nx, ny, volume, is_density
        self.held, self.loads = held, loads
        self.output = more.get("output")  # a degree of freedom that is to go down
        self.springs = more.get("springs", [])
        self.hole = more.get("hole")  # elements that are void from the second design on
        self.is_empty = more.get("is_empty", False)  # ... or from the first on
        self.move, self.damping = more.get("move", 0.2), more.get("damping", 0.5)

        self.i, self.j = np.tile(np.arange(nx), ny), np.repeat(np.arange(ny), nx)
        low = self.i + (nx + 1) * self.j
        nodes = np.stack([low, low + 1, low + nx + 2, low + nx + 1], axis=1)
        self.dofs = np.stack([2 * nodes, 2 * nodes + 1], axis=2).reshape(-1, 8)
        self.stiffness = element_stiffness()
        if more.get("conducts"):
            self.dofs, self.stiffness = nodes, element_conduction()
        distance = np.hypot(self.i[:, None] - self.i, self.j[:, None] - self.j)
        self.weights = np.maximum(0, radius - distance)
        self.sums = self.weights.sum(1)

    def solve(self, density):
        """Objective and its gradient by the density."""
        n, k = self.dofs.max() + 1, self.dofs.shape[1]
        moduli = VOID + density**3 * (1 - VOID)
        rows, columns = np.repeat(self.dofs, k, axis=1), np.tile(self.dofs, k)
        entries = moduli[:, None] * self.stiffness.ravel()
        stiffness = coo_matrix((entries.ravel(), (rows.ravel(), columns.ravel())), (n, n)).tolil()
        for dof, spring in self.springs:
            stiffness[dof, dof] += spring
        free = np.setdiff1d(np.arange(n), self.held)
        factors = splu(stiffness.tocsc()[free][:, free])

        def state(dof, force):
            u = np.zeros(n)
            load = np.zeros(n)
            load[dof] = force
            u[free] = factors.solve(load[free])
            return u

        def work(v, u):
            return ((v[self.dofs] @ self.stiffness) * u[self.dofs]).sum(1)

        slopes = 3 * density**2 * (1 - VOID)
        states = [state(*load) for load in self.loads]
        if self.output is not None:
            return states[0][self.output], -slopes * work(state(self.output, 1), states[0])
        energies = sum(work(u, u) for u in states)
        return (moduli * energies).sum(), -slopes * energies

    def physical(self, design):
        return self.weights @ design / self.sums if self.is_density else design

    def run(self, is_published):
        """The objectives of all designs, until none changes by 0.01."""
        n = self.nx * self.ny
        design = np.full(n, self.volume)
        if self.is_empty:
            design *= n / (n - self.hole.sum())
            design[self.hole] = 0
        history, excess = [], 0.0
        while True:
            objective, slopes = self.solve(self.physical(design))
            history.append(objective)
            if self.is_density:
                slopes = self.weights @ (slopes / self.sums)
                volumes = self.weights @ (1 / self.sums)
            else:
                filtered = self.weights @ (design * slopes) / self.sums
                slopes, volumes = filtered / np.maximum(1e-3, design), np.ones(n)
            after, excess = self.update(design, slopes, volumes, excess, is_published)
            change = abs(after - design).max()
            design = after
            if change < 0.01:
                return history

    def update(self, design, slopes, volumes, excess, is_published):
        """The next design by optimality criteria, and its volume beyond the limit."""
        is_linear = is_published and self.output is None
        accuracy = 1e-4 if self.output is not None else 1e-3
        low, high = (0.0, 1e9) if is_published else (1e-30, 1e15)
        least = 1e-10 if self.output is not None else 0.0
        while True:
            middle = (low + high) / 2 if is_published else np.sqrt(low * high)
            scale = np.maximum(least, -slopes / volumes / middle) ** self.damping
            limits = np.maximum(0, design - self.move), np.minimum(1, design + self.move)
            after = np.clip(design * scale, *limits)
            if self.hole is not None:
                after[self.hole] = 0
            beyond = self.physical(after).sum() - self.volume * len(design)
            if is_linear:
                beyond = excess + (volumes * (after - design)).sum()
            low, high = (middle, high) if beyond > 0 else (low, middle)
            if is_published:
                is_met = high < 1e-40 or (high - low) / (low + high) <= accuracy
            else:
                is_met = high / low < 1 + 1e-15
            if is_met:
                return after, beyond


def problems():
    def dof(nx, i, j, axis):
        return 2 * (i + (nx + 1) * j) + axis

    nx, ny = 60, 20
    symmetry = [dof(nx, 0, j, 0) for j in range(ny + 1)]
    mbb = (symmetry + [dof(nx, nx, 0, 1)], [(dof(nx, 0, ny, 1), -1.0)])
    left = [dof(nx, 0, j, axis) for j in range(ny + 1) for axis in (0, 1)]
    down, up = (dof(nx, nx, 0, 1), -1.0), (dof(nx, nx, ny, 1), 1.0)
    yield "half MBB, sensitivities", Problem(nx, ny, 0.5, 2.4, False, *mbb)
    yield "half MBB, densities", Problem(nx, ny, 0.5, 2.4, True, *mbb)
    yield "cantilever", Problem(nx, ny, 0.5, 2.4, False, left, [down])
    yield "two load cases", Problem(nx, ny, 0.5, 2.4, False, left, [down, up])
    for is_empty in (False, True):
        hole = Problem(nx, ny, 0.5, 2.4, False, left, [down], is_empty=is_empty)
        hole.hole = np.hypot(hole.i - 19, hole.j - 10) < 20 / 3
        yield "hole, empty at the start" if is_empty else "hole", hole

    nx, ny = 40, 20
    held = [dof(nx, i, ny, 1) for i in range(nx + 1)]
    held += [dof(nx, 0, j, axis) for j in (0, 1) for axis in (0, 1)]
    ends = [dof(nx, i, ny, 0) for i in (0, nx)]
    mechanism = {"output": ends[1], "springs": [(end, 0.1) for end in ends]}
    mechanism |= {"move": 0.1, "damping": 0.3}
    load = [(ends[0], 1.0)]
    yield "inverter", Problem(nx, ny, 0.3, 1.2, True, held, load, **mechanism)

    nx = ny = 40
    sink = [(nx + 1) * j for j in range(18, 23)]
    heat = [(np.arange((nx + 1) * (ny + 1)), 0.01)]
    yield "heat sink", Problem(nx, ny, 0.4, 1.2, False, sink, heat, conducts=True)


def main():
    is_published = sys.argv[1:] == ["published"]
    for name, problem in problems():
        history = problem.run(is_published)
        first = ", ".join(f"{history[k]:.9g}" for k in (0, 1, 2, 9))
        print(f"{name}: {history[-1]:.8f} after {len(history)} designs; {first}", flush=True)


main()
