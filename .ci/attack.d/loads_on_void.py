"""Loads on faces and nodes that an optimizer would rather leave empty: a verification is of the loads of the case."""

import json
import math

import cases
import meshes
from verdict import UNCLEAR, WRONG, require, sound

SAME = 1e-6  # of forces and moments, relative to the largest
STIFFER = 1e-3  # share by which rounding of the shape may take a part below the compliance of the full one


def attempt(place, random, number):
    """A box with loads on a random patch of its surface, optimized for some iterations and verified."""
    mesh = meshes.box(*(random.randrange(4, 12) for _ in range(3)))
    add_patch(random, mesh)
    place.write("mesh.msh", meshes.msh(mesh))
    place.write("a.toml", cases.text(random_case(random, number)))
    sound(place.run("solve", "a.toml", "-o", "s"), statuses=(0,))
    sound(place.run("run", "a.toml", "-o", "r"), statuses=(0,))
    done = place.run("verify", "r")
    sound(done, statuses=(0, 1, 3))
    if done.status == 1:
        require("help:" in done.err, UNCLEAR, f"a verification is refused without a remedy: {done.err}")
        return
    same_loads(read(place, "s/analysis.json"), read(place, "r/verify.json"))


def add_patch(random, mesh):
    """Faces of the surface at the largest x, y or z around a random one, as the set `patch`."""
    axis = random.randrange(3)
    most = max(x[axis] for x in mesh.nodes)
    at = [[c[i] for i in face] for c in mesh.elements for face in meshes.FACES]
    faces = [face for face in at if all(mesh.nodes[n][axis] == most for n in face)]
    middle, radius = center(mesh, random.choice(faces)), random.uniform(0.5, 4.0)
    near = [face for face in faces if math.dist(center(mesh, face), middle) < radius]
    mesh.sets["patch"] = (2, near)


def center(mesh, face):
    """The middle of a face."""
    return [sum(mesh.nodes[n][i] for n in face) / 4 for i in range(3)]


def random_case(random, number):
    """A case whose design is thin, with loads of one kind on the patch."""
    case = cases.simple("mesh.msh", iterations=random.choice((1, 5, 15)), fraction=random.uniform(0.05, 0.4))
    force = [random.uniform(-9, 9) for _ in range(3)]
    load = random.choice(({"total_force": force}, {"pressure": random.uniform(0.1, 2.0)}, {"traction": force}))
    case["loads"] = [{"set": "patch", **load}]
    if random.random() < 0.3:
        case["loads"].append({"set": "load", "total_force": force, "case": "edge"})
    if number % 2:
        case["design"]["keep_loaded"] = "free"
    case["filter"] = {"kind": random.choice(("density", "sensitivity")), "radius_in_elements": random.uniform(1.2, 3.0)}
    return case


def same_loads(full, verified):
    """Forces and moments of each load case, and no compliance below that of the full part."""
    for whole, built in zip(full["load_cases"], verified["load_cases"]):
        for key in ("applied", "applied_moment"):
            size = max(1e-12, *map(abs, whole["applied"] + whole["applied_moment"]))
            apart = max(abs(a - b) for a, b in zip(whole[key], built[key]))
            require(apart < SAME * size, WRONG, f"{key} {built[key]} in place of {whole[key]}")
        require(built["compliance"] > (1 - STIFFER) * whole["compliance"], WRONG,
                f"compliance {built['compliance']} below that of the full part, {whole['compliance']}")


def read(place, name):
    """Numbers of a file of results."""
    return json.loads((place.inside / name).read_text())
