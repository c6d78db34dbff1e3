"""The code of docs/python.md and of the notebook runs, on a result that an aggregator made."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import nbformat
import pytest
from conftest import Played, blocks
from nbclient import NotebookClient

import cosketch

NOTEBOOK = Path(__file__).resolve().parents[1] / "notebook" / "analysis.ipynb"


@pytest.fixture
def results(played: dict[str, Played], tmp_path: Path) -> Path:
    """A folder with the result in ``results``, as in docs/python.md."""
    shutil.copytree(played["horizontal"].folder, tmp_path / "results")
    return tmp_path


def test_the_document(played: dict[str, Played], results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = played["horizontal"]
    folder, api, _ = blocks("python")  # the last one uses Spark
    monkeypatch.chdir(results)
    said = {"AGGREGATOR": of.aggregator, "STUDY": of.study}
    for name, text in said.items():
        folder, api = folder.replace(name, text), api.replace(name, text)
    script = "import matplotlib\nmatplotlib.use('agg')\n" + folder
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "feature_i" in done.stdout
    key = of.network.run("aggregator", "token", "create", "docs", "--scope", "studies:read,results:read").strip()
    monkeypatch.setenv("COSKETCH_TOKEN", key)
    with of.network.serving(web=True) as url:
        script = api.replace("https://cosketch.example.org", url)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert of.study in done.stdout


def test_the_notebook(played: dict[str, Played], results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    assert all(not c.get("outputs") for c in notebook.cells), "the notebook is kept without its output"
    monkeypatch.setenv("COSKETCH_RESULT", str(results / "results"))
    monkeypatch.setenv("COSKETCH_AGGREGATOR", played["horizontal"].aggregator)
    done = NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [o for c in done.cells for o in c.get("outputs", [])]
    assert sum("image/png" in o.get("data", {}) for o in outputs) == 2
    assert sum("text/html" in o.get("data", {}) for o in outputs) >= 4
    assert not [o for o in outputs if o.output_type == "stream" and o.name == "stderr"]


def test_r(played: dict[str, Played], results: Path) -> None:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed")
    (script,) = blocks("r")
    done = subprocess.run([program, "-e", script], cwd=results, capture_output=True, text=True, check=False)
    if "there is no package called" in done.stderr:
        pytest.skip("R has no jsonlite")
    assert done.returncode == 0, done.stderr
    means = played["horizontal"].read()["mean"].frame()
    for name, estimate in zip(means["feature"], means["estimate"], strict=True):
        assert re.search(rf"\b{name}\s+{estimate:.3f}", done.stdout), done.stdout


def test_the_package_is_typed() -> None:
    names = {str(f) for f in files("cosketch") or []}
    assert "cosketch/py.typed" in names
    assert set(cosketch.__all__) <= set(dir(cosketch))
