"""Pairs of cases that must have the same compliance: renumbered, rotated, and in other units."""

import copy

import cases
import meshes
import results
import valid_cases
from verdict import WRONG, require, sound

AGREEMENT = 1e-6  # relative, of the compliance of each of the four designs


def attempt(place, random, number):
    """A valid case, and the same in one of three other ways."""
    mesh = valid_cases.random_mesh(place, random)
    case = valid_cases.random_case(random, mesh)
    case["optimizer"] = {"max_iterations": 4, "change_tolerance": 1e-12, "compliance_tolerance": 0.0}
    case["solver"] = dict(cases.EXACT)
    other, factor = copy.deepcopy(case), 1.0
    way = ("renumbered", "rotated", "scaled")[number % 3]
    if way == "renumbered":
        changed = mesh.renumbered(random)
    elif way == "rotated":
        changed = rotated(random, mesh, other)
    else:
        changed, factor = scaled(random, mesh, other)
    expected = [c * factor for c in compliances(place, mesh, case, "one")]
    found = compliances(place, changed, other, "two")
    if not expected or not found:
        return
    apart = max(abs(a / b - 1) for a, b in zip(found, expected))
    require(len(found) == len(expected) and apart < AGREEMENT, WRONG,
            f"{way}: compliances {found} in place of {expected}")


def compliances(place, mesh, case, name):
    """The compliance of every design of a run in a folder of its own; none where rounding stops the solver, or
    where it does not converge on a design of islands in hardly any stiffness, which it says with a remedy."""
    place.write(f"{name}/mesh.msh", meshes.msh(mesh))
    place.write(f"{name}/a.toml", cases.text(case))
    done = place.run("run", f"{name}/a.toml", "-o", f"{name}/r")
    said = ("rounding stopped the solver", "did not converge")
    unsolved = done.status == 2 and any(words in done.err for words in said)
    sound(done, statuses=(2,) if unsolved else (0,))
    if unsolved:
        return []
    return [float(row["compliance"]) for row in results.history(place.inside / name / "r")]


def rotated(random, mesh, case):
    """Turns the mesh by a quarter about z, or by a third about the diagonal, and all vectors of the case with it."""
    turn = random.choice((lambda v: (-v[1], v[0], v[2]), lambda v: (v[2], v[0], v[1])))
    for load in case["loads"]:
        for name in {"total_force", "gravity"} & load.keys():
            load[name] = list(turn(load[name]))
    for spring in case.get("springs", []):
        spring["stiffness"] = [abs(k) for k in turn(spring["stiffness"])]
    for select in case["select"]:
        if "sphere" in select:
            select["sphere"]["center"] = list(turn(select["sphere"]["center"]))
        else:
            select["normal"]["direction"] = list(turn(select["normal"]["direction"]))
    return mesh.moved(turn)


def scaled(random, mesh, case):
    """Other units of length, stiffness and force; also gives the factor of the compliance."""
    length, modulus, force = (10 ** random.uniform(-3, 3) for _ in range(3))
    case["material"]["youngs_modulus"] *= modulus
    for load in case["loads"]:
        for name, factor in (("total_force", force), ("gravity", force / length**3)):
            if name in load:
                load[name] = [f * factor for f in load[name]]
        if "pressure" in load:
            load["pressure"] *= force / length**2
    for spring in case.get("springs", []):
        spring["stiffness"] = [k * modulus * length for k in spring["stiffness"]]
    for select in case["select"]:
        if "sphere" in select:
            select["sphere"] = {"center": [x * length for x in select["sphere"]["center"]],
                                "radius": select["sphere"]["radius"] * length}
    return mesh.moved(lambda x: tuple(v * length for v in x)), force**2 / (modulus * length)
