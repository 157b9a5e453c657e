"""Mutated case files: `check` and `run`. A long run is no hang if it ends when it is interrupted."""

import copy
import signal

import cases
import meshes
import mutate
from verdict import sound, whole

VALUES = [0, -1, 1, 2, 0.5, -0.0, 1e308, 1e-320, float("nan"), float("inf"), float("-inf"), 1 << 31, (1 << 63) - 1,
          True, False, "", "x", "fixed", "load", "design", "a\nb", "\u001b[2J", "\U0001f4a9", "../x", [], [[]], {},
          {"x": 1}, [0, 0, 0], [0.0, 0.0], [1e308] * 3, ["fixed"], ["x", "x"], [float("nan")] * 3, [1, "x", {}]]


def full():
    """A case that names a good part of what a case can name."""
    return {
        "title": "attack", **cases.simple("mesh.msh"),
        "units": {"length": "mm", "force": "N"},
        "material": {"youngs_modulus": 210e3, "poissons_ratio": 0.3, "mass_density": 1e-9},
        "select": [
            {"name": "tip", "kind": "nodes", "near": {"set": "load", "distance": 1.2}},
            {"name": "top", "kind": "faces", "normal": {"direction": [0, 1, 0], "angle": 20.0},
             "not": {"sphere": {"center": [0, 0, 0], "radius": 1.0}}},
            {"name": "core", "kind": "elements", "any": [{"box": {"min": [2, 0, 0], "max": [3, 1, 1]}},
                                                         {"plane": {"point": [3, 0, 0], "normal": [1, 0, 0],
                                                                    "tolerance": 0.1}}]},
            {"name": "hole", "kind": "elements",
             "cylinder": {"point": [5.5, 1.5, 0], "axis": [0, 0, 1], "radius": 0.6, "inner_radius": 0.0}}],
        "supports": [{"set": "fixed", "fix": ["x", "y", "z"]}],
        "loads": [{"set": "load", "force": [0.0, -10.0, 0.0]}, {"set": "top", "pressure": 0.1, "case": "wind"},
                  {"gravity": [0.0, -9.81, 0.0], "case": "wind"}],
        "load_cases": [{"name": "wind", "weight": 0.5}],
        "springs": [{"set": "tip", "stiffness": [1.0, 2.0, 3.0]}],
        "design": {"volume_fraction": 0.4, "interpolation": "simp", "penalty": 3.0, "density_min": 0.01,
                   "solid": ["core"], "void": ["hole"]},
        "filter": {"kind": "density", "weights": "cone", "radius_in_elements": 1.5},
        "projection": {"sharpness": 2.0, "threshold": 0.5},
        "continuation": [{"from": 2, "penalty": 4.0, "sharpness": 4.0, "filter_radius_in_elements": 1.3}],
        "optimizer": {"max_iterations": 3, "move_limit": 0.2, "damping": 0.5, "change_tolerance": 0.01},
        "solver": {"device": "cpu", "tolerance": 1e-5, "cycle": "K", "strategy": "mf", "preconditioner": "multigrid",
                   "threads": 2},
        "output": {"snapshot_every": 1, "checkpoint_every": 1, "vti_spacing": 0.5},
    }


def tables(case):
    """All tables and arrays of a case, with their keys."""
    items = case.items() if isinstance(case, dict) else enumerate(case)
    found = [(case, name) for name, _ in items]
    for _, item in list(items):
        found += tables(item) if isinstance(item, (dict, list)) else []
    return found


def change(random, case):
    """Replaces, removes, renames or copies one item of the case."""
    table, name = random.choice(tables(case))
    way = random.randrange(10)
    if way < 5:
        table[name] = copy.deepcopy(random.choice(VALUES))
    elif way == 5:
        del table[name]
    elif way == 6 and isinstance(table, dict):
        table[random.choice(("x", "", "set", name + "s", "\n", "mesh"))] = table.pop(name)
    elif way == 7 and isinstance(table, list):
        table.append(copy.deepcopy(table[name]))
    elif isinstance(table[name], (int, float)):
        table[name] = table[name] * random.choice((-1, 1e-6, 1e-3, 0.5, 3, 1e3, 1e6, 1e12))
    else:
        other, key = random.choice(tables(case))
        table[name] = other[key] if not isinstance(other[key], (dict, list)) else copy.deepcopy(random.choice(VALUES))


def attempt(place, random, number):
    """Changes the case as a dictionary, or its text."""
    place.write("mesh.msh", meshes.msh(meshes.box(6, 3, 3)))
    case = full()
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        change(random, case)
    data = cases.text(case).encode(errors="replace")
    if random.random() < 0.3:
        data = mutate.mutated(random, data, False)
    place.write("a.toml", data)
    before = place.state()
    done = place.run("check", "a.toml")
    sound(done, about=("a.toml", "mesh.msh", "output."))
    done = place.run("run", "a.toml", "-o", "r", sent=(8, signal.SIGINT))
    sound(done, statuses=(0, 1, 2, 130) if done.lag is not None else (0, 1, 2))
    whole(place.inside / "r", done)
    place.unchanged(before, but=["r"])
