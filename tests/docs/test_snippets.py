"""Runs the examples of README.md and docs/ unchanged.

The blocks of a page are one session, from top to bottom, in a folder with the repository's folders and the program:
- python, cpp, c, cmake: a block with a first line '# NAME' or '// NAME' becomes a file of that name; other Python runs.
- sh: the block runs and must succeed.
- text: directly after one of these, the block is their output, in this order; '...' matches anything. Other text blocks
  are pictures. ELSEWHERE lists the blocks that other tests run, with these tests.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.program import find_program

ROOT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
# Code blocks that other tests run. Maps a page and the beginning of a line in the block to the name of the other test,
# and to the file that registers it.
ELSEWHERE = {
    ("README.md", "tools/sweep     #"): ("tools/check", ".ci/run"),
    ("docs/kernel_cpp.md", "#include <assay/cli/main.hpp>"): ("install.a_consumer_builds_and_is_judged", "tests/install/CMakeLists.txt"),
    ("docs/kernel_cpp.md", "cmake --install"): ("install.a_consumer_builds_and_is_judged", "tests/install/CMakeLists.txt"),
    ("docs/kernel_cpp.md", "find_package(Assay REQUIRED)"): ("install.a_consumer_builds_and_is_judged", "tests/install/CMakeLists.txt"),
    ("docs/kernel_python.md", "# my_pallas.py"): ("test_frameworks.py", "tests/docs/CMakeLists.txt"),
    ("docs/frameworks.md", "# judged_torch.py"): ("test_frameworks.py", "tests/docs/CMakeLists.txt"),
    ("docs/autograd.md", "# judged_function.py"): ("test_frameworks.py", "tests/docs/CMakeLists.txt"),
    ("docs/frameworks_gpu.md", "on_device.py results"): ("test_on_device.py", "tests/tools/python/CMakeLists.txt"),
    ("docs/frameworks_gpu.md", "on_device.py plain"): ("test_on_device.py", "tests/tools/python/CMakeLists.txt"),
    ("docs/ascend.md", "source /usr/local/Ascend"): ("aclnn.a_program_of_the_vendors_names_runs", "tests/optimized/aclnn/vendor_names/CMakeLists.txt"),
    ("docs/c_api.md", "cmake --install"): ("install.a_consumer_builds_and_is_judged", "tests/install/CMakeLists.txt"),
}
LANGUAGES = {"python", "sh", "text", "cmake", "cpp", "c"}


def blocks_of(page: str) -> list[tuple[str, str, bool]]:
    """Returns language and text of each block, and whether it follows the previous block directly."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found, end = [], 0
    for block in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M):
        found.append((block[1], block[2], not text[end : block.start()].strip()))
        end = block.end()
    return found


def elsewhere(page: str, code: str) -> tuple[str, str] | None:
    return next((test for (of, line), test in ELSEWHERE.items() if of == page and line in code), None)


def session(folder: Path) -> dict[str, str]:
    """A folder that looks like a clone with a build, so that tests do not write into the repository."""
    program = find_program()
    for name in ("cases", "conformance", "docs", "spec", "tests", "tools"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(Path(program).parents[1])
    (folder / "bin").mkdir()
    (folder / "bin/python").symlink_to(sys.executable)
    paths = [Path(sys.executable).parent, Path(program).parent, "/usr/bin", "/bin"]
    return {"PATH": ":".join(map(str, paths)), "ASSAY": str(program), "HOME": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def run(language: str, code: str, folder: Path, env: dict[str, str]) -> str:
    named = re.match(r"(?:#|//) (\w+\.\w+)\n", code)
    if language in ("cpp", "c", "cmake") or (language == "python" and named):
        assert named, f"no test runs this block of {language}:\n{code}"
        (folder / named[1]).write_text(code, encoding="utf-8")
        return ""
    words = [sys.executable, "-c", code] if language == "python" else ["bash", "-eu", "-o", "pipefail", "-c", code]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{code}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout


def compare(expected: str, said: str) -> None:
    """Expects all lines in the output, in this order."""
    rest = said
    for part in expected.strip("\n").split("..."):
        part = part.strip("\n")
        assert part in rest, f"not printed:\n{part}\nbut:\n{rest}"
        rest = rest.partition(part)[2] if part else rest


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str, tmp_path: Path) -> None:
    env, said = session(tmp_path), None
    for language, code, follows in blocks_of(page):
        assert language in LANGUAGES, f"{page}: a block of unknown language '{language}':\n{code}"
        if language == "text":
            if follows and said is not None:
                compare(code, said)
            continue
        said = run(language, code, tmp_path, env) if elsewhere(page, code) is None else None


def test_blocks_that_other_tests_run_exist() -> None:
    for (page, line), (test, where) in ELSEWHERE.items():
        assert any(line in code for _, code, _ in blocks_of(page)), f"{page} has no block with {line}"
        assert test in (ROOT / where).read_text(encoding="utf-8"), f"{where} has no {test}"


def test_a_wrong_block_fails(tmp_path: Path) -> None:
    env = session(tmp_path)
    for language, code in (("sh", "assay run no_operator\n"), ("python", "assert False\n"), ("cpp", "int main() {}\n")):
        with pytest.raises(AssertionError):
            run(language, code, tmp_path, env)
    said = run("sh", "echo one; echo two; echo three\n", tmp_path, env)
    compare("one\n...\nthree\n", said)
    for expected in ("one\nthree\n", "three\n...\none\n", "four\n"):
        with pytest.raises(AssertionError):
            compare(expected, said)
