"""Topology optimization of three-dimensional parts.

Arrays have the numbering of the mesh, and its units: lengths and forces as the case has them.
Results are arrays that cannot be written to; copy one to change it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _topopt3d as _core
from ._topopt3d import Design, Finding, InputError, TopoptError

if TYPE_CHECKING:
    import pyvista
    from scipy.sparse.linalg import LinearOperator

__all__ = [
    "Case",
    "Design",
    "Finding",
    "InputError",
    "Load",
    "Mesh",
    "Response",
    "Result",
    "Solution",
    "TopoptError",
    "check",
    "devices",
    "main",
    "read",
    "run",
    "solve",
    "surface",
    "verify",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.uint32]

# Function of the density, which returns values and the way back, as `jax.vjp` does.
Map = Callable[[Floats], tuple[ArrayLike, Callable[[Floats], ArrayLike]]]

# Numbers of VTK by the names of meshio and of others.
_CELL_TYPES = {
    "tetra": 10,
    "hexahedron": 12,
    "wedge": 13,
    "pyramid": 14,
    "tetra10": 24,
    "hexahedron20": 25,
    "wedge15": 26,
    "pyramid13": 27,
    "hexahedron27": 29,
}


def main() -> None:
    """Runs the program `topopt` with the arguments of this process, and exits with its status."""
    sys.exit(_core.main(sys.argv))


def devices() -> dict[str, str]:
    """Returns the devices that compute here, as `solver.device` names them, with their names."""
    return dict(_core.devices())


class Mesh:
    """Mesh of hexahedra, or of tetrahedra of ten nodes, with named sets.

    Wedges become hexahedra; pyramids, and tetrahedra that are joined to other cells, are cut into
    hexahedra. Tetrahedra alone stay tetrahedra, with a node in the middle of every edge.

    points: coordinates, [n_points][3]
    cells: pairs of a type as meshio names it ("hexahedron", "wedge", "pyramid", "tetra", and their
        quadratic forms) and points from 0, [n_cells][n_points_of_the_type]; or a dict of them
    point_sets, cell_sets: numbers of points and cells from 0 by name; cells count through all types
    """

    def __init__(
        self,
        points: ArrayLike,
        cells: Mapping[str, ArrayLike] | Sequence[tuple[str, ArrayLike]],
        point_sets: Mapping[str, ArrayLike] | None = None,
        cell_sets: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        blocks = cells.items() if isinstance(cells, Mapping) else cells
        types: list[NDArray[np.int64]] = []
        sizes: list[NDArray[np.int64]] = []
        nodes: list[NDArray[np.int64]] = []
        for name, block in blocks:
            if name not in _CELL_TYPES:
                known = ", ".join(_CELL_TYPES)
                raise ValueError(f"cells of type {name!r} are not solid cells; known are {known}")
            rows = np.atleast_2d(np.asarray(block, dtype=np.int64))
            types.append(np.full(len(rows), _CELL_TYPES[name]))
            sizes.append(np.full(len(rows), rows.shape[1]))
            nodes.append(rows.ravel())
        if not types:
            raise ValueError("a mesh needs cells")
        self._core = _core.Mesh(
            np.ascontiguousarray(points, dtype=np.float64),
            np.concatenate(types).astype(np.int64),
            np.cumsum(np.concatenate(sizes)).astype(np.int64),
            np.ascontiguousarray(np.concatenate(nodes)),
            _sets(point_sets),
            _sets(cell_sets),
        )

    @classmethod
    def _of(cls, core: _core.Mesh) -> Mesh:
        mesh = cls.__new__(cls)
        mesh._core = core
        return mesh

    @classmethod
    def from_pyvista(
        cls,
        grid: pyvista.DataSet,
        point_sets: Mapping[str, ArrayLike] | None = None,
        cell_sets: Mapping[str, ArrayLike] | None = None,
    ) -> Mesh:
        """Takes the solid cells of a data set of PyVista."""
        grid = grid.cast_to_unstructured_grid()
        mesh = cls.__new__(cls)
        mesh._core = _core.Mesh(
            np.ascontiguousarray(grid.points, dtype=np.float64),
            np.ascontiguousarray(grid.celltypes, dtype=np.int64),
            np.ascontiguousarray(grid.cell_offsets[1:], dtype=np.int64),
            np.ascontiguousarray(grid.cell_connectivity, dtype=np.int64),
            _sets(point_sets),
            _sets(cell_sets),
        )
        return mesh

    @property
    def points(self) -> Floats:
        """Coordinates of the nodes, [n_nodes][3]."""
        return self._core.points

    @property
    def cells(self) -> Integers:
        """Nodes of the elements from 0, [n_elements][8], or [n_elements][10] of tetrahedra."""
        return self._core.cells

    @property
    def cell_type(self) -> Literal["hexahedron", "tetra10"]:
        """Type of all elements, as meshio names it."""
        return "hexahedron" if self.cells.shape[1] == 8 else "tetra10"

    @property
    def point_sets(self) -> dict[str, Integers]:
        """Nodes from 0 by the name of their set."""
        return self._core.point_sets

    @property
    def cell_sets(self) -> dict[str, Integers]:
        """Elements from 0 by the name of their set."""
        return self._core.cell_sets

    @property
    def face_sets(self) -> dict[str, Integers]:
        """Faces by the name of their set: element and number of its face, [n][2]."""
        return self._core.face_sets

    @property
    def notes(self) -> list[str]:
        """Sentences on what was left out or changed."""
        return self._core.notes

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the mesh with its sets as a file of Gmsh (.msh)."""
        self._core.write(os.fspath(path))

    def to_pyvista(self) -> pyvista.UnstructuredGrid:
        """Converts the mesh to a grid of PyVista."""
        return _grid(self, {}, {})

    def __repr__(self) -> str:
        return repr(self._core)


