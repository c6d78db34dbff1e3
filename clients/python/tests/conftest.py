from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import network
import pytest

import cosketch

ROOT = Path(__file__).resolve().parents[3]
STUDIES = {
    "horizontal": network.horizontal,
    "cells": network.cells,
    "counts": network.counts,
    "vertical": network.vertical,
    "wide": network.wide,
}


def blocks(language: str, document: str = "python.md") -> list[str]:
    """The contents of a document's code blocks in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / "docs" / document).read_text(), re.M | re.S)


@dataclass(frozen=True)
class Played:
    """A finished study, whose result the aggregator has written in every format."""

    network: network.Network
    study: str
    folder: Path

    @property
    def aggregator(self) -> str:
        return self.network.aggregator

    def read(self, *more: str) -> cosketch.Result:
        return cosketch.read(self.folder, aggregator=self.aggregator, study=self.study)


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return network.build(tmp_path_factory.mktemp("programs"))


@pytest.fixture(scope="session")
def played(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played]:
    out = {}
    for name, play in STUDIES.items():
        nodes = network.Network(programs, tmp_path_factory.mktemp("networks") / name)
        study = play(nodes)
        for form in ("csv", "parquet", "npy", "json"):
            nodes.write(study, "result", form)
        out[name] = Played(nodes, study, nodes.folder / "result")
    return out
