"""Random valid cases on benchmarks and boxes: they succeed, finite, within bounds, and meet the volume or say so."""

import json
import math
import re
import shutil

import cases
import meshes
from verdict import WRONG, require, sound, whole


def attempt(place, random, number):
    """A case of a random number of iterations."""
    mesh = random_mesh(place, random)
    place.write("mesh.msh", meshes.msh(mesh))
    case = random_case(random, mesh)
    case["optimizer"] = {"max_iterations": random.choice((1, 3, 10)), "move_limit": random.choice((0.05, 0.2))}
    place.write("a.toml", cases.text(case))
    before = place.state()
    sound(place.run("check", "a.toml"), statuses=(0,))
    done = place.run("run", "a.toml", "-o", "r")
    said = miss_is_said(done)
    rounding = conditioning(mesh, case) > 1e8 and stopped_by_rounding(place, done)
    sound(done, statuses=(0, 2) if said or rounding else (0,))
    whole(place.inside / "r", done)
    place.unchanged(before, but=["r"])
    if done.status == 0 and not said:
        volume_is_met(place.inside / "r", case)


def conditioning(mesh, case):
    """What rounding grows with: the contrast of the moduli, times the square of the part's length over
    its thickness. A stiff core in a plate that is nearly empty bends out of its plane as a rigid body:
    1e-16 of its forces is then up to 1e-4 of the load."""
    extents = [max(x) - min(x) for x in zip(*mesh.nodes)]
    contrast = case["design"]["density_min"] ** -case["design"]["penalty"]
    return contrast * (max(extents) / min(extents)) ** 2


def miss_is_said(done):
    """Whether a run says that the volume was out of reach."""
    return re.search(r"volume[^\n]*\b(reach|reached|miss|missed|met)\b", done.out + done.err) is not None


def volume_is_met(folder, case):
    """The volume is that which the case wants, within 1e-3; with gravity it may be less."""
    summary = json.loads((folder / "summary.json").read_text())
    if summary.get("volume_met") is False:
        return
    found, wanted = summary["volume_fraction"], case["design"]["volume_fraction"]
    less = any("gravity" in load for load in case["loads"])
    require(found < wanted + 1e-3 and (less or found > wanted - 1e-3), WRONG,
            f"volume {found} in place of {wanted}, and not a word of it")


def stopped_by_rounding(place, done):
    """Whether rounding stops the solver, as it says itself, or as that of Jacobi says, which needs no other solve."""
    said = "rounding stopped the solver"
    if "did not converge" not in done.err:
        return said in done.err
    plain = ("solver.preconditioner=jacobi", "solver.max_iterations=20000")
    again = place.run("run", "a.toml", "-o", "plain", *(word for key in plain for word in ("--set", key)), limit=100)
    shutil.rmtree(place.inside / "plain", ignore_errors=True)
    return said in again.err


def random_mesh(place, random):
    """A benchmark or a box of some hundred elements."""
    if random.random() < 0.5:
        return meshes.box(*(random.randrange(3, 12) for _ in range(3)))
    name = random.choice(("cantilever", "l_beam", "michell", "connecting_rod"))
    return meshes.benchmark(place, name, random.randrange(100, 400 if place.quick else 1000))


def random_case(random, mesh):
    """Tables of a case on `mesh.msh` except those of the optimizer and the solver's tolerances."""
    case = cases.simple("mesh.msh", fraction=random.choice((0.02, random.uniform(0.05, 0.9))))
    case["select"], case["design"]["density_min"] = [], random.choice((1e-3, 1e-2))
    if case["design"]["volume_fraction"] < 0.05:
        # So little joins none of what would be kept, and solids that float in void are beyond double precision.
        case["design"]["keep_loaded"] = "free"
    case["design"]["penalty"] = random.choice((1.0, 3.0))
    add_loads(random, case)
    add_balls(random, mesh, case)
    kind = random.choice(("sensitivity", "density", "density", "none"))
    case["filter"] = {"kind": kind}
    if kind != "none":
        case["filter"]["radius_in_elements"] = random.uniform(1.1, 5.0)
        case["filter"]["weights"] = random.choice(("cone", "cone", "helmholtz"))
    if kind == "density" and random.random() < 0.6:
        case["projection"] = {"sharpness": random.choice((1.0, 4.0, 32.0)), "threshold": random.uniform(0.01, 0.99)}
    return case


def add_balls(random, mesh, case):
    """Perhaps keeps elements around a load solid, and others elsewhere empty."""
    width = (mesh.volume() / len(mesh.elements)) ** (1 / 3)
    loaded, held = set(mesh.sets["load"][1]), {n for face in mesh.sets["fixed"][1] for n in face}
    near = [e for e, corners in enumerate(mesh.elements) if loaded & set(corners)]
    far = [e for e, corners in enumerate(mesh.elements) if not (loaded | held) & set(corners)]
    if random.random() < 0.4:
        ball = {"center": center(mesh, random.choice(near)), "radius": width * random.uniform(0.9, 4.0)}
        distances = [math.dist(center(mesh, e), ball["center"]) for e in range(len(mesh.elements))]
        if max(distances) < 1.001 * ball["radius"]:
            return  # nothing would be left to optimize
        case["select"].append({"name": "core", "kind": "elements", "sphere": ball})
        case["design"]["solid"] = ["core"]
        far = [e for e in far if math.dist(center(mesh, e), ball["center"]) > 1.001 * ball["radius"]]
    if far and random.random() < 0.4:
        ball = {"center": center(mesh, random.choice(far)), "radius": width * random.uniform(0.9, 1.5)}
        case["select"].append({"name": "hole", "kind": "elements", "sphere": ball})
        case["design"]["void"] = ["hole"]
        if "solid" in case["design"]:
            case["select"][-1]["not"] = {"set": "core"}


def add_loads(random, case):
    """Loads in one or two cases, gravity, and springs."""
    case["loads"] = [{"set": "load", "total_force": [random.uniform(-9, 9) for _ in range(3)]}]
    if random.random() < 0.4:
        case["select"].append({"name": "top", "kind": "faces", "normal": {"direction": [0.0, 1.0, 0.0], "angle": 35.0}})
        pressure = random.uniform(0.01, 0.1)
        case["loads"].append({"set": "top", "pressure": pressure, "case": random.choice(("a", "default"))})
    if random.random() < 0.2:
        case["material"]["mass_density"] = 1e-3
        case["design"]["interpolation"] = "ramp"
        case["loads"].append({"gravity": [0.0, -random.uniform(0.1, 10.0), 0.0]})
    if any(load.get("case") == "a" for load in case["loads"]):
        case["load_cases"] = [{"name": "a", "weight": random.uniform(0.1, 3.0)}]
    if random.random() < 0.3:
        case["springs"] = [{"set": "load", "stiffness": [random.uniform(0.0, 1e3) for _ in range(3)]}]


def center(mesh, e):
    """The mean of the corners of an element."""
    return [sum(mesh.nodes[n][i] for n in mesh.elements[e]) / 8 for i in range(3)]
