"""What can be wrong with a result. Every exception of this package is a CosketchError."""

from __future__ import annotations


class CosketchError(Exception):
    """The base of this package's exceptions."""


class DocumentError(CosketchError):
    """The document is not one of a format that this version reads."""


class SignatureError(CosketchError):
    """The result is not what the named aggregator signed, or nobody's signature is there."""


class FileError(CosketchError):
    """A file beside the document is missing, or is not what the document says."""


class ApiError(CosketchError):
    """The aggregator's answer to a request that it did not carry out."""

    def __init__(self, status: int, detail: str, id: str = "", hint: str = "") -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail
        self.id = id
        self.hint = hint
