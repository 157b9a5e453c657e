"""The module `topopt3d` against the program, and its promises to Python."""

import csv
import gc
import os
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import topopt3d

ROOT = Path(__file__).resolve().parents[3]
CANTILEVER = ROOT / "benchmarks" / "cantilever.toml"
# Columns that a clock measures.
SECONDS = "seconds"


def cube(n=4):
    """Returns points and hexahedra of a bar of n x 2 x 2 cubes, its nodes at x = 0 and at x = n."""
    x, y, z = np.meshgrid(np.arange(n + 1), np.arange(3), np.arange(3), indexing="ij")
    points = np.stack([x, y, z], axis=-1).reshape(-1, 3).astype(float)
    number = np.arange(len(points)).reshape(n + 1, 3, 3)
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
    cells = [number[i : n + i, j : 2 + j, k : 2 + k].ravel() for i, j, k in corners]
    return points, np.stack(cells, axis=1), number[0].ravel(), number[n].ravel()


def bar(n=12):
    points, cells, fixed, load = cube(n)
    return topopt3d.Mesh(points, {"hexahedron": cells}, {"fixed": fixed, "load": load})


def case(mesh=None, iterations=5, **keys):
    defaults = {
        "supports": [{"set": "fixed"}],
        "loads": [{"set": "load", "force": [0, -1, 0]}],
        "design": {"volume_fraction": 0.5},
        "filter": {"radius_in_elements": 1.5},
        "optimizer": {"max_iterations": iterations, "change_tolerance": 0, "compliance_tolerance": 0},
        "solver": {"device": "cpu"},
    }
    return topopt3d.Case(defaults, mesh=mesh or bar(), **keys)


def numbers_of(file):
    with open(file, newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {name: [float(row[name]) for row in rows] for name in rows[0]}


def test_the_history_is_that_of_the_command_line_to_the_last_bit(tmp_path):
    few = ["--set", "optimizer.max_iterations=4", "--set", "mesh.elements=2000", "--device", "cpu"]
    program = [sys.executable, "-c", "import topopt3d; topopt3d.main()"]
    asked = [*program, "run", str(CANTILEVER), "--output", str(tmp_path / "out"), *few]
    subprocess.run(asked, check=True, capture_output=True, cwd=tmp_path)
    expected = numbers_of(tmp_path / "out" / "history.csv")

    keys = {"mesh": {"elements": 2000}, "optimizer": {"max_iterations": 4}}
    found = topopt3d.run(topopt3d.Case(CANTILEVER, solver={"device": "cpu"}, **keys))
    assert list(found.history) == list(expected)
    for name in (name for name in expected if SECONDS not in name):
        assert found.history[name].tolist() == expected[name], name
    assert (found.status, found.directory) == ("done", None)


def test_results_in_a_folder_are_those_in_memory(tmp_path):
    part = tmp_path / "part.msh"
    bar().write(part)
    on_file = case(mesh=part).run(output=tmp_path / "out")
    in_memory = case().run()
    assert on_file.directory == str(tmp_path / "out")
    assert on_file.density.tolist() == in_memory.density.tolist()
    assert numbers_of(tmp_path / "out" / "history.csv")["compliance"] == in_memory.history[
        "compliance"
    ].tolist()
    with pytest.raises(topopt3d.InputError, match="part.msh"):
        case().run(output=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_the_surface_is_the_one_that_the_command_line_exports(tmp_path):
    part, surface = tmp_path / "part.msh", tmp_path / "part.obj"
    bar().write(part)
    ball = {"name": "ball", "kind": "elements", "sphere": {"center": [6, 1, 1], "radius": 1.4}}
    design = {"volume_fraction": 0.5, "solid": ["ball"]}
    found = case(mesh=part, select=[ball], design=design).run(output=tmp_path / "out")
    vertices, triangles = topopt3d.surface(found)

    program = [sys.executable, "-c", "import topopt3d; topopt3d.main()"]
    asked = [*program, "export", str(tmp_path / "out"), "--output", str(surface)]
    subprocess.run(asked, check=True, capture_output=True, cwd=tmp_path)
    lines = [line.split() for line in surface.read_text().splitlines()]
    exported = [[float(x) for x in line[1:]] for line in lines if line[0] == "v"]
    assert vertices.tolist() == exported
    assert len(triangles) == sum(line[0] == "f" for line in lines)


def test_meshes_go_to_arrays_and_back(tmp_path):
    points, cells, fixed, _ = cube()
    marks = np.arange(len(cells)) < 3
    mesh = topopt3d.Mesh(points, [("hexahedron", cells)], {"fixed": fixed}, {"first": marks})
    assert mesh.points.tolist() == points.tolist() and mesh.cells.tolist() == cells.tolist()
    assert mesh.cell_type == "hexahedron"
    mesh.write(tmp_path / "part.msh")
    again = topopt3d.read(tmp_path / "part.msh")
    assert again.points.tolist() == points.tolist() and again.cells.tolist() == cells.tolist()
    assert again.point_sets["fixed"].tolist() == fixed.tolist()
    assert again.cell_sets["first"].tolist() == [0, 1, 2]


def test_other_cells_are_taken_as_the_readers_take_them():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1]], float)
    wedge = topopt3d.Mesh(corners, {"wedge": [[0, 1, 2, 3, 4, 5]]})
    assert wedge.cells.shape == (1, 8)
    tetrahedron = topopt3d.Mesh(corners[:4], {"tetra": [[0, 1, 2, 3]]})
    assert tetrahedron.cells.shape == (1, 10) and tetrahedron.cell_type == "tetra10"
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.5, 0.5, 1]], float)
    pyramid = topopt3d.Mesh(square, {"pyramid": [[0, 1, 2, 3, 4]]})
    assert len(pyramid.cells) > 1


