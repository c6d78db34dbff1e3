"""Figures; they need the extra ``plot`` (matplotlib)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from .errors import CosketchError
from .result import Analysis

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _axes(ax: Axes | None, width: float, height: float) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as err:
        raise CosketchError("figures need matplotlib (pip install 'cosketch[plot]')") from err
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _interval(frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """The interval for people like these where there is one, else that for these records."""
    low = frame["population_low"].fillna(frame["low"])
    return low, frame["population_high"].fillna(frame["high"])


def stands_out(frame: pd.DataFrame) -> pd.Series:
    """Whether zero is outside each row's interval: that for people like these where there is one."""
    low, high = _interval(frame)
    return (low > 0) | (high < 0)


def labels(frame: pd.DataFrame) -> list[str]:
    """A label for each row of a frame."""
    if "feature_i" in frame.columns:
        names = frame["feature_i"].fillna("") + " × " + frame["feature_j"].fillna("")
        same = frame["i"] == frame["j"]
        return [str(a if s else b) for a, b, s in zip(frame["feature_i"], names, same, strict=True)]
    if "feature" in frame.columns:
        return [str(x) for x in frame["feature"]]
    if "number" in frame.columns:
        return [" ".join(x for x in row if x) for row in frame[["number", "of"]].itertuples(index=False)]
    before = list(frame.columns[: list(frame.columns).index("estimate")])
    rows = frame[before].itertuples(index=False)
    return [", ".join(f"{c} {x}" for c, x in zip(before, row, strict=True)) for row in rows]


def forest(of: Analysis | pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Plot every estimate with its intervals: thick for these records, thin for people like these. A filled dot
    means that zero is outside the interval. Rows without an estimate are labelled undefined."""
    frame: pd.DataFrame
    if isinstance(of, Analysis):
        frame = of.frame()
        if "estimate" not in frame.columns:
            frame = of.estimates()
    else:
        frame = of
    if "estimate" not in frame.columns:
        raise CosketchError("this frame has no column estimate: give one that has, such as analysis.estimates()")
    ax = _axes(ax, 7, 1 + 0.3 * len(frame))
    y = np.arange(len(frame))[::-1]
    out = stands_out(frame).to_numpy()
    ax.hlines(y, frame["population_low"], frame["population_high"], color="0.6", linewidth=1)
    ax.hlines(y, frame["low"], frame["high"], color="C0", linewidth=3)
    faces = np.where(out, "C0", "white")
    ax.scatter(frame["estimate"], y, c=faces, edgecolors="C0", zorder=3)
    ax.axvline(0, color="0.3", linewidth=0.8)
    for at in np.flatnonzero(frame["estimate"].isna()):
        across = ax.get_yaxis_transform()
        ax.text(0.5, float(y[at]), "undefined", transform=across, ha="center", va="center", color="0.4")
    ax.set_yticks(y, labels(frame))
    ax.set_ylim(-0.7, len(frame) - 0.3)
    if isinstance(of, Analysis):
        ax.set_title(of.kind)
        ax.set_xlabel(of.document.units or "estimate")
    return ax


def heat_map(of: Analysis, ax: Axes | None = None) -> Axes:
    """Plot the matrix of an analysis of pairs. A dot means that zero is outside the interval, a cross undefined."""
    matrix, pairs = of.matrix(), of.pairs()
    names = list(matrix.columns)
    size = 2 + 0.4 * len(names)
    ax = _axes(ax, size + 1, size)
    values = matrix.to_numpy()
    most = 1.0 if of.kind in ("correlation", "cosine") else float(np.nanmax(np.abs(values), initial=1e-300))
    image = ax.imshow(np.ma.masked_invalid(values), cmap="RdBu_r", vmin=-most, vmax=most)
    ax.figure.colorbar(image, ax=ax, label=of.document.units or "estimate")
    different = pairs["i"] != pairs["j"]
    for marker, edge, chosen in (("o", "white", stands_out(pairs)), ("x", None, pairs["estimate"].isna())):
        i, j = (pairs.loc[chosen & different, c].to_numpy() for c in ("i", "j"))
        ax.scatter(np.concatenate([i, j]), np.concatenate([j, i]), marker=marker, c="black", edgecolors=edge, s=25)
    ax.set_xticks(range(len(names)), names, rotation=90)
    ax.set_yticks(range(len(names)), names)
    ax.set_title(of.kind)
    return ax
