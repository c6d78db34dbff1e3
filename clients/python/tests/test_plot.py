"""Figures show what the frames say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from conftest import Played
from matplotlib.collections import LineCollection, PathCollection

import cosketch
from cosketch import plot

matplotlib.use("agg")


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    plt.close("all")


def frame() -> pd.DataFrame:
    nan = float("nan")
    return pd.DataFrame(
        {
            "feature": ["a", "b", "c", "d"],
            "estimate": [1.0, 1.0, -1.0, nan],
            "low": [0.5, 0.5, -2.0, nan],
            "high": [1.5, 1.5, -0.5, nan],
            "population_low": [nan, -0.5, -3.0, nan],
            "population_high": [nan, 2.5, -0.1, nan],
        }
    )


def test_what_stands_out() -> None:
    assert plot.stands_out(frame()).tolist() == [True, False, True, False]


def test_a_forest() -> None:
    ax = plot.forest(frame())
    thin, thick = (c for c in ax.collections if isinstance(c, LineCollection))
    assert [tuple(s[:, 0]) for s in thick.get_segments()[:3]] == [(0.5, 1.5), (0.5, 1.5), (-2, -0.5)]
    assert tuple(thin.get_segments()[1][:, 0]) == (-0.5, 2.5)
    (points,) = (c for c in ax.collections if isinstance(c, PathCollection))
    faces = np.asarray(points.get_facecolor())
    assert not np.array_equal(faces[0], faces[1])
    assert np.array_equal(faces[0], faces[2])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c", "d"]
    assert [t.get_text() for t in ax.texts] == ["undefined"]


def test_every_answer_has_a_figure(played: dict[str, Played], tmp_path: Path) -> None:
    drawn = 0
    for name in ("horizontal", "vertical", "cells"):
        for a in played[name].read():
            estimates = a.frame() if not a.undefined else None
            if estimates is None or ("estimate" not in estimates.columns and not len(a.estimates())):
                with pytest.raises(cosketch.CosketchError):
                    plot.forest(a if estimates is None else estimates)
                continue
            ax = plot.forest(a)
            assert len(ax.get_yticklabels()) == len(estimates if "estimate" in estimates.columns else a.estimates())
            plt.savefig(tmp_path / "figure.png")
            plt.close("all")
            drawn += 1
    assert drawn >= 14  # those of horizontal and cells, which are defined for any noise


def test_a_heat_map(played: dict[str, Played], tmp_path: Path) -> None:
    a = played["vertical"].read()["correlation"]
    ax = plot.heat_map(a)
    plt.savefig(tmp_path / "figure.png")
    shown = ax.images[0].get_array()
    assert shown is not None
    np.testing.assert_array_equal(np.ma.filled(shown, np.nan), a.matrix().to_numpy())
    dots, crosses = (c for c in ax.collections if isinstance(c, PathCollection))
    pairs = a.pairs()
    assert np.shape(dots.get_offsets())[0] == 2 * plot.stands_out(pairs).sum()
    assert np.shape(crosses.get_offsets())[0] == 2 * pairs["estimate"].isna().sum()
    plot.heat_map(played["horizontal"].read()["covariance"])
