"""The laminate of Loeb and Earls, heated in time, beside assembled matrices:

    python3 benchmarks/laminate.py --topopt TOPOPT 10 20 30      sizes n, with cubes of 10/n mm
    ... --device gpu --threads 8 --repeats 3                     where `topopt` computes; the least time counts
    ... --processor                                              seconds of processors in place of those of the clock
    ... --methods multigrid,jacobi,ict,amg,diagonal              by default all; the last three are those of Python
    ... --tolerance 1e-12 --theta 1                              other than 1e-6 and 0.5
    ... --folder F                                               keeps meshes, cases and results there

Two layers of steel and rust, [-15, 15]^2 x [0, 10], heat flux 1 into z = 0, no other way in or out, from 0, 50 steps of
0.01 s. Prints a row per size and method: the conjugate gradients in all, seconds in all and per iteration, how far the
heat that each step stores is from the heat that comes in, and how far the last temperatures are from those of the
first method, as a share of the largest.

`topopt` multigrid and jacobi are whole processes, with mesh and files: seconds in all are theirs, seconds before the
steps those of a run of one step. Seconds per iteration are what the iterations of a run to a tolerance 1e-6 times
smaller take beyond those of this one. The others are of one core with an assembled matrix, in CSR: `ict` is an
incomplete factorization of Cholesky with the drop tolerance 1e-3, `amg` is smoothed aggregation of pyamg, `diagonal`
is Jacobi. Their seconds in all are those of the steps alone; before them the matrix is made, and the preconditioner.
Needs numpy, scipy, meshio, for `ict` numba and for `amg` pyamg. Run it with OMP_NUM_THREADS=1.
"""

import argparse
import csv
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import meshio
import numpy as np
import scipy.sparse as sp

STEPS, DT, FLUX = 50, 0.01, 1.0
# Heat capacity by volume and conductivity, below and above z = 5, in g, mm and s.
LAYERS = [(3.724e6, 4.3e7), (1.65e6, 4.0e6)]
DROP = 1e-3

CASE = """\
title = "Laminate of steel and rust"

[physics]
kind = "heat"

[mesh]
file = "laminate.msh"

[[select]]
name = "rust"
kind = "elements"
box = {{ min = [-15, -15, 5], max = [15, 15, 10] }}

[[select]]
name = "heated"
kind = "faces"
plane = {{ normal = [0, 0, 1], point = [0, 0, 0] }}

[material] # steel
conductivity = {steel[1]}
mass_density = 1.0
heat_capacity = {steel[0]}

[[materials]]
set = "rust"
conductivity = {rust[1]}
mass_density = 1.0
heat_capacity = {rust[0]}

[[loads]]
set = "heated"
heat_flux = {flux}

[transient]
end = {end}
step = {dt}
theta = {theta}

[solver]
tolerance = {tolerance}
"""


def write_mesh(path, n):
    """Hexahedra of a box of 3n x 3n x n cubes, in Gmsh's format 2.2, binary."""
    nx, nz = 3 * n, n
    steps = np.arange(nx + 1) * (10 / n)
    z, y, x = np.meshgrid(steps[: nz + 1], steps - 15, steps - 15, indexing="ij")
    points = np.empty(z.size, dtype=[("number", "<i4"), ("at", "<f8", 3)])
    points["number"] = np.arange(1, z.size + 1)
    points["at"] = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    row, layer = nx + 1, (nx + 1) ** 2
    k, j, i = np.meshgrid(np.arange(nz), np.arange(nx), np.arange(nx), indexing="ij")
    low = (1 + i + row * j + layer * k).ravel()
    corners = np.array([0, 1, row + 1, row])
    words = np.empty((low.size, 11), dtype="<i4")
    words[:, 0] = np.arange(1, low.size + 1)
    words[:, 1:3] = 1
    words[:, 3:] = low[:, None] + np.concatenate([corners, corners + layer])
    with open(path, "wb") as file:
        file.write(b"$MeshFormat\n2.2 1 8\n" + np.array(1, "<i4").tobytes() + b"\n$EndMeshFormat\n")
        file.write(b"$Nodes\n%d\n" % z.size + points.tobytes() + b"\n$EndNodes\n")
        head = np.array([5, low.size, 2], "<i4").tobytes()
        file.write(b"$Elements\n%d\n" % low.size + head + words.tobytes() + b"\n$EndElements\n")


