"""Which files a process may read (Linux Landlock, no privileges needed): the libraries, and nothing of anybody's home.

Source: Documentation/userspace-api/landlock.rst. Kernels from 5.13 have it, where it was built in; without it an isolated tool can still write nothing
(seccomp.py), but can read what its user can read.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from deskhand.errors import DeskhandError

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446  # the same numbers on every machine
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL = (1 << 13) - 1  # what the first version of Landlock knows
_PATH_BENEATH, _ONLY_VERSION = 1, 1
_PR_SET_NO_NEW_PRIVS = 38

_SYSTEM = (
    "/usr", "/lib", "/lib64", "/opt/ros", "/etc/ld.so.cache", "/etc/localtime", "/etc/mime.types", "/dev/urandom", "/dev/null", "/dev/zero",
    "/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/sys/vm", "/sys/devices/system", "/sys/fs/cgroup",
)  # fmt: skip


def version() -> int:
    """Of the kernel's Landlock; 0 for none."""
    return max(0, int(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_ONLY_VERSION))))


def library_folders() -> list[Path]:
    """Where Python, its packages and the files that come with deskhand lie."""
    from deskhand.types.resources import resource_path

    places = [sys.prefix, sys.base_prefix, sys.exec_prefix, *(entry for entry in sys.path if entry), str(resource_path("config")), str(resource_path("urdf"))]
    return sorted({Path(place).resolve() for place in places if Path(place).exists()} - {Path("/"), Path.home().resolve()})


def restrict_reading(folders: Iterable[Path]) -> bool:
    """Let this thread, and all that it starts, read files below ``folders`` and the system's libraries only, and write none.

    Returns:
        Whether the kernel can do it.

    Raises:
        DeskhandError: ``missing_dependency`` when it can but does not.
    """
    if not version():
        return False
    libc = _libc()
    attributes = ctypes.create_string_buffer(struct.pack("<Q", _ALL), 8)
    rules = libc.syscall(_CREATE, attributes, ctypes.c_size_t(8), ctypes.c_uint32(0))
    if rules < 0:
        raise _error("landlock_create_ruleset")
    try:
        for path in [*map(Path, _SYSTEM), *folders]:
            _allow(libc, rules, path)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)):
            raise _error("no_new_privs")
        if libc.syscall(_RESTRICT, rules, ctypes.c_uint32(0)):
            raise _error("landlock_restrict_self")
    finally:
        os.close(rules)
    return True


def _allow(libc: ctypes.CDLL, rules: int, path: Path) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # a system that has no such file need not allow it
        return
    try:
        rights = _EXECUTE | _READ_FILE | (_READ_DIR if path.is_dir() else 0)
        rule = ctypes.create_string_buffer(struct.pack("<Qi", rights, place), 12)
        if libc.syscall(_ADD_RULE, rules, ctypes.c_int(_PATH_BENEATH), rule, ctypes.c_uint32(0)):
            raise _error(f"landlock_add_rule {path}")
    finally:
        os.close(place)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _error(what: str) -> DeskhandError:
    return DeskhandError("missing_dependency", f"this kernel cannot isolate a tool: {what}: {os.strerror(ctypes.get_errno())}.")
