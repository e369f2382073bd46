"""Continuous and event tools: started, watched, stopped; what they publish is kept and told."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.registry import Entry
from deskhand.etp.tool import ToolContext
from deskhand.etp.validation import Schema

log = logging.getLogger(__name__)

MAX_RUNNING = 16
MAX_EVENTS = 1000  # kept of each watch
MAX_RATE = 200  # [1/s] events of one watch
MAX_ENDED = 64  # ended watches that are remembered
STOP_WAIT = 5.0  # [s] that a tool may take to end after it was told to


@dataclass(frozen=True)
class WatchEvent:
    """What a continuous tool published, or that it ended (``ended``, with the code of an error or none).

    ``number`` counts the events of one watch from 1; ``time`` is wall clock [s since the epoch].
    """

    watch_id: str
    tool: str
    number: int
    time: float
    data: dict[str, Any]
    ended: bool = False
    code: str = ""
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)


@dataclass(frozen=True)
class WatchInfo:
    """A watch as it stands. ``code`` and ``message`` say why it failed, ``result`` is the last word of one that was stopped."""

    watch_id: str
    tool: str
    caller: str
    arguments: dict[str, Any]
    running: bool
    events: int
    code: str = ""
    message: str = ""
    result: Any = None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON data."""
        return asdict(self)


Listener = Callable[[WatchEvent], None]
"""Told of events in the thread of the tool that published them."""


@dataclass
class _Watch:
    entry: Entry
    schema: Schema
    info: WatchInfo
    stop: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)
    kept: deque[WatchEvent] = field(default_factory=lambda: deque(maxlen=MAX_EVENTS))
    telling: threading.RLock = field(default_factory=threading.RLock)  # held while an event goes out, so that all hear them in order
    listeners: list[Listener] = field(default_factory=list)
    thread: threading.Thread | None = None
    told: int = 0  # number of the last event that went to its caller
    second: tuple[int, int] = (0, 0)  # the present second, and the events in it


