"""Decks with known keywords: what is carried over has the sum by hand, and what is not is said.

A box with a force gets one to three keywords that bear on its result. Each is judged by itself: `init` names it, or
the forces that `solve` applies are those by hand.
"""

import json
import math
import re

import meshes
from verdict import WRONG, require, sound

FORCE = (3.0, -5.0, 2.0)  # on one node of the deck as it is
SIZE = 2.0


def attempt(place, random, number):
    """A deck of one of three formats."""
    kind = ("inp", "cdb", "bdf")[number % 3]
    mesh = meshes.box(*(random.randrange(2, 5) for _ in range(3)))
    makers = {"inp": ABAQUS, "cdb": ANSYS, "bdf": NASTRAN}[kind]
    inserted = [make(random, mesh) for make in random.sample(makers, random.randrange(1, 4))]
    deck = {"inp": abaqus, "cdb": ansys, "bdf": nastran}[kind](mesh, inserted)
    place.write(f"part.{kind}", deck)
    done = place.run("init", f"part.{kind}")
    sound(done, statuses=(0, 1))
    if done.status != 0:
        words = " ".join(done.err.upper().split())
        require(any(part.word in words for part in inserted), WRONG, f"refused for nothing that was added: {done.err}")
        return
    said = (done.out + done.err).upper()
    head = (place.inside / "part.toml").read_text().split("\n\n")[0].upper()
    lost = {part.word for part in inserted if is_said(part.word, said) and is_said(part.word, head)}
    for part in inserted:
        require(part.force is not None or part.word in lost, WRONG,
                f"{part.word} is neither carried over nor said by `init` and at the top of the case")
    if not lost:
        forces_by_hand(place, inserted)


def is_said(word, text):
    """Whether a text names a keyword, not within another word."""
    return re.search(rf"(?<![A-Z0-9]){re.escape(word)}(?![A-Z])", text) is not None


def forces_by_hand(place, inserted):
    """All that was added is carried over, so that the forces of the part add up to those by hand."""
    place.write("whole.toml", (place.inside / "part.toml").read_text())
    done = place.run("solve", "whole.toml", "-o", "s")
    sound(done, statuses=(0,))
    case, = json.loads((place.inside / "s" / "analysis.json").read_text())["load_cases"]
    expected = [f + sum(part.force[i] for part in inserted) for i, f in enumerate(FORCE)]
    apart = max(abs(a - b) for a, b in zip(case["applied"], expected))
    require(apart < 1e-6 * max(1.0, *map(abs, expected)), WRONG,
            f"{[part.word for part in inserted]}: forces {case['applied']} in place of {expected}, nothing said")


class Part:
    """What is added to a deck: the word that names it, its lines by section, the force that it makes, if any."""

    def __init__(self, word, force=None, **sections):
        self.word, self.force, self.sections = word, force, sections


def lines_of(inserted, section):
    """The lines that go into a section."""
    return [line for part in inserted for line in part.sections.get(section, [])]


def end_node(mesh):
    """A node of the edge that is loaded, from 1."""
    return mesh.sets["load"][1][0] + 1


def end_elements(mesh):
    """Elements at the largest x, from 1; their face there is +x."""
    most = max(x[0] for x in mesh.nodes)
    return [e + 1 for e, corners in enumerate(mesh.elements) if max(mesh.nodes[n][0] for n in corners) == most]


def fixed_nodes(mesh):
    """Nodes of the held face, from 1."""
    return sorted({n + 1 for face in mesh.sets["fixed"][1] for n in face})


def amount(random):
    """A number that no other insertion has."""
    return round(random.uniform(0.5, 9.0), 6)


def temperature(random, word, expansion, **sections):
    """A temperature: forces of zero where the material expands, and said where it does not."""
    if random.random() < 0.5:
        return Part(word, (0.0, 0.0, 0.0), material=expansion, **sections)
    return Part(word, None, **sections)


# Abaqus

def abaqus(mesh, inserted):
    """A deck with a step, and what is added."""
    lines = meshes.inp(mesh).splitlines()
    lines += ["*MATERIAL, NAME=M", "*ELASTIC", "1000., 0.3", *lines_of(inserted, "material"), "*DENSITY", "2."]
    lines += ["*SOLID SECTION, ELSET=design, MATERIAL=M", *lines_of(inserted, "model")]
    lines += ["*BOUNDARY", "fixed, 1, 3", "*STEP" + "".join(lines_of(inserted, "step")), "*STATIC", "1., 1."]
    lines += ["*CLOAD", *(f"{end_node(mesh)}, {i + 1}, {f!r}" for i, f in enumerate(FORCE))]
    return "\n".join([*lines, *lines_of(inserted, "loads"), "*END STEP", ""])


def abaqus_amplitude(random, mesh):
    factor, force, number = amount(random), amount(random), random.randrange(10**6)
    model = [f"*AMPLITUDE, NAME=A{number}", f"0., 0., 1., {factor!r}"]
    loads = [f"*CLOAD, AMPLITUDE=A{number}", f"{end_node(mesh) + 1}, 2, {force!r}"]
    return Part("AMPLITUDE", (0.0, factor * force, 0.0), model=model, loads=loads)


