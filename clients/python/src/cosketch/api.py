"""The aggregator's HTTP API (docs/api.md)."""

from __future__ import annotations

import base64
import http.client
import ipaddress
import json
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import IO, Any

from . import signature
from .decode import LARGEST, parse
from .errors import ApiError, CosketchError, DocumentError, SignatureError
from .result import Result

VARIABLE = "COSKETCH_TOKEN"  # holds a token


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirects: the API has none, and a token must not be sent to another host."""

    def redirect_request(self, *_: object, **__: object) -> None:
        return None


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Client:
    """A read-only client of one aggregator.

    The token is the argument, or else the environment variable COSKETCH_TOKEN. It is kept only in memory, sent
    only to this address, and never over an unencrypted connection to another machine.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 60,
        context: ssl.SSLContext | None = None,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise CosketchError(f"{url[:200]!r} is no address of an aggregator (want https://HOST)")
        self.__token = token if token is not None else os.environ.get(VARIABLE, "")
        if self.__token and parts.scheme == "http" and not _loopback(parts.hostname):
            raise CosketchError(f"a token is not sent to {parts.netloc} unencrypted (use https)")
        self.url = url.rstrip("/")
        self._timeout = timeout
        handlers: list[urllib.request.BaseHandler] = [_NoRedirects(), urllib.request.HTTPSHandler(context=context)]
        if _loopback(parts.hostname):
            handlers.append(urllib.request.ProxyHandler({}))
        self._opener = urllib.request.build_opener(*handlers)

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a client is not pickled: it holds a token")

    def _open(self, path: str) -> IO[bytes]:
        request = urllib.request.Request(self.url + path)
        if self.__token:
            request.add_unredirected_header("Authorization", f"Bearer {self.__token}")
        try:
            answer: IO[bytes] = self._opener.open(request, timeout=self._timeout)
            return answer
        except urllib.error.HTTPError as err:
            with err:
                try:
                    problem = json.loads(err.read(1 << 16))
                    texts = [str(problem.get(k, "")) for k in ("detail", "id", "hint")]
                except (ValueError, AttributeError, http.client.HTTPException, OSError):
                    texts = [str(err.reason), "", ""]
            raise ApiError(err.code, *texts) from None
        except (OSError, http.client.HTTPException) as err:
            raise CosketchError(f"asking {self.url}{path}: {err}") from err

    def _bytes(self, path: str, most: int) -> bytes:
        with self._open(path) as answer:
            try:
                body = answer.read(most + 1)
            except (OSError, http.client.HTTPException) as err:
                raise CosketchError(f"reading {self.url}{path}: {err}") from err
        if len(body) > most:
            raise CosketchError(f"the answer of {self.url}{path} is larger than {most} bytes")
        return body

    def get(self, path: str) -> Any:
        """The JSON at a path under /api/v1, as described in openapi.json."""
        try:
            return json.loads(self._bytes("/api/v1" + path, LARGEST))
        except ValueError as err:
            raise CosketchError(f"{self.url}/api/v1{path} answered with no JSON") from err

    def node(self) -> dict[str, Any]:
        """The identity of this aggregator."""
        return dict(self.get("/node"))

    def studies(self, state: str | None = None) -> Iterator[dict[str, Any]]:
        """Summaries of all studies, or of those in a state, the newest first."""
        query = {"state": state} if state else {}
        while True:
            page = self.get("/studies?" + urllib.parse.urlencode(query))
            yield from page["studies"]
            if not page.get("next"):
                return
            query["cursor"] = page["next"]

    def study(self, id: str) -> dict[str, Any]:
        """One study: its terms, its state, and what it waits for."""
        return dict(self.get(f"/studies/{_quoted(id)}"))

    def results(self, study: str) -> list[dict[str, Any]]:
        """The available results of a study, its own first."""
        return list(self.get(f"/studies/{_quoted(study)}/results")["results"])

    def result(
        self, study: str, name: str = "current", *, aggregator: str | None = None, verify: bool = True
    ) -> Result:
        """A verified result: the study's own, or a further one by name.

        ``aggregator`` is the peer id in the study file. Without it the key comes from the server itself, so only
        TLS vouches for the server.
        """
        listed = [r for r in self.results(study) if r["name"] == name or (name == "current" and r["current"])]
        if not listed:
            self._bytes(f"/api/v1/studies/{_quoted(study)}/results/{_quoted(name)}", LARGEST)  # raises with the reason
            raise CosketchError(f"the list of results of study {study} has no {name}")
        path = f"/api/v1/studies/{_quoted(study)}/results/{_quoted(listed[0]['name'])}"
        raw, found = self._bytes(path, LARGEST), None
        if verify:
            try:
                signed = base64.b64decode(listed[0]["signed"], validate=True)
            except (KeyError, ValueError, TypeError) as err:
                raise SignatureError(f"the list of results of study {study} has no signed statement") from err
            key = aggregator if aggregator is not None else str(self.node()["aggregator"])
            found = signature.verify(raw, signed, study=study, aggregator=key, further=not listed[0]["current"])
        document = parse(raw)
        if document.study != study:
            raise DocumentError(f"this is a result of study {document.study[:80]}, not of {study}")

        def beside(file: str, most: int) -> bytes:
            return self._bytes(f"{path}/files/{file}", most)

        return Result(document=document, raw=raw, signed=found, beside=beside)


def _quoted(part: str) -> str:
    return urllib.parse.quote(part, safe="")
