#!/usr/bin/env python3
"""PCG iterations with multigrid over whole optimizations, as a Markdown table.

    python3 benchmarks/iterations.py PROGRAM [--sizes 1,2,...] [--hard] [--real PART=MESH,...]
                                             [--set KEY=VALUE]...

Runs PROGRAM, a `topopt` with `topopt-lab` beside it: the four benchmarks at the given sizes (filters as in their case files), the hard cases, or parts of
benchmarks/real on the meshes given, each in five ways, for 60 iterations each from the folder of the repository. `warm` are the iterations of the solves of a run, each
to 1e-5 and begun with the last displacements; `cold` those of one solve of the hardest design from zero. A row ends
with the iterations of `topopt verify` and of a solve of the last design from zero to 1e-8 beside them, the
seconds of the run and what it ended with. `skin` needs its mesh: `benchmarks/hard/skin.py`.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

NAMES = ["cantilever", "l_beam", "michell", "connecting_rod"]
RADII = {1: 3.0, 2: 3.5, 3: 4.0, 4: 4.5, 5: 5.0}
THIN = ["design.volume_fraction=0.12", "filter.radius_in_elements=1.5"]
HARD = [
    ("thin members 3", "benchmarks/cantilever.toml", ["mesh.size=3", *THIN]),
    ("thin members 5", "benchmarks/cantilever.toml", ["mesh.size=5", *THIN]),
    ("skin", "benchmarks/hard/skin.toml", []),
    ("gap", "benchmarks/hard/gap.toml", []),
]
# E_min is 1e-9 in those that are crisp or thin.
CRISP = ["filter.kind=density", "design.density_min=1e-3", "optimizer.move_limit=0.05", "projection.sharpness=2",
         "continuation=[{from=16,sharpness=4},{from=31,sharpness=16}]"]
REAL = {
    "sensitivity": [],
    "density": ["filter.kind=density"],
    "crisp": CRISP,
    "thin": ["design.density_min=1e-3", "design.volume_fraction=0.1", "filter.radius_in_elements=1.3"],
}


def call(program, arguments, overrides):
    words = [word for pair in overrides for word in ("--set", pair)]
    done = subprocess.run([program, *arguments, *words], capture_output=True, text=True)
    if done.returncode == 1:  # wrong input; 2 is a solve that did not converge, which the table tells
        sys.exit(done.stderr)
    return done


def run(program, case, overrides, folder):
    done = call(program, ["run", case, "--output", folder, "--overwrite", "--log", "quiet"], overrides)
    with open(pathlib.Path(folder, "history.csv")) as file:
        counts = [int(row["pcg_iterations"]) for row in csv.DictReader(file)]
    summary = json.loads(pathlib.Path(folder, "summary.json").read_text())
    return counts, summary, done


def row(program, name, case, overrides, scratch):
    counts, summary, done = run(program, case, overrides, f"{scratch}/run")
    hardest = counts.index(max(counts)) + 1
    run(program, case, [*overrides, f"optimizer.max_iterations={hardest}"], f"{scratch}/hardest")
    lab = pathlib.Path(program).with_name("topopt-lab")
    bench = ["preconditioners", case, "--design", f"{scratch}/hardest/design.vtu",
             "--preconditioners", "multigrid"]
    lines = call(lab, bench, overrides).stdout.splitlines()
    cold = next(line.split() for line in lines if line.startswith("multigrid"))
    bench[3] = f"{scratch}/run/design.vtu"
    lines = call(lab, bench, overrides).stdout.splitlines()
    last = next(line.split() for line in lines if line.startswith("multigrid"))
    # A grey design has to be cut lower to hang together.
    threshold = ["--threshold", "0.3"] if name.endswith(" density") else []
    verified = subprocess.run([program, "verify", f"{scratch}/run", "--json", *threshold], capture_output=True, text=True)
    verify = json.loads(verified.stdout)["pcg_iterations"] if verified.returncode == 0 else " ".join(verified.stderr.split())
    seconds = summary["seconds"]
    ended = summary["status"] if done.returncode == 0 else done.stderr.strip()
    print(f"| {name} | {summary['elements']:,} | {max(counts)} | {sum(counts) / len(counts):.1f} | {hardest} "
          f"| {cold[2]} | {cold[4]} | {verify} / {last[4]} | {seconds['setup'] / len(counts) * 1e3:.1f} "
          f"| {seconds['pcg'] / len(counts) * 1e3:.1f} | {seconds['total']:.1f} "
          f"| {len(counts)} {ended}{', strengthened ' * (summary['strengthened'] > 0)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--sizes", default="1,2,3,4,5")
    parser.add_argument("--hard", action="store_true")
    parser.add_argument("--real", default="")
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    sizes = [int(size) for size in arguments.sizes.split(",")]
    cases = HARD if arguments.hard else [
        (f"{name} {size}", f"benchmarks/{name}.toml",
         [f"mesh.size={size}", f"filter.radius_in_elements={RADII[size]}"]) for name in NAMES for size in sizes]
    if arguments.real:
        parts = [part.split("=") for part in arguments.real.split(",")]
        cases = [(f"{pathlib.Path(mesh).stem} {way}", f"benchmarks/real/{part}.toml", [f"mesh.file={mesh}", *keys])
                 for part, mesh in parts for way, keys in REAL.items()]
    print("| case | elements | warm, most | mean | hardest design | cold, 1e-5 | cold, 1e-8 | verify / last, 1e-8 | setup, ms "
          "| solve, ms | run, s | iterations |\n|" + "---|" * 12)
    with tempfile.TemporaryDirectory() as scratch:
        for name, case, overrides in cases:
            row(arguments.program, name, case, ["optimizer.max_iterations=60", "solver.early_tolerance=1e-5", *overrides, *arguments.set], scratch)


main()
