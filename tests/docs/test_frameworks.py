"""Runs the handbook's blocks that need a framework, unchanged, in its environment, and compares their output."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from test_snippets import blocks_of, compare, run, session


BLOCKS = (
    ("jax", "docs/kernel_python.md", "my_pallas"),
    ("torch", "docs/frameworks.md", "judged_torch"),
    ("torch", "docs/autograd.md", "judged_function"),
)


@pytest.mark.parametrize("framework, page, name", BLOCKS)
def test_block(framework: str, page: str, name: str, tmp_path: Path) -> None:
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"no {framework} in this environment")
    blocks = blocks_of(page)
    at = next(k for k, (_, code, _) in enumerate(blocks) if code.startswith(f"# {name}.py\n"))
    env = session(tmp_path)
    run("python", blocks[at][1], tmp_path, env)
    language, printed, follows = blocks[at + 1]
    assert language == "text" and follows
    compare(printed, run("sh", f"python {name}.py\n", tmp_path, env))
