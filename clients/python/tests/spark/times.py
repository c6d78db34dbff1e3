"""How long make_parts takes beside what it is made of, with two workers: python tests/spark/times.py ROWS."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import network
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from cluster import Cluster
from lake import Lake
from pyspark import TaskContext
from pyspark.sql import DataFrame

from cosketch.spark import make_parts

FILES = 8
COLUMNS = 20
ROUNDS = 3


def numbers(rows: int) -> Iterator[pa.Table]:
    """Files of numbers with one decimal."""
    for i in range(FILES):
        table = {"id": pa.array(range(i * rows, (i + 1) * rows), pa.int64())}
        random = np.random.default_rng(i)
        for c in range(COLUMNS):
            table[f"c{c}"] = pa.array(random.integers(0, 1000, rows) / 10)
        yield pa.table(table)


class Peaks:
    """The most memory of each kind of process that this one began, as long as it looks."""

    def __init__(self, party: str) -> None:
        self.party = party
        self.most: dict[str, int] = {}
        self.stop = threading.Event()
        self.looking = threading.Thread(target=self.look)

    def __enter__(self) -> Peaks:
        self.looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.looking.join()

    def look(self) -> None:
        while not self.stop.wait(0.1):
            for status in Path("/proc").glob("[0-9]*/status"):
                try:
                    words = (status.parent / "cmdline").read_bytes().decode(errors="replace").split("\0")
                    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
                except OSError:  # it has ended
                    continue
                kind = "party" if words[:1] == [self.party] else None
                for k in ("CoarseGrainedExecutorBackend", "pyspark.daemon"):
                    if any(w.endswith(k) for w in words):
                        kind = k
                if kind and found:
                    self.most[kind] = max(self.most.get(kind, 0), int(found[1]) // 1024)


def seconds(what: Callable[[], object]) -> float:
    began = time.monotonic()
    what()
    return time.monotonic() - began


def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def dumped(df: DataFrame, to: Path) -> DataFrame:
    """Writes the batches of each partition to a file, as the program gets them."""
    schema = df.limit(0).toArrow().schema

    def dump(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = TaskContext.get()
        assert task is not None
        with pa.OSFile(str(to / str(task.partitionId() + 1)), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
                yield batch

    return df.mapInArrow(dump, df.schema)


def read(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def plainly(at: Path) -> None:
    for _ in pq.ParquetFile(at).iter_batches():
        pass


def main() -> None:
    rows = int(sys.argv[1]) // FILES * FILES
    folder = Path(tempfile.mkdtemp())
    columns = [f"{{name: c{c}, kind: numeric, bounds: [0, 100]}}" for c in range(COLUMNS)]
    lake = Lake(network.build(folder), folder / "lake", numbers(rows // FILES), columns)
    site = lake.folder / "south.yaml"  # which holds the sketch of files of its own
    site.write_text(site.read_text().replace("true}", "true, release: ask}"))
    cluster = Cluster(folder)
    party = str(lake.programs / "party")
    with cluster.running, cluster.session() as spark, lake.waiting() as job:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10000")  # as is the default
        df = spark.read.parquet(str(lake.lake))
        assert df.rdd.getNumPartitions() == FILES

        def part(shard: int, of: int, *files: str, records: Path | None = None) -> None:
            words = [party, "advanced", "part", "--job", str(job), "--shard", f"{shard}/{of}", *files]
            with open(records or os.devnull, "rb") as stdin:  # noqa: PTH123
                subprocess.run(words, stdin=stdin, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)

        def two(what: Callable[[int], object]) -> None:
            with futures.ThreadPoolExecutor(2) as pool:
                list(pool.map(what, range(1, FILES + 1)))

        files = [str(lake.lake / f"{i}.parquet") for i in range(1, FILES + 1)]
        runs = 0

        def parts() -> None:
            nonlocal runs
            runs += 1
            made = make_parts(df, job, folder / f"parts{runs}", party=party)
            assert sum(p.records for p in made) == rows

        ways: dict[str, Callable[[], object]] = {
            "Spark reads": lambda: read(df),
            "Spark, identity mapInArrow": lambda: read(df.mapInArrow(same, df.schema)),
            "two filters, Arrow batches": lambda: two(lambda i: part(i, FILES, records=folder / str(i))),
            "make_parts": parts,
            "two --shard, Parquet": lambda: two(lambda i: part(i, FILES, files[i - 1])),
            "one --shard 1/1, Parquet": lambda: part(1, 1, *files),
            "party advanced sketch, Parquet": lambda: lake.run("south", "advanced", "sketch", lake.of, "--rebuild"),
            "pyarrow reads, two at a time": lambda: two(lambda i: plainly(lake.lake / f"{i}.parquet")),
        }
        read(dumped(df, folder))  # begins the executors, too
        times: dict[str, list[float]] = {name: [] for name in ways}
        memory: dict[str, dict[str, int]] = {}
        for _ in range(ROUNDS):  # all in turn: a busy machine is busy for each of them
            for name, way in ways.items():
                with Peaks(party) as peaks:
                    times[name].append(seconds(way))
                memory[name] = peaks.most
        for name, took in times.items():
            print(f"{name:32} {median(took):7.2f} s {rows / median(took):11,.0f} rows/s  MiB: {memory[name]}")
        shares = [w / (i + a) for i, a, w in zip(*list(times.values())[1:4], strict=True)]
        print("make_parts / (identity + filters), each round:", *(f"{s:.2f}" for s in shares))


if __name__ == "__main__":
    main()
