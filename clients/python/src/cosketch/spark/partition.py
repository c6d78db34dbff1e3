"""The task of a Spark worker for one partition. It is pickled by value, so that workers need no cosketch."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark import Accumulator, AccumulatorParam, SparkFiles, TaskContext

SHARDS = "cosketch.shards"  # property of the Spark job: the number of shards
FAILED = ".failed"  # suffix of a file that says why a shard has no part
_FINAL = (4, 8)  # exit codes about data, job and versions: a retry would fail too
_ELSEWHERE = ("disk-full", "disk-read-only")  # except these errors, which may not occur on another worker
_PIPE = 1 << 20  # bytes in the program's input pipe, the most that Linux allows
_SAID = 1 << 20  # bytes read from the end of the program's output, at most


class Notes(AccumulatorParam[list[str]]):
    """Collects the rows of finished parts at the driver."""

    def zero(self, value: list[str]) -> list[str]:
        return []

    def addInPlace(self, value1: list[str], value2: list[str]) -> list[str]:
        return value1 + value2


def make_part(
    batches: Iterator[pa.RecordBatch],
    *,
    job: bytes,
    party: str,
    staging: Path,
    empty: pa.Schema,
    notes: Accumulator[list[str]],
) -> Iterator[pa.RecordBatch]:
    """Feed a partition to ``party advanced part``; yield one row with the program's output.

    Every attempt of a task writes a separate file. The program cannot distinguish a killed worker from the end of the
    records, so the file counts only if this row reaches the driver. If the program refuses the shard, the row says so
    and the task succeeds: Spark would retry a failed task with the same records.
    """
    context = TaskContext.get()
    if context is None:
        raise RuntimeError("a partition is read by a task of Spark")
    number, of = context.partitionId() + 1, int(context.getLocalProperty(SHARDS) or 0)
    where = f"shard {number} of {of} on {socket.gethostname()}"
    if not staging.is_dir():
        raise FileNotFoundError(f"{where}: no directory {staging}: the driver and all workers have to reach out")
    part = staging / f"{number}.{context.taskAttemptId()}"
    failed = staging / f"{number}{FAILED}"
    words = [_program(party), "--format", "json", "advanced", "part", "--shard", f"{number}/{of}", "-o", str(part)]
    code, said, complained = _run(words, job, batches, empty)
    if code == 0:
        row = json.dumps(json.loads(said))
    else:
        refused, id = _answer(complained)
        row = json.dumps({"shard": number, "where": where, "code": code, "refused": refused, "id": id})
        if code not in _FINAL or id in _ELSEWHERE:
            why = part.with_name(f"{part.name}.why")
            why.write_text(row)
            why.replace(failed)
            raise RuntimeError(f"{where}: party advanced part: exit {code}: {refused}")
    failed.unlink(missing_ok=True)  # an earlier attempt's
    notes.add([row])
    yield pa.RecordBatch.from_pydict({"part": [row]})


def _answer(complained: str) -> tuple[str, str]:
    """The error message of the program, and its id."""
    try:
        answer = json.loads(complained.splitlines()[-1])
        return str(answer["error"]), str(answer["id"])
    except (ValueError, IndexError, KeyError, TypeError):  # it was killed, or is another program
        return complained, ""


def _program(party: str) -> str:
    """A file that Spark has shipped, or else a path or a name to find in PATH."""
    shipped = Path(SparkFiles.getRootDirectory()).absolute() / party  # "." on a worker, where "party" alone is of PATH
    return str(shipped) if shipped.is_file() else party


def _run(words: list[str], job: bytes, batches: Iterator[pa.RecordBatch], empty: pa.Schema) -> tuple[int, str, str]:
    """The program's exit code, and the ends of its standard output and standard error."""
    read, write = os.pipe()
    # The job is secret, so it goes through a pipe, which no other user can open, and not through a file.
    with os.fdopen(write, "wb") as secret, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            process = subprocess.Popen(  # noqa: S603
                [*words, "--job", f"/dev/fd/{read}"],
                stdin=subprocess.PIPE,
                pipesize=_PIPE,
                stdout=out,
                stderr=err,
                pass_fds=[read],
            )
        finally:
            os.close(read)
        records = process.stdin
        assert records is not None  # noqa: S101
        try:
            with contextlib.suppress(BrokenPipeError):  # the program has ended; its output says why
                secret.write(job)
                secret.close()
                _feed(records, batches, empty)
            code = process.wait()
        finally:
            process.kill()  # if the task ends with an exception
            process.wait()
            for pipe in (secret, records):
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        return code, _end(out), _end(err)


def _feed(into: IO[bytes], batches: Iterator[pa.RecordBatch], empty: pa.Schema) -> None:
    """Write batches as they arrive; a full pipe makes Spark wait."""
    first = next(batches, None)
    schema = empty if first is None else first.schema
    with contextlib.closing(pa.ipc.new_stream(into, schema)) as stream:
        for batch in itertools.chain([] if first is None else [first], batches):
            stream.write_batch(batch)
    into.close()


def _end(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _SAID))
    return file.read().decode(errors="replace").strip()
