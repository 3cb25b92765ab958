"""Files that are replaced at once: at any moment there is the old one or the new one."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LONGEST_STEM = 200  # of the 255 bytes that a name may have


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """The turn of whoever reads a file, changes it and puts it back: `assay check` waits for the same lock."""
    folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path`, of an empty file that takes its place, and its permissions, when the block ends well.

    It has the name and the lock by which `assay` knows what a writer left that was killed.
    """
    path = path.resolve()
    old = path.stat() if path.is_file() else None
    mode = stat.S_IMODE(old.st_mode) & 0o777 if old else 0o666
    stem = os.fsdecode(os.fsencode(path.name)[:_LONGEST_STEM])
    pending = path.with_name(f".{stem}.assay-{secrets.token_hex(6)}")
    descriptor = os.open(pending, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode | 0o600)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        yield pending
        if old:
            os.fchmod(descriptor, mode)
        os.fsync(descriptor)
        os.replace(pending, path)
    except BaseException:
        with suppress(FileNotFoundError):
            pending.unlink()
        raise
    finally:
        os.close(descriptor)
