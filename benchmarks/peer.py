#!/usr/bin/env python3
"""Our multigrid beside smoothed aggregation of pyamg, on the same systems, as a Markdown table.

    python3 benchmarks/peer.py PROGRAM [--cases NAME,...] [--repeats 5] [--iterations 50] [--all]

Runs each benchmark at size 1 on the processor, writes the stiffness of its last design (`topopt-lab
preconditioners --matrix`, which lies beside PROGRAM), and solves it from zero to a relative residual of 1e-8: by the program, on one
thread and on two, and by pyamg, with conjugate gradients and the six rigid motions as near-nullspace. Of
the settings of pyamg below the fastest counts, setup included; `--all` prints each. Times are the smallest
of the repeats. `K u = f` is the relative residual in the written matrix of the displacements in
design.vtu, which the run found to 1e-8. Needs numpy, scipy, vtk and pyamg.
"""

import os

os.environ.update({name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

import argparse
import itertools
import pathlib
import subprocess
import tempfile
import time

import numpy
import pyamg
import scipy.io
import scipy.sparse
import scipy.spatial
import vtk
from vtk.util.numpy_support import vtk_to_numpy

NAMES = ["cantilever", "l_beam", "michell", "connecting_rod"]
THRESHOLDS = [0.0, 0.02]
PROLONGATIONS = {
    "Jacobi": ("jacobi", {"omega": 4 / 3, "weighting": "block"}),
    "energy": ("energy", {"krylov": "cg", "maxiter": 2, "degree": 1}),
}
SMOOTHERS = {
    "block Gauss-Seidel": ("block_gauss_seidel", {"sweep": "symmetric"}),
    "block Jacobi": ("block_jacobi", {"iterations": 2, "omega": 0.5}),
}
CYCLES = ["V", "W"]


def rigid_motions(x, held):
    """Six rigid motions at the nodes `x`, [3 n, 6]; zero at held components, which are rows of the identity."""
    x = (x - x.mean(axis=0)) / numpy.ptp(x)
    motions = numpy.zeros((len(x), 3, 6))
    motions[:, range(3), range(3)] = 1.0
    for axis in range(3):
        rotation = numpy.zeros(3)
        rotation[axis] = 1.0
        motions[:, :, 3 + axis] = numpy.cross(rotation, x)
    motions = motions.reshape(-1, 6)
    motions[held] = 0.0
    return motions


def read_system(path):
    """Stiffness in blocks of 3x3, forces and nodes, as `topopt-lab preconditioners --matrix` writes them."""
    beside = lambda suffix: scipy.io.mmread(path.with_name(f"{path.stem}_{suffix}.mtx"))
    stiffness = scipy.sparse.csr_matrix(scipy.io.mmread(path))
    return stiffness, beside("f").ravel(), beside("x")


def displacements(path, x):
    """Displacements in a design.vtu, by components of the nodes `x`."""
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    distance, node = scipy.spatial.cKDTree(vtk_to_numpy(grid.GetPoints().GetData())).query(x)
    assert distance.max() < 1e-12 * numpy.ptp(x) and len(set(node)) == len(x), "nodes of another mesh"
    return vtk_to_numpy(grid.GetPointData().GetArray("displacement"))[node].ravel()


def relative_residual(stiffness, u, f):
    return numpy.linalg.norm(f - stiffness @ u) / numpy.linalg.norm(f)


def solve(blocks, f, motions, threshold, prolongation, smoother, cycle):
    """Iterations, seconds of setup and of the solve (processor time of one thread), and the solution."""
    smooth = SMOOTHERS[smoother]
    start = time.process_time()
    hierarchy = pyamg.smoothed_aggregation_solver(
        blocks, B=motions, symmetry="symmetric", strength=("symmetric", {"theta": threshold}),
        smooth=PROLONGATIONS[prolongation], presmoother=smooth, postsmoother=smooth, improve_candidates=None,
        max_coarse=500)
    setup = time.process_time() - start
    residuals = []
    start = time.process_time()
    u = hierarchy.solve(f, tol=1e-8, accel="cg", cycle=cycle, maxiter=400, residuals=residuals)
    return len(residuals) - 1, setup, time.process_time() - start, u


def best_of_pyamg(stiffness, f, x, repeats, tell):
    held = numpy.diff(stiffness.indptr) == 1
    blocks, motions = stiffness.tobsr((3, 3)), rigid_motions(x, held)
    found = []
    for settings in itertools.product(THRESHOLDS, PROLONGATIONS, SMOOTHERS, CYCLES):
        iterations, setup, seconds, u = solve(blocks, f, motions, *settings)
        converged = relative_residual(stiffness, u, f) <= 1.1e-8
        if tell:
            print(f"{settings}: {iterations} iterations, {setup:.2f} + {seconds:.2f} s{'' if converged else ', failed'}")
        if converged:
            found.append((setup + seconds, settings, iterations))
    _, settings, iterations = min(found)
    times = [solve(blocks, f, motions, *settings)[1:3] for _ in range(repeats)]
    return settings, iterations, [min(column) for column in zip(*times)]


def ours(command, threads, repeats):
    """Iterations to 1e-8, and the smallest seconds of setup and of the solve."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    rows = []
    for _ in range(repeats):
        text = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        words = next(line.split() for line in text.splitlines() if line.startswith("multigrid"))
        rows.append((float(words[1]), float(words[5]), int(words[4])))
    return rows[0][2], [min(column) for column in zip(*rows)][:2]


def row(program, name, iterations, repeats, tell, scratch):
    case = f"benchmarks/{name}.toml"
    subprocess.run([program, "run", case, "--device", "cpu", "--overwrite", "--output", scratch, "--log", "quiet", "--set",
                    "solver.tolerance=1e-8", "--set", f"optimizer.max_iterations={iterations}"], check=True,
                   stdout=subprocess.DEVNULL)
    design, matrix = pathlib.Path(scratch, "design.vtu"), pathlib.Path(scratch, "K.mtx")
    bench = [pathlib.Path(program).with_name("topopt-lab"), "preconditioners", case, "--device", "cpu", "--design", design,
             "--preconditioners", "multigrid"]
    subprocess.run([*bench, "--matrix", matrix], check=True, stdout=subprocess.DEVNULL)
    stiffness, f, x = read_system(matrix)
    check = relative_residual(stiffness, displacements(design, x), f)
    (threshold, prolongation, smoother, cycle), theirs, times = best_of_pyamg(stiffness, f, x, repeats, tell)
    count, one = ours(bench, 1, repeats)
    _, two = ours(bench, 2, repeats)
    print(f"| {name} | {len(f):,} | {check:.1e} | {count} | {one[0]:.2f} + {one[1]:.2f} | {two[0]:.2f} + {two[1]:.2f} "
          f"| {theirs} | {times[0]:.2f} + {times[1]:.2f} | {threshold:g}, {prolongation}, {smoother}, {cycle} "
          f"| {sum(times) / sum(one):.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--cases", default=",".join(NAMES))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    print("| case | unknowns | K u = f | ours: iterations | setup + solve, s, 1 thread | 2 threads "
          "| pyamg: iterations | setup + solve, s, 1 thread | threshold, prolongation, smoother, cycle | factor |\n"
          + "|---" * 10 + "|", flush=True)
    for name in arguments.cases.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            row(arguments.program, name, arguments.iterations, arguments.repeats, arguments.all, scratch)


main()
