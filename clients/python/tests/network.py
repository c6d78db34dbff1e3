"""A network of three parties and an aggregator on this machine, run with the real programs."""

from __future__ import annotations

import hashlib
import json
import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

PARTIES = ("north", "south", "west")
MINUTE = 60.0


def build(to: Path) -> Path:
    """The folder of the two programs: COSKETCH_BIN, or else built from this tree."""
    given = os.environ.get("COSKETCH_BIN")
    if given:
        return Path(given)
    root = Path(__file__).resolve().parents[3]
    subprocess.run(["go", "build", "-o", f"{to}/", "./cmd/party", "./cmd/aggregator"], cwd=root, check=True)
    return to


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def instant(ahead: timedelta) -> str:
    return (datetime.now(timezone.utc) + ahead).strftime("%Y-%m-%dT%H:%M:%SZ")


class Network:
    """Nodes in a folder, and the studies that they play."""

    def __init__(self, programs: Path, folder: Path) -> None:
        self.programs, self.folder = programs, folder
        folder.mkdir()
        self.port = free_port()
        (folder / "aggregator.yaml").write_text("{}\n")
        self.ids = {}
        for node in ("aggregator", *PARTIES):
            self.run(node, "init")
            self.ids[node] = json.loads(self.run(node, "--format", "json", "identity"))

    def command(self, node: str, *words: str) -> list[str]:
        program = "aggregator" if node == "aggregator" else "party"
        at = self.folder / node
        return [str(self.programs / program), "--state", str(at), "--config", f"{at}.yaml", *words]

    def run(self, node: str, *words: str) -> str:
        done = subprocess.run(
            self.command(node, *words), cwd=self.folder, capture_output=True, text=True, timeout=5 * MINUTE, check=False
        )
        assert done.returncode == 0, f"{node} {' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    @property
    def aggregator(self) -> str:
        return str(self.ids["aggregator"]["id"])

    def study(self, name: str, **terms: str) -> str:
        """Write the study's file, and return its id."""
        me = self.ids["aggregator"]
        parties = ", ".join(f"{{name: {p}, id: {self.ids[p]['id']}}}" for p in PARTIES)
        all_ = {
            "cosketch": "study/2",
            "name": name,
            "nonce": hashlib.sha256(name.encode()).hexdigest()[:32],
            "aggregator": f"{{id: {me['id']}, hpke: {me['hpke']}, addrs: [/ip4/127.0.0.1/tcp/{self.port}]}}",
            "parties": f"[{parties}]",
            "expires": instant(timedelta(hours=1)),
            "deadline": instant(timedelta(hours=2)),
            "records": "{id: [id]}",
        } | terms
        text = "".join(f"{key}: {value}\n" for key, value in all_.items())
        (self.folder / f"{name}.yaml").write_text(text)
        return hashlib.sha256(text.encode()).hexdigest()

    def play(self, name: str, study: str, data: dict[str, str], caps: str) -> None:
        """Let all parties approve the study, and run it to its result."""
        self.run("aggregator", "study", "host", f"{name}.yaml")
        for party in PARTIES:
            file = f"{party}-{name}.csv"
            (self.folder / file).write_text(data[party])
            source = f"datasets:\n  data: {{source: {file}, caps: {caps}}}\n"
            takes_part = f"studies:\n  {study}: {{dataset: data, accept_reconstruction: true}}\n"
            (self.folder / f"{party}.yaml").write_text(source + takes_part)
            self.run(party, "study", "add", f"{name}.yaml")
            self.run(party, "study", "approve", study, "--id", study, "--although-useless")
        with self.serving():
            running = [
                subprocess.Popen(
                    self.command(p, "run", study, "--wait", "180s"),
                    cwd=self.folder,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
                for p in PARTIES
            ]
            said = [r.communicate(timeout=4 * MINUTE)[0].decode() for r in running]
            assert [r.returncode for r in running] == [0, 0, 0], "\n".join(said)

    @contextmanager
    def serving(self, web: bool = False) -> Iterator[str]:
        """Run the aggregator; yield the address of its API, which is on only with web."""
        port = free_port()
        words = [
            "serve",
            "--listen",
            f"/ip4/127.0.0.1/tcp/{self.port}",
            "--http",
            f"127.0.0.1:{port}" if web else "off",
        ]
        with subprocess.Popen(
            self.command("aggregator", *words),
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stderr is not None
            said: list[str] = []
            for line in process.stderr:
                said.append(line)
                if ("showing pages" if web else "listening") in line:
                    break
            else:
                pytest.fail("aggregator serve ended: " + "".join(said))
            draining = threading.Thread(target=said.extend, args=(process.stderr,))
            draining.start()
            try:
                yield f"http://127.0.0.1:{port}"
            finally:
                process.terminate()
                draining.join()

    def write(self, study: str, folder: str, form: str, *more: str) -> Path:
        """Let the aggregator write a result into a folder of the network."""
        self.run("aggregator", "--format", form, "result", study, "-o", folder, *more)
        return self.folder / folder


def rows(columns: tuple[str, ...], first: int, count: int) -> str:
    """Records in two clusters. Values depend on the record and a little on the column's name; the column ill is 1
    in one cluster."""
    lines = [",".join(("id", *columns))]
    for i in range(first, first + count):
        values = [f"r{i}"]
        for c in columns:
            if c == "ill":
                values.append(str(i % 2))
            elif c == "ward":
                values.append("ab"[i % 3 == 0])
            else:
                values.append(f"{6 * (i % 2) + (i * 37 + ord(c[0]) * i % 5) % 40 / 10 + math.sin(i) / 8:.2f}")
        lines.append(",".join(values))
    return "\n".join(lines) + "\n"


NUMERIC = "kind: numeric, bounds: [0, 10]"


def horizontal(n: Network) -> str:
    """Same columns, other records: all kinds for this partition, some of them undefined."""
    study = n.study(
        "horizontal",
        partition="horizontal",
        columns=f"[{{name: x, {NUMERIC}}}, {{name: y, {NUMERIC}}}, {{name: ward, kind: categorical, values: [a, b]}},"
        " {name: ill, kind: binary, role: label}]",
        sketches="[{side: moments, fourth: true}, {side: records, family: identity, labels: plain}]",
        privacy="{mechanism: none}",
        analyses="[{kind: mean}, {kind: covariance, intervals: all}, {kind: correlation}, {kind: pca}, {kind: lda},"
        " {kind: regression, target: x, on: [y]}, {kind: k-means, clusters: 2}, {kind: k-means, clusters: 200},"
        " {kind: group-distance, intervals: all}, {kind: neighbors, neighbors: 2},"
        " {kind: outliers, neighbors: 5, top: 3}, {kind: ridge-classification, folds: 4}, {kind: svm, folds: 4},"
        " {kind: perceptron, folds: 4}, {kind: voted-perceptron, folds: 4}]",
    )
    columns = ("x", "y", "ward", "ill")
    data = {p: rows(columns, 40 * i, 40) for i, p in enumerate(PARTIES)}
    n.play("horizontal", study, data, "{attribute: {epsilon: 8}}")
    return study


def cells(n: Network) -> str:
    """Only sums, with noise: k-means by cells."""
    study = n.study(
        "cells",
        partition="horizontal",
        columns=f"[{{name: x, {NUMERIC}}}, {{name: y, {NUMERIC}}}]",
        sketches="[{side: moments, clip: 0.6}, {side: cells, L: 2, q: 1, clip: 0.6}]",
        privacy="{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}",
        analyses="[{kind: mean}, {kind: k-means, clusters: 2}]",
    )
    data = {p: rows(("x", "y"), 900 * i, 900) for i, p in enumerate(PARTIES)}
    n.play("cells", study, data, "{record: {epsilon: 8, delta: 1e-6}}")
    return study


def counts(n: Network) -> str:
    """Counts of records, with noise: tables and quantiles."""
    study = n.study(
        "counts",
        partition="horizontal",
        columns=f"[{{name: x, {NUMERIC}}}, {{name: ward, kind: categorical, values: [a, b]}},"
        " {name: ill, kind: binary}]",
        sketches="[{side: counts, tables: [{of: [{column: ward}]}, {of: [{column: ward}, {column: ill}]},"
        " {of: [{column: x}], depth: 8}]}]",
        privacy="{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}",
        analyses="[{kind: table}, {kind: quantile, at: [0.25, 0.5, 0.9]}]",
    )
    data = {p: rows(("x", "ward", "ill"), 900 * i, 900) for i, p in enumerate(PARTIES)}
    n.play("counts", study, data, "{record: {epsilon: 8, delta: 1e-6}}")
    return study


def vertical(n: Network) -> str:
    """Different columns of partly the same records."""
    columns = ", ".join(f"{{name: {c}, {NUMERIC}, owner: {p}}}" for c, p in zip("xyz", PARTIES, strict=True))
    study = n.study(
        "vertical",
        partition="vertical",
        columns=f"[{columns}]",
        sketches="[{side: columns, family: sparse, k: 1024, s: 1, helpers: {ones: 0.3, squares: true}, clip: 0.8}]",
        privacy="{unit: record, mechanism: gaussian, epsilon: 8, delta: 1e-6}",
        analyses="[{kind: correlation}, {kind: intersection}, {kind: inner-product}, {kind: distance}, {kind: cosine},"
        " {kind: covariance, intervals: all}, {kind: sums}, {kind: pca}, {kind: regression, target: x, on: [y, z]},"
        " {kind: clustering}]",
    )
    data = {p: rows((c,), 20 * i, 400) for i, (c, p) in enumerate(zip("xyz", PARTIES, strict=True))}
    n.play("vertical", study, data, "{record: {epsilon: 8, delta: 1e-6}}")
    return study


def wide(n: Network) -> str:
    """So many columns that the pairs are in a dense table beside the document."""
    names = {p: tuple(f"{p[0]}{i}" for i in range(134)) for p in PARTIES}
    columns = ", ".join(f"{{name: {c}, {NUMERIC}, owner: {p}}}" for p in PARTIES for c in names[p])
    study = n.study(
        "wide",
        partition="vertical",
        columns=f"[{columns}]",
        sketches="[{side: columns, family: sparse, k: 256, s: 1, helpers: {ones: 0.3}}]",
        privacy="{mechanism: none}",
        analyses="[{kind: correlation}, {kind: inner-product}]",
    )
    n.play("wide", study, {p: rows(names[p], 0, 60) for p in PARTIES}, "{record: {epsilon: 8, delta: 1e-6}}")
    return study


if __name__ == "__main__":  # to inspect a network by hand
    where = Path(sys.argv[1])
    network = Network(build(where.parent), where)
    print(horizontal(network))
