#!/usr/bin/env python3
"""How soon each method comes to a good design, as a Markdown table.

    python3 benchmarks/quality.py PROGRAM [--names cantilever,...] [--filters density,sensitivity,crisp]
                                          [--methods oc,oc_anderson,mma,gcmma,simpl] [--iterations N]
                                          [--set KEY=VALUE]...

Runs the benchmarks from the folder of the repository, without early stop. The best compliance is the least of the
last ones of all methods. For 1 % and 0.1 % above it, a row has the iterations, the solves' PCG iterations and the
seconds until the compliance stays below; `-` where it never does. Trials of a line search are solves: their
iterations and seconds count. Designs that take more than their volume do not count. With the filters of
sensitivities there is no compliance that falls, and only three methods.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

NAMES = ["cantilever", "l_beam", "michell", "connecting_rod"]
METHODS = ["oc", "oc_anderson", "mma", "gcmma", "simpl"]
FILTERS = {
    "density": ["filter.kind=density"],
    "sensitivity": ["filter.kind=sensitivity"],
    "crisp": ["design.style=crisp"],
}
# Keys of the case files that the style is to set.
OF_STYLE = ["filter.kind=density", "design.density_min=0.001", "optimizer.move_limit=0.05"]
NEED_GRADIENTS = ["gcmma", "simpl"]
SECONDS = ["setup", "pcg", "sensitivity", "filter", "update"]
LEVELS = [0.01, 0.001]


def run(program, name, overrides, folder):
    words = [word for pair in overrides for word in ("--set", pair)]
    call = [program, "run", f"benchmarks/{name}.toml", "--output", folder, "--log", "quiet", *words]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode == 1:  # wrong input
        sys.exit(done.stderr)
    with open(pathlib.Path(folder, "history.csv")) as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    return rows, json.loads(pathlib.Path(folder, "summary.json").read_text())


def until(rows, limit, fraction):
    """Iterations, PCG iterations and seconds until the compliance stays below `limit`."""
    good = [row["compliance"] <= limit and row["volume_fraction"] < fraction + 1e-4 for row in rows]
    first = len(good) - next((k for k, is_good in enumerate(reversed(good)) if not is_good), len(good))
    if first == len(good):
        return "- | - | -"
    # What the row before the first good one has spent has gone into the good design.
    spent = rows[: first + 1]
    seconds = sum(row[f"{step}_seconds"] for row in spent for step in SECONDS)
    return f"{first + 1} | {sum(row['pcg_iterations'] for row in spent):.0f} | {seconds:.1f}"


def table(program, name, kind, arguments, scratch):
    runs = {}
    for method in arguments.methods.split(","):
        if kind == "sensitivity" and method in NEED_GRADIENTS:
            continue
        stops = ["optimizer.change_tolerance=0", "optimizer.compliance_tolerance=0"]
        overrides = [f"optimizer.method={method}", f"optimizer.max_iterations={arguments.iterations}", *stops]
        style = OF_STYLE if kind == "crisp" else []
        overrides += [*FILTERS[kind], *style, *arguments.set]
        runs[method] = run(program, name, overrides, f"{scratch}/{name}_{kind}_{method}")

    best = min(rows[-1]["compliance"] for rows, _ in runs.values())
    for method, (rows, summary) in runs.items():
        fraction = rows[0]["volume_fraction"]
        levels = " | ".join(until(rows, (1 + level) * best, fraction) for level in LEVELS)
        last = rows[-1]
        seconds = sum(row[f"{step}_seconds"] for row in rows for step in SECONDS)
        print(f"| {name} {kind} | {summary['elements']:,} | {method} | {levels} | {last['compliance'] / best:.4f} "
              f"| {100 * last['grey_level']:.1f} | {sum(row['pcg_iterations'] for row in rows):.0f} | {seconds:.1f} |",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--filters", default="density")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()

    print("| case | elements | method | iterations to 1 % | PCG | seconds | iterations to 0.1 % | PCG | seconds "
          "| last / best | grey, % | PCG in all | seconds in all |")
    print("|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as scratch:
        for kind in arguments.filters.split(","):
            for name in arguments.names.split(","):
                table(arguments.program, name, kind, arguments, scratch)


main()
