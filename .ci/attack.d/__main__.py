"""Attacks the program: makes inputs of many kinds, judges what comes of each, and ends with a table.

The kind that has had the least time for its share is next. An input depends on kind, seed and number alone.
"""

import argparse
import pathlib
import random
import shutil
import signal
import sys
import time
import traceback

import case_files
import decks
import invariance
import kills
import known
import loads_on_void
import mesh_files
import outputs
import posed_twice
import result_files
import signals
import surfaces
import valid_cases
import world
from place import Place, remove_tree
from verdict import CLASSES, Bad

KINDS = {module.__name__: module for module in (known, mesh_files, case_files, result_files, valid_cases, invariance,
                                                surfaces, decks, loads_on_void, posed_twice, kills, signals, world, outputs)}


class Tally:
    """What came of the inputs of one kind."""

    def __init__(self, module):
        self.module, self.inputs, self.seconds = module, 0, 0.0
        self.counts = dict.fromkeys(CLASSES, 0)

    def used(self):
        """Time, for its share of the whole."""
        return self.seconds / getattr(self.module, "SHARE", 1)

    def is_open(self):
        """Whether there are inputs left: some kinds have a fixed list."""
        return self.inputs < getattr(self.module, "COUNT", float("inf"))


def main():
    options = read_options()
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda number, _: sys.exit(128 + number))
    options.keep.mkdir(parents=True, exist_ok=True)
    shared = options.keep / "shared"
    shutil.rmtree(shared, ignore_errors=True)
    tallies = {name: Tally(module) for name, module in KINDS.items() if options.kind in (None, name)}
    failures, end = 0, time.monotonic() + 60 * options.minutes
    if options.case is not None:
        return int(not attempt(options, tallies[options.kind], options.case, shared))
    while time.monotonic() < end:
        left = [tally for tally in tallies.values() if tally.is_open()]
        if not left:
            break
        tally = min(left, key=Tally.used)
        try:
            attempt(options, tally, tally.inputs, shared)
        except Exception:  # of the attack itself: the other kinds go on
            failures += 1
            print(f"the attack itself failed: {command(options, tally, tally.inputs)}\n{traceback.format_exc()}")
        tally.inputs += 1
    shutil.rmtree(shared, ignore_errors=True)
    print(table(tallies))
    bad = sum(sum(tally.counts.values()) - tally.counts["right"] for tally in tallies.values())
    print(f"{bad} bad inputs, kept in {options.keep}" if bad else "all right")
    return int(bad > 0) or 3 * int(failures > 0)


def read_options():
    parser = argparse.ArgumentParser(description=__doc__, prog="bash .ci/attack")
    parser.add_argument("minutes", nargs="?", type=float, default=5.0, help="how long (5)")
    parser.add_argument("seed", nargs="?", type=int, default=1, help="of all random numbers (1)")
    parser.add_argument("--program", type=pathlib.Path, required=True, help="the program to attack")
    parser.add_argument("--keep", type=pathlib.Path, required=True, help="folder to keep bad inputs in")
    parser.add_argument("--quick", action="store_true", help="smaller meshes, as for a check of a minute")
    parser.add_argument("--kind", choices=KINDS, help="this kind only")
    parser.add_argument("--case", type=int, help="this input of the kind only; its folder is kept")
    parser.add_argument("--seed", dest="named_seed", type=int, help="the seed, as an option")
    options = parser.parse_args()
    if options.case is not None and options.kind is None:
        parser.error("--case needs --kind")
    options.seed = options.seed if options.named_seed is None else options.named_seed
    options.program, options.keep = options.program.resolve(), options.keep.resolve()
    return options


def attempt(options, tally, number, shared):
    """Makes, judges and counts one input; true if all was right. The folder of a bad one is kept."""
    name, start = tally.module.__name__, time.monotonic()
    folder = options.keep / f"{name}-{options.seed}-{number}"
    remove_tree(folder)
    place = Place(options.program, folder, shared, options.quick)
    kept = True
    try:
        tally.module.attempt(place, random.Random(f"{name} {options.seed} {number}"), number)
        verdict, kept = "right", options.case is not None
    except Bad as bad:
        verdict = bad.kind
        text = f"{bad.kind}: {bad}\n\n{command(options, tally, number)}\n"
        (folder / "README").write_text(text, errors="backslashreplace")
        print(f"{name} {number}: {bad.kind}: {printable(str(bad))}", flush=True)
    finally:
        place.close()
        tally.seconds += time.monotonic() - start
    tally.counts[verdict] += 1
    if kept:
        print(f"    {command(options, tally, number)}", flush=True)
    else:
        remove_tree(folder)
    return verdict == "right"


def command(options, tally, number):
    """The command that repeats an input."""
    quick = " --quick" if options.quick else ""
    return f"bash .ci/attack --kind {tally.module.__name__} --seed {options.seed} --case {number}{quick}"


def printable(text):
    """The first 300 letters, without control characters."""
    return "".join(c if c.isprintable() else " " for c in text.encode(errors="replace").decode())[:300]


def table(tallies):
    """The table of kinds and classes."""
    rows = [["kind", "inputs", *CLASSES, "seconds"]]
    for name, tally in tallies.items():
        rows.append([name, tally.inputs, *tally.counts.values(), round(tally.seconds)])
    rows.append(["all", *(sum(row[i] for row in rows[1:]) for i in range(1, len(rows[0])))])
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(rows[0]))]
    lines = [[str(cell).ljust(w) if i == 0 else str(cell).rjust(w) for i, (cell, w) in enumerate(zip(row, widths))]
             for row in rows]
    return "\n".join("  ".join(line) for line in lines)


sys.exit(main())
