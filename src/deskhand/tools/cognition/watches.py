"""The continuous tools that run: listed, read, stopped."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext, tool
from deskhand.etp.watches import Watches

WatchId = Annotated[str, Field(min_length=1, max_length=40, description="of the watch, as the continuous tool gave it")]


class Watch(TypedDict):
    """A continuous tool that was started."""

    watch_id: str
    tool: str
    running: bool
    events: Annotated[int, Field(description="how many it published so far")]
    code: Annotated[str, Field(description="error that ended it, empty for none")]
    message: str


class WatchList(TypedDict):
    """All that run, and the last that ended."""

    watches: list[Watch]


class Event(TypedDict):
    """One object that a watch noticed, or that it ended."""

    number: int
    time: Annotated[float, Field(description="wall clock [s since the epoch]")]
    data: dict[str, Any]
    ended: bool
    code: str
    message: str


class EventList(TypedDict):
    """Events in the order in which they came."""

    watch_id: str
    tool: str
    running: bool
    events: list[Event]


class StoppedWatch(TypedDict):
    """The watch ended; result is its last word."""

    watch_id: str
    tool: str
    events: int
    code: str
    message: str
    result: Any


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    in_process="It reads what the watches of this session publish.",
    when_to_use="To learn which watches (continuous tools that run in the background) are active, how much they noticed and which of them ended or broke.",
    limits="Lists only what was started in this session; ended ones are forgotten after a while.",
    examples=[("Which background monitors are still running?", {})],
    failures=[("An argument is given although it takes none", {"all": True}, "invalid_arguments")],
)
def list_watches(ctx: ToolContext) -> WatchList:
    """List the continuous tools that were started: which run, how many events each published, which ended."""
    watches = [
        Watch(watch_id=info.watch_id, tool=info.tool, running=info.running, events=info.events, code=info.code, message=info.message)
        for info in _watches(ctx).infos()
    ]
    return WatchList(watches=watches)


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    in_process="It reads what the watches of this session publish.",
    timeout=60.0,
    when_to_use="To hear what a watch noticed in the background since you last asked, or to wait for its next event, such as a slip.",
    limits="Keeps the last 1000 events of a watch. Waits at most 30 s.",
    examples=[
        ("What did the monitor notice in the meantime?", {"watch_id": "watch_1"}),
        ("Wait for the next event", {"watch_id": "watch_1", "since": 3, "wait": 10}),
    ],
    failures=[("The watch never was", {"watch_id": "watch_999"}, "unknown_watch")],
)
def read_events(
    ctx: ToolContext,
    watch_id: WatchId,
    since: Annotated[int, Field(ge=0, description="only events with a greater number")] = 0,
    wait: Annotated[float, Field(ge=0, le=30, description="[s] to wait when there is none yet")] = 0.0,
) -> EventList:
    """Read the events that a continuous tool published: after a number, or the next one to come."""
    watches = _watches(ctx)
    found = watches.events(watch_id, since, wait, ctx.cancelled)
    info = next(info for info in watches.infos() if info.watch_id == watch_id)
    events = [Event(number=item.number, time=item.time, data=item.data, ended=item.ended, code=item.code, message=item.message) for item in found]
    return EventList(watch_id=watch_id, tool=info.tool, running=info.running, events=events)


@tool(
    group="cognition",
    unit="spatio_temporal_state",
    effects="memory",
    timeout=15.0,
    when_to_use="To end a watch (a continuous tool that runs in the background) when what it looks out for no longer matters.",
    limits="Ends one watch; it does not stop the arm: stop_motion does.",
    examples=[("Stop monitoring in the background", {"watch_id": "watch_1"})],
    failures=[("The watch never was", {"watch_id": "watch_999"}, "unknown_watch")],
)
def stop_watch(ctx: ToolContext, watch_id: WatchId) -> StoppedWatch:
    """Stop a continuous tool that runs in the background, and get its last word."""
    info = _watches(ctx).stop(watch_id)
    return StoppedWatch(watch_id=watch_id, tool=info.tool, events=info.events, code=info.code, message=info.message, result=info.result)


def _watches(ctx: ToolContext) -> Watches:
    if ctx.watches is None:
        raise DeskhandError("tool_failed", "there is no session that could watch.")
    return ctx.watches
