"""Dask runs the parts of a sweep. If a worker is killed, its part runs again."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

from dask.distributed import Client, LocalCluster

import assay

sys.path.insert(0, str(Path(__file__).parents[1]))
from timeless import timeless  # noqa: E402

KERNEL = "optimized-a2"
FLAGS = ("nsa_compress_grad", "--random=0", "--seed=1")


def kill_a_busy_worker(client: Client, killed: list[int]) -> None:
    """Kills a worker as soon as every worker has a part to run."""
    processes = client.run(os.getpid)
    while len(busy := {worker for worker, tasks in client.processing().items() if tasks}) < len(processes):
        time.sleep(0.05)
    time.sleep(1)
    victim = processes[min(busy)]
    os.kill(victim, signal.SIGKILL)
    killed.append(victim)


def test_eight_parts_with_a_killed_worker_are_the_whole_sweep(tmp_path: Path) -> None:
    whole, joined = tmp_path / "whole.json", tmp_path / "joined.json"
    assay.sweep(KERNEL, *FLAGS, report=whole)
    killed: list[int] = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        first = set(client.run(os.getpid).values())
        killer = threading.Thread(target=kill_a_busy_worker, args=(client, killed))
        killer.start()
        assay.sweep(KERNEL, *FLAGS, report=joined, executor=client.get_executor(pure=False), parts=8)
        killer.join()
        assert killed and killed[0] in first
        assert killed[0] not in client.run(os.getpid).values()
    assert timeless(joined) == timeless(whole)
