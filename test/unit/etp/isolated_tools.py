"""Isolated tools for tests: sound ones, and such that do all that a tool should not."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.resources import ResourceRef
from deskhand.etp.tool import ToolContext, tool

PURE = {
    "group": "reasoning",
    "unit": "optimisation_under_constraints",
    "memory": 512,
    "when_to_use": "In tests of the protocol only.",
    "limits": "Does nothing useful.",
}


class Sum(TypedDict):
    total: float


class Doubled(TypedDict):
    doubled: ResourceRef


Deed = Literal[
    "loop", "allocate", "die", "exit", "print", "wrong", "socket", "unix socket", "write", "remove", "read home", "run", "fork", "kill parent", "thread",
    "raise", "own", "limits", "robot", "huge result", "nap", "recurse",
]  # fmt: skip


@tool(**PURE, timeout=20, examples=[("Add", {"numbers": [1.0, 2.0]})])
def add(ctx: ToolContext, numbers: Annotated[list[float], Field(max_length=100, description="[m] what to add")]) -> Sum:
    """Add up numbers and say how far it came."""
    for index, number in enumerate(numbers):
        ctx.progress((index + 1) / len(numbers), f"added {number}")
    sys.stdout.write(f"the sum is {sum(numbers)}\n")
    ctx.log("warning", "mind the cup")
    return {"total": sum(numbers)}


@tool(**PURE, timeout=20, examples=[("Double", {"uri": "deskhand://x"})], failures=[("It is gone", {"uri": "deskhand://x"}, "unknown_resource")])
def double(ctx: ToolContext, uri: Annotated[str, Field(max_length=80, description="of an array")]) -> Doubled:
    """Double an array that is kept as a resource."""
    return {"doubled": ctx.resources.put(ctx.resources.get(uri).array() * 2, text="twice as much")}


@tool(**PURE, timeout=1.5, examples=[("Hang", {})])
def hang(ctx: ToolContext) -> Sum:
    """Never end."""
    forever()
    return {"total": 0.0}


@tool(**PURE, timeout=60.0, examples=[("Misbehave", {"deed": "loop", "place": ""})])  # long enough for its deeds on a machine with much else to do
def misbehave(
    ctx: ToolContext, deed: Annotated[Deed, Field(description="what to do")], place: Annotated[str, Field(description="a path or number")] = ""
) -> Sum:
    """Do what no isolated tool may do."""
    deeds = {
        "loop": forever, "allocate": lambda: np.ones(10 * 2**30 // 8), "die": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "exit": lambda: os._exit(3), "print": lambda: [sys.stdout.write("x" * 999 + "\n") for _ in range(100_000)], "wrong": lambda: {"sum": "much"},
        "socket": lambda: socket.create_connection(("127.0.0.1", int(place)), 1), "unix socket": lambda: socket.socket(socket.AF_UNIX),
        "write": lambda: Path(place).write_text("x"), "remove": lambda: Path(place).unlink(), "read home": lambda: Path(place).read_text(),
        "run": lambda: subprocess.run(["true"], check=True), "fork": os.fork, "kill parent": lambda: os.kill(int(place), signal.SIGTERM),
        "thread": in_a_thread, "raise": lambda: 1 / 0, "own": fail, "limits": lift, "robot": lambda: ctx.robot.stop("no"),
        "huge result": lambda: {"total": 1.0, "more": "x" * 30_000_000}, "nap": nap, "recurse": recurse,
    }  # fmt: skip
    return deeds[deed]()


def forever():
    while True:
        pass


def nap():
    time.sleep(0.2)
    return {"total": 1.0}


def recurse():
    return recurse()


def in_a_thread():
    results = []
    thread = threading.Thread(target=lambda: results.append(7.0))
    thread.start()
    thread.join()
    return {"total": results[0]}


def fail():
    raise DeskhandError("impossible", "that cannot be done.", hint="Do something else.")


def lift():
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
