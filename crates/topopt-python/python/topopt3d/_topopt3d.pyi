from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Case",
    "Design",
    "Finding",
    "InputError",
    "Mesh",
    "Result",
    "Solution",
    "System",
    "TopoptError",
    "devices",
    "main",
]

class TopoptError(Exception):
    """A computation that failed; `findings` says why and what to do."""

    findings: list[Finding]

class InputError(TopoptError):
    """Input that cannot be computed."""

@final
class Finding:
    @property
    def kind(self) -> Literal["error", "warning", "note"]: ...
    @property
    def message(self) -> str: ...
    @property
    def remedy(self) -> str | None: ...
    @property
    def file(self) -> str | None: ...
    @property
    def line(self) -> int | None: ...

@final
class Design:
    @property
    def iteration(self) -> int: ...
    @property
    def density(self) -> NDArray[np.float64]: ...
    @property
    def values(self) -> dict[str, float]: ...

@final
class Mesh:
    def __new__(
        cls,
        points: NDArray[np.float64],
        types: NDArray[np.int64],
        offsets: NDArray[np.int64],
        connectivity: NDArray[np.int64],
        point_sets: Mapping[str, Sequence[int]],
        cell_sets: Mapping[str, Sequence[int]],
    ) -> Mesh: ...
    @staticmethod
    def read(path: str) -> Mesh: ...
    def write(self, path: str) -> None: ...
    @property
    def points(self) -> NDArray[np.float64]: ...
    @property
    def cells(self) -> NDArray[np.uint32]: ...
    @property
    def point_sets(self) -> dict[str, NDArray[np.uint32]]: ...
    @property
    def cell_sets(self) -> dict[str, NDArray[np.uint32]]: ...
    @property
    def face_sets(self) -> dict[str, NDArray[np.uint32]]: ...
    @property
    def notes(self) -> list[str]: ...

@final
class Case:
    def __new__(
        cls, path: str, text: str | None, overrides: Sequence[str], mesh: Mesh | None
    ) -> Case: ...
    @staticmethod
    def toml(json: str) -> str: ...
    @staticmethod
    def toml_value(json: str) -> str: ...
    def check(self) -> list[Finding]: ...
    def run(
        self,
        callback: Callable[[Design], bool | dict[str, float] | None] | None,
        output: str | None,
        overwrite: bool,
        functions: tuple[
            Sequence[tuple[str, Callable[..., Any], str, float | None]],
            Callable[..., Any] | None,
            Sequence[tuple[Callable[..., Any], str | None]],
        ],
    ) -> Result: ...
    def solve(self, density: Sequence[float] | None) -> Solution: ...
    def system(self, density: Sequence[float] | None) -> System: ...

@final
class Result:
    @property
    def design(self) -> Solution: ...
    @property
    def history(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def directory(self) -> str | None: ...
    def verify(self, threshold: float | None) -> Solution: ...
    def surface(
        self, threshold: float | None, quality: str, decimate: float | None
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]: ...

@final
class Solution:
    @property
    def mesh(self) -> Mesh: ...
    @property
    def point_data(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def cell_data(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def json(self) -> str: ...

@final
class System:
    @property
    def size(self) -> int: ...
    @property
    def unknowns(self) -> int: ...
    @property
    def loads(self) -> dict[str, NDArray[np.float64]]: ...
    def apply(self, vector: NDArray[np.float64]) -> NDArray[np.float64]: ...
    def precondition(self, vector: NDArray[np.float64]) -> NDArray[np.float64]: ...

def devices() -> list[tuple[str, str]]: ...
def main(arguments: Sequence[str]) -> int: ...
