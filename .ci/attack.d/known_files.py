"""Known defects of files: pyramids, meshes that change before a run goes on, names, counts, memory."""

import csv
import json
import os
import signal
import time

import cases
import meshes
import world
from verdict import HANG, LOST, UNCLEAR, WRONG, require, sound

# A cube, a pyramid on top of it and a tetrahedron beside that; nodes from 0.
NODES = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1), (.5, .5, 2),
         (.5, -.5, 1.8)]
CELLS = [("C3D8", 12, (0, 1, 2, 3, 4, 5, 6, 7)), ("C3D5", 14, (4, 5, 6, 7, 8)), ("C3D4", 10, (4, 5, 8, 9))]
PARTS = 8 + 12 + 4


def inp_with_a_pyramid(cells):
    """The cells as an Abaqus deck."""
    lines = ["*NODE"] + [f"{n},{x},{y},{z}" for n, (x, y, z) in enumerate(NODES, 1)]
    for e, (kind, _, corners) in enumerate(cells, 1):
        lines += [f"*ELEMENT,TYPE={kind},ELSET=E", f"{e}," + ",".join(str(n + 1) for n in corners)]
    return "\n".join(lines + ["*NSET,NSET=fixed", "1,2,3,4", "*NSET,NSET=load", "9,"]) + "\n"


def vtk_with_a_pyramid(cells):
    """The cells as a legacy VTK file."""
    numbers = sum(len(corners) + 1 for *_, corners in cells)
    lines = ["# vtk DataFile Version 3.0", "x", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(NODES)} double"]
    lines += [" ".join(map(str, x)) for x in NODES] + [f"CELLS {len(cells)} {numbers}"]
    lines += [" ".join(map(str, (len(corners), *corners))) for *_, corners in cells]
    lines += [f"CELL_TYPES {len(cells)}"] + [str(kind) for _, kind, _ in cells] + [f"POINT_DATA {len(NODES)}"]
    for name, members in (("fixed", range(4)), ("load", (8,))):
        marks = " ".join(str(int(n in members)) for n in range(len(NODES)))
        lines += [f"SCALARS {name} int 1", "LOOKUP_TABLE default", marks]
    return "\n".join(lines) + "\n"


def pyramids(place):
    """What a run or an analysis has written of a mesh with pyramids has its elements, in every command."""
    for name, text in (("mesh.inp", inp_with_a_pyramid(CELLS)), ("mesh.vtk", vtk_with_a_pyramid(CELLS))):
        place.write(name, text)
        place.write("a.toml", cases.text(cases.simple(name, fraction=0.7, output={"uncut": True, "pieces": 2})))
        for words in (["solve", "a.toml", "-o", "s", "--overwrite"], ["run", "a.toml", "-o", "r", "--overwrite"],
                      ["verify", "r"], ["solve", "a.toml", "--design", "r", "-o", "d", "--overwrite"],
                      ["report", "r"], ["export", "r", "-o", "x.stl", "--threshold", "0.7"],
                      ["run", "a.toml", "--start-from", "r", "-o", "t", "--overwrite"]):
            sound(place.run(*words), statuses=(0,))
        for file in ("r/design.vtu", "s/analysis.vtu"):
            found = json.loads(place.require("info", file, "--json").out)["elements"]
            require(found == PARTS, WRONG, f"{file} has {found} elements in place of {PARTS}")


def left_handed_elements(place):
    """Elements that are counted the other way round have the same volume, or are refused."""
    mesh = meshes.box(4, 2, 2)
    turned = [corners[4:] + corners[:4] if e % 3 == 0 else corners for e, corners in enumerate(mesh.elements)]
    mesh = meshes.Mesh(mesh.nodes, turned, mesh.sets)
    for name, write in (("mesh.msh", meshes.msh), ("mesh.inp", meshes.inp), ("mesh.vtu", meshes.vtu)):
        place.write(name, write(mesh))
        done = place.run("info", name, "--json")
        sound(done, statuses=(0, 1))
        if done.status == 0:
            info = json.loads(done.out)
            require(abs(info["volume"] - 16.0) < 1e-9, WRONG, f"volume {info['volume']} in place of 16")
            require("left-handed" in " ".join(info["notes"]), UNCLEAR, "it is not said")


HEAT = {"physics": {"kind": "heat"}, "loads": [{"set": "load", "total_heat": 5.0}],
        "material": {"conductivity": 1.0, "mass_density": 1.0, "heat_capacity": 1.0}}
