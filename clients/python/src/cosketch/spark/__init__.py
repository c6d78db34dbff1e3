"""Parts of a sketch, made on the workers of a Spark cluster; ``docs/scale.md`` of the project explains parts."""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import cloudpickle, inheritable_thread_target
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from ..errors import CosketchError, FileError
from . import partition

__all__ = ["Column", "Part", "PartError", "make_parts"]

_PERIOD = 0.5  # seconds between progress checks


@dataclass(frozen=True)
class Column:
    """How values of a column were read."""

    name: str
    missing: int
    clamped: int  # to the public bounds


@dataclass(frozen=True)
class Part:
    """A finished part."""

    study: str
    dataset: str
    job: str
    shard: int  # from 1
    of: int
    file: Path
    records: int
    skipped: int  # left out for a missing value
    clipped: tuple[int, ...]  # records that were clipped, by sketch
    columns: tuple[Column, ...]


class PartError(CosketchError):
    """A shard has no part; the message is that of ``party advanced part``."""

    def __init__(self, where: str, shard: int, code: int, error: str, id: str) -> None:
        super().__init__(f"{where}: {error} (exit {code})")
        self.shard = shard
        self.code = code
        self.id = id


def make_parts(
    df: DataFrame,
    job: str | PathLike[str] | bytes,
    out: str | PathLike[str],
    *,
    party: str = "party",
    progress: Callable[[Part], None] | None = None,
) -> list[Part]:
    """Make a part of each partition of ``df`` on the worker that reads it, and put all parts into ``out``.

    ``job`` is the file that ``party advanced sketch STUDY --job FILE`` wrote, or its bytes. It is as secret as the
    data. It reaches the workers within Spark's task, and the program through a pipe, never as a separate file. Like
    the data, it needs ``spark.authenticate`` and ``spark.network.crypto.enabled`` on the network. It also needs
    ``spark.io.encryption.enabled``, since Spark writes it to disk if it exceeds 1 MiB or memory is short.

    ``out`` is a directory that the driver and all workers can reach. It gets all parts at the end, or none.

    ``party`` is a program that Spark ships (``--files`` or ``SparkContext.addFile``) or that is on each worker.

    ``progress`` is called with each finished part.
    """
    if not isinstance(df, ClassicDataFrame):
        raise CosketchError("make_parts needs a session with a SparkContext; Spark Connect has none")
    secret = job if isinstance(job, bytes) else _read_job(Path(job))
    to = _directory(out)
    staging = to / f".making-{uuid.uuid4().hex}"
    try:
        staging.mkdir()

        def made(row: str) -> None:
            part = _part(row, to)
            if progress:
                progress(part)

        rows = _run(df, secret, staging, party, made)
        parts = [_part(row, to) for row in rows]
        for row, part in zip(rows, parts, strict=True):
            Path(json.loads(row)["file"]).replace(part.file)
        return parts
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _read_job(path: Path) -> bytes:
    try:
        if path.stat().st_mode & 0o077:
            raise FileError(f"others can read the job {path}, which is as secret as the data: chmod go= {path}")
        return path.read_bytes()
    except OSError as err:
        raise FileError(f"reading the job {path}: {err.strerror or err}") from err


def _directory(out: str | PathLike[str]) -> Path:
    if "://" in str(out):
        raise FileError(
            f"out {str(out)!r} is not a directory, into which party writes: mount it on the driver and on every worker"
            " (NFS, HDFS or a bucket through FUSE) and name the place"
        )
    to = Path(out).absolute()
    try:
        to.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise FileError(f"making {to}: {err.strerror or err}") from err
    there = sorted(to.glob("*.part"))
    if there:
        raise FileError(f"{to} has parts already, such as {there[0].name}: name another directory or remove them")
    return to


def _part(row: str, to: Path) -> Part:
    said = json.loads(row)
    if "refused" in said:
        raise _refusal(said)
    shard, of = int(said["shard"]), int(said["of"])
    return Part(
        study=said["study"],
        dataset=said["dataset"],
        job=said["job"],
        shard=shard,
        of=of,
        file=to / f"{shard:05d}-of-{of:05d}.part",
        records=said["records"],
        skipped=said["skipped"],
        clipped=tuple(said["clipped"] or ()),
        columns=tuple(Column(c["name"], c["missing"], c["clamped"]) for c in said["columns"]),
    )


def _run(df: ClassicDataFrame, job: bytes, staging: Path, party: str, made: Callable[[str], None]) -> list[str]:
    """Run the Spark job in another thread, which ends with it; call ``made`` in this thread."""
    session = df.sparkSession
    context = session.sparkContext
    notes = context.accumulator([], partition.Notes())
    try:
        empty = df.limit(0).toArrow().schema
    except PySparkException as err:  # perhaps because of a column that the study does not use
        raise CosketchError(f"Spark cannot hand the data frame on: {err} (select the columns of the study)") from err
    mapped = _mapped(df, job=job, party=party, staging=staging, notes=notes, empty=empty)
    tag = staging.name

    def collect() -> list[str]:
        context.addJobTag(tag)
        rdd = mapped.rdd  # planned once, so that the collected partitions are those counted, even if Spark merges some
        context.setLocalProperty(partition.SHARDS, str(rdd.getNumPartitions()))
        return [row.part for row in rdd.collect()]

    with futures.ThreadPoolExecutor(1) as pool:
        job_ends = pool.submit(inheritable_thread_target(session)(collect))
        told = 0
        try:
            while not futures.wait([job_ends], timeout=_PERIOD).done:
                now = notes.value
                for row in now[told:]:
                    made(row)
                told = len(now)
        except BaseException:
            context.cancelJobsWithTag(tag)
            raise
    try:
        rows: list[str] = job_ends.result()
    except Exception as err:
        raise _why(staging, err) from err
    if not rows:
        raise CosketchError("the data frame has no partition: repartition(1) gives it one")
    for row in notes.value[told:]:
        made(row)
    return rows


def _mapped(df: ClassicDataFrame, **more: Any) -> DataFrame:
    """The data frame with one row of program output per partition."""
    make_part = partition.make_part

    def feed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return make_part(batches, **more)

    cloudpickle.register_pickle_by_value(partition)  # type: ignore[no-untyped-call]
    try:
        return df.mapInArrow(feed, "part string")
    finally:
        cloudpickle.unregister_pickle_by_value(partition)  # type: ignore[no-untyped-call]


def _why(staging: Path, err: Exception) -> CosketchError:
    """The program's error for the first shard without a part, or else Spark's error."""
    failed = sorted(staging.glob(f"*{partition.FAILED}"), key=lambda at: int(at.stem))
    if not failed:
        return CosketchError(f"the job of Spark failed: {err}")
    return _refusal(json.loads(failed[0].read_text()))


def _refusal(said: dict[str, Any]) -> PartError:
    return PartError(said["where"], said["shard"], said["code"], said["refused"], said["id"])