class Case:
    """Settings of a computation, as the keys of a case file.

    case: path of a case file, text of one, or a dict of its keys
    mesh: mesh in memory, whose sets the keys name; by default that of the key `mesh`
    keys: keys beside those of `case`, which they override: `design={"volume_fraction": 0.3}`
    """

    def __init__(
        self,
        case: str | os.PathLike[str] | Mapping[str, Any] | None = None,
        *,
        mesh: Mesh | str | os.PathLike[str] | Mapping[str, Any] | None = None,
        **keys: Any,
    ) -> None:
        in_memory = mesh._core if isinstance(mesh, Mesh) else None
        if isinstance(mesh, Mapping):
            keys["mesh"] = mesh
        elif mesh is not None and not isinstance(mesh, Mesh):
            keys["mesh"] = {"file": os.path.abspath(os.fspath(mesh))}
        path: str | os.PathLike[str] = "case.toml"
        text: str | None = None
        overrides: list[str] = []
        if case is None or isinstance(case, Mapping):
            text = _core.Case.toml(_json(_merged({} if case is None else case, keys)))
        else:
            if isinstance(case, str) and "\n" in case:
                text = case
            else:
                path = case
            overrides = [f"{key}={value}" for key, value in _leaves(keys)]
        self._core = _core.Case(os.fspath(path), text, overrides, in_memory)

    def check(self) -> list[Finding]:
        """Lists what is wrong or doubtful in the case, and notes, without solving."""
        return self._core.check()

    def run(
        self,
        callback: Callable[[Design], bool | dict[str, float] | None] | None = None,
        *,
        output: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        responses: Sequence[Response] = (),
        transform: Map | None = None,
        loads: Sequence[Load] = (),
    ) -> Result:
        """Optimizes the case.

        callback: receives each design; the run ends where it returns False, and has other settings
            from the next design but one on where it returns a dict: volume_fraction,
            filter_radius (length), penalty, sharpness, move_limit
        output: folder for the files of the results; none are written without
        overwrite: whether results that are there are replaced
        responses: responses computed in Python, beside those of the case
        transform: function of the density that filter and projection make, [n_elements]; returns
            the density that is built, [n_elements] from 0 to 1, and the way back, a function that
            takes derivatives by the latter to derivatives by the former
        loads: forces computed in Python, beside those of the case
        """
        folder = None if output is None else os.fspath(output)
        own = [(it.label, it._call, it.goal, it.limit) for it in responses]
        built = None if transform is None else _as_vectors(transform)
        forces = [(_as_vectors(load.function), load.case) for load in loads]
        return Result(self._core.run(callback, folder, overwrite, (own, built, forces)))

    def solve(self, density: ArrayLike | None = None) -> Solution:
        """Solves the full part once, or a design of `density`, [n_elements]."""
        return Solution(self._core.solve(_density(density)))

    def operator(self, density: ArrayLike | None = None) -> LinearOperator:
        """Returns the stiffness K of the full part, or of a design, for vectors [n_nodes n].

        It has the attributes `preconditioner`, multigrid for K as another operator, and `loads`,
        the right-hand side of each load case by name. Held components are 0.
        """
        from scipy.sparse.linalg import LinearOperator

        system = self._core.system(_density(density))

        def of(apply: Callable[[Floats], Floats]) -> LinearOperator:
            def matvec(vector: ArrayLike) -> Floats:
                return apply(np.ascontiguousarray(vector, dtype=np.float64).ravel())

            shape = (system.size, system.size)
            return LinearOperator(shape, matvec=matvec, rmatvec=matvec, dtype=np.float64)

        operator = of(system.apply)
        operator.preconditioner = of(system.precondition)
        operator.loads = system.loads
        return operator


