"""Known defects of what is read, computed and said."""

import json
import random
import re
import struct
import zlib

import cases
import meshes
import surfaces
import valid_cases
from verdict import UNCLEAR, WRONG, finite_text, require, sound

UNIFORM = cases.simple({"generator": "cantilever", "elements": 250}, iterations=1, fraction=0.5)


def run(place, case, *more, **settings):
    """Runs a case into `r`."""
    place.write("a.toml", cases.text(case))
    return place.run("run", "a.toml", "-o", "r", *more, **settings)


def export_of_a_uniform_design(place):
    """The threshold of the volume is sought between neighboring numbers."""
    sound(run(place, UNIFORM), statuses=(0,))
    sound(place.run("export", "r", "-o", "x.stl", limit=8))


def report_of_a_uniform_design(place):
    """The same in the report."""
    sound(run(place, UNIFORM), statuses=(0,))
    sound(place.run("report", "r", limit=8))


def held_nodes(place):
    """How many nodes `check` says are held; the case may be refused as well."""
    done = place.run("check", "a.toml")
    sound(done, statuses=(0, 1))
    return int(re.search(r"supports +(\d+) nodes", done.out)[1]) if done.status == 0 else None


def one_name_for_nodes_and_elements_in_a_deck(place):
    """As Abaqus/CAE writes what is picked on a face: 25 nodes, and the 16 elements behind them."""
    place.write("mesh.inp", meshes.inp(meshes.box(8, 4, 4), same_name="fixed"))
    place.write("a.toml", cases.text(cases.simple("mesh.inp")))
    require(held_nodes(place) in (25, None), WRONG, "the nodes of the elements are held as well")


def one_name_for_faces_and_elements_in_gmsh(place):
    """A physical surface and a physical volume of one name."""
    mesh = meshes.box(8, 4, 4)
    mesh.sets["behind"] = (3, [e for e in range(len(mesh.elements)) if e % 8 == 0])
    del mesh.sets["design"]
    place.write("mesh.msh", meshes.msh(mesh).replace('"behind"', '"fixed"'))
    place.write("a.toml", cases.text(cases.simple("mesh.msh")))
    require(held_nodes(place) in (25, None), WRONG, "the nodes of the elements are held as well")


def elements_twice(place, file, text):
    """A mesh whose elements stand twice has the volume of one, or is refused."""
    place.write(file, text)
    done = place.run("info", "--json", file)
    sound(done, about=(file,))
    volume = json.loads(done.out)["volume"] if done.status == 0 else 32.0
    require(abs(volume - 32.0) < 1e-9, WRONG, f"volume {volume} in place of 32")


def doubled():
    """A box of 32 elements that stand twice, the second time from another corner."""
    mesh = meshes.box(8, 2, 2)
    mesh.elements = mesh.elements + [[corners[i] for i in meshes.TURN] for corners in mesh.elements]
    return mesh


def elements_twice_in_msh(place):
    """The Gmsh format."""
    elements_twice(place, "mesh.msh", meshes.msh(doubled()))


def elements_twice_in_inp(place):
    """Abaqus."""
    elements_twice(place, "mesh.inp", meshes.inp(doubled()))


def elements_twice_in_cdb(place):
    """Ansys."""
    elements_twice(place, "mesh.cdb", meshes.cdb(doubled()))


def elements_twice_in_vtu(place):
    """VTK."""
    elements_twice(place, "mesh.vtu", meshes.vtu(doubled()))


def volume_out_of_reach_by_solid_elements(place):
    """The filter spreads solid elements over more than the volume."""
    case = cases.simple({"generator": "cantilever", "elements": 2000}, iterations=5, fraction=0.02,
                        filter={"kind": "density", "radius_in_elements": 5.0})
    case["select"] = [{"name": "skin", "kind": "elements", "near": {"set": "load", "distance": 5.0}}]
    case["design"]["solid"] = ["skin"]
    volume_met_or_said(place, case)


def volume_met_or_said(place, case):
    """The volume is met, or its lack is said, or the run fails."""
    done = run(place, case)
    sound(done)
    if done.status == 0 and not valid_cases.miss_is_said(done):
        valid_cases.volume_is_met(place.inside / "r", case)


