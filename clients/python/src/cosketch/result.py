"""A result and its analyses, as data frames."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from . import document as doc
from . import tables
from .errors import CosketchError, FileError
from .signature import Signed

PART = 1 << 22  # bytes of a part of a dense table
_HEADER = 1 << 16  # largest size of an array's header, in bytes

# The main table of an analysis without pairs, by the key of its section.
_MAIN = {
    "means": "means",
    "regression": "regression_coefficients",
    "k_means": "k_means_sizes",
    "cell_means": "cell_means_sizes",
    "pca": "pca_components",
    "classifier": "classifier",
    "hierarchy": "hierarchy_merges",
    "sums": "sums_rows",
    "neighbors": "neighbors_nearest",
    "outliers": "outliers_quantiles",
    "lda": "lda_weights",
}

_ENDS = ("standard_error", "low", "high", "population_low", "population_high", "undefined")


def _said(column: str, value: object) -> str:
    """A value as part of a row's label."""
    return str(value) if column.startswith("feature") else f"{column} {value}"


def _column(kind: str, values: list[object]) -> pd.Series:
    some = any(x is None for x in values)
    if kind == tables.INTEGER:
        return pd.Series(values, dtype="Int64" if some else "int64")
    if kind == tables.TRUTH:
        return pd.Series(values, dtype="boolean" if some else "bool")
    if kind == tables.REAL:
        return pd.Series([np.nan if x is None else x for x in values], dtype="float64")
    return pd.Series(values) if any(x is not None for x in values) else pd.Series(values, dtype="object")


def frame(table: tables.Table) -> pd.DataFrame:
    """A table as a data frame. Absent numbers are NaN."""
    columns = {name: _column(kind, [row[at] for row in table.rows]) for at, (name, kind) in enumerate(table.columns)}
    out: pd.DataFrame = pd.DataFrame(columns)
    return out


@dataclass(frozen=True)
class Result:
    """A result. ``document`` is the whole document as typed objects."""

    document: doc.Result
    raw: bytes = field(repr=False)  # the signed bytes
    signed: Signed | None  # None: no signature was verified
    beside: Callable[[str, int], bytes] = field(
        repr=False
    )  # reads a file beside the document, given its name and largest size

    @property
    def study(self) -> str:
        return self.document.study

    @property
    def name(self) -> str:
        return self.document.name

    @cached_property
    def analyses(self) -> tuple[Analysis, ...]:
        return tuple(Analysis(self, at) for at in range(len(self.document.analyses)))

    def __iter__(self) -> Iterator[Analysis]:
        return iter(self.analyses)

    def __getitem__(self, kind: str | int) -> Analysis:
        """The analysis at a position, or the only one of a kind."""
        if isinstance(kind, int):
            return self.analyses[kind]
        found = [a for a in self.analyses if a.kind == kind]
        if len(found) != 1:
            kinds = ", ".join(a.kind for a in self.analyses)
            raise KeyError(f"{len(found)} analyses of kind {kind!r}; this result has: {kinds} (or give a position)")
        return found[0]

    @cached_property
    def _tables(self) -> dict[str, pd.DataFrame]:
        return {name: frame(t) for name, t in tables.tables(self.document).items()}

    def frames(self) -> dict[str, pd.DataFrame]:
        """The whole document as frames by name, equal to the files that the program writes. Pairs of dense
        tables are not in ``numbers``: use Analysis.pairs()."""
        return {name: f.copy() for name, f in self._tables.items()}


