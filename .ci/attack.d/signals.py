"""Interrupts of every command on a large mesh: it ends within a second of the first."""

import shutil
import signal

import cases
from place import remove_tree
from verdict import HANG, require, sound

COMMANDS = [
    ["info", "large.msh"], ["check", "a.toml"], ["run", "a.toml", "-o", "n"], ["verify", "r"],
    ["export", "r", "-o", "x.stl", "--quality", "show"], ["report", "r"],
    ["mesh", "cantilever", "--elements", "1000000", "-o", "x.msh"],
    ["distance", "large.msh", "--from-surface", "--device", "cpu", "-o", "d.vtu"]]
GRACE = 1.0  # seconds from the signal to the end


def make(place):
    """A mesh on which commands take seconds, and one design on it."""
    elements = "20000" if place.quick else "200000"
    place.require("mesh", "cantilever", "--elements", elements, "-o", "large.msh", limit=300)
    place.write("a.toml", cases.text(cases.simple("large.msh", iterations=3, solver={"tolerance": 1e-2})))
    place.require("run", "a.toml", "-o", "r", limit=300)


def attempt(place, random, number):
    """One command; a late end counts if it is late twice, since the machine may be busy."""
    shared = place.shared("large", make)
    (place.inside / "large.msh").symlink_to(shared / "large.msh")
    for name in ("a.toml", "r"):
        source = shared / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, place.inside / name)
    case = place.inside / "r" / "case.toml"
    case.write_text(case.read_text().replace(str(shared), str(place.inside)))
    arguments, name = COMMANDS[number % len(COMMANDS)], random.choice((signal.SIGINT, signal.SIGTERM))
    after = random.uniform(0.05, 1.0)
    for _ in range(2):
        remove_tree(place.inside / "n")
        done = place.run(*arguments, sent=(after, name), limit=after + 5)
        if done.lag is None or done.lag <= GRACE:
            break
    late = f"{done.lag or 0:.1f} s after {name.name}" + " and still running" * done.timed_out
    require(done.lag is None or done.lag <= GRACE, HANG, f"{' '.join(arguments)}: {late}")
    sound(done, statuses=(0, 130, 143, -name) if done.lag is not None else (0,))
