"""Replaces files atomically: at any moment either the old or the new file exists."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LONGEST_STEM = 200  # bytes, of the 255 that a file name may have


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """A lock for reading, changing and replacing a file: `assay check` waits for the same lock."""
    folder = os.open(path.resolve().parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yields the path of an empty new file. If the block succeeds, the new file replaces the file at `path` and gets
    its permissions. By its name and lock, `assay` recognizes a file whose writer was killed.
    """
    path = path.resolve()
    old = path.stat() if path.is_file() else None
    mode = stat.S_IMODE(old.st_mode) & 0o777 if old else 0o666
    stem = os.fsdecode(os.fsencode(path.name)[:_LONGEST_STEM])
    pending = path.with_name(f".{stem}.assay-{secrets.token_hex(6)}")
    descriptor = os.open(pending, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode | 0o600)
    try:
        with suppress(OSError):  # some file systems have no locks
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
