"""Ray runs the parts of a sweep. If a worker is killed, its part runs again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

import assay
from assay.engines import RayExecutor

sys.path.insert(0, str(Path(__file__).parents[1]))
from timeless import timeless  # noqa: E402

KERNEL = "optimized-a2"
FLAGS = ("nsa_compress_grad", "--random=0", "--seed=1")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Ray with two workers, in a folder whose name is short enough for its sockets. It writes no token to the home
    folder."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    with tempfile.TemporaryDirectory(prefix="r") as folder:
        ray.init(num_cpus=2, include_dashboard=False, _temp_dir=folder, log_to_driver=False)
        try:
            yield
        finally:
            ray.shutdown()


def busy_workers() -> list[int]:
    """The processes that now run a part of this sweep."""
    listed = subprocess.run(["ps", "-ww", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if f"assay sweep {FLAGS[0]}" in line and "--shard=" in line]


def kill_a_busy_worker(killed: list[int]) -> None:
    while len(workers := busy_workers()) < 2:
        time.sleep(0.05)
    os.kill(workers[0], signal.SIGKILL)
    killed.append(workers[0])


def test_eight_parts_with_a_killed_worker_are_the_whole_sweep(started: None, tmp_path: Path) -> None:
    whole, joined = tmp_path / "whole.json", tmp_path / "joined.json"
    assay.sweep(KERNEL, *FLAGS, report=whole)
    killed: list[int] = []
    killer = threading.Thread(target=kill_a_busy_worker, args=(killed,), daemon=True)
    killer.start()
    assay.sweep(KERNEL, *FLAGS, report=joined, executor=RayExecutor(), parts=8)
    killer.join()
    assert killed
    assert timeless(joined) == timeless(whole)


def test_a_failure_in_a_part_is_reported(started: None) -> None:
    with pytest.raises(Exception, match="no_such_kernel"):
        assay.sweep("plugin:no_such_kernel.so", *FLAGS, executor=RayExecutor(), parts=2)
