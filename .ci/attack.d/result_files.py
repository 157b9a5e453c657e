"""Mutated results and checkpoints, with checksums that fit: report, verify, export, resume, start from."""

import json
import shutil
import signal

import cases
import meshes
import mutate
import results
from verdict import finite_text, sound, whole

COMMANDS = [
    ["report", "r"], ["verify", "r"], ["export", "r", "-o", "x.stl"], ["export", "r", "-o", "x.3mf", "--quality", "draft"],
    ["run", "r/case.toml", "--resume"], ["run", "r/case.toml", "--resume", "--set", "optimizer.max_iterations=6"],
    ["run", "a.toml", "-o", "n", "--start-from", "r"], ["run", "a.toml", "-o", "n", "--start-from", "r/design.vtu"]]
FILES = ["case.toml", "summary.json", "history.csv", "design.vtu", "checkpoint", "checkpoint", "checkpoint"]
VALUES = [0.0, -1.0, 2.0, 1e308, 1e-320, float("nan"), float("inf")]
ITEMS = [None, True, -1, 0, 1, 1e308, 2**63, "", "x", [], {}, [["x", 1]], [["density", 2**62]], 10**30]


def make(place):
    """A run of four iterations with all that it can write."""
    place.write("mesh.msh", meshes.msh(meshes.box(6, 3, 3)))
    output = {"snapshot_every": 1, "checkpoint_every": 1}
    place.write("a.toml", cases.text(cases.simple("mesh.msh", iterations=4, output=output)))
    place.require("run", "a.toml", "-o", "r")


def attempt(place, random, number):
    """Mutates one of the files and runs two of the commands."""
    shared = place.shared("results", make)
    shutil.copytree(shared, place.inside, dirs_exist_ok=True)
    folder = place.inside / "r"
    file = random.choice(FILES)
    if file == "checkpoint":
        for path in sorted((folder / "checkpoints").iterdir())[-random.choice((1, 2)):]:
            path.write_bytes(forged(random, path.read_bytes()))
    else:
        data = (folder / file).read_bytes()
        (folder / file).write_bytes(mutate.mutated(random, data, file == "design.vtu"))
    case = (folder / "case.toml").read_bytes().replace(bytes(shared), bytes(place.inside))
    (folder / "case.toml").write_bytes(case)
    before = place.state()
    for arguments in random.sample(COMMANDS, 2):
        done = place.run(*arguments, sent=(8, signal.SIGINT))
        sound(done, statuses=(0, 1, 2) if done.lag is None else (0, 1, 2, 130))
        finite_text(done)
        if "n" in arguments:
            whole(place.inside / "n", done)
        elif arguments[0] == "run" and file in ("case.toml", "checkpoint"):  # else the mutated file may still lie there
            whole(folder, done)
    place.unchanged(before, but=["r", "n", "x.stl", "x.3mf"])


def forged(random, data):
    """The checkpoint with another header, other values, or of another length, under its right checksum."""
    header, values = results.read_checkpoint(data)
    way = random.randrange(5)
    if way == 0:
        return results.checked(mutate.mutated(random, data[:-4], True))
    if way == 1:
        return results.checkpoint(mutate.mutated(random, json.dumps(header).encode(), False), values)
    if way == 2:
        inner = header
        while random.random() < 0.7 and isinstance(inner, dict) and any(isinstance(i, dict) for i in inner.values()):
            inner = random.choice([item for item in inner.values() if isinstance(item, dict)])
        inner[random.choice(list(inner) or ["x"])] = random.choice(ITEMS)
        return results.checkpoint(header, values)
    for _ in range(random.choice((1, len(values)))):
        values[random.randrange(len(values))] = random.choice(VALUES)
    return results.checkpoint(header, values[:random.choice((len(values), len(values), 1))])
