#!/usr/bin/env python3
"""Whether the least volume for the compliance of a design is that of the design, as a Markdown table.

    python3 benchmarks/least_volume.py PROGRAM [--iterations N] [--set KEY=VALUE]...

For each benchmark, with the density filter: optimality criteria minimize the compliance until it changes by less than
1e-4, in at most N iterations. MMA then minimizes the volume under this compliance, from a volume of 0.5, in at most 1.5
times as many.
"""

import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

NAMES = ["cantilever", "l_beam", "michell", "connecting_rod"]


def run(program, case, keys, folder):
    words = [word for key in keys for word in ("--set", key)]
    done = subprocess.run([program, "run", case, "--output", folder, "--log", "quiet", *words], capture_output=True,
                          text=True)
    if done.returncode:
        sys.exit(done.stderr)
    with open(pathlib.Path(folder, "history.csv")) as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()

    print("| case | iterations | compliance | volume | iterations of MMA | its compliance / limit | its volume / volume "
          "| KKT residuals | iterations until within 0.5 % |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as scratch:
        for name in NAMES:
            text = pathlib.Path(f"benchmarks/{name}.toml").read_text()
            case = f"{scratch}/{name}.toml"
            pathlib.Path(case).write_text(text)
            usual = ["filter.kind=density", "optimizer.change_tolerance=0", *arguments.set]
            criteria = run(arguments.program, case, [*usual, "optimizer.compliance_tolerance=1e-4",
                           f"optimizer.max_iterations={arguments.iterations}"], f"{scratch}/{name}_oc")
            found = criteria[-1]

            lines = [line for line in text.splitlines() if not line.startswith("volume_fraction")]
            lines += ["[objective]", 'minimize = "volume"', "[[constraints]]", 'response = "compliance"',
                      f"at_most = {found['compliance']!r}"]
            case = f"{scratch}/{name}_least.toml"
            pathlib.Path(case).write_text("\n".join(lines))
            rows = run(arguments.program, case, [*usual, "optimizer.compliance_tolerance=0", "optimizer.method=mma",
                       f"optimizer.max_iterations={3 * len(criteria) // 2}"], f"{scratch}/{name}_mma")
            last = rows[-1]
            ratios = [row["volume_fraction"] / found["volume_fraction"] for row in rows]
            late = [k for k, (row, ratio) in enumerate(zip(rows, ratios))
                    if ratio > 1.005 or row["compliance"] > 1.001 * found["compliance"]]
            print(f"| {name} | {len(criteria)} | {found['compliance']:.6g} | {found['volume_fraction']:.4f} "
                  f"| {len(rows)} | {last['compliance'] / found['compliance']:.5f} | {ratios[-1]:.5f} "
                  f"| {found['kkt_residual']:.1e}, {last['kkt_residual']:.1e} | {late[-1] + 2 if late else 1} |",
                  flush=True)


main()