def helmholtz_of_a_huge_radius(place):
    """The filter's solve gives no numbers."""
    more = {"weights": "helmholtz", "radius_in_elements": 2000.0}
    volume_met_or_said(place, {**UNIFORM, "filter": more, "optimizer": {"max_iterations": 3}})


def tiny_modulus(place):
    """Energies beyond the largest number."""
    volume_met_or_said(place, {**UNIFORM, "material": {"youngs_modulus": 1e-200}, "optimizer": {"max_iterations": 3}})


def decimation_of_a_random_design(place):
    """Vertices beyond the part."""
    numbers = random.Random(0)
    for _ in range(12):
        density = [numbers.random() for _ in range(27)]
        surfaces.check(place, meshes.box(3, 3, 3), density, "x.obj", ["--threshold", "0.01", "--decimate", "0.1"])


def decimation_of_a_connecting_rod(place):
    """Triangles that coincide."""
    case = cases.simple({"generator": "connecting_rod", "elements": 3000}, iterations=25,
                        filter={"radius_in_elements": 2.0})
    place.require("mesh", "connecting_rod", "--elements", "3000", "--format", "2.2", "--ascii", "-o", "mesh.msh")
    sound(run(place, case), statuses=(0,))
    done = place.run("export", "r", "-o", "x.obj", "--decimate", "0.1")
    sound(done, statuses=(0,))
    said = float(re.search(rf"volume ({surfaces.NUMBER})", done.out)[1])
    mesh = meshes.benchmark(place, "connecting_rod", 3000)
    surfaces.judge(*surfaces.read(place.inside / "x.obj"), mesh, said)


def warned(place, mesh, words, **tables):
    """`check` refuses a mesh, or warns of it in the words."""
    place.write("mesh.msh", meshes.msh(mesh))
    place.write("a.toml", cases.text(cases.simple("mesh.msh", **tables)))
    done = place.run("check", "a.toml")
    sound(done)
    warnings = "".join(line for line in (done.out + done.err).splitlines() if "warning" in line)
    require(done.status != 0 or warnings and words in warnings, UNCLEAR, f"`check` does not warn of {words}")


def hinge(place):
    """Two boxes that share an edge."""
    warned(place, meshes.joined([meshes.box(3, 3, 3), meshes.box(3, 3, 3, at=(3, 3, 0))]), "")


def nearly_incompressible(place):
    """Poisson's ratio with which the solver does not converge."""
    warned(place, meshes.box(8, 4, 4), "oisson", material={"poissons_ratio": 0.4999999})


def flat_elements(place):
    """An aspect ratio with which the solver does not converge."""
    warned(place, meshes.box(8, 4, 4).moved(lambda x: (x[0], x[1], x[2] * 1e-4)), "aspect ratio")


def elements_without_end(place):
    """Eight elements as long as 32-bit numbers: what lies in them is found all the same."""
    mesh = meshes.box(4, 3, 2).moved(lambda x: (x[0], -2147480000.0, x[2]) if x[1] == 0.0 else x)
    place.write("mesh.msh", meshes.msh(mesh))
    place.write("a.toml", cases.text(cases.simple("mesh.msh")))
    sound(place.run("run", "a.toml", "-o", "r"), statuses=(0, 2))


def numbers(item, path=()):
    """The keys on the way to every number of a case."""
    if isinstance(item, (dict, list)):
        entries = item.items() if isinstance(item, dict) else enumerate(item)
        return [way for key, value in entries for way in numbers(value, (*path, key))]
    return [path] if isinstance(item, float) else []


