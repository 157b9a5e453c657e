#!/usr/bin/env python3
"""How soon each method comes to a good design, as a Markdown table.

    python3 benchmarks/quality.py PROGRAM [--names cantilever,...] [--filters density,sensitivity,crisp]
                                          [--methods oc,oc_anderson,mma,gcmma,simpl] [--iterations N]
                                          [--elements N] [--set KEY=VALUE]... [--reference N]

Runs the benchmarks from the folder of the repository, without early stop, at size 1 or with about N elements.
The best compliance is the least of the last ones of all methods, and of N iterations of the best of these with
`--reference N`; `own` is the last one of the method itself,
which may have come to another local optimum. A row has the iterations until the compliance stays within 1 % and
0.1 % of these, and of the last one of the first method, with the PCG iterations and seconds until then, as far as it
does. Solves of trials count. Designs
that take more than their volume do not. Filtered sensitivities are no gradients, which some methods need.
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
    # With the values of the style for keys that the case files have.
    "crisp": ["design.style=crisp", "filter.kind=density", "design.density_min=0.001", "optimizer.move_limit=0.05"],
}
NEED_GRADIENTS = ["gcmma", "simpl"]
SECONDS = ["setup", "pcg", "sensitivity", "filter", "update"]
LEVELS = [0.01, 0.001]


def run(program, case, overrides, folder):
    words = [word for pair in overrides for word in ("--set", pair)]
    call = [program, "run", case, "--output", folder, "--log", "quiet", *words]
    done = subprocess.run(call, capture_output=True, text=True)
    if done.returncode == 1:  # wrong input
        sys.exit(done.stderr)
    with open(pathlib.Path(folder, "history.csv")) as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    return rows, json.loads(pathlib.Path(folder, "summary.json").read_text())


def spent(rows):
    """PCG iterations and seconds."""
    seconds = sum(row[f"{step}_seconds"] for row in rows for step in SECONDS)
    return f"{sum(row['pcg_iterations'] for row in rows):.0f} | {seconds:.1f}"


def until(rows, limit):
    """How many of the first rows there are until the compliance stays below `limit`; none where it does not."""
    fraction = rows[0]["volume_fraction"] + 1e-4
    bad = [k for k, row in enumerate(rows) if row["compliance"] > limit or row["volume_fraction"] > fraction]
    count = bad[-1] + 2 if bad else 1
    return count if count <= len(rows) else None


def table(arguments, name, kind, scratch):
    case = f"{scratch}/{name}.toml"
    text = pathlib.Path(f"benchmarks/{name}.toml").read_text()
    if arguments.elements:
        text = text.replace("\nsize = 1\n", f"\nelements = {arguments.elements}\n")
    pathlib.Path(case).write_text(text)

    def of(method, iterations):
        keys = ["optimizer.change_tolerance=0", "optimizer.compliance_tolerance=0", f"optimizer.method={method}",
                f"optimizer.max_iterations={iterations}", *FILTERS[kind], *arguments.set]
        return run(arguments.program, case, keys, f"{scratch}/{name}_{kind}_{method}_{iterations}")

    methods = arguments.methods.split(",")
    runs = {method: of(method, arguments.iterations) for method in methods
            if kind != "sensitivity" or method not in NEED_GRADIENTS}

    best, leader = min((rows[-1]["compliance"], method) for method, (rows, _) in runs.items())
    if arguments.reference:
        best = min(best, of(leader, arguments.reference)[0][-1]["compliance"])
    first = runs[methods[0]][0][-1]["compliance"]
    for method, (rows, summary) in runs.items():
        last = rows[-1]
        cells = []
        for level in LEVELS:
            count = until(rows, (1 + level) * best)
            cells.append(f"{count} | {spent(rows[:count])}" if count else "- | - | -")
        own = [until(rows, (1 + level) * last["compliance"]) for level in LEVELS]
        firsts = [until(rows, (1 + level) * first) or "-" for level in LEVELS]
        print(f"| {name} {kind} | {summary['elements']:,} | {method} | {' | '.join(cells)} | {own[0]} / {own[1]} "
              f"| {firsts[0]} / {firsts[1]} "
              f"| {last['compliance'] / best:.4f} | {100 * last['grey_level']:.1f} | {spent(rows)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--names", default=",".join(NAMES))
    parser.add_argument("--filters", default="density")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--elements", type=int)
    parser.add_argument("--reference", type=int)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()

    print("| case | elements | method | iterations to 1 % | PCG | seconds | iterations to 0.1 % | PCG | seconds "
          f"| to 1 % / 0.1 % of own | of {arguments.methods.split(',')[0]}'s | last / best | grey, % | PCG in all | seconds in all |")
    print("|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as scratch:
        for kind in arguments.filters.split(","):
            for name in arguments.names.split(","):
                table(arguments, name, kind, scratch)


main()
