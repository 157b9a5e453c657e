#!/usr/bin/env python3
"""Compliance of a cantilever that is printed in one direction and designed for another, as a Markdown table.

    python3 benchmarks/printed.py PROGRAM [--elements N] [--knock-down K] [--set KEY=VALUE]...

A cantilever along x with its load along -y is designed without layers, and from there for layers across x, y and z, and
once more for none, so that all are of one kind. Each design is then analyzed with the layers of the others, as
`topopt solve --design` does. Rows are designs, columns analyses.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

CASE = """\
title = "Printed cantilever"

[mesh]
generator = "cantilever"
elements = {elements}

[material]
youngs_modulus = 1.0
poissons_ratio = 0.35
{layers}

[[supports]]
set = "fixed"

[[loads]]
set = "load"
force = [0, -1, 0]

[design]
volume_fraction = 0.3

[filter]
radius_in_elements = 2.5
"""

DIRECTIONS = {"none": None, "x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]}


def call(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--elements", type=int, default=24000)
    parser.add_argument("--knock-down", type=float, default=0.55)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    words = [word for key in arguments.set for word in ("--set", key)]

    with tempfile.TemporaryDirectory() as scratch:
        for name, direction in DIRECTIONS.items():
            layers = f"layered = {{ build_direction = {direction}, knock_down = {arguments.knock_down} }}"
            text = CASE.format(elements=arguments.elements, layers=layers if direction else "")
            pathlib.Path(scratch, f"{name}.toml").write_text(text)
        run = [program, "run", "--log", "quiet", *words]
        call([*run, "none.toml", "-o", "first"], scratch)
        for name in DIRECTIONS:
            call([*run, f"{name}.toml", "-o", name, "--start-from", "first"], scratch)

        print("| designed for layers across | " + " | ".join(DIRECTIONS) + " |")
        print("|---|" + "--:|" * len(DIRECTIONS))
        for design in DIRECTIONS:
            row = []
            for name in DIRECTIONS:
                command = [program, "solve", f"{name}.toml", "--design", design, "-o", f"{design}-{name}", "--json"]
                row.append(json.loads(call(command + words, scratch))["load_cases"][0]["compliance"])
            print(f"| {design} | " + " | ".join(f"{compliance:.1f}" for compliance in row) + " |", flush=True)


if __name__ == "__main__":
    main()
