"""Examples: every case is valid, and every notebook runs."""

import json
import os
import shutil
from pathlib import Path

import pytest

import topopt3d

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CASES = sorted(EXAMPLES.glob("*/case.toml"))
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))


def test_there_are_ten_examples_and_three_notebooks():
    assert (len(CASES), len(NOTEBOOKS)) == (10, 3)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.parent.name)
def test_a_case_is_valid_and_explained(path):
    topopt3d.Case(path)
    listed = (EXAMPLES / "README.md").read_text()
    for name in ("README.md", "picture.png"):
        assert (path.parent / name).is_file()
        assert f"({path.parent.name}/{name})" in listed


@pytest.mark.skipif(not (os.environ.get("GMSH") or shutil.which("gmsh")), reason="Gmsh meshes the parts")
@pytest.mark.parametrize("name", ["bracket", "wheel"])
def test_a_case_finds_its_faces(name):
    findings = topopt3d.check(topopt3d.Case(EXAMPLES / name / "case.toml"))
    assert not [finding for finding in findings if "warning" in str(finding)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    cells = json.loads(path.read_text())["cells"]
    assert not any(cell.get("outputs") for cell in cells)
    names = {"__name__": "__main__"}
    for cell in (cell for cell in cells if cell["cell_type"] == "code"):
        exec(compile("".join(cell["source"]), path.name, "exec"), names)
