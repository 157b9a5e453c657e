"""Mutated mesh files of all formats: `info`, `check`, and `run` of two iterations."""

import cases
import meshes
import mutate
from verdict import finite_text, sound, whole

FORMATS = ["2.2 text", "2.2 binary", "4.1 text", "4.1 binary", "inp", "cdb", "bdf", "vtk", "vtu", "vtu binary"]


def make(place):
    """One mesh a format."""
    for version in ("2.2", "4.1"):
        for name, words in (("text", ["--ascii"]), ("binary", [])):
            place.require("mesh", "cantilever", "--elements", "60", "--format", version, *words, "-o", "mesh.msh")
            (place.inside / "mesh.msh").rename(place.inside / f"{version} {name}")
    mesh = meshes.box(4, 3, 2)
    for name, write in (("inp", meshes.inp), ("cdb", meshes.cdb), ("bdf", meshes.bdf),
                        ("vtk", meshes.vtk), ("vtu", meshes.vtu)):
        place.write(name, write(mesh))
    place.write("mesh.msh", meshes.msh(mesh))
    place.write("a.toml", cases.text(cases.simple("mesh.msh", iterations=1)))
    place.require("run", "a.toml", "-o", "r")
    (place.inside / "r" / "design.vtu").rename(place.inside / "vtu binary")


def attempt(place, random, number):
    """Mutates a file of the next format."""
    form = FORMATS[number % len(FORMATS)]
    file = f"mesh.{form if form in ('inp', 'cdb', 'bdf', 'vtk') else 'vtu' if 'vtu' in form else 'msh'}"
    data = (place.shared("meshes", make) / form).read_bytes()
    place.write(file, mutate.mutated(random, data, "binary" in form))
    case = cases.simple(file)
    if "vt" in form or form == "bdf":
        case["supports"] = [{"set": "held"}]
        case["loads"] = [{"set": "pulled", "total_force": [0.0, -10.0, 0.0]}]
        case["select"] = [
            {"name": "held", "kind": "faces", "plane": {"point": [0, 0, 0], "normal": [1, 0, 0]}},
            {"name": "pulled", "kind": "nodes", "nearest": [4, 0, 1]}]
    elif form == "cdb":
        case["supports"], case["loads"][0]["set"] = [{"set": "FIXED"}], "LOAD"
    place.write("a.toml", cases.text(case))
    before = place.state()
    for arguments in (["info", file], ["check", "a.toml"], ["run", "a.toml", "-o", "r"]):
        done = place.run(*arguments)
        sound(done, about=(file, "a.toml", "load case", "nodes", "elements"))
        finite_text(done)
        if arguments[0] == "run":
            whole(place.inside / "r", done)
        elif done.status == 1:
            break
    place.unchanged(before, but=["r"])
