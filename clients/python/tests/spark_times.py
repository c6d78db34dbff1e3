"""How long make_parts takes beside what it is made of: python tests/spark_times.py RECORDS-PER-FILE."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from pathlib import Path

import network
import pyarrow as pa  # type: ignore[import-untyped]
from cluster import Cluster
from pyspark import TaskContext
from pyspark.sql import DataFrame
from test_spark import FILES, Lake

from cosketch.spark import make_parts


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
        with pa.OSFile(str(to / str(task.partitionId())), "wb") as file, pa.ipc.new_stream(file, schema) as stream:
            for batch in batches:
                stream.write_batch(batch)
                yield batch

    return df.mapInArrow(dump, df.schema)


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    lake = Lake(network.build(folder), folder / "lake", int(sys.argv[1]))
    cluster = Cluster(folder)
    with cluster.running, cluster.session() as spark, lake.waiting() as job:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10000")  # as is the default
        df = spark.read.parquet(str(lake.lake))
        party = str(lake.programs / "party")

        def read(frame: DataFrame) -> None:
            frame.write.format("noop").mode("overwrite").save()

        def program(shard: int) -> None:
            words = [party, "advanced", "part", "--job", str(job), "--shard", f"{shard + 1}/{FILES}"]
            with (folder / str(shard)).open("rb") as records:
                subprocess.run(
                    words, stdin=records, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=600
                )

        def programs() -> None:
            with futures.ThreadPoolExecutor(len(cluster.workers)) as pool:
                list(pool.map(program, range(FILES)))

        read(dumped(df, folder))  # begins the executors, too
        for i in range(3):
            identity = seconds(lambda: read(df.mapInArrow(same, df.schema)))
            alone = seconds(programs)
            whole = seconds(lambda: make_parts(df, job, folder / f"parts{i}", party=party))  # noqa: B023
            print(
                f"identity {identity:.2f} s, program {alone:.2f} s, make_parts {whole:.2f} s:"
                f" {whole / (identity + alone):.2f} of the sum",
                flush=True,
            )


if __name__ == "__main__":
    main()
