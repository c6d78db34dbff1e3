"""Reading the folder that ``aggregator result STUDY -o DIR`` or ``party result STUDY -o DIR`` wrote."""

from __future__ import annotations

import base64
import binascii
import json
from os import PathLike
from pathlib import Path

from . import signature
from .decode import LARGEST, parse
from .errors import DocumentError, FileError, SignatureError
from .result import Result

_STATEMENT = 1 << 20  # largest size of signed.json in bytes


def _read(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            raise FileError(f"{path} is too large")
        return path.read_bytes()
    except OSError as err:
        raise FileError(f"reading {path}: {err.strerror or err}") from err


def read(
    folder: str | PathLike[str],
    *,
    aggregator: str | None = None,
    study: str | None = None,
    verify: bool = True,
) -> Result:
    """Read a result and verify that the aggregator signed it.

    ``aggregator`` is its peer id from the study file: the folder itself cannot vouch for the signer.
    ``study`` is an optional study id; the result must be of that study. With ``verify=False`` the signature is not
    verified, and ``signed`` of the result is None.
    """
    at = Path(folder)

    def beside(name: str, most: int) -> bytes:
        try:
            return _read(at / name, most)
        except FileError as err:
            raise FileError(f"{err} (aggregator result STUDY --format npy -o DIR writes it)") from err

    raw = _read(at / "result.json", LARGEST)
    if not verify:
        return _as_of(Result(document=parse(raw), raw=raw, signed=None, beside=beside), study)
    if aggregator is None:
        raise SignatureError(
            "give aggregator=, the peer id in the study file, to verify the signature (or verify=False to skip it)"
        )
    try:
        statement = json.loads(_read(at / "signed.json", _STATEMENT))
        signed = base64.b64decode(statement["signed"], validate=True)
        further, of = not statement["current"], statement["study"]
    except FileError as err:
        raise SignatureError(f"{err} (aggregator result STUDY -o DIR writes it; verify=False reads without)") from err
    except (ValueError, KeyError, TypeError, binascii.Error, RecursionError) as err:
        raise SignatureError(f"{at / 'signed.json'} is not a signed statement: {err!r}") from err
    found = signature.verify(raw, signed, study=str(of), aggregator=aggregator, further=further)
    result = Result(document=parse(raw), raw=raw, signed=found, beside=beside)
    if result.study != found.study:
        raise DocumentError(
            f"the document is of study {result.study[:80]}, but was signed as a result of study {found.study}"
        )
    return _as_of(result, study)


def _as_of(result: Result, study: str | None) -> Result:
    if study is not None and result.study != study:
        raise DocumentError(f"this is a result of study {result.study[:80]}, not of {study}")
    return result