@pytest.mark.parametrize(
    ("points", "cells", "sets"),
    [
        (np.zeros((4, 2)), [[0, 1, 2, 3]], {}),
        (np.full((4, 3), np.nan), [[0, 1, 2, 3]], {}),
        (np.eye(4, 3), [[0, 1, 2, 9]], {}),
        (np.eye(4, 3), [[0, 1, 2, -1]], {}),
        (np.eye(4, 3), [[0, 1, 2]], {}),
        (np.eye(4, 3), [[0, 1, 2, 3]], {"far": [4]}),
    ],
)
def test_arrays_that_are_no_mesh_are_refused(points, cells, sets):
    with pytest.raises((topopt3d.InputError, ValueError)):
        topopt3d.Mesh(points, {"tetra": cells}, sets)


def test_errors_are_exceptions_with_findings():
    with pytest.raises(topopt3d.InputError, match="volume_fractoin") as caught:
        case(design={"volume_fractoin": 0.3})
    [finding] = caught.value.findings
    assert "volume_fraction" in str(finding) and finding.line is not None
    with pytest.raises(topopt3d.InputError) as caught:
        case(loads=[{"set": "lod", "force": [0, 0, 1]}]).run()
    assert "`load`" in str(caught.value)
    assert [found.kind for found in case(loads=[{"set": "lod", "force": [1, 0, 0]}]).check()] == [
        "error"
    ]
    assert "error" not in [found.kind for found in topopt3d.check(case())]


def test_arrays_outlive_their_owner_and_cannot_be_written_to():
    found = case().run()
    density, displacement, column = found.density, found.displacement, found.history["compliance"]
    points = found.mesh.points
    before = [array.copy() for array in (density, displacement, column, points)]
    del found
    gc.collect()
    filler = [np.random.default_rng(0).random(len(density)) for _ in range(200)]
    for array, copy in zip((density, displacement, column, points), before):
        assert array.tolist() == copy.tolist() and len(filler) == 200
        with pytest.raises(ValueError):
            array[0] = 1
        with pytest.raises(ValueError):
            array.flags.writeable = True


def test_a_callback_sees_each_design_and_ends_the_run():
    seen = []

    def look(design):
        seen.append((design.iteration, design.density, design.values["compliance"]))
        assert threading.current_thread() is threading.main_thread()
        return design.iteration < 3

    found = case().run(look)
    assert [iteration for iteration, *_ in seen] == [1, 2, 3]
    assert found.status == "interrupted"
    assert seen[-1][1].tolist() == found.density.tolist()
    assert [value for *_, value in seen] == found.history["compliance"].tolist()