class _Fields:
    """Mesh with fields, and numbers."""

    _fields: _core.Solution

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        return Mesh._of(self._fields.mesh)

    @property
    def point_data(self) -> dict[str, Floats]:
        """Fields of the nodes by name, [n_nodes] or [n_nodes][components]."""
        return self._fields.point_data

    @property
    def cell_data(self) -> dict[str, Floats]:
        """Fields of the elements by name, [n_elements] or [n_elements][components]."""
        return self._fields.cell_data

    @property
    def numbers(self) -> dict[str, Any]:
        """Numbers, by the keys of the .json file that the program writes."""
        numbers: dict[str, Any] = json.loads(self._fields.json)
        return numbers

    @property
    def displacement(self) -> Floats:
        """Displacements in the first load case, [n_nodes][3] (length)."""
        return self._fields.point_data["displacement"]

    def to_pyvista(self) -> pyvista.UnstructuredGrid:
        """Converts mesh and fields to a grid of PyVista."""
        return _grid(self.mesh, self.point_data, self.cell_data)


class Solution(_Fields):
    """A part that was solved, or a design that was verified."""

    def __init__(self, core: _core.Solution) -> None:
        self._fields = core

    @property
    def stress(self) -> Floats:
        """Stresses at the centers in the first load case (xx, yy, zz, xy, yz, zx),
        [n_elements][6] (force per area); of a verification those at the nodes, [n_nodes][6]."""
        if "stress" in self._fields.cell_data:
            return self._fields.cell_data["stress"]
        return self._fields.point_data["nodal_stress"]

    @property
    def von_mises(self) -> Floats:
        """Stresses of von Mises at the centers, [n_elements] (force per area)."""
        return self._fields.cell_data["von_mises"]


class Result(_Fields):
    """The last design of a run, and the history of its iterations."""

    def __init__(self, core: _core.Result) -> None:
        self._core = core
        self._fields = core.design

    @property
    def density(self) -> Floats:
        """Density of each element, [n_elements]."""
        return self._fields.cell_data["density"]

    @property
    def history(self) -> dict[str, Floats]:
        """Columns of the history by name, [n_iterations] each, as pandas.DataFrame takes them."""
        return self._core.history

    @property
    def status(self) -> str:
        """`done`, or `interrupted` where a callback has ended the run."""
        status: str = self.numbers["status"]
        return status

    @property
    def directory(self) -> str | None:
        """Folder of the results, if they were written."""
        folder = self._core.directory
        return None if folder is None else os.fspath(folder)

    @property
    def stress(self) -> Floats:
        """Stresses in the design as it is exported, see `Solution.stress`; it is solved for them."""
        return self.verify().stress

    def verify(self, threshold: float | None = None) -> Solution:
        """Solves the design again as the solid that is exported.

        threshold: density at which the surface lies; by default that which keeps the volume
        """
        return Solution(self._core.verify(threshold))

    def surface(
        self,
        threshold: float | None = None,
        quality: Literal["draft", "print", "show"] = "print",
        decimate: float | None = None,
    ) -> tuple[Floats, Integers]:
        """Returns the closed surface of the design: vertices, [n][3], and triangles, [n][3].

        threshold: density at which it lies; by default that which keeps the volume
        quality: edges as long as an element, half of one, or a quarter
        decimate: share of the triangles to keep off the part's own surface
        """
        return self._core.surface(threshold, quality, decimate)


@dataclass(frozen=True)
class Response:
    """A response computed in Python, for `run(case, responses=[...])`.

    function: takes the density, [n_elements], and the state of each load case, a list of
        [n_nodes][3] ([n_nodes] of heat); returns its value, its derivatives by the density,
        [n_elements] or None, and those by each state, a list of arrays or None
    label: name, and column of the history
    goal: `minimize` or `maximize` in place of the objective of the case; `at_most` or `at_least`
    limit: the limit of the last two
    """

    function: Callable[[Floats, list[Floats]], tuple[float, Any, Any]]
    label: str
    goal: Literal["minimize", "maximize", "at_most", "at_least"] = "minimize"
    limit: float | None = None

    def _call(self, density: Floats, states: list[Floats]) -> tuple[float, Floats, list[Floats]]:
        value, by_density, by_states = self.function(density, states)
        if by_density is None:
            by_density = np.zeros_like(density)
        slopes = [None] * len(states) if by_states is None else by_states
        flat = [_shaped(slope, state.shape) for slope, state in zip(slopes, states, strict=True)]
        return float(value), _shaped(by_density, density.shape), flat


