"""The notebooks of the documents run, and are stored without outputs."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.fixture(autouse=True)
def libraries(require, tmp_path, monkeypatch):
    require("checkout", bool(NOTEBOOKS), "not a checkout")
    try:
        import matplotlib
        import pandas  # noqa: F401
    except ImportError as error:
        require("notebooks", False, f"{error.name} is not installed")
    matplotlib.use("agg")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def cells(path):
    notebook = json.loads(path.read_text())
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"], notebook["cells"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run(path, tmp_path):
    names = {"__name__": "__main__"}
    for number, source in enumerate(cells(path)[0]):
        exec(compile(source, f"{path.name}, cell {number}", "exec"), names)
    if path.stem == "genotypes":
        assert (tmp_path / names["data"].name / "sure.vcf.gz").stat().st_size > 0
        assert len(names["sites"]) >= 5 and len(names["region"].haplotypes) >= 2
        names["axes"].figure.clear()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path):
    code = [cell for cell in cells(path)[1] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
