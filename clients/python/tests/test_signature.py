"""Only results that the named aggregator signed are read."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Played

import cosketch
from cosketch import signature


@pytest.fixture
def folder(played: dict[str, Played], tmp_path: Path) -> Path:
    for name in ("result.json", "signed.json"):
        (tmp_path / name).write_bytes((played["vertical"].folder / name).read_bytes())
    return tmp_path


def statement(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "signed.json").read_bytes()))


def test_a_signed_result_is_read(played: dict[str, Played], folder: Path) -> None:
    of = played["vertical"]
    result = cosketch.read(folder, aggregator=of.aggregator, study=of.study)
    assert result.signed == cosketch.Signed(
        aggregator=of.aggregator, study=of.study, document=statement(folder)["name"], further=False
    )


def test_every_change_of_the_document_is_noticed(played: dict[str, Played], folder: Path) -> None:
    whole = (folder / "result.json").read_bytes()
    for at in range(0, len(whole), len(whole) // 50):
        changed = bytearray(whole)
        changed[at] ^= 1
        (folder / "result.json").write_bytes(changed)
        with pytest.raises(cosketch.SignatureError, match="the document was changed"):
            cosketch.read(folder, aggregator=played["vertical"].aggregator)
    (folder / "result.json").write_bytes(whole + b"\n")
    with pytest.raises(cosketch.SignatureError, match="the document was changed"):
        cosketch.read(folder, aggregator=played["vertical"].aggregator)


def test_every_change_of_the_statement_is_noticed(played: dict[str, Played], folder: Path) -> None:
    of = played["vertical"]
    raw = (folder / "result.json").read_bytes()
    signed = base64.b64decode(statement(folder)["signed"])
    for at in range(len(signed)):
        changed = bytearray(signed)
        changed[at] ^= 1
        for body in (bytes(changed), signed[:at]):
            for further in (False, True):
                with pytest.raises(cosketch.SignatureError):
                    signature.verify(raw, body, study=of.study, aggregator=of.aggregator, further=further)
    found = signature.verify(raw, signed, study=of.study, aggregator=of.aggregator, further=False)
    assert not found.further
    with pytest.raises(cosketch.SignatureError):  # a repeated field is ambiguous
        signature.verify(raw, signed + signed, study=of.study, aggregator=of.aggregator, further=False)


def test_others_are_not_believed(played: dict[str, Played], folder: Path) -> None:
    of, other = played["vertical"], played["cells"]
    with pytest.raises(cosketch.SignatureError, match="by another aggregator"):
        cosketch.read(folder, aggregator=other.aggregator)
    with pytest.raises(cosketch.DocumentError, match="not of"):
        cosketch.read(folder, aggregator=of.aggregator, study=other.study)
    # A valid folder of another aggregator.
    with pytest.raises(cosketch.SignatureError):
        cosketch.read(other.folder, aggregator=of.aggregator)
    (folder / "signed.json").write_bytes((other.folder / "signed.json").read_bytes())
    for who in (of.aggregator, other.aggregator):
        with pytest.raises(cosketch.SignatureError):
            cosketch.read(folder, aggregator=who)


def test_without_a_signature(played: dict[str, Played], folder: Path) -> None:
    of = played["vertical"]
    with pytest.raises(cosketch.SignatureError, match="give aggregator="):
        cosketch.read(folder)
    (folder / "signed.json").unlink()
    with pytest.raises(cosketch.SignatureError, match="-o DIR"):
        cosketch.read(folder, aggregator=of.aggregator)
    result = cosketch.read(folder, verify=False)
    assert result.signed is None
    assert result.study == of.study
    (folder / "result.json").unlink()
    with pytest.raises(cosketch.FileError):
        cosketch.read(folder, verify=False)


@pytest.mark.parametrize("text", ["", "[]", "{}", "{", '{"signed": "é", "current": true, "study": ""}', "[" * 100_000])
def test_what_is_no_statement(played: dict[str, Played], folder: Path, text: str) -> None:
    (folder / "signed.json").write_text(text)
    with pytest.raises(cosketch.SignatureError):
        cosketch.read(folder, aggregator=played["vertical"].aggregator)


def test_peer_ids(played: dict[str, Played]) -> None:
    good = played["vertical"].aggregator
    assert len(signature.peer_key(good)) == 32
    alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

    def peer(key: bytes) -> str:
        n, out = int.from_bytes(bytes.fromhex("002408011220") + key, "big"), ""
        while n:
            n, digit = divmod(n, 58)
            out = alphabet[digit] + out
        return "1" + out

    assert peer(signature.peer_key(good)) == good
    order8 = bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05")
    weak = [bytes([1]) + bytes(31), bytes(32), order8, order8[:31] + bytes([order8[31] | 0x80]), b"\xff" * 32]
    for bad in ["", good[1:], "1" + good, good[:-1], good + "1", "0" + good[1:], "Qm" + good[2:], *map(peer, weak)]:
        with pytest.raises(cosketch.SignatureError):
            signature.peer_key(bad)
