"""Freed memory goes back to the operating system."""

import ctypes
from pathlib import Path

import pytest

from deskhand.types import heap

BLOCK, BLOCKS = 64 * 1024, 2000  # smaller than what malloc maps by itself, so that it stays in the heap when it is freed


def resident() -> int:
    """[bytes] of this process that are in memory and in no file."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("RssAnon:")))


def test_what_was_freed_below_what_is_still_used_goes_back():
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):
        pytest.skip("another C library")
    libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
    blocks = [libc.malloc(BLOCK) for _ in range(BLOCKS)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    for block in blocks[:-1]:  # the last keeps the heap from shrinking at its end
        libc.free(block)
    kept = resident()
    heap.trim_heap()
    assert kept - resident() > 0.8 * BLOCK * BLOCKS
    libc.free(blocks[-1])


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(heap.ctypes, "CDLL", lambda _: object())
    heap.trim_heap()
