"""Outputs over what is there: foreign files, earlier runs, inputs, links. Nothing of it may be lost."""

import os
import shutil
import signal

import cases
import meshes
from verdict import LOST, require, sound

FOREIGN = ["history.csv", "summary.json", "design.vtu", "design.vti", "design.pvd", "verify.json", "verify.vtu",
           "report.html", "case.toml", "snapshots/design_0001.vtu", "design.pvtu", "pieces/piece_0001.vtu",
           "checkpoints/iteration_0001.ckpt", "notes.txt"]


def make(place):
    """A case, its mesh and its results."""
    place.write("mesh.msh", meshes.msh(meshes.box(8, 4, 4)))
    place.write("a.toml", cases.text(cases.simple("mesh.msh", output={"snapshot_every": 1, "checkpoint_every": 1})))
    place.require("run", "a.toml", "-o", "r")


def attempt(place, random, number):
    """The next of the scenarios, beside a case and its results."""
    shared = place.shared("outputs", make)
    shutil.copytree(shared, place.inside, dirs_exist_ok=True)
    case = place.inside / "r" / "case.toml"
    case.write_text(case.read_text().replace(str(shared), str(place.inside)))
    SCENARIOS[number % len(SCENARIOS)](place, random)


def foreign_files(place, random):
    """A run into a folder that was never one of results."""
    for name in random.sample(FOREIGN, random.choice((1, 2))):
        place.write(f"mine/{name}", "what nobody else may write\n")
    before = place.state()
    sound(place.run("run", "a.toml", "-o", "mine"))
    keep(place, before, "mine")


def earlier_run(place, random):
    """A run again over a finished or an interrupted one, which may even fail."""
    if random.random() < 0.5:
        more = ["--set", "optimizer.max_iterations=100000", "--set", "optimizer.change_tolerance=1e-12"]
        place.run("run", "a.toml", "-o", "n", *more, "--set", "optimizer.compliance_tolerance=0",
                  sent=(0.4, random.choice((signal.SIGKILL, signal.SIGINT))))
    folder = "n" if (place.inside / "n" / "history.csv").exists() else "r"
    before = place.state()
    setting = random.choice(("solver.max_iterations=1", "design.volume_fraction=0.5"))
    sound(place.run("run", "a.toml", "-o", folder, "--set", setting))
    keep(place, before, folder)


def same_name(place, random):
    """Two cases of one name without a folder for results."""
    for name in ("one", "two"):
        place.write(f"{name}/part.toml", cases.text(cases.simple("../mesh.msh")))
    sound(place.run("run", "one/part.toml"), statuses=(0,))
    before = place.state()
    sound(place.run("run", "two/part.toml"))
    keep(place, before, "results")


def keep(place, before, folder):
    """Nothing that was there is changed; what is new lies in the folder."""
    after = place.state()
    before = {path: content for path, content in before.items() if ".topopt-part" not in path}
    lost = sorted(path for path in before if after.get(path) != before[path])
    require(not lost, LOST, f"changed or removed: {lost[:9]}")
    place.unchanged(before, but=[folder])


def over_an_input(place, random):
    """An output that is an input, or another file of the user."""
    place.write("mine.toml", "# what nobody else may write\n")
    place.write("part.vtu", meshes.vtu(meshes.box(4, 2, 2), density=[0.5] * 8 + [1.0] * 8))
    case = cases.simple("part.vtu")
    case["select"] = [{"name": "fixed", "kind": "faces", "plane": {"point": [0, 0, 0], "normal": [1, 0, 0]}},
                      {"name": "load", "kind": "nodes", "nearest": [4, 0, 1]}]
    place.write("b.toml", cases.text(case))
    words = random.choice((
        ["check", "b.toml", "--preview", "part.vtu"], ["check", "b.toml", "--preview", "b.toml"],
        ["report", "r", "-o", "a.toml"], ["report", "r", "-o", "r/design.vtu"], ["report", "r", "-o", "mine.toml"],
        ["export", "r", "-o", "r/design.vtu"], ["export", "r", "-o", "a.toml"], ["mesh", "cantilever", "-o", "a.toml"],
        ["check", "b.toml", "--preview", "x/../part.vtu"]))
    (place.inside / "x").mkdir()
    before = place.state()
    sound(place.run(*words))
    place.unchanged(before)


def mesh_among_results(place, random):
    """The mesh lies in the folder for the results, under one of their names."""
    data = meshes.vtu(meshes.box(4, 2, 2))
    name = random.choice(("design.vtu", "verify.vtu", "snapshots/design_0001.vtu", "part.vtu"))
    place.write(f"n/{name}", data)
    case = cases.simple(name)
    case["select"] = [{"name": "fixed", "kind": "faces", "plane": {"point": [0, 0, 0], "normal": [1, 0, 0]}},
                      {"name": "load", "kind": "nodes", "nearest": [4, 0, 1]}]
    place.write("n/b.toml", cases.text(case))
    before = place.state()
    sound(place.run("run", "n/b.toml", "-o", "n"))
    keep(place, before, "n")


def links(place, random):
    """A link in the place of an output: what it leads to stays as it is."""
    place.write("precious", "what nobody else may write\n")
    name = random.choice(("history.csv", "summary.json", "design.vtu", "case.toml", "design.pvd", "report.html"))
    words = random.choice((["run", "a.toml", "-o", "r"], ["run", "a.toml", "-o", "r", "--resume"], ["report", "r"],
                           ["run", "a.toml", "-o", "n"], ["run", "r/case.toml", "--resume",
                                                          "--set", "optimizer.max_iterations=4"]))
    folder = "n" if "n" in words else "r"
    (place.inside / "n").mkdir()
    (place.inside / folder / name).unlink(missing_ok=True)
    os.symlink("../precious", place.inside / folder / name)
    before = place.state()
    sound(place.run(*words))
    place.unchanged(before, but=[folder])


SCENARIOS = [foreign_files, over_an_input, earlier_run, mesh_among_results, links, foreign_files, over_an_input,
             same_name]
