"""The commands of docs/scale.md without Spark: pipes from other programs, Slurm and Kubernetes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import kubernetes_validate  # type: ignore[import-untyped]
import lake
import pytest
import yaml  # type: ignore[import-untyped]
from conftest import ROOT, blocks

OPERATIONS = ROOT / "docs" / "operations"
SHARDS = 3
FILES = 2 * SHARDS - 1  # all shards but one have two files


@pytest.fixture(scope="module")
def network(programs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[lake.Lake]:
    tables = [lake.plain(lake.records(i * 1000, 1000)) for i in range(FILES)]
    nodes = lake.Lake(programs, tmp_path_factory.mktemp("scale") / "lake", tables, lake.COLUMNS)
    with nodes.waiting():
        yield nodes


@pytest.fixture
def manifest() -> dict[str, object]:
    """The Kubernetes Job, with fewer shards."""
    text = (OPERATIONS / "kubernetes-job.yaml").read_text()
    assert len(re.findall(r"\b16(?=$|\")", text, re.M)) == 4  # shards, and the attempts that failed
    out: dict[str, object] = yaml.safe_load(re.sub(r"\b16(?=$|\")", str(SHARDS), text, flags=re.M))
    return out


def typed(of: lake.Lake, script: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a script unchanged, with party on the PATH."""
    path = f"{of.programs}:{os.environ['PATH']}"
    environment = os.environ | {"PATH": path} | more
    return subprocess.run(
        ["sh", "-euc", script],
        cwd=of.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_manifest_is_as_kubernetes_has_it(manifest: dict[str, object]) -> None:
    def refused(one: dict[str, object]) -> bool:
        try:
            kubernetes_validate.validate(one, "1.37", strict=True)
        except kubernetes_validate.ValidationError:
            return True
        return False

    assert not refused(manifest)
    changes: list[dict[str, object]] = [
        {"completion": 3},
        {"completions": "three"},
        {"template": {"spec": {"containers": [{}]}}},
    ]
    for change in changes:
        assert refused(manifest | {"spec": dict(manifest["spec"]) | change}), change  # type: ignore[call-overload]


def pod(manifest: dict[str, object], of: lake.Lake) -> tuple[str, dict[str, str]]:
    """The script of a pod, and its environment, with mounts replaced by the folder."""
    spec = manifest["spec"]
    assert isinstance(spec, dict)
    assert spec["completionMode"] == "Indexed"
    template = spec["template"]["spec"]
    (container,) = template["containers"]
    program, flags, script = container["command"]
    assert (program, flags) == ("sh", "-euc")
    environment = {one["name"]: one["value"] for one in container["env"]}
    assert environment == {"SHARDS": str(spec["completions"])}
    places = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert places == {one["name"]: f"/{one['name']}" for one in template["volumes"]}
    return re.sub(r"/(job|lake|parts)(?=/)", rf"{of.folder}/pod-\1", script), environment


def test_the_sums_are_those_of_one_file(network: lake.Lake, manifest: dict[str, object]) -> None:
    slurm_and_kubernetes(network, manifest)
    pipes(network)
    north, south, west = network.released()
    assert north == south == west != []


def slurm_and_kubernetes(network: lake.Lake, manifest: dict[str, object]) -> None:
    folder = network.folder
    shutil.copy(folder / "west.job", folder / "study.job")
    (folder / "parts").mkdir()
    slurm = (OPERATIONS / "slurm.sh").read_text()
    assert re.findall(r"^#SBATCH .*--array=(\S+)|^shards=(.*)", slurm, re.M) == [("1-16", ""), ("", "16")]
    slurm = slurm.replace("shards=16", f"shards={SHARDS}")
    for task in range(1, SHARDS + 1):
        done = typed(network, slurm, SLURM_ARRAY_TASK_ID=str(task))
        assert done.returncode == 0, done.stderr

    # The secret is readable for its group, as Kubernetes mounts it for a pod that does not run as root.
    (folder / "pod-job").mkdir()
    shutil.copy(folder / "west.job", folder / "pod-job" / "study.job")
    (folder / "pod-job" / "study.job").chmod(0o440)
    (folder / "pod-lake").symlink_to(folder / "lake")
    (folder / "pod-parts").mkdir()
    script, environment = pod(manifest, network)
    for index in range(SHARDS):
        done = typed(network, script, JOB_COMPLETION_INDEX=str(index), **environment)
        assert done.returncode == 0, done.stderr
    names = [f"{i}.part" for i in range(1, SHARDS + 1)]
    assert sorted(p.name for p in (folder / "pod-parts").iterdir()) == names
    assert sorted(p.name for p in (folder / "parts").iterdir()) == names

    # A malformed data file gives an exit code that the pod failure policy lists.
    spec = manifest["spec"]
    assert isinstance(spec, dict)
    (rule,) = spec["podFailurePolicy"]["rules"]
    (folder / "pod-lake").unlink()
    (folder / "pod-lake").mkdir()
    (folder / "pod-lake" / "1.parquet").write_text("none")
    done = typed(network, script, JOB_COMPLETION_INDEX="0", **environment)
    assert done.returncode in rule["onExitCodes"]["values"], done.stderr

    # Both ways make the same shards, so parts of both can be added.
    (folder / "pod-parts" / "2.part").replace(folder / "parts" / "2.part")
    said = network.run("west", "advanced", "sketch", network.of, "--parts", "parts/*.part")
    assert f"{network.complete} records held" in said


def pipes(network: lake.Lake) -> None:
    (lines,) = blocks("sh not scale", "scale.md")
    folder = network.folder
    shutil.copy(folder / "north.job", folder / "study.job")
    (folder / "parts").mkdir(exist_ok=True)
    for made in (folder / "parts").iterdir():
        made.unlink()
    programs = []
    for shard, line in enumerate(lines.splitlines(), start=1):
        programs.append(re.findall("duckdb|polars|pandas", line)[0])
        assert f"--shard {shard}/3 " in line
        done = typed(network, line.replace(f"--shard {shard}/3 ", f"--shard {shard}/{FILES} "))
        assert done.returncode == 0, done.stderr
    assert programs == ["duckdb", "polars", "pandas"]
    for shard in range(4, FILES + 1):
        words = ["--job", "north.job", "--shard", f"{shard}/{FILES}", f"lake/{shard}.parquet"]
        network.run("north", "advanced", "part", *words, "-o", f"parts/{shard}.part")
    said = network.run("north", "advanced", "sketch", network.of, "--parts", "parts/*.part")
    assert f"{network.complete} records held" in said
