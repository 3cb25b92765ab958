"""Runs a sweep in parts on the ranks of MPI. Usage: mpiexec -n 3 python -m mpi4py.futures mpi_sweep.py REPORT KERNEL FLAG ..."""

import sys

from mpi4py.futures import MPIPoolExecutor

import assay

if __name__ == "__main__":
    report, kernel, *flags = sys.argv[1:]
    with MPIPoolExecutor() as executor:
        assay.sweep(kernel, *flags, report=report, executor=executor, parts=8)