def numbers_beyond_what_is_read(place):
    """Every number of a case with 300 digits is written with an exponent."""
    place.write("mesh.msh", meshes.msh(meshes.box(2, 2, 2)))
    case = cases.simple(
        "mesh.msh", material={"youngs_modulus": 210e3, "poissons_ratio": 0.3, "mass_density": 1e-9},
        materials=[{"set": "design", "youngs_modulus": 7e4, "poissons_ratio": 0.3,
                    "mass_density": 1e-9}],
        springs=[{"set": "load", "stiffness": [1.0, 0.0, 1.0]}],
        filter={"kind": "density", "radius_in_elements": 1.5}, projection={"sharpness": 2.0, "threshold": 0.5},
        continuation=[{"from": 2, "penalty": 3.0, "filter_radius_in_elements": 1.4, "sharpness": 4.0,
                       "tolerance": 1e-5}],
        load_cases=[{"name": "default", "weight": 1.0}],
        output={"vti_spacing": 0.5}, solver={"tolerance": 1e-5, "early_tolerance": 1e-2})
    case["loads"] += [{"gravity": [0.0, -9.81, 0.0]},
                      {"set": "fixed", "total_force": [0.0, 1.0, 0.0], "at": [0.0, 0.0, 9.0]},
                      {"set": "fixed", "moment": [0.0, 0.0, 1.0]},
                      {"angular_velocity": [0.0, 0.0, 1.0], "center": [1.0, 0.0, 0.0]}]
    place.write("a.toml", cases.text(case))
    sound(place.run("check", "a.toml"), statuses=(0,))
    for path in numbers(case):
        for value in ("1e-320", "1e-300", "1e300"):
            sound(place.run("check", "a.toml", "--set", f"{'.'.join(map(str, path))}={value}"), statuses=(0, 1))


def islands_in_nearly_nothing(place):
    """A few islands of material at a contrast of 1e9: a cycle K alone took 590 iterations, where 500 are allowed."""
    place.write("mesh.msh", meshes.msh(meshes.benchmark(place, "cantilever", 506)))
    case = cases.simple("mesh.msh", iterations=10, fraction=0.02,
                        filter={"kind": "density", "radius_in_elements": 2.265271768306174},
                        optimizer={"move_limit": 0.2}, design={"density_min": 0.001, "penalty": 3.0},
                        projection={"sharpness": 32.0, "threshold": 0.27018440319406517})
    case["loads"] = [{"set": "load", "total_force": [-1.1356769720310282, 6.12339544279766, -8.715019424454757]}]
    case["design"]["void"] = ["hole"]
    hole = {"center": [7.5, 4.5, 3.5], "radius": 1.0946869924724195}
    case["select"] = [{"name": "hole", "kind": "elements", "sphere": hole}]
    sound(run(place, case), statuses=(0,))


def tolerance_out_of_reach(place):
    """A residual below rounding."""
    warned(place, meshes.box(8, 4, 4), "tolerance", solver={"tolerance": 1e-14})


def thin_conforming_elements(place):
    """No nodes hang in a box of thin elements."""
    place.write("mesh.msh", meshes.msh(meshes.box(8, 4, 4).moved(lambda x: (x[0], x[1], x[2] / 1000))))
    place.write("a.toml", cases.text(cases.simple("mesh.msh")))
    done = place.run("check", "a.toml")
    sound(done)
    require("not joined" not in done.out + done.err, WRONG, "nodes are said to hang that do not")


def escapes_in_names(place):
    """A name that sets the title of the terminal and clears the screen."""
    text = meshes.msh(meshes.box(8, 4, 4)).replace('"design"', '"\x1b]0;owned\x07\x1b[2J"')
    place.write("mesh.msh", text)
    place.write("a.toml", cases.text(cases.simple("mesh.msh", title="\x1b[2J")))
    for words in (["info", "mesh.msh"], ["check", "a.toml"], ["run", "a.toml", "-o", "r"]):
        sound(place.run(*words))


def files_that_others_read(place):
    """Offsets without zeros in front, and the model of 3MF where it is expected."""
    sound(run(place, {**UNIFORM, "optimizer": {"max_iterations": 5}}), statuses=(0,))
    head = (place.inside / "r" / "design.vtu").read_bytes()[:4000]
    require(not re.search(rb'offset="0\d', head), WRONG, "design.vtu has offsets that begin with 0")
    sound(place.run("export", "r", "-o", "x.3mf"), statuses=(0,))
    require(b"3D/3dmodel.model" in (place.inside / "x.3mf").read_bytes(), WRONG, "the 3MF has no 3D/3dmodel.model")


