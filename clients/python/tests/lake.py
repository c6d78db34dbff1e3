"""Records in many files, from which parties make parts."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, timedelta
from pathlib import Path

import network
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

SCHEMA = pa.schema(
    {"born": pa.date32(), "id": pa.string(), "x": pa.float64(), "w": pa.string(), "ill": pa.bool_()}.items()
)


def records(first: int, count: int) -> pa.Table:
    """Records with values out of bounds, missing values, dates, words and labels."""
    n = range(first, first + count)
    born = date(1920, 1, 1)
    columns = {
        "born": [born + timedelta(days=i * 7919 % 40000) for i in n],
        "id": [f"r{i}" for i in n],
        "x": [None if i % 19 == 0 else (i * 37 % 1400) / 100 - 2 for i in n],
        "w": [None if i % 23 == 0 else "ns"[i % 2] for i in n],
        "ill": [i % 3 == 0 for i in n],
    }
    return pa.Table.from_pydict(columns, SCHEMA)


COLUMNS = [
    "{name: x, kind: numeric, bounds: [0, 10]}",
    "{name: w, kind: categorical, values: [n, s]}",
    "{name: ill, kind: binary, role: label}",
]
BORN = "{name: born, kind: numeric, bounds: [-14610, 18262]}"


def plain(table: pa.Table) -> pa.Table:
    """The columns as CSV can hold them: without dates, and with 0 and 1 for booleans."""
    return table.drop_columns("born").set_column(3, "ill", table["ill"].cast(pa.int8()))


class Lake(network.Network):
    """A network in which north's records are in a lake of files. West and south have the same records."""

    def __init__(self, programs: Path, folder: Path, tables: Iterable[pa.Table], columns: Iterable[str]) -> None:
        super().__init__(programs, folder)
        self.running: dict[str, subprocess.Popen[str]] = {}
        self.lake = folder / "lake"
        self.lake.mkdir()
        self.count, self.complete = 0, 0
        for i, table in enumerate(tables, start=1):
            pq.write_table(table, self.lake / f"{i}.parquet")
            self.count += table.num_rows
            self.complete += table.drop_null().num_rows
        self.of = self.study(
            "lake",
            partition="horizontal",
            records="{id: [id], missing: skip}",
            columns=f"[{', '.join(columns)}]",
            sketches="[{side: moments}]",
            privacy="{mechanism: none}",
            analyses="[{kind: mean}]",
        )
        self.run("aggregator", "study", "host", "lake.yaml")
        for party in network.PARTIES:
            source, release = "elsewhere: the lake", ", release: ask"
            if party == "south":
                source, release = "source: lake/*.parquet", ""
            (folder / f"{party}.yaml").write_text(
                f"datasets:\n  data: {{{source}, caps: {{record: {{epsilon: 8, delta: 1e-6}}}}}}\n"
                f"studies:\n  {self.of}: {{dataset: data, accept_reconstruction: true{release}}}\n"
            )
            self.run(party, "study", "add", "lake.yaml")
            self.run(party, "study", "approve", self.of, "--id", self.of, "--although-useless")

    @contextmanager
    def waiting(self) -> Iterator[Path]:
        """Run all parties until north and west wait for parts; yield north's job file."""
        with self.serving(), ExitStack() as ending:
            for party in network.PARTIES:
                command = self.command(party, "run", self.of, "--wait", "7000s")
                process = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)
                self.running[party] = process
                ending.callback(process.communicate)
                ending.callback(process.kill)
            for party in ("north", "west"):
                self.until(party, "waits for parts")
                self.run(party, "advanced", "sketch", self.of, "--job", f"{party}.job")
            yield self.folder / "north.job"

    def until(self, party: str, says: str) -> None:
        """Wait until a running party prints this."""
        said = self.running[party].stderr
        assert said is not None
        assert any(says in line for line in said), f"{party} has not said {says!r}"

    def released(self) -> list[list[str]]:
        """Release the parts; return the OK lines of inspecting each party's release."""
        for party in ("north", "west"):
            self.run(party, "advanced", "release", self.of)
        self.ends()
        return [re.findall(".*OK.*", self.run(party, "advanced", "inspect", self.of)) for party in network.PARTIES]

    def ends(self) -> None:
        """Wait until every party has finished."""
        for party, process in self.running.items():
            said = process.communicate(timeout=5 * network.MINUTE)[1]
            assert process.returncode == 0, f"{party}: {said}"
