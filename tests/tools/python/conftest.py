"""Shared fixtures of the package tests: a folder of exported cases."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from assay.judging import export_lines
from kernels import SMALL_LINES

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of small cases. No test writes to it."""
    file = tmp_path_factory.mktemp("cases") / "cases.h5"
    export_lines(file, SMALL_LINES, "fp32_staging")
    return file


@pytest.fixture
def cases(exported: Path, tmp_path: Path) -> list[assay.Case]:
    """A copy of this file, to which the test may write."""
    file = tmp_path / "cases.h5"
    assay.write_cases(file, assay.read_cases(exported))
    return assay.read_cases(file)
