"""Results of Cosketch studies in notebooks: verified, typed, and as pandas data frames."""

from .api import Client
from .errors import ApiError, CosketchError, DocumentError, FileError, SignatureError
from .folder import read
from .result import Analysis, Result
from .signature import Signed

__all__ = [
    "Analysis",
    "ApiError",
    "Client",
    "CosketchError",
    "DocumentError",
    "FileError",
    "Result",
    "SignatureError",
    "Signed",
    "read",
]