# Tables that name the set `moved`, elastic and of heat.
ELASTIC_TABLES = [
    {"springs": [{"set": "moved", "stiffness": [0.0, 1e3, 0.0]}]},
    {"supports": [{"set": "fixed"}, {"set": "moved", "fix": ["z"]}]},
    {"supports": [{"set": "fixed"}, {"set": "moved", "fix": ["z"], "displacement": [0.0, 0.0, 1e-3]}]},
    {"loads": [{"set": "load", "force": [0.0, -10.0, 0.0]}, {"set": "moved", "force": [0.0, 0.0, 1.0]}]},
    {"optimizer": {"method": "mma", "max_iterations": 2},
     "constraints": [{"response": "displacement", "set": "moved", "at_most": 1e6}]},
    {"objective": {"minimize": "displacement", "set": "moved"}, "optimizer": {"method": "mma", "max_iterations": 2}},
]
HEAT_TABLES = [
    {"convection": [{"set": "moved", "film_coefficient": 1.0, "ambient": ambient}]} for ambient in (0.0, 3.0)
] + [
    {"supports": [{"set": "fixed"}, {"set": "moved", "temperature": 0.0}]},
    {"objective": {"minimize": "mean_temperature", "set": "moved"},
     "optimizer": {"method": "mma", "max_iterations": 2}},
    {"objective": {"minimize": "mean_temperature", "set": "moved"},
     "optimizer": {"method": "mma", "max_iterations": 2}, "transient": {"end": 1.0, "step": 0.25}},
]


def mesh_with_a_set_at(column):
    """A box with the node set `moved` on the nodes of one edge."""
    mesh = meshes.box(6, 2, 2)
    mesh.sets["moved"] = (0, [n for n, x in enumerate(mesh.nodes) if x[0] == column and x[1] == 2.0])
    return meshes.msh(mesh)


def resume_after_a_set_has_moved(place):
    """A run does not go on with another set, whatever names it."""
    for tables in ELASTIC_TABLES + [{**HEAT, **table} for table in HEAT_TABLES]:
        place.write("mesh.msh", mesh_with_a_set_at(4.0))
        place.write("a.toml", cases.text(cases.simple("mesh.msh", **tables)))
        done = place.run("run", "a.toml", "-o", "r", "--overwrite")
        sound(done)
        if done.status != 0:
            continue
        place.write("mesh.msh", mesh_with_a_set_at(3.0))
        done = place.run("run", "a.toml", "-o", "r", "--resume", "--set", "optimizer.max_iterations=4")
        sound(done)
        require(done.status == 1, WRONG, f"a run goes on with another set: {tables}")


def transient(place, tables):
    """A case of heat in time."""
    place.write("mesh.msh", meshes.msh(meshes.box(4, 2, 2)))
    case = cases.simple("mesh.msh", **HEAT, transient=tables)
    place.write("a.toml", cases.text({name: case[name] for name in case if name not in ("design", "filter", "optimizer")}))


def names_of_probes(place):
    """Names that a table has to quote, and such as it has itself."""
    names = ["a,b", 'say "no"', ",", '"', "step", "", "a;b", "\u00fc", "x" * 300, "=1+1"]
    for name in names:
        transient(place, {"end": 1.0, "step": 0.3, "probes": [{"name": name, "point": [1.0, 1.0, 1.0]}]})
        done = place.run("solve", "a.toml", "-o", "s", "--overwrite")
        sound(done, statuses=(0, 1))
        if done.status == 0:
            table = list(csv.reader((place.inside / "s" / "transient.csv").read_text().splitlines()))
            require(table[0][-1] == name and len(set(map(len, table))) == 1, WRONG, f"transient.csv: {table[0]}")
        else:
            require(not (place.inside / "s").exists() or name not in names[:4], LOST, "solved, and then refused")


def names_of_columns(place):
    """Names of sets that are the same without blanks, and twice."""
    select = [{"name": name, "kind": "nodes", "nearest": [6.0, y, 0.0]}
              for name, y in (("t 2", 0.0), ("t", 2.0), ("t,2", 1.0), ('t"', 0.0))]
    limits = [{"response": "displacement", "set": name, "at_most": at}
              for name, at in (("t 2", 1e6), ("t", 1e6), ("t", 2e6), ("t,2", 1e6), ('t"', 1e6))]
    place.write("mesh.msh", meshes.msh(meshes.box(6, 2, 2)))
    place.write("a.toml", cases.text(cases.simple("mesh.msh", select=select, constraints=limits)))
    done = place.run("run", "a.toml", "-o", "r")
    sound(done, statuses=(0, 1))
    if done.status == 0:
        columns = next(csv.reader((place.inside / "r" / "history.csv").read_text().splitlines()))
        require(len(set(columns)) == len(columns), WRONG, f"two columns of one name: {columns}")
        sound(place.run("report", "r"), statuses=(0,))


