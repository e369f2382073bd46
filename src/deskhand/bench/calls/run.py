"""Measures calls of a tool that does nothing: plain, in process, isolated, over MCP, over ROS."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deskhand.bench.calls.probe import ARGUMENTS, context, plain, probe_session
from deskhand.errors import DeskhandError

WARM_UP = 20


@dataclass(frozen=True)
class Row:
    """One way to a tool.

    Attributes:
        median, p95: wall time of a call [ms].
        over: the median beyond the plain function [ms], or, for ``unit`` ``x``, how many bare service calls it is worth.
        bar: what ``over`` may be at most.
    """

    way: str
    calls: int
    median: float
    p95: float
    over: float
    unit: str
    bar: float

    @property
    def good(self) -> bool:
        """Within the bar."""
        return self.over <= self.bar

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        return {**asdict(self), "good": self.good}


def measure(calls: int, ros: bool, told: Callable[[str], None] = lambda text: None) -> Iterator[Row]:
    """Every way, one after the other.

    Raises:
        DeskhandError: ``node_unavailable`` when the tool server does not come up, ``tool_failed`` when a call fails.
    """
    told("plain function")
    ctx = context()
    base = _times(calls, lambda: plain(ctx, **ARGUMENTS))  # type: ignore[arg-type]
    floor = float(np.median(base))
    yield _row("plain function", base, 0.0, "ms", 0.0)
    with probe_session() as session:

        def invoke(name: str) -> None:
            result = session.invoke(name, ARGUMENTS)
            if not result.ok:
                raise DeskhandError("tool_failed", f"the probe {name} failed: {result.code}: {result.message}")

        told("in process")
        yield _over("in process", _times(calls, lambda: invoke("echo")), floor, 1.0)
        told("isolated")
        yield _over("isolated process, warm", _times(calls, lambda: invoke("echo_isolated")), floor, 5.0)
    told("MCP over standard input and output")
    yield _over("MCP, stdio", asyncio.run(_mcp(calls)), floor, 5.0)
    if ros:
        told("ROS")
        from deskhand.bringup.spec import StackOptions
        from deskhand.trials.ros_client import measured_by_client

        measured = measured_by_client(("tool_server",), StackOptions(), "deskhand.nodes.call_timer", [str(calls)])
        bare, called = measured["bare_ms"], measured["tool_ms"]
        yield _row("ROS, bare service", bare, 1.0, "x", 1.0)
        yield _row("ROS, tool", called, float(np.median(called)) / float(np.median(bare)), "x", 3.0)


def _times(calls: int, call: Callable[[], Any]) -> list[float]:
    times = []
    for index in range(WARM_UP + calls):
        began = time.perf_counter()
        call()
        if index >= WARM_UP:
            times.append(1000 * (time.perf_counter() - began))
    return times


async def _mcp(calls: int) -> list[float]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    environment = {name: os.environ[name] for name in ("PYTHONPATH", "LD_LIBRARY_PATH") if name in os.environ}
    server = StdioServerParameters(command=sys.executable, args=["-m", "deskhand.bench.calls.probe"], env=environment)
    times = []
    async with Client(server) as client:
        await client.list_tools()
        for index in range(WARM_UP + calls):
            began = time.perf_counter()
            result = await client.call_tool("echo", ARGUMENTS)
            if index >= WARM_UP:
                times.append(1000 * (time.perf_counter() - began))
            if result.is_error:
                raise DeskhandError("tool_failed", f"the probe failed over MCP: {result.content}")
    return times


def _over(way: str, times: list[float], floor: float, bar: float) -> Row:
    return _row(way, times, float(np.median(times)) - floor, "ms", bar)


def _row(way: str, times: list[float], over: float, unit: str, bar: float) -> Row:
    return Row(way, len(times), round(float(np.median(times)), 4), round(float(np.percentile(times, 95)), 4), round(over, 4), unit, bar)