class Watches:
    """The continuous tools that run; safe to use from many threads.

    Args:
        listener: told of every event in the thread of the tool that published it; what it raises is logged.
    """

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._watches: OrderedDict[str, _Watch] = OrderedDict()
        self._count = 0
        self._changed = threading.Condition()

    def begin(self, entry: Entry, context: ToolContext, arguments: Mapping[str, Any], caller: str) -> str:
        """Run a continuous tool in a thread of its own until it is stopped; the id of the watch.

        Raises:
            DeskhandError: ``busy`` when too many run.
        """
        with self._changed:
            if sum(watch.info.running for watch in self._watches.values()) >= MAX_RUNNING:
                raise DeskhandError("busy", f"{MAX_RUNNING} watches run; that is all there can be.", retry=True, hint="Stop one with stop_watch.")
            self._count += 1
            info = WatchInfo(f"watch_{self._count}", entry.card.name, caller, dict(arguments), True, 0)
            watch = self._watches[info.watch_id] = _Watch(entry, Schema(entry.card.event_schema or {}), info)
            for old in [key for key, each in self._watches.items() if not each.info.running][:-MAX_ENDED]:
                del self._watches[old]
        context = replace(context, publish=lambda event: self._publish(watch, event), cancelled=watch.stop.is_set)
        watch.thread = threading.Thread(target=self._run, args=(watch, context, arguments), name=f"{info.watch_id} {info.tool}", daemon=True)
        watch.thread.start()
        return info.watch_id

    def infos(self) -> list[WatchInfo]:
        """All that run, and the last that ended."""
        with self._changed:
            return [watch.info for watch in self._watches.values()]

    def events(self, watch_id: str, since: int = 0, wait: float = 0.0, cancelled: Callable[[], bool] = lambda: False) -> list[WatchEvent]:
        """The kept events with a number above ``since``; when there are none, the next within ``wait`` [s].

        Raises:
            DeskhandError: ``unknown_watch``.
        """
        watch = self._get(watch_id)
        end = time.monotonic() + wait
        with self._changed:
            while True:
                found = [event for event in watch.kept if event.number > since]
                left = end - time.monotonic()
                if found or left <= 0 or watch.done.is_set() or cancelled():
                    return found
                self._changed.wait(min(left, 0.05))

    def subscribe(self, watch_id: str, listener: Listener, since: int = 0) -> Callable[[], None]:
        """Hear every event of a watch whose number is above ``since``: those that are kept at once, the others as they come, the end last.

        Returns:
            What ends the subscription; it may be called again and from the listener itself.

        Raises:
            DeskhandError: ``unknown_watch``.
        """
        watch = self._get(watch_id)
        subscribed = True

        def told(event: WatchEvent) -> None:
            if subscribed:
                listener(event)

        def end() -> None:
            nonlocal subscribed
            subscribed = False
            with self._changed:
                if told in watch.listeners:
                    watch.listeners.remove(told)

        with watch.telling:
            with self._changed:
                kept = [event for event in watch.kept if event.number > since]
                if watch.info.running:
                    watch.listeners.append(told)
            for event in kept:
                _heard(told, event)
        return end

    def stop(self, watch_id: str) -> WatchInfo:
        """Tell a watch to end and wait until it has (not from its own thread); one that ended before stays as it is.

        Raises:
            DeskhandError: ``unknown_watch``; ``timeout`` when it goes on all the same.
        """
        watch = self._get(watch_id)
        watch.stop.set()
        if watch.thread is threading.current_thread():  # a listener ends what it listens to
            return watch.info
        if not watch.done.wait(STOP_WAIT):
            raise DeskhandError("timeout", f"{watch_id} ({watch.info.tool}) does not end {STOP_WAIT:g} s after it was told to.", hint="Tell the operator.")
        return watch.info

    def news(self, caller: str, most: int = 20) -> list[WatchEvent]:
        """The latest events of the watches of ``caller`` that it was not told of yet; each is given once."""
        with self._changed:
            found: list[WatchEvent] = []
            for watch in self._watches.values():
                if watch.info.caller == caller:
                    found += [event for event in watch.kept if event.number > watch.told]
                    watch.told = watch.kept[-1].number if watch.kept else 0
        return sorted(found, key=lambda event: event.time)[-most:]

    def close(self) -> None:
        """Tell all to end."""
        with self._changed:
            watches = [watch for watch in self._watches.values() if watch.info.running]
        for watch in watches:
            watch.stop.set()
        for watch in watches:
            if not watch.done.wait(STOP_WAIT):
                log.error("%s (%s) does not end", watch.info.watch_id, watch.info.tool)

    def _get(self, watch_id: str) -> _Watch:
        with self._changed:
            watch = self._watches.get(watch_id)
            running = [key for key, each in self._watches.items() if each.info.running]
        if watch is None:
            raise DeskhandError("unknown_watch", f"there is no watch {watch_id[:40]!r}.", hint=f"Running: {', '.join(running) or 'none'}.")
        return watch

    def _publish(self, watch: _Watch, event: Mapping[str, Any]) -> None:
        problems = watch.schema.problems(dict(event))
        if problems:
            raise DeskhandError("invalid_output", f"{watch.info.tool} published an event that does not fit its card: {problems[0]}.")
        second = int(time.monotonic())
        watch.second = (second, watch.second[1] + 1 if watch.second[0] == second else 1)
        if watch.second[1] > MAX_RATE:
            raise DeskhandError("limit_exceeded", f"{watch.info.tool} published more than {MAX_RATE} events in a second.")
        self._tell(watch, dict(event))

    def _tell(self, watch: _Watch, data: dict[str, Any], **end: Any) -> None:
        with watch.telling:
            with self._changed:
                watch.info = replace(watch.info, events=watch.info.events + 1)
                event = WatchEvent(watch.info.watch_id, watch.info.tool, watch.info.events, time.time(), data, **end)
                watch.kept.append(event)
                listeners = [self._listener, *watch.listeners]
                if event.ended:
                    watch.listeners.clear()
                self._changed.notify_all()
            for listener in listeners:
                _heard(listener, event)

    def _run(self, watch: _Watch, context: ToolContext, arguments: Mapping[str, Any]) -> None:
        code = message = ""
        result: Any = None
        try:
            result = watch.entry.tool.run(context, arguments)
            problems = watch.entry.outputs.problems(result)
            if problems:
                code, message = "invalid_output", f"{watch.info.tool} ended with a result that does not fit its card: {problems[0]}."
        except DeskhandError as error:
            stopped = error.code == "cancelled" and watch.stop.is_set()
            code, message = ("", "") if stopped else (error.code, str(error))
        except Exception as error:  # the tool's code
            log.exception("%s (%s) failed", watch.info.watch_id, watch.info.tool)
            code, message = "tool_failed", f"{watch.info.tool} failed: {type(error).__name__}: {error}"
        with watch.telling:
            with self._changed:
                watch.info = replace(watch.info, running=False, code=code, message=message, result=None if code else result)
            self._tell(watch, {}, ended=True, code=code, message=message)
        watch.done.set()


def _heard(listener: Listener, event: WatchEvent) -> None:
    try:
        listener(event)
    except Exception:  # a watcher's code
        log.exception("an event of %s was lost", event.watch_id)
