"""From JSON to the classes of document.py."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from . import document
from .errors import DocumentError

FORMAT = "cosketch/result/1"
LARGEST = 1 << 27  # largest size of a document in bytes (protocol/SPEC.md, section 16)

P = TypeVar("P", bound=document.Object)


@dataclass(frozen=True)
class Key:
    """A field of a class of the document, with its metadata."""

    attribute: str
    name: str
    by: tuple[str, ...] | None
    of: str
    absent: bool
    null: bool
    type: Any


@cache
def _keys(of: Any) -> tuple[Key, ...]:
    hints = get_type_hints(of)
    out = []
    for f in fields(of):
        meta = f.metadata
        if "key" in meta:
            by = tuple(meta["by"].split(",")) if meta["by"] else None
            out.append(Key(f.name, meta["key"], by, meta["of"], meta["absent"], meta["null"], hints[f.name]))
    return tuple(out)


def keys(of: type[document.Object]) -> tuple[Key, ...]:
    """The fields of a class of the document, in the document's order."""
    return _keys(of)  # type: ignore[arg-type] # a class is hashable


def inner(of: Any) -> Any:
    """X of a type ``X | None``; else None."""
    if get_origin(of) is Union or type(of).__name__ == "UnionType":
        return next(t for t in get_args(of) if t is not type(None))
    return None


def items(of: Any) -> Any:
    """X of a type ``tuple[X, ...]`` or ``tuple[X, X]``; else None."""
    return get_args(of)[0] if get_origin(of) is tuple else None


def part(of: Any) -> type[document.Object] | None:
    """The type itself if it is a class of the document."""
    return of if isinstance(of, type) and issubclass(of, document.Object) else None


def nothing(of: Any, null: bool) -> Any:
    """The value for an absent key."""
    if inner(of) is not None:
        return None
    if null and of is float:
        return math.nan
    if items(of) is not None:
        return ()
    cls = part(of)
    if cls is not None:
        return cls(**{k.attribute: nothing(k.type, k.null) for k in keys(cls)})
    return {str: "", int: 0, float: 0.0, bool: False}[of]


def value(of: Any, raw: Any, where: str, null: bool = False) -> Any:
    """A JSON value, converted to a type of the document."""
    option = inner(of)
    if option is not None:
        return None if raw is None else value(option, raw, where)
    item = items(of)
    if item is not None:
        if raw is None:
            return ()
        if not isinstance(raw, list):
            raise DocumentError(f"{where}: want a list")
        several = get_args(of)
        if several[-1] is not Ellipsis and len(raw) != len(several):
            raise DocumentError(f"{where}: want a list of {len(several)}")
        return tuple(value(item, x, f"{where}[{i}]") for i, x in enumerate(raw))
    cls = part(of)
    if cls is not None:
        return decode(cls, raw, where)
    if of is float:
        if raw is None and null:
            return math.nan
        if isinstance(raw, (int, float)) and not isinstance(raw, bool):
            return float(raw)
        raise DocumentError(f"{where}: want a number")
    if of is int and isinstance(raw, float) and raw.is_integer():
        return int(raw)
    if isinstance(raw, of) and not (of is int and isinstance(raw, bool)):
        return raw
    raise DocumentError(f"{where}: want {of.__name__}")


def decode(of: type[P], raw: Any, where: str) -> P:
    """A JSON object, converted to a class of the document. Keys without a field are kept in unknown."""
    if not isinstance(raw, Mapping):
        raise DocumentError(f"{where}: want an object")
    known: dict[str, Any] = {}
    names = set()
    for k in keys(of):
        names.add(k.name)
        path = f"{where}.{k.name}" if where else k.name
        if k.name in raw:
            known[k.attribute] = value(k.type, raw[k.name], path, k.null)
        elif k.absent:
            known[k.attribute] = nothing(k.type, k.null)
        else:
            raise DocumentError(f"{path} is missing")
    known["unknown"] = {name: x for name, x in raw.items() if name not in names}
    return of(**known)


def _constant(text: str) -> Any:
    raise DocumentError(f"the document contains {text}, which JSON does not allow")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise DocumentError("a key of the document is repeated")
    return out


def parse(raw: bytes) -> document.Result:
    """Parse a document of the format cosketch/result/1."""
    if len(raw) > LARGEST:
        raise DocumentError(f"the document has {len(raw)} bytes, more than the limit of {LARGEST}")
    try:
        body = json.loads(raw, parse_constant=_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError) as err:
        raise DocumentError(f"the document is not JSON: {err}") from err
    if not isinstance(body, dict) or body.get("cosketch") != FORMAT:
        found = body.get("cosketch") if isinstance(body, dict) else None
        raise DocumentError(f"this is not a {FORMAT} document (cosketch: {str(found)[:80]!r})")
    result = decode(document.Result, body, "")
    for at, a in enumerate(result.analyses):
        for p in (*a.pairs, *a.shifts):
            if not 0 <= p.i < len(a.features) or not 0 <= p.j < len(a.features):
                raise DocumentError(f"analyses[{at}]: a pair of features {p.i} and {p.j}, of {len(a.features)}")
    return result
