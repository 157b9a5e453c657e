"""Kills at random in the course of a run, then `--resume`: the same bits as without."""

import signal
import time

import cases
import meshes
import results
from place import remove_tree
from verdict import WRONG, require, sound, whole

SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def make(place):
    """The run without kills, and how long it takes."""
    place.write("mesh.msh", meshes.msh(meshes.box(12, 6, 4 if place.quick else 8)))
    kind = {"kind": "density", "radius_in_elements": 2.0}
    place.write("a.toml", cases.text(cases.simple(
        "mesh.msh", iterations=25, filter=kind, projection={"sharpness": 4.0}, optimizer={"change_tolerance": 1e-9},
        continuation=[{"from": 8, "sharpness": 8.0}], output={"checkpoint_every": 2, "snapshot_every": 5})))
    start = time.monotonic()
    place.require("run", "a.toml", "-o", "r")
    place.write("seconds", str(time.monotonic() - start))


def attempt(place, random, number):
    """Up to three kills, then a run to the end."""
    shared = place.shared("undisturbed", make)
    for name in ("mesh.msh", "a.toml"):
        place.write(name, (shared / name).read_bytes())
    seconds, folder = float((shared / "seconds").read_text()), place.inside / "r"
    killed = False
    for _ in range(random.choice((1, 1, 2, 3))):
        name = random.choice(SIGNALS)
        done = place.run(*command(folder), sent=(random.uniform(0.0, seconds), name))
        sound(done, statuses=(0,) if done.lag is None else (0, 130, -name))
        # What a killed run left under way is removed by the next that opens the folder, which one that is
        # interrupted before may not do.
        if done.status == 0 or done.status == 130 and not killed:
            whole(folder, done)
        killed |= done.status < 0
        if done.status == 0:
            break
    sound(place.run(*command(folder)), statuses=(0,))
    require(results.exact(folder) == results.exact(shared / "r"), WRONG, "other bits than those of the undisturbed run")


def command(folder):
    """Goes on if there is a checkpoint, else begins again."""
    if any(folder.glob("checkpoints/*.ckpt")):
        return ["run", "a.toml", "-o", "r", "--resume"]
    remove_tree(folder)
    return ["run", "a.toml", "-o", "r"]