@dataclass(frozen=True)
class Analysis:
    """One analysis of a result."""

    result: Result = field(repr=False)
    position: int

    @property
    def document(self) -> doc.Analysis:
        return self.result.document.analyses[self.position]

    @property
    def kind(self) -> str:
        return self.document.kind

    @property
    def undefined(self) -> str:
        """Why there is no answer; empty if there is one."""
        return self.document.undefined

    @property
    def caution(self) -> str:
        """A warning to read first: what the numbers do not cover."""
        return self.document.caution

    @property
    def features(self) -> list[str]:
        return [tables.feature_name(f) for f in self.document.features]

    def frames(self) -> dict[str, pd.DataFrame]:
        """All frames of this analysis, by name."""
        out = {}
        for name, f in self.result._tables.items():
            if "analysis" in f.columns:
                mine = f[f["analysis"] == self.position].drop(columns="analysis").reset_index(drop=True)
                if len(mine) and name != tables.NUMBERS:
                    out[name] = mine
        if self.document.pairs or self.document.dense is not None:
            out["pairs"] = self.pairs()
        if self.document.shifts:
            out["shifts"] = self._numbers("shift")
        return out

    def frame(self) -> pd.DataFrame:
        """The answer: pairs, means, coefficients, clusters, …; for an unknown kind its first table with estimates."""
        if self.undefined:
            raise CosketchError(f"analysis {self.position} ({self.kind}) has no answer: {self.undefined}")
        frames = self.frames()
        for key, name in _MAIN.items():
            if getattr(self.document, key) and name in frames:
                return frames[name]
        if "pairs" in frames:
            return frames["pairs"]
        own = {name: f for name, f in frames.items() if name not in ("analyses", "features", "assumes")}
        return next((f for f in own.values() if "estimate" in f.columns), next(iter(own.values()), frames["analyses"]))

    def estimates(self) -> pd.DataFrame:
        """All numbers with intervals of this analysis except its pairs, one per row. Columns: table, number (such
        as ``accuracy``; empty if the table has only one), of (the row's label), estimate, standard_error, low, high,
        population_low, population_high, undefined."""
        rows = []
        for name, f in self.frames().items():
            if name in ("pairs", "shifts"):
                continue
            stems = [c.removesuffix("_standard_error") for c in f.columns if c.endswith("_standard_error")]
            numbers = {s: [s, *(f"{s}_{end}" for end in _ENDS)] for s in stems}
            if {"estimate", *_ENDS} <= set(f.columns):
                numbers[""] = ["estimate", *_ENDS]
            numbers = {s: cs for s, cs in numbers.items() if set(cs) <= set(f.columns)}
            taken = {c for cs in numbers.values() for c in cs} | {"party", "column", "value", "i", "j"}
            about = [c for c in f.columns if c not in taken and (f[c].dtype.kind != "f" or c == "share")]
            for _, row in f.iterrows():
                of = ", ".join(_said(c, row[c]) for c in about if len(f) > 1 and not pd.isna(row[c]))
                rows += [[name, s, of, *(row[c] for c in cs)] for s, cs in numbers.items()]
        out: pd.DataFrame = pd.DataFrame(rows, columns=["table", "number", "of", "estimate", *_ENDS])
        out[["estimate", *_ENDS[:-1]]] = out[["estimate", *_ENDS[:-1]]].astype("float64")
        return out

    def _numbers(self, of: str) -> pd.DataFrame:
        all_ = self.result._tables[tables.NUMBERS]
        mine: pd.DataFrame = all_[(all_["analysis"] == self.position) & (all_["of"] == of)]
        out: pd.DataFrame = mine.drop(columns=["analysis", "kind", "of"]).reset_index(drop=True)
        return out

    def pairs(self) -> pd.DataFrame:
        """All pairs of features, one per row. Columns: i, j, feature_i, feature_j, estimate, standard_error, low,
        high, population_low, population_high, undefined."""
        return self._numbers("pair") if self.document.dense is None else self._dense(self.document.dense)

    def _dense(self, dense: doc.Dense) -> pd.DataFrame:
        name = f"{tables.file_name(self.position, self.document)}_pairs.npy"
        size = sum(p.bytes for p in dense.parts)
        try:
            records = np.load(io.BytesIO(self.result.beside(name, size + _HEADER)), allow_pickle=False)
        except (ValueError, EOFError) as err:
            raise FileError(f"{name} is not an array: {err}") from err
        want = np.dtype([*((f, "<f8") for f in dense.fields), ("undefined", "u1")])
        body = memoryview(records.tobytes())
        if records.dtype != want or records.shape != (dense.pairs,) or len(body) != size:
            raise FileError(f"{name} does not have the shape that the document states")
        for at, p in enumerate(dense.parts):
            if hashlib.sha256(body[at * PART : (at + 1) * PART]).hexdigest() != p.sha256:
                raise FileError(f"{name} was changed: part {at} does not match the document (write it again)")
        n = len(self.features)
        i, j = np.triu_indices(n, k=0 if dense.diagonal else 1)
        if len(i) != dense.pairs or int(records["undefined"].max(initial=0)) > len(dense.undefined):
            raise FileError(f"{name} does not have the shape that the document states")
        names = np.array(self.features, dtype=object)
        none = np.full(len(i), np.nan)
        columns = {"i": i.astype("int64"), "j": j.astype("int64"), "feature_i": names[i], "feature_j": names[j]}
        columns |= {f: records[f].astype("float64") if f in dense.fields else none for f in tables.FIELDS}
        columns["undefined"] = np.array(["", *dense.undefined], dtype=object)[records["undefined"]]
        out: pd.DataFrame = pd.DataFrame(columns)
        return out

    def matrix(self, of: str = "estimate") -> pd.DataFrame:
        """A column of the pairs as a square matrix by features; NaN if undefined. The diagonal of correlations and
        cosines is 1, and 0 for standard errors."""
        pairs, names = self.pairs(), self.features
        out = np.full((len(names), len(names)), np.nan)
        if self.kind in ("correlation", "cosine") and of != "standard_error":
            np.fill_diagonal(out, 1)
        elif self.kind in ("correlation", "cosine"):
            np.fill_diagonal(out, 0)
        i, j, values = (pairs[c].to_numpy() for c in ("i", "j", of))
        out[i, j] = values
        out[j, i] = values
        square: pd.DataFrame = pd.DataFrame(out, index=names, columns=names)
        return square