def abaqus_force_twice(random, mesh):
    force = amount(random)
    return Part("CLOAD", (2 * force, 0.0, 0.0), loads=["*CLOAD", *[f"{end_node(mesh) + 2}, 1, {force!r}"] * 2])


def abaqus_transform(random, mesh):
    force, angle, node = amount(random), random.uniform(0.1, 6.0), end_node(mesh) + mesh_row(mesh)
    model = [f"*NSET, NSET=TURNED{node}", str(node), f"*TRANSFORM, NSET=TURNED{node}"]
    model += [f"{math.cos(angle)!r}, {math.sin(angle)!r}, 0., {-math.sin(angle)!r}, {math.cos(angle)!r}, 0."]
    turned = (force * math.cos(angle), force * math.sin(angle), 0.0)
    return Part("TRANSFORM", turned, model=model, loads=["*CLOAD", f"{node}, 1, {force!r}"])


def mesh_row(mesh):
    """A step to a node that no other insertion loads: one row of nodes up."""
    return int(max(x[0] for x in mesh.nodes)) + 1


def abaqus_pressure(random, mesh):
    pressure, elements = amount(random), end_elements(mesh)
    loads = ["*DLOAD", *(f"{e}, P4, {pressure!r}" for e in elements)]
    return Part("DLOAD", (-pressure * len(elements), 0.0, 0.0), loads=loads)


def abaqus_gravity(random, mesh):
    size, n = amount(random), len(mesh.elements)
    return Part("DLOAD", (0.0, 0.0, -SIZE * n * size), loads=["*DLOAD", f"design, GRAV, {size!r}, 0., 0., -1."])


def abaqus_temperature(random, mesh):
    initial = random.choice([[], ["*INITIAL CONDITIONS, TYPE=TEMPERATURE", "fixed, 20."]])
    loads = ["*TEMPERATURE", "fixed, 100."]
    return temperature(random, "TEMPERATURE", ["*EXPANSION", "1.2e-5"], model=initial, loads=loads)


def said_of_abaqus(word, **sections):
    """A keyword that no case can have."""
    return lambda random, mesh: Part(word, None, **sections)


ABAQUS = [
    abaqus_amplitude, abaqus_force_twice, abaqus_transform, abaqus_pressure, abaqus_gravity, abaqus_temperature,
    said_of_abaqus("EQUATION", model=["*EQUATION", "2", "3, 1, 1., 4, 1, -1."]),
    said_of_abaqus("MPC", model=["*MPC", "TIE, 3, 4"]),
    said_of_abaqus("TIE", model=["*TIE, NAME=T", "one, two"]),
    said_of_abaqus("PLASTIC", material=["*PLASTIC", "200., 0."]),
    said_of_abaqus("CREEP", material=["*CREEP, LAW=NORTON", "1e-9, 3., 0."]),
    said_of_abaqus("HYPERELASTIC", material=["*HYPERELASTIC, NEO HOOKE", "80., 0.001"]),
    said_of_abaqus("NLGEOM", step=[", NLGEOM"]),
    said_of_abaqus("MODEL CHANGE", loads=["*MODEL CHANGE, TYPE=ELEMENT, REMOVE", "design"]),
    said_of_abaqus("CONTACT PAIR", model=["*CONTACT PAIR, INTERACTION=I", "one, two"]),
]


# Ansys

def ansys(mesh, inserted):
    """An archive with a force, and what is added."""
    lines = meshes.cdb(mesh).splitlines()[:-1]
    lines += ["MP,EX,1,1000.", "MP,NUXY,1,0.3", "MP,DENS,1,2.", *lines_of(inserted, "material")]
    lines += [f"D,{n},ALL,0." for n in fixed_nodes(mesh)]
    lines += [f"F,{end_node(mesh)},F{axis},{f!r}" for axis, f in zip("XYZ", FORCE)]
    return "\n".join([*lines, *lines_of(inserted, "loads"), "FINISH", ""])


def ansys_pressure_of_corners(random, mesh):
    values, element = [amount(random) for _ in range(4)], end_elements(mesh)[0]
    loads = [f"SFE,{element},{ANSYS_END_FACE},PRES,1," + ",".join(map(repr, values))]
    return Part("SFE", (-sum(values) / 4, 0.0, 0.0), loads=loads)


def ansys_pressure_twice(random, mesh):
    values, element = [amount(random) for _ in range(2)], end_elements(mesh)[-1]
    loads = [f"SFE,{element},{ANSYS_END_FACE},PRES,1,{value!r}" for value in values]
    return Part("SFE", (-values[1], 0.0, 0.0), loads=loads)


ANSYS_END_FACE = 3  # J K O N: +x of meshes.box


def ansys_force_replaced(random, mesh):
    first, second, node = amount(random), amount(random), end_node(mesh) + mesh_row(mesh)
    return Part("F", (0.0, second, 0.0), loads=[f"F,{node},FY,{first!r}", f"F,{node},FY,{second!r}"])


