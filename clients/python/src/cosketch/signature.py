"""The aggregator's signature of a result (protocol/SPEC.md, sections 2, 4, 7 and 16)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .errors import SignatureError

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_PEER = bytes.fromhex("002408011220")
_P = 2**255 - 19
# The y coordinates of the points of small order: 1, -1, 0 and the two of order 8.
_Y8 = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
_SMALL = {0, 1, _P - 1, _Y8, _P - _Y8}


@dataclass(frozen=True)
class Signed:
    """A verified signature: who signed which document of which study."""

    aggregator: str  # peer id
    study: str  # id
    document: str  # SHA-256 of the document
    further: bool  # a further result, not the study's own


def peer_key(peer: str) -> bytes:
    """The raw Ed25519 key of a peer id like 12D3KooW…"""
    number = 0
    for c in peer:
        digit = _ALPHABET.find(c)
        if digit < 0 or len(peer) > 60:
            raise SignatureError(f"{peer[:80]!r} is not a peer id (want 12D3KooW…, from the study file)")
        number = number * 58 + digit
    raw = number.to_bytes(46, "big")[-38:] if number < 1 << 304 else b""
    if raw[:6] != _PEER or len(peer) != 52:
        raise SignatureError(f"{peer[:80]!r} is not a peer id (want 12D3KooW…, from the study file)")
    y = int.from_bytes(raw[6:], "little") & (1 << 255) - 1
    if y >= _P or y in _SMALL:
        raise SignatureError(f"{peer} is a weak key (of small order, or not canonical), which nobody may sign with")
    return raw[6:]


def _field(b: bytes) -> bytes:
    return len(b).to_bytes(4, "big") + b


def _varint(b: bytes, at: int) -> tuple[int, int]:
    out = shift = 0
    while at < len(b) and shift < 64:
        out |= (b[at] & 0x7F) << shift
        at += 1
        if b[at - 1] < 0x80:
            return out, at
        shift += 7
    raise SignatureError("the signed statement is cut short")


def _proto(b: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a proto3 message whose fields are all varints and bytes."""
    at = 0
    while at < len(b):
        tag, at = _varint(b, at)
        number: int | bytes
        number, at = _varint(b, at)
        if tag & 7 == 2:
            end = at + number
            if end > len(b):
                raise SignatureError("the signed statement is cut short")
            number, at = b[at:end], end
        elif tag & 7 != 0:
            raise SignatureError("the signed statement has a field of another type")
        yield tag >> 3, number


def _message(b: bytes, several: frozenset[int], last: int) -> dict[int, int | bytes]:
    """The fields of a message, which are numbered up to last; repeated fields, those in several, are skipped."""
    out: dict[int, int | bytes] = {}
    for number, value in _proto(b):
        if number in several:
            continue
        if not 1 <= number <= last or number in out:
            raise SignatureError(f"the signed statement has field {number} twice, or does not know it")
        out[number] = value
    return out


def _bytes(message: dict[int, int | bytes], number: int) -> bytes:
    out = message.get(number, b"")
    if isinstance(out, int):
        raise SignatureError("the signed statement has a field of another type")
    return out


def _number(message: dict[int, int | bytes], number: int) -> int:
    out = message.get(number, 0)
    if isinstance(out, bytes):
        raise SignatureError("the signed statement has a field of another type")
    return out


def _board(signed: bytes, study: bytes, key: bytes) -> tuple[bytes, bytes, bytes, int]:
    """Preimage, signature, hash and size of an envelope of kind result."""
    envelope = _message(signed, frozenset(), 6)
    kind, payload, attempt = _bytes(envelope, 3), _bytes(envelope, 5), _number(envelope, 4)
    if _bytes(envelope, 1) != study or _bytes(envelope, 2) != key or kind != b"result" or not 0 < attempt < 1 << 32:
        raise SignatureError("the signed statement is of another study, by another aggregator, or of no result")
    fields = (_field(study), _field(key), _field(kind), attempt.to_bytes(4, "big"), _field(payload))
    document = _message(_bytes(_message(payload, frozenset((4, 6)), 7), 5), frozenset(), 2)
    preimage = b"cosketch/1/envelope\x00" + b"".join(fields)
    return preimage, _bytes(envelope, 6), _bytes(document, 1), _number(document, 2)


def _further(signed: bytes, study: bytes, key: bytes) -> tuple[bytes, bytes, bytes, int]:
    """Preimage, signature, hash and size of a further result's statement."""
    body = signed[64:]
    parties = int.from_bytes(body[80:84], "big")
    if len(body) < 84 or len(body) != 84 + 72 * parties:
        raise SignatureError("the signed statement of a further result has a wrong size")
    preimage = b"cosketch/1/further\x00" + _field(study) + _field(key) + _field(body)
    return preimage, signed[:64], body[40:72], int.from_bytes(body[72:80], "big")


def verify(raw: bytes, signed: bytes, *, study: str, aggregator: str, further: bool) -> Signed:
    """Verify that an aggregator signed these bytes as a result of a study; raise SignatureError if not."""
    key = peer_key(aggregator)
    try:
        id = bytes.fromhex(study)
    except ValueError:
        id = b""
    if len(id) != 32:
        raise SignatureError(f"{study[:80]!r} is no study id (want 64 hexadecimal digits)")
    read = _further if further else _board
    preimage, signature, digest, size = read(signed, id, key)
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, preimage)
    except (InvalidSignature, ValueError) as err:
        raise SignatureError(f"the signature is not {aggregator}'s") from err
    if hashlib.sha256(raw).digest() != digest or len(raw) != size:
        raise SignatureError(
            f"the document was changed: its SHA-256 is not the one that {aggregator} signed (fetch or write it again)"
        )
    return Signed(aggregator=aggregator, study=study, document=digest.hex(), further=further)