def test_a_callback_changes_settings_from_the_next_design_but_one_on():
    def thin(design):
        return {"volume_fraction": 0.2, "filter_radius": 2.0} if design.iteration == 4 else None

    keys = {"design": {"style": "smooth", "volume_fraction": 0.4}, "optimizer": {"max_iterations": 9}}
    free, changed = case(**keys).run(), case(**keys).run(thin)
    for column in ("compliance", "volume_fraction"):
        assert free.history[column][:5].tolist() == changed.history[column][:5].tolist()
    volumes = changed.history["volume_fraction"]
    assert volumes[:5] == pytest.approx([0.4] * 5, abs=1e-3)
    # The move limit lets the first design lose a part of it.
    assert volumes[5] < 0.37 and volumes[6:] == pytest.approx([0.2] * 3, abs=1e-3)
    assert changed.status == "done"

    # A stage of the case that begins there does the same.
    stage = [{"from": 6, "filter_radius": 2.0, "penalty": 4.0}]
    staged = case(continuation=stage, **keys).run()
    change = {"filter_radius": 2.0, "penalty": 4.0}
    changed = case(**keys).run(lambda design: change if design.iteration == 4 else None)
    assert staged.history["compliance"].tolist() == changed.history["compliance"].tolist()


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"volume": 0.3}, "a callback may change volume_fraction, filter_radius"),
        ({"volume_fraction": -0.3}, "finite and above 0"),
        ({"volume_fraction": 2.0}, "at most 1"),
        ({"penalty": 0.5}, "at least 1"),
        ({"sharpness": 4.0}, r"no \[projection\]"),
    ],
)
def test_settings_that_a_run_does_not_have_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        case(design={"style": "smooth"}).run(lambda _: settings)


def test_a_callback_that_raises_ends_the_run_with_its_exception():
    def fail(design):
        raise KeyError(design.iteration)

    with pytest.raises(KeyError, match="1"):
        case().run(fail)
    assert case().run().status == "done"