def by_node(path, n):
    """The temperatures of a result, in the order of `write_mesh`."""
    mesh = meshio.read(path)
    i, j, k = np.rint((mesh.points + [15, 15, 0]) * (n / 10)).astype(int).T
    values = np.empty(len(mesh.points))
    values[i + (3 * n + 1) * (j + (3 * n + 1) * k)] = mesh.point_data["temperature"].ravel()
    return values


def clock(options):
    """Seconds of the clock, or of the processors for this program and those that it has run."""
    if options.processor:
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.process_time() + children.ru_utime + children.ru_stime
    return time.perf_counter()


def solved(options, folder, name, *keys):
    """Runs `topopt solve`: its least time, its numbers and its folder."""
    out, least = folder / name, np.inf
    command = [options.topopt, "solve", "case.toml", "-o", out, "--overwrite", "--json"]
    command += ["--device", options.device]
    if options.threads:
        command += ["--set", f"solver.threads={options.threads}"]
    for key in keys:
        command += ["--set", key]
    for _ in range(options.repeats):
        start = clock(options)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        least = min(least, clock(options) - start)
        if done.returncode != 0:
            sys.exit(done.stderr)
    return least, json.loads(done.stdout), out


def by_topopt(options, folder, n, method):
    preconditioner = f"solver.preconditioner={method}"
    seconds, found, out = solved(options, folder, method, preconditioner)
    finer = f"solver.tolerance={max(1e-6 * options.tolerance, 1e-13)}"
    longer, more, _ = solved(options, folder, f"{method}_finer", preconditioner, finer)
    at_first, _, _ = solved(options, folder, f"{method}_one_step", preconditioner, f"transient.end={DT}")
    rows = list(csv.DictReader((out / "transient.csv").open()))[1:]
    counts = [int(row["pcg_iterations"]) for row in rows]
    stored = [float(row["heat_stored"]) for row in rows]
    steady = (longer - seconds) / max(1, more["pcg_iterations"] - found["pcg_iterations"])
    (folder / f"{method}.json").write_text(json.dumps(found))
    return {
        "counts": counts,
        "seconds": seconds,
        "each": steady,
        "setup": f"{at_first:.2f} s",
        "stored": stored,
        "temperatures": by_node(out / "analysis.vtu", n),
    }


def matrices(n):
    """Conduction, lumped capacity and heat of linear hexahedra, of products of one dimension."""
    h, nx = 10 / n, 3 * n

    def line(values):
        """Stiffness and mass of a line of elements with a factor each."""
        k, m = np.zeros((2, 2, len(values) + 1))
        k[0, :-1] += values / h
        k[0, 1:] += values / h
        k[1, :-1] = -values / h
        m[0, :-1] += values * h / 3
        m[0, 1:] += values * h / 3
        m[1, :-1] = values * h / 6
        return [sp.diags([a[1, :-1], a[0], a[1, :-1]], [-1, 0, 1], format="csr") for a in (k, m)]

    is_steel = (np.arange(n) + 0.5) * h < 5
    capacities, conductivities = np.where(is_steel[:, None], *LAYERS).T
    kx, mx = line(np.ones(nx))
    kz, mz = line(conductivities)
    conduction = sp.kron(kz, sp.kron(mx, mx, "csr"), "csr")
    conduction = conduction + sp.kron(mz, sp.kron(kx, mx) + sp.kron(mx, kx), "csr")
    # In a cube the neighbors along an edge have no part, but for rounding.
    conduction.data[np.abs(conduction.data) < 1e-12 * np.abs(conduction.data).max()] = 0
    conduction.eliminate_zeros()

    ones = mx @ np.ones(nx + 1)
    face = np.kron(ones, ones)
    capacity = np.kron(line(capacities)[1] @ np.ones(n + 1), face)
    heat = np.zeros_like(capacity)
    heat[: face.size] = FLUX * face
    return conduction.tocsr(), capacity, heat


