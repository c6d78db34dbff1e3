"""Parts from a Spark cluster add up to the same release as a party that reads all records itself."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from concurrent import futures
from contextlib import suppress
from pathlib import Path

import network
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from cluster import Cluster
from conftest import blocks
from lake import BORN, COLUMNS, Lake, records
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import cosketch
from cosketch.spark import Part, PartError, make_parts

FILES = 6  # each a partition, the last one without a record
COUNT = 6000  # records in a file


@pytest.fixture(scope="module")
def lake(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    tables = [records(i * COUNT, COUNT) for i in range(FILES - 1)]
    folder = tmp_path_factory.mktemp("lakes") / "lake"
    return Lake(programs, folder, [*tables, records(0, 0)], [BORN, *COLUMNS])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = Cluster(tmp_path_factory.mktemp("cluster"))
    with running.running:
        yield running


@pytest.fixture(scope="module")
def spark(cluster: Cluster) -> Iterator[SparkSession]:
    with cluster.session() as session:
        yield session


@pytest.fixture(scope="module")
def job(lake: Lake) -> Iterator[Path]:
    with lake.waiting() as written:
        yield written


def held_up(df: DataFrame, partition: int, gate: Path) -> DataFrame:
    """The data frame, but the first read of a partition hangs in the middle."""

    def hold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        task = TaskContext.get()
        assert task is not None
        for i, batch in enumerate(batches):
            if i == COUNT // 200 and task.partitionId() == partition and task.attemptNumber() == 0:
                with gate.open():  # blocks, since nothing writes to it
                    pass
            yield batch

    return df.mapInArrow(hold, df.schema)


def told(lines: int, n: int = 1) -> list[int]:
    """The process ids, one a line, that a shard's program writes when it starts."""
    text = b""
    while text.count(b"\n") < n:
        ready, _, _ = select.select([lines], [], [], 2 * network.MINUTE)
        assert ready, "the shard is not read"
        text += os.read(lines, 4096)
    return [int(line) for line in text.split()]


def test_of_two_attempts_at_a_shard_one_part_counts(lake: Lake, job: Path, cluster: Cluster, tmp_path: Path) -> None:
    """Spark repeats slow tasks elsewhere. This test must come first: a process has one context at a time."""
    begins, ends, go, program, gate = (tmp_path / name for name in ("begins", "ends", "go", "party", "gate"))
    for fifo in (begins, ends, go, gate):
        os.mkfifo(fifo)
    program.write_text(
        f"""#!/bin/sh
case " $* " in
*" --shard 2/{FILES} "*) {lake.programs / "party"} "$@" && echo $$ >{ends} && read -r _ <{go}; exit ;;
*" --shard 3/{FILES} "*) echo $$ >{begins} ;;
esac
exec {lake.programs / "party"} "$@"
"""
    )
    program.chmod(0o755)
    began, ended, goes = (os.open(fifo, os.O_RDWR) for fifo in (begins, ends, go))
    west = lake.folder / "west.job"
    seen: list[Part] = []
    with cluster.session({"spark.speculation": "true"}) as spark, futures.ThreadPoolExecutor(1) as pool:
        df = spark.read.parquet(str(lake.lake)).withColumn("id", F.sha2("id", 256))

        def making(df: DataFrame, to: Path) -> futures.Future[list[Part]]:
            return pool.submit(make_parts, df, west, to, party=str(program), progress=seen.append)

        try:
            # Both attempts have written their complete part before the first ends.
            both = making(df, tmp_path / "both")
            assert len(set(told(ended, 2))) == 2
            (staging,) = (tmp_path / "both").iterdir()
            assert len({p.stat().st_size for p in staging.glob("2.*")}) == 1
            assert len(list(staging.glob("2.*"))) == 2
        finally:
            os.write(goes, b"\n" * 4)
        exactly_once(lake, both.result(timeout=5 * network.MINUTE), seen, tmp_path / "both")

        # The first attempt is killed in the middle of its records; its program takes that for their end.
        seen.clear()
        told(began)
        one = making(held_up(df, 2, gate), tmp_path / "one")
        first, second = told(began, 2)
        assert first != second
        exactly_once(lake, one.result(timeout=5 * network.MINUTE), seen, tmp_path / "one")
        with suppress(ProcessLookupError):  # it may have ended already
            select.select([os.pidfd_open(first)], [], [], network.MINUTE)
        assert len(list((tmp_path / "one").iterdir())) == FILES
    for fd in (began, ended, goes):
        os.close(fd)
    said = lake.run("west", "advanced", "sketch", lake.of, "--parts", str(tmp_path / "both" / "*"))
    assert f"{lake.complete} records held" in said
    lake.run("west", "advanced", "sketch", lake.of, "--job", "west.job", "--rebuild")