def test_control_c_ends_a_run(tmp_path):
    script = tmp_path / "long.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import signal, sys, topopt3d
            # Shells start what runs in the background with interrupts ignored.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            keys = {{"mesh": {{"elements": 20000}}, "solver": {{"device": "cpu"}}}}
            case = topopt3d.Case({str(CANTILEVER)!r}, **keys)
            print("ready", flush=True)
            try:
                topopt3d.run(case)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
                topopt3d.run(case, lambda design: False)
                print("ran again", flush=True)
            """
        )
    )
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        os.kill(process.pid, signal.SIGINT)
        start = time.monotonic()
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - start < 10
        assert process.stdout.readline() == "ran again\n"
    assert process.returncode == 0


def test_runs_of_two_threads_have_the_bits_of_one():
    expected, found = case().run(), {}
    threads = [
        threading.Thread(target=lambda k=k: found.update({k: case().run()})) for k in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(2):
        assert found[k].density.tolist() == expected.density.tolist()


def test_other_threads_of_python_go_on_during_a_run():
    counted, is_over = [0], threading.Event()

    def count():
        while not is_over.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    case(mesh=bar(60), iterations=10).run()
    seconds = time.monotonic() - start
    is_over.set()
    thread.join()
    assert counted[0] > 50 * seconds


def test_solve_and_verify_balance_the_load():
    solution = topopt3d.solve(case())
    assert solution.stress.shape == (48, 6) and solution.von_mises.shape == (48,)
    _, _, fixed, load = cube(12)
    assert np.isclose(solution.point_data["reaction"][fixed, 1].sum(), len(load), rtol=1e-6)
    work = -solution.displacement[load, 1].sum()
    assert np.isclose(solution.numbers["load_cases"][0]["compliance"], work, rtol=1e-6)

    keys = {"mesh": {"elements": 2000}, "optimizer": {"max_iterations": 15}}
    found = topopt3d.run(topopt3d.Case(CANTILEVER, solver={"device": "cpu"}, **keys))
    verified = topopt3d.verify(found)
    assert verified.cell_data["share"].max() <= 1.0
    assert verified.numbers["compliance"]["verified"] > 0
    vertices, triangles = topopt3d.surface(found)
    assert triangles.max() < len(vertices)
    corner = vertices[triangles]
    volume = np.einsum("ni,ni->", corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6
    assert np.isclose(volume, found.density.sum(), rtol=0.01)


def test_a_density_is_solved_in_the_order_of_the_mesh():
    half = np.where(np.arange(48) < 24, 1.0, 0.5)
    whole = topopt3d.solve(case()).numbers["load_cases"][0]["compliance"]
    softer = topopt3d.solve(case(), half)
    assert softer.numbers["load_cases"][0]["compliance"] > whole
    found = case(iterations=3).run()
    again = topopt3d.solve(case(iterations=3), found.density)
    assert np.isclose(
        again.numbers["load_cases"][0]["compliance"], found.history["compliance"][-1], rtol=1e-4
    )
    with pytest.raises(topopt3d.InputError, match="47 densities"):
        topopt3d.solve(case(), half[1:])
    with pytest.raises(topopt3d.InputError, match="element 3, from 0, is NaN"):
        topopt3d.solve(case(), np.where(np.arange(48) == 3, np.nan, half))


def test_conjugate_gradients_of_scipy_take_as_many_iterations_as_ours():
    linalg = pytest.importorskip("scipy.sparse.linalg")
    keys = {"mesh": {"elements": 4000}, "solver": {"device": "cpu", "cycle": "V", "tolerance": 1e-8}}
    part = topopt3d.Case(CANTILEVER, **keys)
    ours = topopt3d.solve(part)
    operator = part.operator()
    [load] = operator.loads.values()
    steps = []
    u, ended = linalg.cg(
        operator,
        load,
        rtol=1e-8,
        M=operator.preconditioner,
        callback=lambda _: steps.append(None),
    )
    assert ended == 0
    assert abs(len(steps) - ours.numbers["pcg_iterations"]) <= 2
    assert np.allclose(u.reshape(-1, 3), ours.displacement, rtol=0, atol=1e-6 * abs(u).max())


def test_a_response_of_python_is_the_built_in_one():
    _, _, _, load = cube(12)
    keys = {
        "filter": {"kind": "density", "radius_in_elements": 1.5},
        "optimizer": {"method": "mma", "max_iterations": 6, "change_tolerance": 0},
        "design": {"volume_fraction": 0.6},
    }
    slope = np.zeros((len(cube(12)[0]), 3))
    slope[load, 1] = 1 / len(load)

    def mean(density, states):
        return (slope * states[0]).sum(), None, [slope]

    response = topopt3d.Response(mean, "mean", "maximize")
    built_in = {"maximize": "displacement", "set": "load", "direction": [0, 1, 0]}
    expected = case(objective=built_in, **keys).run()
    found = case(**keys).run(responses=[response])
    assert np.allclose(found.history["objective"], expected.history["objective"], rtol=1e-12)
    assert np.allclose(found.density, expected.density, rtol=0, atol=1e-9)


def test_derivatives_of_a_response_by_the_density_count():
    keys = {
        "filter": {"kind": "density", "radius_in_elements": 1.5},
        "optimizer": {"method": "mma", "max_iterations": 6, "change_tolerance": 0},
    }

    def mean(density, states):
        return density.mean(), np.full(len(density), 1 / len(density)), None

    limited = topopt3d.Response(mean, "mean density", "at_most", 0.4)
    found = case(**keys).run(responses=[limited])
    assert found.history["mean_density"][-1] <= 0.4 * 1.001


def test_wrong_responses_are_refused(tmp_path):
    keys = {"filter": {"kind": "density"}, "optimizer": {"method": "mma"}}

    def response(value, *goal, label="mine"):
        return topopt3d.Response(lambda x, u: (value, np.ones(len(x)), None), label, *goal)

    with pytest.raises(topopt3d.InputError, match="two responses"):
        case(**keys).run(responses=[response(1.0), response(2.0)])
    with pytest.raises(ValueError, match="finite number, and not inf"):
        case(**keys).run(responses=[response(1.0, "at_most", np.inf)])
    with pytest.raises(ValueError, match="a response: value 0 is NaN"):
        case(**keys).run(responses=[response(np.nan)])
    with pytest.raises(ValueError, match="derivatives of shape"):
        slopes = topopt3d.Response(lambda x, u: (1.0, None, [u[0].T]), "mine")
        case(**keys).run(responses=[slopes])
    part = tmp_path / "part.msh"
    bar().write(part)
    limited = response(1.0, "at_most", 2.0, label="compliance")
    found = case(mesh=part, **keys).run(responses=[limited], output=tmp_path / "out")
    assert set(found.history["compliance_2"]) == {1.0} != set(found.history["compliance"])
    assert not list((tmp_path / "out").glob("checkpoints/*"))


def test_a_response_that_raises_ends_the_run_with_its_exception():
    def fail(density, states):
        raise ZeroDivisionError("here")

    keys = {"filter": {"kind": "density"}, "optimizer": {"method": "mma"}}
    with pytest.raises(ZeroDivisionError, match="here"):
        case(**keys).run(responses=[topopt3d.Response(fail, "broken")])


def projected(density, sharpness=4.0):
    """Returns the projection of the case file at a threshold of 0.5, and the way back."""
    height = 2 * np.tanh(sharpness / 2)
    steps = np.tanh(sharpness * (density - 0.5))
    slope = sharpness * (1 - steps**2) / height
    return 0.5 + steps / height, lambda by_built: by_built * slope


def test_a_transform_of_python_makes_the_density_that_is_built():
    keys = {
        "filter": {"kind": "density", "radius_in_elements": 1.5},
        "optimizer": {"method": "mma", "max_iterations": 20, "change_tolerance": 0},
        "design": {"volume_fraction": 0.5, "density_min": 1e-6, "keep_symmetry": False},
    }
    found = case(**keys).run(transform=projected)
    expected = case(projection={"sharpness": 4.0}, **keys).run()
    # The variables of a projection go down to 0, and those of a transform to the least density.
    compliances = [it.history["compliance"][-1] for it in (found, expected)]
    assert np.isclose(*compliances, rtol=1e-3)
    assert np.allclose(found.density, expected.density, rtol=0, atol=0.01)
    plain = case(**keys).run()
    same = case(**keys).run(transform=lambda x: (x, lambda slope: slope))
    assert same.density.tolist() == plain.density.tolist()
    histories = [it.history["compliance"] for it in (found, plain)]
    assert not np.allclose(*histories, rtol=0.01)


def test_forces_of_python_follow_the_density():
    """Weight by a function is that of the case."""
    points, cells, _, _ = cube(12)
    keys = {
        "material": {"youngs_modulus": 1, "poissons_ratio": 0.3, "mass_density": 0.02},
        "filter": {"kind": "density", "radius_in_elements": 1.5},
        "design": {"volume_fraction": 0.5, "interpolation": "ramp"},
        "optimizer": {"method": "mma", "max_iterations": 6, "change_tolerance": 0},
    }

    def weight(density):
        forces = np.zeros(points.shape)
        np.add.at(forces, (cells, 1), -0.02 * density[:, None] / 8)
        return forces, lambda slope: -0.02 / 8 * slope[cells, 1].sum(axis=1)

    ends = [{"set": "load", "total_force": [0, -1, 0]}]
    expected = case(loads=[*ends, {"gravity": [0, -1, 0]}], **keys).run()
    found = case(loads=ends, **keys).run(loads=[topopt3d.Load(weight)])
    named = case(loads=ends, **keys).run(loads=[topopt3d.Load(weight, "default")])
    assert np.allclose(found.history["compliance"], expected.history["compliance"], rtol=1e-9)
    assert np.allclose(found.density, expected.density, rtol=0, atol=1e-7)
    assert named.density.tolist() == found.density.tolist()
    plain = case(loads=ends, **keys).run()
    assert not np.allclose(found.history["compliance"], plain.history["compliance"], rtol=1e-3)
    with pytest.raises(topopt3d.InputError, match="loads of Python cannot be verified"):
        found.verify()


def test_wrong_maps_are_refused(tmp_path):
    keys = {"filter": {"kind": "density"}, "optimizer": {"method": "mma"}}
    identity = lambda x: (x, lambda slope: slope)  # noqa: E731
    forces = lambda x: (np.zeros((4, 3)), identity)  # noqa: E731
    loads = [topopt3d.Load(forces)]
    with pytest.raises(ValueError, match="densities from 0 to 1, and not 2 in element 0"):
        case(**keys).run(transform=lambda x: (np.full(len(x), 2.0), identity))
    with pytest.raises(topopt3d.TopoptError, match="gives 47 values for 48"):
        case(**keys).run(transform=lambda x: (x[1:], lambda slope: slope))
    with pytest.raises(ValueError, match="derivatives of shape"):
        case(**keys).run(transform=lambda x: (x, lambda slope: slope[1:]))
    with pytest.raises(ValueError, match=r"values of shape \(3, 4\)"):
        case(**keys).run(loads=[topopt3d.Load(lambda x: (np.zeros((3, 4)), identity))])
    with pytest.raises(TypeError, match="and the way back"):
        case(**keys).run(transform=lambda x: x)
    with pytest.raises(topopt3d.InputError, match="manufacturing"):
        extruded = [{"kind": "extrusion", "direction": [1, 0, 0]}]
        case(manufacturing=extruded, **keys).run(transform=identity)
    with pytest.raises(topopt3d.InputError, match="need not be symmetric"):
        symmetric = {"volume_fraction": 0.5, "keep_symmetry": True}
        case(design=symmetric, **keys).run(transform=identity)
    with pytest.raises(topopt3d.TopoptError, match="gives 12 values for"):
        case(**keys).run(loads=loads)
    with pytest.raises(topopt3d.InputError, match="no load case `other`"):
        case(**keys).run(loads=[topopt3d.Load(forces, "other")])
    with pytest.raises(topopt3d.InputError, match="optimality criteria"):
        case(filter={"kind": "density"}, optimizer={"method": "oc"}).run(loads=loads)
    with pytest.raises(topopt3d.InputError, match="after a filter of densities"):
        case(filter={"kind": "sensitivity"}, optimizer={"method": "oc"}).run(transform=identity)
    with pytest.raises(topopt3d.InputError, match="could not be read again"):
        topopt3d.Case(CANTILEVER, **keys).run(output=tmp_path / "there", loads=loads)
    assert not (tmp_path / "there").exists()
    with pytest.raises(ZeroDivisionError):
        case(**keys).run(transform=lambda x: (x, lambda slope: 1 / 0))


def test_an_import_needs_no_driver():
    assert topopt3d.devices()["cpu"] == "cpu"
    library = Path(topopt3d._core.__file__).read_bytes()
    needed = [name for name in (b"libcuda.so.1\0", b"libcudart.so") if name in library]
    loaded = Path("/proc/self/maps").read_text()
    assert "libcudart" not in loaded and b"libcudart.so" not in needed


def test_results_go_to_pandas_and_pyvista():
    found = case(iterations=2).run()
    assert np.shares_memory(np.from_dlpack(found.density), found.density)
    pandas = pytest.importorskip("pandas")
    assert pandas.DataFrame(found.history)["iteration"].tolist() == [1, 2]
    pytest.importorskip("pyvista")
    grid = found.to_pyvista()
    assert grid.n_cells == 48 and np.isclose(grid.volume, 48.0)
    again = topopt3d.Mesh.from_pyvista(grid)
    assert again.cells.tolist() == found.mesh.cells.tolist()


@pytest.mark.parametrize("page", ["docs/guide/src/python.md", "crates/topopt-python/README.md"])
def test_the_guide_shows_what_works(page, tmp_path, monkeypatch):
    pytest.importorskip("scipy")
    (tmp_path / "benchmarks").symlink_to(ROOT / "benchmarks")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    exec(compile("\n".join(blocks), page, "exec"), {"__name__": "guide"})


def test_stubs_say_what_the_module_has():
    pytest.importorskip("mypy")
    package = Path(topopt3d.__file__).parent
    # mypy finds an installed package by itself.
    is_installed = package.parent.name == "site-packages"
    environment = {**os.environ, "MYPYPATH": "" if is_installed else str(package.parent)}
    strict = ["mypy", "--strict", "--ignore-missing-imports", "-p", "topopt3d"]
    for tool in (["mypy.stubtest", "topopt3d._topopt3d"], strict):
        run = subprocess.run(
            [sys.executable, "-m", *tool], capture_output=True, text=True, env=environment
        )
        assert run.returncode == 0, run.stdout + run.stderr