def incomplete(matrix, options):
    """Incomplete Cholesky by columns; entries below DROP times the 1-norm of their column go."""
    from numba import njit

    @njit
    def factor(starts, rows, values, drop):
        n = len(starts) - 1
        ends = np.empty(n + 1, np.int64)
        ends[0], room = 0, 2 * len(rows)
        l_rows, l_values = np.empty(room, np.int32), np.empty(room)
        # Columns whose next row is j form a list from heads[j] on.
        heads, nexts = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
        firsts = np.empty(n, np.int64)
        work, is_in, pattern = np.zeros(n), np.zeros(n, np.bool_), np.empty(n, np.int32)
        for j in range(n):
            count, norm = 0, 0.0
            for p in range(starts[j], starts[j + 1]):
                i = rows[p]
                if i >= j:
                    work[i], is_in[i], pattern[count] = values[p], True, i
                    count += 1
                    norm += abs(values[p])
            k = heads[j]
            while k >= 0:
                after, first = nexts[k], firsts[k]
                factor_jk = l_values[first]
                for p in range(first, ends[k + 1]):
                    i = l_rows[p]
                    if not is_in[i]:
                        is_in[i], pattern[count], work[i] = True, i, 0.0
                        count += 1
                    work[i] -= factor_jk * l_values[p]
                firsts[k] = first + 1
                if first + 1 < ends[k + 1]:
                    i = l_rows[first + 1]
                    nexts[k], heads[i] = heads[i], k
                k = after
            found = np.sort(pattern[:count])
            pivot = np.sqrt(work[j])
            end = ends[j]
            if end + count > room:
                room = 2 * room + count
                more_rows, more_values = np.empty(room, np.int32), np.empty(room)
                more_rows[:end], more_values[:end] = l_rows[:end], l_values[:end]
                l_rows, l_values = more_rows, more_values
            for i in found:
                if i == j:
                    l_rows[end], l_values[end] = j, pivot
                    end += 1
                elif abs(work[i]) >= drop * norm:
                    l_rows[end], l_values[end] = i, work[i] / pivot
                    end += 1
                is_in[i] = False
            ends[j + 1] = end
            firsts[j] = ends[j] + 1
            if firsts[j] < end:
                i = l_rows[firsts[j]]
                nexts[j], heads[i] = heads[i], j
        return ends, l_rows[: ends[n]].copy(), l_values[: ends[n]].copy()

    @njit
    def back_and_forth(ends, rows, values, right):
        x = right.copy()
        n = len(x)
        for j in range(n):
            x[j] /= values[ends[j]]
            for p in range(ends[j] + 1, ends[j + 1]):
                x[rows[p]] -= values[p] * x[j]
        for j in range(n - 1, -1, -1):
            sum = x[j]
            for p in range(ends[j] + 1, ends[j + 1]):
                sum -= values[p] * x[rows[p]]
            x[j] = sum / values[ends[j]]
        return x

    small = sp.identity(3, format="csr")
    back_and_forth(*factor(small.indptr, small.indices, small.data, DROP), np.ones(3))
    start = clock(options)
    lower = factor(matrix.indptr, matrix.indices, matrix.data, DROP)
    return clock(options) - start, lambda r: back_and_forth(*lower, r)


def aggregation(matrix, options):
    import pyamg

    start = clock(options)
    hierarchy = pyamg.smoothed_aggregation_solver(matrix, symmetry="symmetric")
    cycle = hierarchy.aspreconditioner()
    return clock(options) - start, cycle.matvec


def diagonal(matrix, options):
    inverse = 1 / matrix.diagonal()
    return 0.0, lambda r: inverse * r


