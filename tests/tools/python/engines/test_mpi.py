"""The ranks of MPI run the parts of a sweep."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import assay

sys.path.insert(0, str(Path(__file__).parents[1]))
from timeless import timeless  # noqa: E402

KERNEL = "optimized-a2"
FLAGS = ("nsa_compress_grad", "--random=0", "--seed=1")


def test_eight_parts_on_two_ranks_are_the_whole_sweep(tmp_path: Path) -> None:
    whole, joined = tmp_path / "whole.json", tmp_path / "joined.json"
    assay.sweep(KERNEL, *FLAGS, report=whole)
    mpiexec = Path(sys.executable).parent / "mpiexec"  # from the package mpich
    script = Path(__file__).with_name("mpi_sweep.py")
    # The first MPI process distributes the parts of the sweep to the others.
    ranks = [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    subprocess.run([*ranks, script, joined, KERNEL, *FLAGS], check=True, timeout=600)
    assert timeless(joined) == timeless(whole)
