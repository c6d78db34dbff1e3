"""A standalone cluster of Apache Spark on this machine: a master and two workers, each a separate process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import network
import pyspark
from pyspark.sql import SparkSession

HOST = "127.0.0.1"
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # faster start, which dominates short jobs
SECRET = {"spark.authenticate": "true", "spark.authenticate.secret": "of-this-cluster-alone"}


class Cluster:
    """The processes, and sessions of a driver."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "SPARK_LOCAL_IP": HOST,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONDONTWRITEBYTECODE": "1",
            "SPARK_DAEMON_JAVA_OPTS": " ".join([QUICK, *(f"-D{k}={v}" for k, v in SECRET.items())]),
            "SPARK_DAEMON_MEMORY": "256m",
        }
        self.master = f"spark://{HOST}:{network.free_port()}"
        self.workers: list[subprocess.Popen[str]] = []
        self.running = ExitStack()
        try:
            port = self.master.rpartition(":")[2]
            self._start("master.Master", "--port", port, ready="I have been elected leader")
            for _ in range(workers):
                self.add_worker()
        except BaseException:
            self.running.close()
            raise

    def add_worker(self) -> None:
        at = self.folder / f"worker{len(self.workers)}"
        host = f"127.0.0.{2 + len(self.workers)}"  # distinct: Spark retries a task on another host
        words = ("--cores", "1", "--memory", "1g", "--work-dir", str(at), self.master)
        self.workers.append(
            self._start("worker.Worker", *words, ready="Successfully registered with master", host=host)
        )

    def _start(self, what: str, *words: str, ready: str, host: str = HOST) -> subprocess.Popen[str]:
        program = str(Path(self.environment["SPARK_HOME"]) / "bin" / "spark-class")
        common = ("--host", host, "--webui-port", "0")
        return self.running.enter_context(
            self._process(what, [program, f"org.apache.spark.deploy.{what}", *common, *words], ready)
        )

    @contextmanager
    def _process(self, what: str, command: list[str], ready: str) -> Iterator[subprocess.Popen[str]]:
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        lines = process.stderr
        assert lines is not None
        try:
            said: list[str] = []
            for line in lines:
                said.append(line)
                if ready in line:
                    break
            else:
                raise RuntimeError(f"{what} ended: {''.join(said)}")
            draining = threading.Thread(target=deque, args=(lines, 0))
            draining.start()
            try:
                yield process
            finally:
                end(process)
                draining.join()
        finally:
            end(process)
            lines.close()

    @contextmanager
    def session(self, more: Mapping[str, str] = MappingProxyType({})) -> Iterator[SparkSession]:
        os.environ |= {k: v for k, v in self.environment.items() if k not in os.environ}  # for this process's JVM
        settings: dict[str, bool | float | int | str | None] = {
            "spark.executor.memory": "600m",
            "spark.executor.extraJavaOptions": QUICK,
            "spark.driver.extraJavaOptions": QUICK,
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.files.openCostInBytes": "128MB",  # one partition per file
            "spark.sql.execution.arrow.maxRecordsPerBatch": "100",
            "spark.driver.host": HOST,
            **SECRET,
            **more,
        }
        builder = SparkSession.builder.master(self.master).appName("cosketch")
        session = builder.config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        try:
            yield session
        finally:
            session.stop()

    def lose(self, process: int) -> None:
        """Kill the worker that started a process, and everything else that it started."""
        session = os.getsid(process)
        end(next(w for w in self.workers if w.pid == session), spare=process)


def end(leader: subprocess.Popen[str], spare: int = 0) -> None:
    """Kill a process that this program started, and the processes of its session except spare."""
    for at in Path("/proc").iterdir():
        with suppress(ValueError, ProcessLookupError):
            pid = int(at.name)
            if pid != spare and os.getsid(pid) == leader.pid:
                os.kill(pid, signal.SIGKILL)
    leader.wait()


if __name__ == "__main__":  # to use by hand: prints the master's address, and ends with Ctrl-C
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    cluster = Cluster(where)
    print(cluster.master, flush=True)
    try:
        signal.pause()
    except KeyboardInterrupt:
        cluster.running.close()