def exactly_once(lake: Lake, parts: list[Part], seen: list[Part], at: Path) -> None:
    """Each shard has one part with all its records, and was reported once."""
    assert [(p.shard, p.of) for p in parts] == [(i, FILES) for i in range(1, FILES + 1)]
    assert sorted(seen, key=lambda p: p.shard) == parts
    assert sum(p.records for p in parts) == lake.complete
    assert sum(p.skipped for p in parts) == lake.count - lake.complete
    assert sorted(p.name for p in at.iterdir()) == [p.file.name for p in parts]


def test_a_worker_that_is_lost_changes_nothing(
    lake: Lake, job: Path, spark: SparkSession, cluster: Cluster, tmp_path: Path
) -> None:
    # The code of docs/python.md, with a lake that is read twice.
    text = blocks("python")[-1].replace('("lake")', "(at, at)")
    for word, path in {
        "party": lake.programs / "party",
        "study.job": job,
        "/mnt/parts": tmp_path / "once",
    }.items():
        assert text.count(f'"{word}"') == 1
        text = text.replace(f'"{word}"', repr(str(path)))
    exec(text, {"spark": spark, "at": str(lake.lake)})  # noqa: S102
    said = lake.run("north", "advanced", "sketch", lake.of, "--parts", str(tmp_path / "once" / "*"))
    assert f"{lake.complete} records held" in said
    lake.run("north", "advanced", "sketch", lake.of, "--job", "again.job", "--rebuild")

    df = spark.read.parquet(str(lake.lake)).withColumn("id", F.sha2("id", 256))

    # A worker is killed in the middle of a shard; its program survives, and takes that for the end of the records.
    begins, gate, program = tmp_path / "begins", tmp_path / "gate", tmp_path / "party"
    os.mkfifo(begins)
    os.mkfifo(gate)
    program.write_text(
        f"""#!/bin/sh
case " $* " in *" --shard 2/{FILES} "*) echo $$ >{begins} ;; esac
exec {lake.programs / "party"} "$@"
"""
    )
    program.chmod(0o755)
    seen: list[Part] = []
    lines = os.open(begins, os.O_RDWR)
    with futures.ThreadPoolExecutor(1) as pool:
        making = pool.submit(
            make_parts,
            held_up(df, 1, gate),
            lake.folder / "again.job",
            tmp_path / "parts",
            party=str(program),
            progress=seen.append,
        )
        first = told(lines)
        cluster.lose(first[0])
        again = told(lines)
        parts = making.result(timeout=5 * network.MINUTE)
    os.close(lines)
    cluster.add_worker()
    assert again != first
    exactly_once(lake, parts, seen, tmp_path / "parts")
    assert sorted(p.records for p in parts)[0] == 0

    said = lake.run("north", "advanced", "sketch", lake.of, "--parts", str(tmp_path / "parts" / "*"))
    assert f"{lake.complete} records held" in said

    # Processes without Spark, one per file. Some read as one batch what Spark reads in several.
    for i in range(1, FILES + 1):
        file = lake.folder / f"{i}.part"
        words = ["--job", "west.job", "--shard", f"{i}/{FILES}", "-o", str(file), f"lake/{i}.parquet"]
        lake.run("west", "advanced", "part", *words)
    lake.run("west", "advanced", "sketch", lake.of, "--parts", "*.part")

    north, south, west = lake.released()
    assert north == south == west != []


