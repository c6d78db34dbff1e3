"""The exceptions of this package; all are CosketchErrors."""

from __future__ import annotations


class CosketchError(Exception):
    """The base of this package's exceptions."""


class DocumentError(CosketchError):
    """The document does not have a format that this version reads."""


class SignatureError(CosketchError):
    """The result is not what the named aggregator signed, or it has no signature."""


class FileError(CosketchError):
    """A file beside the document is missing, or does not match the document."""


class ApiError(CosketchError):
    """The aggregator refused a request."""

    def __init__(self, status: int, detail: str, id: str = "", hint: str = "") -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail
        self.id = id
        self.hint = hint