def ansys_force_deleted(random, mesh):
    node = end_node(mesh) + 2 * mesh_row(mesh)
    return Part("FDELE", (0.0, 0.0, 0.0), loads=[f"F,{node},FZ,{amount(random)!r}", f"FDELE,{node},ALL"])


def ansys_gravity(random, mesh):
    size = amount(random)
    return Part("ACEL", (0.0, 0.0, -SIZE * len(mesh.elements) * size), loads=[f"ACEL,0.,0.,{size!r}"])


def ansys_temperature(random, mesh):
    word, load = random.choice([("BF", "BF,3,TEMP,100."), ("BFUNIF", "BFUNIF,TEMP,100.")])
    return temperature(random, word, ["MP,ALPX,1,1.2e-5"], loads=[load])


def said_of_ansys(word, *loads, material=()):
    """A command that no case can have."""
    return lambda random, mesh: Part(word, None, loads=list(loads), material=list(material))


ANSYS = [
    ansys_pressure_of_corners, ansys_pressure_twice, ansys_force_replaced, ansys_force_deleted, ansys_gravity, ansys_temperature,
    said_of_ansys("CMACEL", "CMACEL,DESIGN,0.,0.,9.81"),
    said_of_ansys("CMOMEGA", "CMOMEGA,DESIGN,1.,0.,0."),
    said_of_ansys("CGLOC", "CGLOC,1.,0.,0."),
    said_of_ansys("CE", "CE,1,0.,3,UX,1.,4,UX,-1."),
    said_of_ansys("CP", "CP,1,UX,3,4"),
    said_of_ansys("NLGEOM", "NLGEOM,ON"),
    said_of_ansys("TB", material=["TB,BISO,1,1,2", "TBDATA,1,200.,10."]),
]


# Nastran

def nastran(mesh, inserted):
    """A deck of one subcase, and what is added."""
    lines = ["SOL 101", "CEND", "SPC = 1", "LOAD = 2", *lines_of(inserted, "control"), *meshes.bdf(mesh).splitlines()]
    lines = [line for line in lines if line != "ENDDATA" and not line.startswith("SPC1")]
    material = "".join(["MAT1,1,1000.,,0.3,2.", *lines_of(inserted, "material")])
    lines += ["PSOLID,1,1", material, *(f"SPC1,1,123,{n}" for n in fixed_nodes(mesh))]
    lines += [f"FORCE,2,{end_node(mesh)},,1.,{FORCE[0]!r},{FORCE[1]!r},{FORCE[2]!r}"]
    return "\n".join([*lines, *lines_of(inserted, "bulk"), "ENDDATA", ""])


def nastran_pressure_twice(random, mesh):
    pressure, element = amount(random), end_elements(mesh)[0]
    corners = [n + 1 for n in mesh.elements[element - 1]]
    card = f"PLOAD4,2,{element},{pressure!r},,,,{corners[1]},{corners[6]}"
    return Part("PLOAD4", (-2 * pressure, 0.0, 0.0), bulk=[card, card])


def nastran_force_twice(random, mesh):
    force, node = amount(random), end_node(mesh) + mesh_row(mesh)
    return Part("FORCE", (0.0, 2 * force, 0.0), bulk=[f"FORCE,2,{node},,{force!r},0.,1.,0."] * 2)


def nastran_gravity(random, mesh):
    size = amount(random)
    return Part("GRAV", (0.0, 0.0, -SIZE * len(mesh.elements) * size), bulk=[f"GRAV,2,,{size!r},0.,0.,-1."])


def nastran_turned(random, mesh):
    force, node = amount(random), end_node(mesh) + 2 * mesh_row(mesh)
    bulk = ["CORD2R,7,,0.,0.,0.,0.,0.,1.", ",0.,1.,0.", f"FORCE,2,{node},7,{force!r},1.,0.,0."]
    return Part("CORD2R", (0.0, force, 0.0), bulk=bulk)


def nastran_temperature(random, mesh):
    control = ["TEMPERATURE(LOAD) = 8"]
    return temperature(random, "TEMPD", [",1.2e-5"], bulk=["TEMPD,8,100."], control=control)


def said_of_nastran(word, *bulk, control=()):
    """A card that no case can have."""
    return lambda random, mesh: Part(word, None, bulk=list(bulk), control=list(control))


NASTRAN = [
    nastran_pressure_twice, nastran_force_twice, nastran_gravity, nastran_turned, nastran_temperature,
    said_of_nastran("MPC", "MPC,9,3,1,1.,4,1,-1.", control=["MPC = 9"]),
    said_of_nastran("RBAR", "RBAR,901,3,4,123456"),
    said_of_nastran("CELAS2", "CELAS2,902,100.,3,1,4,1"),
    said_of_nastran("CONM2", "CONM2,903,3,,5."),
    said_of_nastran("MATT1", "MATT1,1,5", "TABLEM1,5", ",0.,1000.,100.,900.,ENDT"),
    said_of_nastran("SUPORT", "SUPORT,3,1"),
    said_of_nastran("ACCEL", "ACCEL,2,,0.,0.,1.,Z", ",0.,1.,1.,2."),
]
