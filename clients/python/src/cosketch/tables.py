"""A result as tables of single values, by the same rules as the files of the program.

The single values of an object are the columns of one row. A list, or an optional object, is a separate
table, named after the path to it. Its rows begin with the position in each list on the path, or with a name
for it. ``by`` of a field says what positions in a list mean, ``of`` what integers are positions of.
protocol/analysis/table.go has the whole rule; tests check that the tables are equal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .decode import inner, items, keys, part
from .document import Analysis, Feature, Number, Object, Pair, Result

TEXT, INTEGER, REAL, TRUTH = "text", "integer", "real", "truth"
NUMBERS = "numbers"
FIELDS = ("estimate", "standard_error", "low", "high", "population_low", "population_high")
_TYPES = {str: TEXT, int: INTEGER, float: REAL, bool: TRUTH}

Row = list[tuple[str, str, Any]]  # name of the column, its type, the value


@dataclass
class Table:
    """Rows of single values; None if a value is absent."""

    name: str
    columns: list[tuple[str, str]]
    rows: list[list[Any]] = field(default_factory=list)


@dataclass(frozen=True)
class _Place:
    """The context of a value: the enclosing objects, and the metadata of its field."""

    around: tuple[Object, ...] = ()
    by: tuple[str, ...] = ()
    of: str = ""
    key: str = ""  # the field that is used as the object's position
    letter: str = ""  # i or j within a list of lists by features and features


def feature_name(f: Feature) -> str:
    """The name of a feature, like ``north: ward=a``."""
    name = f.column + ("=" + f.value if f.value else "")
    if not f.party:
        return name
    return f.party if not name else f"{f.party}: {name}"


def _singular(name: str) -> str:
    endings = {"yses": "ysis", "sses": "ss", "ies": "y", "ches": "ch", "ices": "ex", "s": ""}
    for ending, one in endings.items():
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending) + one
    return name


def _names(place: _Place, word: str) -> tuple[bool, tuple[Any, ...]] | None:
    """The list of an enclosing object that a word names, after whether it is a list of features."""
    for v in reversed(place.around):
        for k in keys(type(v)):
            if k.name == word and items(k.type) in (Feature, str):
                return items(k.type) is Feature, getattr(v, k.attribute)
    return None


def _at(names: tuple[Any, ...], position: int) -> Feature:
    if not 0 <= position < len(names):
        return Feature(party="", column="", value="", date=False)
    found = names[position]
    return found if isinstance(found, Feature) else Feature(party="", column=found, value="", date=False)


def _named(f: Feature, column: str) -> Row:
    return [(column, TEXT, feature_name(f) if f.party or f.column or f.value else None)]


def _feature(f: Feature, name: str, prefix: str) -> Row:
    parts = (("party", f.party), ("column", f.column), ("value", f.value))
    return _named(f, name) + [(prefix + p, TEXT, text or None) for p, text in parts]


def _single(name: str, of: Any, x: Any) -> Row:
    of = inner(of) or of
    absent = x is None or (of is float and x != x)
    return [(name, _TYPES[of], None if absent else x)]


def _index(place: _Place, letter: str, by: str, position: int) -> Row:
    """The columns for a position in a list, according to a word of ``by``."""
    as_, renamed, word = by.partition("=")
    word, _, first = (word if renamed else by).partition("+")
    position += int(first or 0)
    if word == "-":
        return []
    names = _names(place, word)
    if names is None:
        return [(word, INTEGER, position)]
    features, of = names
    if not features:
        return _named(_at(of, position), as_ if renamed else _singular(word))
    if not letter:
        return [("i", INTEGER, position), *_feature(_at(of, position), "feature", "")]
    return [(letter, INTEGER, position), *_named(_at(of, position), "feature_" + letter)]


def _position(place: _Place, key: str, at: int) -> Row:
    """The columns for an integer that is a position, with the name of the item there."""
    names = _names(place, place.of)
    if names is None:
        return [(key, INTEGER, at)]
    features, of = names
    found = _at(of, at)
    if key == "feature" or (key == place.of and features):
        return [("i", INTEGER, at), *_feature(found, "feature", "")]
    if features:
        return [(key, INTEGER, at), *_named(found, "feature_" + key)]
    if key in ("i", "j"):
        return [(key, INTEGER, at), *_named(found, _singular(place.of) + "_" + key)]
    return [(key, INTEGER, at), *_named(found, _singular(place.of))]


class _Flattener:
    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}

    def add(self, name: str, row: Row) -> None:
        table = self.tables.setdefault(name, Table(name, [(c, t) for c, t, _ in row]))
        if [c for c, _ in table.columns] == [c for c, _, _ in row]:
            table.rows.append([x for _, _, x in row])
            return
        # Objects of unknown sections may have different keys.
        have = {c for c, _ in table.columns}
        for c, t, _ in row:
            if c not in have:
                table.columns.append((c, t))
                for r in table.rows:
                    r.append(None)
        values = {c: x for c, _, x in row}
        table.rows.append([values.get(c) for c, _ in table.columns])

    def row(self, name: str, at: Row, v: Object, place: _Place) -> None:
        """Add an object's values as a row, and its lists and optional objects as tables."""
        begin = "" if name in ("result", "analyses") else name + "_"
        place = replace(place, around=(*place.around, v))
        row, later = list(at), []
        for what in self.fields("", v, place):
            if isinstance(what, list):
                row += what
            else:
                later.append(what)
        if len(row) > len(at) or place.key:
            self.add(name, row)
        for key, of, x, inside in later:
            if inner(of) is None:
                self.list(begin + key, at, x, items(of), inside)
            elif x is not None:
                self.row(begin + key, at, x, inside)
        if isinstance(v, Analysis):
            for key, x in v.unknown.items():
                self.unknown(key, at, x)

    def fields(self, prefix: str, v: Object, place: _Place) -> Iterator[Row | tuple[str, Any, Any, _Place]]:
        """An object's single values, and its lists and optional objects."""
        for k in keys(type(v)):
            x, name = getattr(v, k.attribute), prefix + k.name
            here = _Place(place.around, place.by if k.by is None else k.by, k.of)
            if isinstance(v, Analysis) and items(k.type) is Pair:
                continue  # they are in the table numbers
            if k.type is Feature:
                yield _feature(x, name, name + "_")
            elif part(k.type) is not None:
                for what in self.fields(name + "_", x, here):
                    if isinstance(what, list) and k.type is Number:  # the estimate has the number's own name
                        what = [(name if c == name + "_estimate" else c, t, y) for c, t, y in what]
                    yield what
            elif items(k.type) is not None or part(inner(k.type)) is not None:
                yield name, k.type, x, here
            elif name == place.key:
                continue
            elif k.type is int and k.of:
                yield _position(here, name, x)
            elif k.type is int and place.of:  # such as clusters i and j
                yield [(f"{place.of}_{name}", INTEGER, x)]
            else:
                yield _single(name, k.type, x)

    def list(self, name: str, at: Row, values: tuple[Any, ...], of: Any, place: _Place) -> None:
        """Add the items of a list: objects as rows, single values as rows of one value."""
        by, within = _singular(name.rpartition("_")[2]), place
        if place.by:
            by, within = place.by[0], replace(place, by=place.by[1:])
        letter, inside = place.letter, ""
        if len(place.by) > 1 and by == "features" and place.by[1] == by:
            letter, inside = "i", "j"
        cls, single = part(of), place.of or "value"
        keyed = None
        if cls is not None and cls is not Feature:
            keyed = next((k for k in keys(cls) if k.name == by and k.type in (str, float)), None)
        within = replace(within, letter=inside, key=by if keyed else "")
        for position, x in enumerate(values):
            if keyed:
                row = at + _single(by, keyed.type, getattr(x, keyed.attribute))
            else:
                row = at + _index(place, letter, by, position)
            if cls is Feature:
                self.add(name, row + _feature(x, "feature", ""))
            elif cls is not None:
                self.row(name, row, x, within)
            elif items(of) is not None:
                self.list(name, row, x, items(of), within)
            elif of is int:
                self.add(name, row + _position(place, single, x))
            else:
                self.add(name, row + _single(single, of, x))

    def unknown(self, name: str, at: Row, x: Any) -> None:
        """Add a section that this version has no class for: the same rule, without names of positions."""
        if isinstance(x, Mapping):
            row, later = list(at), []
            for key, y in x.items():
                if isinstance(y, Mapping) and y and not any(isinstance(z, (Mapping, list)) for z in y.values()):
                    for k, z in y.items():
                        row += _guess(key if k == "estimate" else f"{key}_{k}", z)
                elif isinstance(y, (Mapping, list)):
                    later.append((key, y))
                else:
                    row += _guess(key, y)
            if len(row) > len(at):
                self.add(name, row)
            for key, y in later:
                self.unknown(f"{name}_{key}", at, y)
        elif isinstance(x, list):
            taken = {c for c, _, _ in at}
            column = _singular(name.rpartition("_")[2])
            while column in taken:
                column += "_"
            for position, y in enumerate(x):
                self.unknown(name, [*at, (column, INTEGER, position)], y)
        else:
            self.add(name, at + _guess("value", x))