@dataclass(frozen=True)
class Load:
    """Forces computed in Python, for `run(case, loads=[...])`.

    function: takes the density that is built, [n_elements]; returns the forces on all nodes,
        [n_nodes][3] (heat per time, [n_nodes]), and the way back, a function that takes an array w
        like these to the derivatives of the sum of w * forces by the density, [n_elements]
    case: name of the load case, by default the first
    """

    function: Map
    case: str | None = None


def read(path: str | os.PathLike[str]) -> Mesh:
    """Reads a mesh file of Gmsh, VTK, Ansys, Abaqus or Nastran; its extension chooses the format."""
    return Mesh._of(_core.Mesh.read(os.fspath(path)))


def check(case: Case) -> list[Finding]:
    """Lists what is wrong or doubtful in the case, and notes, without solving."""
    return case.check()


def run(
    case: Case,
    callback: Callable[[Design], bool | dict[str, float] | None] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    responses: Sequence[Response] = (),
    transform: Map | None = None,
    loads: Sequence[Load] = (),
) -> Result:
    """Optimizes the case, see `Case.run`."""
    return case.run(
        callback,
        output=output,
        overwrite=overwrite,
        responses=responses,
        transform=transform,
        loads=loads,
    )


def solve(case: Case, density: ArrayLike | None = None) -> Solution:
    """Solves the full part once, or a design of `density`, [n_elements]."""
    return case.solve(density)


def verify(result: Result, threshold: float | None = None) -> Solution:
    """Solves the design again as the solid that is exported, see `Result.verify`."""
    return result.verify(threshold)


def surface(
    result: Result,
    threshold: float | None = None,
    quality: Literal["draft", "print", "show"] = "print",
    decimate: float | None = None,
) -> tuple[Floats, Integers]:
    """Returns the closed surface of the design, see `Result.surface`."""
    return result.surface(threshold, quality, decimate)


def _sets(sets: Mapping[str, ArrayLike] | None) -> dict[str, list[int]]:
    """Lists the numbers of sets, which may be given as marks of True and False."""
    listed = {}
    for name, members in (sets or {}).items():
        array = np.asarray(members)
        array = np.flatnonzero(array) if array.dtype == bool else array
        listed[name] = [int(member) for member in array]
    return listed


def _density(density: ArrayLike | None) -> list[float] | None:
    return None if density is None else _flat(density).tolist()


def _shaped(values: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """Returns values of a shape as one row; none where there are none."""
    if values is None:
        return np.zeros(0)
    array = np.asarray(values, dtype=np.float64)
    if array.shape not in (shape, (int(np.prod(shape)),)):
        raise ValueError(f"derivatives of shape {array.shape} for values of shape {shape}")
    return _flat(array)


def _flat(values: ArrayLike) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64).ravel()


def _as_vectors(function: Map) -> Callable[[Floats], tuple[Floats, Callable[[Floats], Floats]]]:
    """Wraps a function of the density such that it gives flat arrays, and so does its way back."""

    def call(density: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
        found = function(density)
        if not (isinstance(found, tuple) and len(found) == 2 and callable(found[1])):
            raise TypeError("a map returns its values and the way back, a function")
        values, back = np.asarray(found[0], dtype=np.float64), found[1]
        if values.ndim > 1 and values.shape[1:] != (3,):
            raise ValueError(f"values of shape {values.shape}: [n_nodes][3] or one dimension are wanted")
        return _flat(values), lambda slope: _shaped(back(slope), density.shape)

    return call


def _json(value: Any) -> str:
    """Writes values as JSON, with arrays of NumPy as lists."""
    return json.dumps(value, default=lambda it: it.tolist() if hasattr(it, "tolist") else str(it))


def _merged(base: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys of both, table by table, those of `above` where both have one."""
    merged = dict(base)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merged(merged[key], value) if both else value
    return merged


def _leaves(keys: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    """Lists the values of all tables by their path, as values of TOML."""
    leaves: list[tuple[str, str]] = []
    for key, value in keys.items():
        if isinstance(value, Mapping):
            leaves.extend(_leaves(value, f"{above}{key}."))
        else:
            text = _core.Case.toml_value(_json(value))
            leaves.append((f"{above}{key}", text))
    return leaves


def _grid(
    mesh: Mesh, point_data: Mapping[str, Floats], cell_data: Mapping[str, Floats]
) -> pyvista.UnstructuredGrid:
    import pyvista

    kind = _CELL_TYPES[mesh.cell_type]
    grid = pyvista.UnstructuredGrid({kind: mesh.cells.astype(np.int64)}, mesh.points)
    for name, values in point_data.items():
        grid.point_data[name] = values
    for name, values in cell_data.items():
        grid.cell_data[name] = values
    return grid
