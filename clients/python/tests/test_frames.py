"""Frames equal the document and the files that the program writes, for every kind."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT, STUDIES, Played

import cosketch
from cosketch.decode import parse
from cosketch.result import frame
from cosketch.tables import tables

INTERVAL = ["estimate", "standard_error", "low", "high", "population_low", "population_high"]


def plain(f: pd.DataFrame) -> list[list[Any]]:
    """The exact values of a frame, with None for missing ones."""
    columns = [f[c].astype(object).where(f[c].notna(), None).tolist() for c in f.columns]
    return [list(row) for row in zip(*columns, strict=True)]


def number(x: Any) -> float:
    return math.nan if x is None else float(x)


@pytest.mark.parametrize("name", STUDIES)
def test_frames_are_the_programs_tables(played: dict[str, Played], name: str) -> None:
    of = played[name]
    frames = of.read().frames()
    files = {p.stem: pd.read_parquet(p) for p in of.folder.glob("*.parquet")}
    assert set(frames) == set(files)
    assert len(files) >= 8
    for table, want in files.items():
        got = frames[table]
        assert list(got.columns) == list(want.columns), table
        if name == "wide" and table == "numbers":  # its pairs are beside the document
            assert len(got) == 0
            continue
        assert plain(got) == plain(want), table
        from_csv = pd.read_csv(of.folder / f"{table}.csv", dtype=str)
        assert from_csv.shape == want.shape, table
        for c in got.columns:
            if got[c].dtype.kind == "f":
                written = [math.nan if pd.isna(x) else float(x) for x in from_csv[c]]
                np.testing.assert_array_equal(got[c].to_numpy(), written, err_msg=f"{table}.{c}")


def test_every_kind_is_played(played: dict[str, Played]) -> None:
    """Every kind that the reference lists is played here."""
    reference = (ROOT / "docs" / "reference.md").read_text().split("### Entries of analyses")[1].split("| key |")[0]
    listed = set(re.findall(r"^\| `([a-z-]+)` \|", reference, re.M))
    assert len(listed) > 15
    here = {a.kind for of in played.values() for a in of.read()}
    assert listed - here == {"record-distance"}  # a further result: see test_api.py


@pytest.mark.parametrize("name", STUDIES)
def test_pairs_and_matrices_are_the_documents(played: dict[str, Played], name: str) -> None:
    of = played[name]
    result, checked = of.read(), 0
    raw = json.loads((of.folder / "result.json").read_bytes())
    for at, (a, want) in enumerate(zip(result, raw["analyses"], strict=True)):
        assert a.kind == want["kind"]
        assert a.undefined == want.get("undefined", "")
        if "pairs" not in want:
            continue
        got = a.pairs()
        assert len(got) == len(want["pairs"])
        for (_, row), p in zip(got.iterrows(), want["pairs"], strict=True):
            assert (row["i"], row["j"], row["undefined"]) == (p["i"], p["j"], p.get("undefined", ""))
            np.testing.assert_array_equal([row[c] for c in INTERVAL], [number(p.get(c)) for c in INTERVAL])
        for c in ("estimate", "low"):
            file = of.folder / f"{at}_{a.kind.replace('-', '_')}_{c}.npy"
            np.testing.assert_array_equal(a.matrix(c).to_numpy(), np.load(file))
            checked += 1
    assert (checked > 0) == (name in ("horizontal", "vertical"))


def test_means_and_coefficients(played: dict[str, Played]) -> None:
    of = played["horizontal"]
    result = of.read()
    raw = {a["kind"]: a for a in json.loads(result.raw)["analyses"]}
    for kind, want in (("mean", raw["mean"]["means"]), ("regression", raw["regression"]["regression"]["coefficients"])):
        got = result[kind].frame()
        assert got["feature"].tolist() == result[kind].features
        for c in INTERVAL:
            np.testing.assert_array_equal(got[c].to_numpy(), [number(x.get(c)) for x in want])
    estimates = result["regression"].estimates()
    r = raw["regression"]["regression"]["r_squared"]
    row = estimates[estimates["number"] == "r_squared"].iloc[0]
    assert (row["table"], row["estimate"], row["low"], row["high"]) == (
        "regression",
        r["estimate"],
        r["low"],
        r["high"],
    )


def test_an_answer_that_there_is_not(played: dict[str, Played]) -> None:
    a = next(a for a in played["horizontal"].read() if a.undefined)
    assert a.undefined == "120 records are fewer than 200 clusters"
    with pytest.raises(cosketch.CosketchError, match="120 records are fewer than 200 clusters"):
        a.frame()
    with pytest.raises(KeyError, match="2 analyses of kind 'k-means'"):
        played["horizontal"].read()["k-means"]


def test_undefined_numbers_are_nan_with_their_reason(played: dict[str, Played]) -> None:
    raw = json.loads(played["vertical"].read().raw)
    p = raw["analyses"][0]["pairs"][1]
    p |= dict.fromkeys(INTERVAL) | {"undefined": "too little is shared"}
    document = parse(json.dumps(raw).encode())
    pair = document.analyses[0].pairs[1]
    assert math.isnan(pair.estimate)
    assert math.isnan(pair.population_high)
    assert pair.undefined == "too little is shared"
    row = frame(tables(document)["numbers"]).iloc[1]
    assert row[INTERVAL].isna().all()
    assert row["undefined"] == "too little is shared"


def strange(x: Any) -> Any:
    """The same document with additional keys, as from a newer program."""
    if isinstance(x, list):
        return [strange(y) for y in x]
    if isinstance(x, dict):
        return {key: strange(y) for key, y in x.items()} | {"new_key": {"of": [1, {"a": None}]}}
    return x


@pytest.mark.parametrize("name", STUDIES)
def test_unknown_keys_are_ignored(played: dict[str, Played], name: str) -> None:
    result = played[name].read()
    more = parse(json.dumps(strange(json.loads(result.raw))).encode())
    got = tables(more)
    for table, want in result.frames().items():
        assert plain(frame(got[table])) == plain(want), table
    assert more.analyses[0].unknown["new_key"] == {"of": [1, {"a": None}]}


def test_an_unknown_kind_becomes_frames(played: dict[str, Played]) -> None:
    raw = json.loads(played["horizontal"].read().raw)
    mean = raw["analyses"][0]
    section = {
        "rounds": 3,
        "shape": mean["means"][0],
        "steps": [{"at": 1, "size": mean["means"][1]}, {"at": 2}],
        "grid": [[1, 2], [3, 4]],
    }
    raw["analyses"] = [{"kind": "survival", "sketch": 0, "features": mean["features"], "survival": section}]
    body = json.dumps(raw).encode()
    result = cosketch.Result(document=parse(body), raw=body, signed=None, beside=lambda name, most: b"")
    frames = result["survival"].frames()
    assert frames["survival"].loc[0, "rounds"] == 3
    assert frames["survival"].loc[0, "shape"] == mean["means"][0]["estimate"]
    assert frames["survival"].loc[0, "shape_low"] == mean["means"][0]["low"]
    assert frames["survival_steps"]["size"].tolist()[0] == mean["means"][1]["estimate"]
    assert pd.isna(frames["survival_steps"]["size"].iloc[1])
    assert frames["survival_grid"]["value"].tolist() == [1, 2, 3, 4]
    assert list(result["survival"].frame().columns)[:2] == ["rounds", "shape"]


def test_dense_tables_are_verified(played: dict[str, Played], tmp_path: Path) -> None:
    of = played["wide"]
    want = pd.read_parquet(of.folder / "numbers.parquet")
    result = of.read()
    for a in result:
        mine = want[want["analysis"] == a.position].drop(columns=["analysis", "kind", "of"]).reset_index(drop=True)
        assert len(mine) > 80_000
        pd.testing.assert_frame_equal(a.pairs(), mine, check_dtype=False, check_exact=True)
    assert result["correlation"].matrix().shape == (402, 402)

    for name in ("result.json", "signed.json", "0_correlation_pairs.npy"):
        (tmp_path / name).write_bytes((of.folder / name).read_bytes())
    file = tmp_path / "0_correlation_pairs.npy"
    body = bytearray(file.read_bytes())
    body[-100] ^= 1
    file.write_bytes(body)
    damaged = cosketch.read(tmp_path, aggregator=of.aggregator)
    with pytest.raises(cosketch.FileError, match="was changed"):
        damaged["correlation"].pairs()
    file.write_bytes(body + bytes(1 << 16))
    with pytest.raises(cosketch.FileError, match="too large"):
        damaged["correlation"].pairs()
    file.write_bytes(body[:-98])
    with pytest.raises(cosketch.FileError):
        damaged["correlation"].pairs()
    with pytest.raises(cosketch.FileError, match="format npy"):
        damaged["inner-product"].pairs()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda d: d.pop("study"), "study is missing"),
        (lambda d: d.update(cosketch="cosketch/result/2"), "not a cosketch/result/1"),
        (lambda d: d.update(analyses={}), "want a list"),
        (lambda d: d["analyses"][0].update(kind=1), r"analyses\[0\].kind: want str"),
        (lambda d: d["analyses"][0]["pairs"][0].update(estimate="1"), "want a number"),
        (lambda d: d["analyses"][0]["pairs"][0].update(i=True), "want int"),
        (lambda d: d["analyses"][0]["pairs"][0].update(j=99), "pair of features"),
        (lambda d: d["sketches"][0].update(epsilon=None), "want a number"),
        (lambda d: d["sketches"][0].update(epsilon=math.inf), "contains Infinity"),
        (lambda d: d["parties"].append(3), "want an object"),
    ],
)
def test_other_documents_are_refused(played: dict[str, Played], change: Any, says: str) -> None:
    raw = json.loads(played["vertical"].read().raw)
    change(raw)
    with pytest.raises(cosketch.DocumentError, match=says):
        parse(json.dumps(raw).encode())


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"\xff", b'{"a": 1, "a": 2}', b"[" * 100_000])
def test_what_is_no_document_is_refused(body: bytes) -> None:
    with pytest.raises(cosketch.DocumentError):
        parse(body)
