#!/usr/bin/env python3
"""How runs scale with ranks: designs of a cantilever, with meshing, on one GPU and on several.

    python3 benchmarks/several_gpus.py TOPOPT --elements 1000000 8000000 --ranks 1 2 [--device gpu]

Prints a line per run: seconds before the first iteration, of a design, and milliseconds of an iteration of
conjugate gradients with multigrid, with the ratio to the first number of ranks at that size; then the largest
memory of a GPU, and of all processes on the host. `--per-rank` takes the numbers of elements per rank, for weak
scaling: the ratio is then the efficiency. A run is ended once it has made its designs, before it writes them.
"""

import argparse
import csv
import os
import subprocess
import tempfile
import time
from pathlib import Path

CASE = Path(__file__).resolve().parent / "cantilever.toml"
STEPS = ("setup", "pcg", "sensitivity", "filter", "update")


def watch(process, history, designs):
    """The designs of a run, the time to the first one in seconds, and largest memories in MiB and GiB."""
    begin, first, device, host = time.time(), None, 0, 0.0
    while process.poll() is None:
        lines = history.read_text().splitlines() if history.exists() else []
        first = first or (time.time() - begin if len(lines) > 1 else None)
        device, host = max(device, device_memory()), max(host, host_memory(process.pid))
        if len(lines) > designs:
            process.kill()
            process.wait()
            return list(csv.DictReader(lines))[:designs], first, device, host
        time.sleep(0.05)
    raise SystemExit(f"the run ended by itself, with status {process.returncode}")


def device_memory():
    """The memory in use of the GPU that uses most, in MiB; 0 without one."""
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        return max(map(int, subprocess.run(query, capture_output=True, text=True).stdout.split()))
    except (FileNotFoundError, ValueError):
        return 0


def host_memory(session):
    """The memory of all processes of a session, without what they share, in GiB."""
    pages = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(entry.name)) == session:
                _, resident, shared, *_ = map(int, (entry / "statm").read_text().split())
                pages += resident - shared
        except OSError:
            pass
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**30


def run(topopt, device, elements, ranks, designs):
    """Watches a run in a folder that goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"mesh.elements={elements}", f"optimizer.max_iterations={designs + 100}",
                    "output.vti_spacing=0", "output.checkpoint_every=0"]
        command = [topopt, "run", str(CASE), "--device", device, "--ranks", str(ranks), "-o", folder,
                   "--overwrite"]
        command += [argument for setting in settings for argument in ("--set", setting)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            return watch(process, Path(folder) / "history.csv", designs)
        finally:
            subprocess.run(["pkill", "-KILL", "-s", str(process.pid)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("topopt")
    parser.add_argument("--elements", type=int, nargs="+", required=True)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--designs", type=int, default=5)
    parser.add_argument("--device", default="gpu")
    parser.add_argument("--per-rank", action="store_true")
    options = parser.parse_args()

    print(f"{'elements':>12} {'ranks':>5} {'before s':>9} {'design s':>9} {'PCG':>5} {'PCG ms':>8} {'ratio':>6} "
          f"{'GPU MiB':>8} {'host GiB':>8}", flush=True)
    for size in options.elements:
        first = None
        for ranks in options.ranks:
            elements = size * ranks if options.per_rank else size
            rows, before, gpu, host = run(options.topopt, options.device, elements, ranks, options.designs)
            iterations = sum(int(row["pcg_iterations"]) for row in rows)
            milliseconds = 1e3 * sum(float(row["pcg_seconds"]) for row in rows) / iterations
            first = first or milliseconds
            designs = [sum(float(row[f"{step}_seconds"]) for step in STEPS) for row in rows]
            print(f"{elements:>12} {ranks:>5} {before - designs[0]:>9.2f} {sum(designs) / len(rows):>9.3f} "
                  f"{iterations:>5} {milliseconds:>8.3f} {first / milliseconds:>6.2f} {gpu:>8} {host:>8.1f}",
                  flush=True)


if __name__ == "__main__":
    main()