def test_any_data_frame_will_do(lake: Lake, job: Path, spark: SparkSession, tmp_path: Path) -> None:
    def counted(df: DataFrame, to: str) -> tuple[object, ...]:
        parts = make_parts(df, job, tmp_path / f"parts-{to}", party=str(lake.programs / "party"))
        columns = [(c.name, c.missing, c.clamped) for p in parts for c in p.columns]
        names = sorted({name for name, *_ in columns})
        return (
            sum(p.records for p in parts),
            sum(p.skipped for p in parts),
            *((name, *map(sum, zip(*(more for n, *more in columns if n == name), strict=True))) for name in names),
        )

    df = spark.read.parquet(str(lake.lake / "1.parquet"))
    want = counted(df, "parquet")
    written = df.withColumn("x", F.col("x").cast("decimal(38,18)")).write  # which JSON and CSV write as text
    written.partitionBy("ill").json(str(tmp_path / "json"))
    written.partitionBy("w").csv(str(tmp_path / "csv"), header=True)
    written.orc(str(tmp_path / "orc"))
    types = "born date, id string, x decimal(38,18), w string, ill boolean"
    more = df.select(
        "*",
        F.lit(None).alias("nothing"),
        F.array(F.struct("x")).alias("list"),
        F.create_map("id", "x").alias("map"),
        F.current_timestamp().alias("now"),
        F.expr("interval '1' day").alias("day"),
        F.col("id").cast("binary").alias("bytes"),
    )
    for name, other in {
        "json": spark.read.schema(types).json(str(tmp_path / "json")),
        "csv": spark.read.schema("born date, id string, x decimal(38,18), ill boolean, w string").csv(
            str(tmp_path / "csv"), header=True
        ),
        "orc": spark.read.orc(str(tmp_path / "orc")),
        "more": more.withColumn("ill", F.col("ill").cast("tinyint")).withColumn("x", F.col("x").cast("decimal(9,2)")),
    }.items():
        assert counted(other, name) == want, name


def test_what_the_program_refuses_reaches_the_driver(
    lake: Lake, job: Path, spark: SparkSession, tmp_path: Path
) -> None:
    df = spark.read.parquet(str(lake.lake))
    party = str(lake.programs / "party")
    for column, type_, says in (
        ("born", "timestamp", "holds timestamp values, not numbers"),
        ("x", "string", "x"),
        ("id", "double", "holds float64 values"),
        ("w", "binary", "holds binary values"),
    ):
        with pytest.raises(PartError, match=says) as refused:
            make_parts(df.withColumn(column, F.col(column).try_cast(type_)), job, tmp_path / "out", party=party)
        assert refused.value.code == 4
        assert column in str(refused.value)
        assert refused.value.id
        assert list((tmp_path / "out").iterdir()) == []
    with pytest.raises(PartError, match="record id repeated"):
        make_parts(df.union(df).coalesce(1), job, tmp_path / "out", party=party)
    with pytest.raises(PartError, match=r"shard 1 of 1 on .*job") as refused:
        make_parts(df.coalesce(1), b"no job", tmp_path / "out", party=party)
    with pytest.raises(cosketch.CosketchError, match=r"YearMonthInterval.*select the columns"):
        make_parts(df.withColumn("more", F.expr("interval '1' month")), job, tmp_path / "out", party=party)
    with pytest.raises(cosketch.CosketchError, match="none/party"):
        make_parts(df, job, tmp_path / "out", party="/none/party")
    (tmp_path / "other").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "other").chmod(0o755)
    with pytest.raises(PartError, match=r"exit 3"):
        make_parts(df, job, tmp_path / "out", party=str(tmp_path / "other"))
    with pytest.raises(cosketch.CosketchError, match="no partition"):
        make_parts(df.limit(0), job, tmp_path / "out", party=party)


def test_a_disk_that_is_full_may_be_that_of_one_worker(
    lake: Lake, job: Path, spark: SparkSession, tmp_path: Path
) -> None:
    program, first = tmp_path / "party", tmp_path / "first"
    program.write_text(
        f"""#!/bin/sh
if mkdir {first}; then echo '{{"error": "no space left on device", "id": "disk-full"}}' >&2; exit 4; fi
exec {lake.programs / "party"} "$@"
"""
    )
    program.chmod(0o755)
    df = spark.read.parquet(str(lake.lake)).coalesce(1)
    (part,) = make_parts(df, job, tmp_path / "out", party=str(program))
    assert first.is_dir()
    assert part.records == lake.complete


def test_what_is_refused_before_anything_is_read(lake: Lake, job: Path, spark: SparkSession, tmp_path: Path) -> None:
    df = spark.read.parquet(str(lake.lake))
    with pytest.raises(cosketch.FileError, match=r"s3a://bucket/parts.*mount"):
        make_parts(df, job, "s3a://bucket/parts")
    with pytest.raises(cosketch.FileError, match=r"none\.job"):
        make_parts(df, tmp_path / "none.job", tmp_path / "out")
    copy = tmp_path / "copy.job"
    copy.write_bytes(job.read_bytes())
    copy.chmod(0o644)
    with pytest.raises(cosketch.FileError, match="chmod go= "):
        make_parts(df, copy, tmp_path / "out")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "1.part").touch()
    with pytest.raises(cosketch.FileError, match="has parts already"):
        make_parts(df, job, tmp_path / "old")
