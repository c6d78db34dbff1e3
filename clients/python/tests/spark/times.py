"""Times make_parts beside its components, with two workers: python tests/spark/times.py ROWS [ROUNDS].

First it kills a worker in the middle of a job, and compares the release of the resulting parts with other ways.
"""

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
from contextlib import suppress
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import network
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
from cluster import Cluster, end
from lake import Lake
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from cosketch.spark import Part, make_parts

FILES = 8
COLUMNS = 20
AS_IS = {  # Spark's defaults, which the tests' cluster changes to start faster or to have many batches
    "spark.executor.extraJavaOptions": "",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
}
TICK = os.sysconf("SC_CLK_TCK")


def numbers(rows: int) -> Iterator[pa.Table]:
    """Files of numbers with one decimal."""
    for i in range(FILES):
        table = {"id": pa.array(range(i * rows, (i + 1) * rows), pa.int64())}
        random = np.random.default_rng(i)
        for c in range(COLUMNS):
            table[f"c{c}"] = pa.array(random.integers(0, 1000, rows) / 10)
        yield pa.table(table)


def kind(at: Path) -> str:
    """The kind of a process, from its command line."""
    try:
        words = (at / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    except OSError:  # it has ended
        return ""
    if words[0].endswith("/party"):
        return next((f"party {w}" for w in ("part", "check") if w in words), "")
    kinds = {"SparkSubmit": "driver", "CoarseGrainedExecutorBackend": "executor", "pyspark.daemon": "Python worker"}
    return next((name for end, name in kinds.items() if any(w.endswith(end) for w in words)), "")


def ours() -> dict[Path, int]:
    """The ticks of this process and its descendants, by folder in /proc."""
    ticks, parents = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            words = stat.read_text().rpartition(")")[2].split()
            ticks[int(stat.parent.name)] = int(words[11]) + int(words[12])
            parents[int(stat.parent.name)] = int(words[1])

    def mine(pid: int) -> bool:
        while pid not in (os.getpid(), 0):
            pid = parents.get(pid, 0)
        return pid != 0

    return {Path(f"/proc/{pid}"): n for pid, n in ticks.items() if mine(pid)}


def everybodys() -> int:
    """The ticks of all processes."""
    user, nice, system, _, _, irq, softirq, steal, *_ = Path("/proc/stat").read_text().split()[1:11]
    return sum(map(int, (user, nice, system, irq, softirq, steal)))


class Use:
    """Resources used while something runs: peak memory of a process of each kind, in MiB, and core seconds."""

    def __enter__(self) -> Use:
        self.memory: dict[str, int] = {}
        self.stop = threading.Event()
        self.looking = threading.Thread(target=self.look)
        self.before, self.all, self.began = ours(), everybodys(), time.monotonic()
        self.latest = dict(self.before)  # includes processes that have ended
        for at in self.before:
            with suppress(OSError):
                (at / "clear_refs").write_text("5")  # resets its peak memory
        self.looking.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall = time.monotonic() - self.began
        self.stop.set()
        self.looking.join()
        self.latest |= ours()
        self.cpu = sum(n - self.before.get(at, 0) for at, n in self.latest.items()) / TICK
        self.others = (everybodys() - self.all) / TICK - self.cpu

    def look(self) -> None:
        while not self.stop.wait(0.2):
            now = ours()
            self.latest |= now
            for at in now:
                with suppress(OSError):
                    peak = re.search(r"VmHWM:\s+(\d+) kB", (at / "status").read_text())
                    if peak and (name := kind(at)):
                        self.memory[name] = max(self.memory.get(name, 0), int(peak[1]) // 1024)


def same(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield from batches


def dumped(df: DataFrame, to: Path) -> DataFrame:
    """The data frame, which also writes the batches of each partition to a file, as the program gets them."""
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


class Ways:
    """The ways to read a lake."""

    def __init__(self, lake: Lake, spark: SparkSession, job: Path, folder: Path) -> None:
        self.lake, self.job, self.folder = lake, job, folder
        self.party = str(lake.programs / "party")
        self.files = [str(lake.lake / f"{i}.parquet") for i in range(1, FILES + 1)]
        self.df = spark.read.parquet(str(lake.lake))
        assert self.df.rdd.getNumPartitions() == FILES
        self.runs = 0

    def part(self, shard: int, of: int, *files: str, records: Path | None = None, to: str = os.devnull) -> None:
        words = [self.party, "advanced", "part", "--job", str(self.job), "--shard", f"{shard}/{of}", *files]
        with open(records or os.devnull, "rb") as stdin, open(to, "wb") as out:  # noqa: PTH123
            subprocess.run(words, stdin=stdin, stdout=out, stderr=subprocess.DEVNULL, check=True)

    def two(self, what: Callable[[int], object]) -> None:
        with futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(what, range(1, FILES + 1)))

    def make_parts(self, progress: Callable[[Part], None] | None = None) -> Path:
        self.runs += 1
        to = self.folder / f"parts{self.runs}"
        made = make_parts(self.df, self.job, to, party=self.party, progress=progress)
        assert sum(p.records for p in made) == self.lake.count
        return to

    def all(self) -> dict[str, Callable[[], object]]:
        return {
            "Spark reads": lambda: read(self.df),
            "Spark, identity mapInArrow": lambda: read(self.df.mapInArrow(same, self.df.schema)),
            "two filters, Arrow batches": lambda: self.two(lambda i: self.part(i, FILES, records=self.folder / str(i))),
            "make_parts": self.make_parts,
            "two --shard, Parquet": lambda: self.two(lambda i: self.part(i, FILES, self.files[i - 1])),
            "one --shard 1/1, Parquet": lambda: self.part(1, 1, *self.files),
            "party data check, Parquet": lambda: self.lake.run("south", "data", "check", self.lake.of),
            "pyarrow reads, two at a time": lambda: self.two(lambda i: plainly(Path(self.files[i - 1]))),
        }


def same_bytes(lake: Lake, ways: Ways, cluster: Cluster) -> None:
    """Check that Spark with a killed worker, processes, and party run alone give the same release."""
    killed: list[Part] = []

    def kill(part: Part) -> None:
        killed.append(part)
        if len(killed) == 1:
            end(cluster.workers[0])
            cluster.add_worker()

    with Use() as use:
        made = ways.make_parts(kill)
    print(f"make_parts, a worker killed after one part: {use.wall:.2f} s")
    lake.run("north", "advanced", "sketch", lake.of, "--parts", str(made / "*"))
    ways.job = lake.folder / "west.job"
    ways.two(lambda i: ways.part(i, FILES, ways.files[i - 1], to=str(lake.folder / f"{i}.part")))
    lake.run("west", "advanced", "sketch", lake.of, "--parts", "*.part")
    north, south, west = lake.released()
    assert north == south == west != []
    print("Parts of Spark, parts of processes and party run alone released", *north)


def main() -> None:
    rows = int(sys.argv[1]) // FILES * FILES
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as at:
        measure(rows, rounds, Path(at))


def measure(rows: int, rounds: int, folder: Path) -> None:
    columns = [f"{{name: c{c}, kind: numeric, bounds: [0, 100]}}" for c in range(COLUMNS)]
    lake = Lake(network.build(folder), folder / "lake", numbers(rows // FILES), columns)
    cluster = Cluster(folder)
    with cluster.running, cluster.session(AS_IS) as spark, lake.waiting() as job:
        lake.until("south", "sketched")  # party run reads all records itself
        ways = Ways(lake, spark, job, folder)
        all_ways = ways.all()
        read(dumped(ways.df, folder))
        same_bytes(lake, ways, cluster)  # also warms up Spark for the measurements
        used: dict[str, list[Use]] = {name: [] for name in all_ways}
        for _ in range(rounds):  # all ways in turn, so that other load on the machine affects all
            for name, way in all_ways.items():
                with Use() as use:
                    way()
                used[name].append(use)
                print(f"{name:30}{use.wall:8.2f} s, cores {use.cpu:8.2f} s, others' {use.others:8.2f} s", flush=True)
        print(f"\nmedians of {rounds} rounds, {rows} rows:")
        for name, uses in used.items():
            wall, cpu = (median(getattr(u, what) for u in uses) for what in ("wall", "cpu"))
            most = {k: max(u.memory.get(k, 0) for u in uses) for u in uses for k in u.memory}
            print(f"{name:30}{wall:8.2f} s {rows / wall:11,.0f} rows/s, cores {cpu:8.2f} s, MiB: {most or ''}")
        for what in ("wall", "cpu"):
            identity, filters, whole = ([getattr(u, what) for u in uses] for uses in list(used.values())[1:4])
            shares = [w / (i + f) for i, f, w in zip(identity, filters, whole, strict=True)]
            print(
                f"make_parts / (identity + filters), {what}:",
                *(f"{s:.2f}" for s in shares),
                f"median {median(shares):.2f}",
            )


if __name__ == "__main__":
    main()