def _guess(name: str, x: Any) -> Row:
    if x is None:
        return [(name, REAL, None)]
    if type(x) in _TYPES:
        return [(name, _TYPES[type(x)], x)]
    return [(name, TEXT, json.dumps(x))]


def numbers(result: Result) -> Table:
    """All pairs in the document itself; pairs of dense tables are in files beside it."""
    columns = [("analysis", INTEGER), ("kind", TEXT), ("of", TEXT), ("i", INTEGER), ("j", INTEGER)]
    columns += [("feature_i", TEXT), ("feature_j", TEXT), *((f, REAL) for f in FIELDS), ("undefined", TEXT)]
    out = Table(NUMBERS, columns)
    for at, a in enumerate(result.analyses):
        names = [feature_name(f) for f in a.features]
        for of, pairs in (("pair", a.pairs), ("shift", a.shifts)):
            for p in pairs:
                values = [getattr(p, f) for f in FIELDS]
                head = [at, a.kind, of, p.i, p.j, names[p.i], names[p.j]]
                out.rows.append([*head, *(None if x != x else x for x in values), p.undefined])
    return out


def tables(result: Result) -> dict[str, Table]:
    """The whole document as tables by name, numbers first."""
    f = _Flattener()
    f.tables[NUMBERS] = numbers(result)
    f.row("result", [], result, _Place())
    return {name: t for name, t in f.tables.items() if t.rows or name == NUMBERS}


_ESCAPED = re.compile(r"\W+")


def file_name(at: int, a: Analysis) -> str:
    """The prefix of an analysis' file names, like ``2_correlation``."""
    return f"{at}_{_ESCAPED.sub('_', a.kind)}"