def conjugate_gradients(matrix, right, x, precondition, tolerance):
    """Until ||b - A x|| <= tolerance ||b||, in place; returns the iterations."""
    target = tolerance * np.linalg.norm(right)
    r = right - matrix @ x
    if np.linalg.norm(r) <= target:
        return 0
    d = z = precondition(r)
    delta, count = r @ z, 0
    while True:
        q = matrix @ d
        alpha = delta / (d @ q)
        x += alpha * d
        r -= alpha * q
        count += 1
        if np.linalg.norm(r) <= target:
            return count
        z = precondition(r)
        before, delta = delta, r @ z
        d = z + (delta / before) * d


def by_assembly(options, n, method):
    """The steps of `topopt`: (C/(theta dt) + K) w = C u/(theta dt) + f, then u += (w - u)/theta. A
    solve starts on the line through the last two w."""
    start = clock(options)
    conduction, capacity, heat = matrices(n)
    rate = capacity / (options.theta * DT)
    matrix = (conduction + sp.diags(rate)).tocsr()
    assembly = clock(options) - start
    make = {"ict": incomplete, "amg": aggregation, "diagonal": diagonal}[method]
    setup, precondition = make(matrix, options)

    least = np.inf
    for _ in range(options.repeats):
        u, counts, stored = np.zeros(len(heat)), [], []
        w = before = u.copy()
        start = clock(options)
        for k in range(STEPS):
            guess = 2 * w - before if k > 1 else w.copy()
            before, w = w, guess
            count = conjugate_gradients(matrix, rate * u + heat, w, precondition, options.tolerance)
            after = u + (w - u) / options.theta
            stored.append(capacity @ (after - u) / DT)
            counts.append(count)
            u = after
        least = min(least, clock(options) - start)
    return {
        "counts": counts,
        "seconds": least,
        "each": least / max(1, sum(counts)),
        "setup": f"{assembly:.2f} s + {setup:.2f} s",
        "stored": stored,
        "temperatures": u,
    }


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("sizes", type=int, nargs="+")
    parser.add_argument("--topopt", default="topopt", type=lambda name: str(Path(name).absolute()))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--processor", action="store_true")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--theta", type=float, default=0.5)
    parser.add_argument("--methods", default="multigrid,jacobi,ict,amg,diagonal")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()

    print("| n | DoF | method | PCG iterations | per step | first, last step | seconds in all | per iteration |"
          " ns per iteration and DoF | before the steps | stored - 900 | difference |")
    print("|" + "---|" * 12)
    for n in options.sizes:
        with tempfile.TemporaryDirectory() as temporary:
            folder = (options.folder or Path(temporary)) / str(n)
            folder.mkdir(parents=True, exist_ok=True)
            if any(method in ("multigrid", "jacobi") for method in options.methods.split(",")):
                write_mesh(folder / "laminate.msh", n)
                values = {"end": STEPS * DT, "dt": DT, "flux": FLUX, "steel": LAYERS[0], "rust": LAYERS[1]}
                case = CASE.format(theta=options.theta, tolerance=options.tolerance, **values)
                (folder / "case.toml").write_text(case)
            reference = None
            for method in options.methods.split(","):
                is_ours = method in ("multigrid", "jacobi")
                found = by_topopt(options, folder, n, method) if is_ours else by_assembly(options, n, method)
                values = found["temperatures"]
                reference = values if reference is None else reference
                imbalance = np.abs(np.array(found["stored"]) / (900 * FLUX) - 1).max()
                difference = np.abs(values - reference).max() / np.abs(reference).max()
                counts, dof = found["counts"], (3 * n + 1) ** 2 * (n + 1)
                print(f"| {n} | {dof:,} | {method} | {sum(counts)} | {sum(counts) / STEPS:.1f} |"
                      f" {counts[0]}, {counts[-1]} | {found['seconds']:.2f} | {1e3 * found['each']:.3g} ms |"
                      f" {1e9 * found['each'] / dof:.1f} | {found['setup']} | {imbalance:.1e} | {difference:.1e} |",
                      flush=True)


main()
