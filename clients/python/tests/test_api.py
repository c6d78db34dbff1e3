"""The aggregator's API, with a running aggregator."""

from __future__ import annotations

import http.server
import pickle
import threading
from collections.abc import Iterator

import pytest
from conftest import Played

import cosketch
from cosketch import Client


@pytest.fixture(scope="module")
def token(played: dict[str, Played]) -> str:
    scopes = "studies:read,results:read"
    return played["horizontal"].network.run("aggregator", "token", "create", "notebook", "--scope", scopes).strip()


@pytest.fixture(scope="module")
def further(played: dict[str, Played]) -> None:
    of = played["horizontal"]
    of.network.run(
        "aggregator", "analyze", of.study, "record-distance", "of=north/1,south/2", "to=parties", "--publish"
    )


@pytest.fixture(scope="module")
def url(played: dict[str, Played], token: str, further: None) -> Iterator[str]:
    with played["horizontal"].network.serving(web=True) as at:
        yield at


def test_results(played: dict[str, Played], url: str, token: str) -> None:
    of = played["horizontal"]
    client = Client(url + "/", token)
    assert client.node()["aggregator"] == of.aggregator
    assert [s["id"] for s in client.studies()] == [of.study]
    assert [s["id"] for s in client.studies(state="nosuch")] == []
    assert client.study(of.study)["name"] == "horizontal"
    result = client.result(of.study, aggregator=of.aggregator)
    assert result.raw == of.read().raw
    assert result.signed == of.read().signed
    assert client.result(of.study).signed == result.signed  # with the key that the server names
    with pytest.raises(cosketch.SignatureError, match="by another aggregator"):
        client.result(of.study, aggregator=played["cells"].aggregator)


def test_a_further_result(played: dict[str, Played], url: str, token: str) -> None:
    of = played["horizontal"]
    client = Client(url, token)
    (listed,) = [r for r in client.results(of.study) if not r["current"]]
    result = client.result(of.study, listed["name"], aggregator=of.aggregator)
    assert result.signed is not None
    assert result.signed.further
    assert [a.kind for a in result] == ["record-distance"]
    assert {"pairs", "record_distances_records"} <= set(result[0].frames())
    # A folder gives the same.
    folder = of.network.write(of.study, "further", "json", "--further", listed["name"])
    assert cosketch.read(folder, aggregator=of.aggregator).raw == result.raw


def test_dense_tables(played: dict[str, Played]) -> None:
    of = played["wide"]
    key = of.network.run("aggregator", "token", "create", "wide", "--scope", "studies:read,results:read").strip()
    with of.network.serving(web=True) as at:
        pairs = Client(at, key).result(of.study)["correlation"].pairs()
    assert pairs.equals(of.read()["correlation"].pairs())


def test_refusals(played: dict[str, Played], url: str, token: str) -> None:
    of = played["horizontal"]
    with pytest.raises(cosketch.ApiError) as refused:
        Client(url, "cosketch_00000000_" + "A" * 43).result(of.study)
    assert refused.value.status == 401
    assert refused.value.detail
    client = Client(url, token)
    with pytest.raises(cosketch.ApiError) as refused:
        client.study("f" * 64)
    assert refused.value.status == 404
    with pytest.raises(cosketch.ApiError) as refused:
        client.result(of.study, "f" * 64)
    assert refused.value.status == 404
    with pytest.raises(cosketch.CosketchError, match="asking"):
        Client("http://127.0.0.1:1", token).node()


def test_the_token_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, url: str, token: str) -> None:
    monkeypatch.setenv("COSKETCH_TOKEN", token)
    assert Client(url).node()["software"] == "cosketch"
    with pytest.raises(cosketch.ApiError):
        Client(url, "").node()  # the argument overrides the environment
    monkeypatch.delenv("COSKETCH_TOKEN")
    with pytest.raises(cosketch.ApiError):
        Client(url).node()


def test_the_token_stays_here() -> None:
    secret = "cosketch_00000000_secret"
    client = Client("https://cosketch.example.org", secret)
    assert "secret" not in repr(client) + str(client)
    with pytest.raises(TypeError):
        pickle.dumps(client)
    for address in (
        "http://cosketch.example.org",
        "http://10.0.0.1:7480",
        "ftp://localhost",
        "localhost:1",
        "https://u@h",
    ):
        with pytest.raises(cosketch.CosketchError):
            Client(address, secret)


def test_the_token_follows_no_redirect() -> None:
    asked: list[tuple[str, str | None]] = []

    class Elsewhere(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("Authorization")))
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(cosketch.ApiError) as refused:
            Client(f"http://127.0.0.1:{server.server_port}", "t").node()
        server.shutdown()
    assert refused.value.status == 302
    assert asked == [("/api/v1/node", "Bearer t")]