def bomb_of_compressed_arrays(place):
    """Arrays of two thousand million cells, one compressed block over and over."""
    head = ('<?xml version="1.0"?><VTKFile type="UnstructuredGrid" byte_order="LittleEndian" header_type="UInt64" '
            'compressor="vtkZLibDataCompressor"><UnstructuredGrid><Piece NumberOfPoints="8" NumberOfCells="2147483648">'
            '<Points><DataArray type="Float64" Name="Points" NumberOfComponents="3" format="ascii">'
            '0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1</DataArray></Points><Cells>'
            '<DataArray type="Int64" Name="connectivity" format="ascii">0 1 2 3 4 5 6 7</DataArray>'
            '<DataArray type="Int64" Name="offsets" format="appended" offset="{}"/>'
            '<DataArray type="UInt8" Name="types" format="appended" offset="0"/></Cells></Piece></UnstructuredGrid>'
            '<AppendedData encoding="raw">_')
    block = zlib.compress(bytes(1 << 20))
    types, offsets = (struct.pack("<3Q", n, 1 << 20, 0) + struct.pack("<Q", len(block)) * n + block * n
                      for n in (1 << 11, 1 << 14))
    data = head.format(len(types)).encode() + types + offsets + b"</AppendedData></VTKFile>"
    place.write("mesh.vtu", data)
    sound(place.run("info", "mesh.vtu"), statuses=(1,))


def type_of_a_megabyte(place):
    """The type of the file, quoted in the message."""
    place.write("mesh.vtu", meshes.vtu(meshes.box(2, 2, 2)).replace('"UnstructuredGrid"', f'"{"F" * (1 << 20)}"'))
    sound(place.run("info", "mesh.vtu"), statuses=(1,))


def huge_coordinates(place):
    """A volume near the end of numbers: no number of 309 digits, and no infinite one."""
    place.write("mesh.msh", meshes.msh(meshes.box(2, 1, 1).moved(lambda x: tuple(v * 1e102 for v in x))))
    done = place.run("info", "mesh.msh")
    sound(done)
    finite_text(done)


def edge_of_no_length(place):
    """Two corners in one place."""
    mesh = meshes.box(2, 1, 1)
    mesh.nodes[0] = mesh.nodes[1]
    place.write("mesh.msh", meshes.msh(mesh))
    done = place.run("info", "mesh.msh")
    sound(done)
    finite_text(done)


def export_of_a_solid_design(place):
    """The remedy is not what was done already."""
    place.write("design.vtu", meshes.vtu(meshes.box(2, 2, 2), density=[1.0] * 8))
    done = place.run("export", "design.vtu", "-o", "x.stl", limit=8)
    sound(done)
    require("leave" not in done.err, UNCLEAR, f"the remedy was taken already: {done.err}")


def deep_override(place):
    """A key of 9,000 levels."""
    place.write("a.toml", cases.text({**UNIFORM, "select": [{"name": "x", "kind": "nodes"}]}))
    sound(place.run("check", "a.toml", "--set", "select.0" + ".not" * 9000 + '.set="x"'), statuses=(1,))


INPUTS = [
    export_of_a_uniform_design, one_name_for_nodes_and_elements_in_a_deck, one_name_for_faces_and_elements_in_gmsh,
    elements_twice_in_msh, elements_twice_in_inp, elements_twice_in_cdb, elements_twice_in_vtu,
    volume_out_of_reach_by_solid_elements, helmholtz_of_a_huge_radius, tiny_modulus, decimation_of_a_random_design,
    decimation_of_a_connecting_rod, hinge, nearly_incompressible, flat_elements, elements_without_end,
    numbers_beyond_what_is_read, islands_in_nearly_nothing, tolerance_out_of_reach,
    thin_conforming_elements, escapes_in_names, files_that_others_read, bomb_of_compressed_arrays, type_of_a_megabyte,
    huge_coordinates, edge_of_no_length, export_of_a_solid_design, deep_override, report_of_a_uniform_design]