def names_of_cases(place):
    """Case files whose names are dots, and folders that are no text."""
    world.prepare(place)
    text = (place.inside / "a.toml").read_text()
    for name in ("..toml", "...toml", "....toml", ".toml"):
        place.write(name, text)
        sound(place.run("run", name), statuses=(0, 1))
        stray = [path.name for path in (place.inside / "summary.json", place.inside / "results" / "summary.json")
                 if path.exists()]
        require(not stray, WRONG, f"{name} writes beside its folder")
    for words in (["run", "a.toml"], ["solve", "a.toml"]):
        done = place.run(*words, "-o", b"\xff\xfe" + words[0].encode())
        sound(done, statuses=(0,))


def counts(place):
    """Numbers that count something, far beyond what can be counted."""
    transient(place, {"end": 1.0, "step": 0.25})
    for more in ("transient.step=1e-18", "transient.step=1e-300", "transient.end=1e300", "transient.step=1e-320",
                 "transient={end=1.0,steps=[[0.5,0.1],[1.0,1e-18]]}",
                 "transient={end=2e16,steps=[[1e16,1e15],[2e16,1e-9]]}", "output.vti_spacing=1e-300"):
        for command in ("check", "solve"):
            sound(place.run(command, "a.toml", *(["-o", "s", "--overwrite"] if command == "solve" else []),
                            "--set", more, limit=8), statuses=(0, 1) if "vti" in more else (1,))
    for steps in ("[[100.0,1.0],[200.0,2.0]]", "[[50.0,1.0],[200.0,2.0]]", "[[100.0,1.0]]"):
        done = place.run("solve", "a.toml", "-o", "s", "--overwrite", "--set", f"transient={{end=50.0,steps={steps}}}")
        sound(done, statuses=(0,))
        rows = (place.inside / "s" / "transient.csv").read_text().count("\n")
        require(rows == 52, WRONG, f"{rows - 2} steps in place of 50")
    world.prepare(place)
    for ranks in ("18446744073709551615", "1000000", "257", "200"):
        done = place.run("run", "a.toml", "-o", "r", "--ranks", ranks, limit=8)
        sound(done, statuses=(1,))
    for more in ("output.pieces=1000000000000", "output.snapshot_every=18446744073709551615",
                 "optimizer.max_iterations=3", "solver.max_iterations=9000000000000000000"):
        sound(place.run("run", "a.toml", "-o", "r", "--overwrite", "--set", more, limit=8), statuses=(0, 1))


def little_memory_for_results(place):
    """What reads results counts memory, too."""
    world.prepare(place, (12, 8, 8))
    place.require("run", "a.toml", "-o", "r")
    for more in range(60, 420, 30):
        for words in (["report", "r"], ["verify", "r"], ["export", "r", "-o", "x.stl", "--threshold", "0.3"],
                      ["solve", "a.toml", "-o", "s", "--overwrite"]):
            sound(place.run(*words, memory=more << 20, limit=90))


def gmsh_after_a_kill(place):
    """What Gmsh has started ends with the program, however that ends."""
    for signals in ([signal.SIGKILL], [signal.SIGTERM, signal.SIGTERM], [signal.SIGINT, signal.SIGTERM]):
        program = place.write("slow.sh", '#!/bin/sh\nsleep 300 &\necho $! >"$(dirname "$0")/child"\nwait\n')
        program.chmod(0o755)
        place.write("part.geo", "Box(1) = {0, 0, 0, 1, 1, 1};\n")
        child = place.inside / "child"
        process = place.start("info", "part.geo", environment={"GMSH": str(program)})
        began = time.monotonic()
        while not (child.exists() and child.read_text().endswith("\n")) and time.monotonic() - began < 10:
            time.sleep(0.02)
        number = int(child.read_text())
        child.unlink()
        for each in signals:
            process.send_signal(each)
            time.sleep(0.001)
        place.finish(process, limit=8)
        began = time.monotonic()
        while lives(number) and time.monotonic() - began < 3:
            time.sleep(0.02)
        there = lives(number)
        if there:
            os.kill(number, signal.SIGKILL)
        require(not there, HANG, f"a child of Gmsh lives on after {signals}")
        left = [path.name for path in (place.folder / "tmp").glob("topopt-gmsh-*")]
        require(not left, WRONG, f"left behind: {left}")


def lives(number):
    """Whether a process is there and no zombie."""
    try:
        return open(f"/proc/{number}/stat").read().split()[2] != "Z"
    except OSError:
        return False


INPUTS = [pyramids, left_handed_elements, resume_after_a_set_has_moved, names_of_probes, names_of_columns,
          names_of_cases, counts, little_memory_for_results, gmsh_after_a_kill]
