"""One problem posed in two ways: both give one design, to the bits or to what rounding leaves of it."""

import copy

import cases
import meshes
import results
from verdict import WRONG, require, sound

CLOSE = 1e-6  # relative, of what is compared


def attempt(place, random, number):
    """A box, and one of the pairs."""
    mesh = meshes.box(*(random.randrange(4, 9) for _ in range(3)))
    place.write("mesh.msh", meshes.msh(mesh))
    PAIRS[number % len(PAIRS)](place, random)


def elastic(random, **tables):
    """A case of random volume, force and filter, solved exactly."""
    case = cases.simple("mesh.msh", iterations=8, fraction=round(random.uniform(0.2, 0.6), 3), **tables)
    case["loads"][0]["force"] = [random.uniform(-9, 9) for _ in range(3)]
    case["filter"] = {"kind": "density", "radius_in_elements": random.uniform(1.2, 2.5)}
    case["optimizer"] |= {"change_tolerance": 0.0, "compliance_tolerance": 0.0}
    case["solver"] = dict(cases.EXACT)
    return case


def rows(place, case, name):
    """The table of a run in a folder of its own."""
    place.write(f"{name}.toml", cases.text(case))
    sound(place.run("run", f"{name}.toml", "-o", name), statuses=(0,))
    return [{key: float(value) for key, value in row.items() if value} for row in results.history(place.inside / name)]


def same(place, one, other, what, columns=("compliance", "volume_fraction", "grey_level"), close=CLOSE):
    """The designs of both have the same values in these columns."""
    pairs = list(zip(rows(place, one, "one"), rows(place, other, "two")))
    for key in (key for key in columns if all(key in row for pair in pairs for row in pair)):
        apart = max(abs(a[key] - b[key]) / max(1e-300, abs(a[key]), abs(b[key])) for a, b in pairs)
        require(apart < close, WRONG, f"{what}: {key} differs by {apart:.1e}")


def volume_as_a_constraint(place, random):
    """`design.volume_fraction` and a limit of the volume."""
    one = elastic(random)
    one["optimizer"]["method"] = "mma"
    other = copy.deepcopy(one)
    fraction = other["design"].pop("volume_fraction")
    other["constraints"] = [{"response": "volume", "at_most": fraction}]
    same(place, one, other, "volume as a constraint")


def volume_as_a_mass(place, random):
    """A limit of the volume, and of the mass that it has."""
    one = elastic(random, material={"mass_density": 2.0})
    one["optimizer"]["method"] = "mma"
    other = copy.deepcopy(one)
    fraction = other["design"].pop("volume_fraction")
    other["design"]["initial_volume_fraction"] = fraction
    mesh_volume = elements(place)
    other["constraints"] = [{"response": "mass", "at_most": 2.0 * fraction * mesh_volume}]
    same(place, free(one), free(other), "volume as a mass")


def free(case):
    """The case without elements that are kept for its loads, so that all of the part is designed."""
    case["design"]["keep_loaded"] = "free"
    return case


def elements(place):
    """Number of unit cubes of the mesh, which is its volume."""
    lines = (place.inside / "mesh.msh").read_text().splitlines()
    return sum(1 for line in lines[lines.index("$Elements") + 2:] if line.split()[1:2] == ["5"])


def the_start_is_no_limit(place, random):
    """Wherever a run starts, its design keeps the limit in the end."""
    case = elastic(random)
    case["optimizer"] |= {"max_iterations": 30, "method": random.choice(("oc", "mma", "gcmma"))}
    case["design"]["initial_volume_fraction"] = random.choice((0.1, 0.3, 0.7, 1.0))
    last, limit = rows(place, case, "one")[-1], case["design"]["volume_fraction"]
    volume = last["volume_fraction"]
    require(abs(volume - limit) < 2e-3, WRONG, f"volume {volume} where {limit} is the limit")


def weights_of_load_cases(place, random):
    """A weight of a load case and a force that is as much larger by its root."""
    one = elastic(random)
    other = copy.deepcopy(one)
    weight = 4.0
    one["load_cases"] = [{"name": "default", "weight": weight}]
    other["loads"][0]["force"] = [2.0 * f for f in other["loads"][0]["force"]]
    same(place, one, other, "weights")


def maximized_and_minimized(place, random):
    """The least displacement along a direction, and the largest against it."""
    one, other = elastic(random), elastic(random)
    other = copy.deepcopy(one)
    direction = [random.uniform(0.1, 1.0) for _ in range(3)]
    one["loads"][0]["force"] = direction
    other["loads"][0]["force"] = direction
    one["objective"] = {"minimize": "displacement", "set": "load", "direction": direction}
    other["objective"] = {"maximize": "displacement", "set": "load", "direction": [-d for d in direction]}
    same(place, one, other, "maximized")


def thermal(random, shift):
    """A box that is held at a temperature, heated at its other end."""
    case = elastic(random)
    case["physics"] = {"kind": "heat"}
    case["material"] = {"conductivity": 10.0}
    case["supports"] = [{"set": "fixed", "temperature": shift}]
    case["loads"] = [{"set": "load", "total_heat": 5.0}]
    case["objective"] = {"minimize": "largest_temperature", "set": "load"}
    return case


def where_zero_is(place, random):
    """The largest temperature, with zero elsewhere."""
    seed = random.getrandbits(32)
    one, other = (thermal(type(random)(seed), shift) for shift in (0.0, random.choice((-300.0, -20.0, 273.15))))
    same(place, one, other, "where 0 is", columns=("volume_fraction", "grey_level"), close=1e-4)


PAIRS = (volume_as_a_constraint, volume_as_a_mass, the_start_is_no_limit, weights_of_load_cases,
         maximized_and_minimized, where_zero_is)
