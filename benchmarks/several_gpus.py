#!/usr/bin/env python3
"""How runs scale with ranks: designs of a cantilever, with meshing, on one GPU and on several.

    python3 benchmarks/several_gpus.py TOPOPT --elements 1000000 8000000 --ranks 1 2 [--device gpu]

Prints a line per run: seconds before the first iteration, of a design, and milliseconds of an iteration of
conjugate gradients with multigrid, with the ratio to the first number of ranks at that size. `--per-rank`
takes the numbers of elements per rank, for weak scaling: the ratio is then the efficiency.
"""

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

CASE = Path(__file__).resolve().parent / "cantilever.toml"


def run(topopt, device, elements, ranks, designs):
    """The summary of a run, which has to succeed."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"mesh.elements={elements}", f"optimizer.max_iterations={designs}",
                    "output.vti_spacing=0", "output.checkpoint_every=0"]
        command = [topopt, "run", str(CASE), "--device", device, "--ranks", str(ranks), "-o", folder,
                   "--overwrite"]
        command += [argument for setting in settings for argument in ("--set", setting)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads((Path(folder) / "summary.json").read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("topopt")
    parser.add_argument("--elements", type=int, nargs="+", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--designs", type=int, default=5)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--per-rank", action="store_true")
    options = parser.parse_args()

    print(f"{'elements':>12} {'ranks':>5} {'before s':>9} {'design s':>9} {'PCG':>5} {'PCG ms':>8} {'ratio':>6}",
          flush=True)
    for size in options.elements:
        first = None
        for ranks in options.ranks:
            elements = size * ranks if options.per_rank else size
            summary = run(options.topopt, options.device, elements, ranks, options.designs)
            seconds, iterations = summary["seconds"], summary["pcg_iterations"]
            milliseconds = 1e3 * seconds["pcg"] / iterations
            first = first or milliseconds
            design = sum(seconds[step] for step in ("setup", "pcg", "sensitivity", "filter", "update"))
            print(f"{summary['elements']:>12} {ranks:>5} {seconds['preprocess']:>9.2f} "
                  f"{design / options.designs:>9.3f} {iterations:>5} {milliseconds:>8.3f} "
                  f"{first / milliseconds:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
