"""What a caller of tools sees, the same in process, over ROS and over MCP."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from deskhand.etp.resources import Resource
    from deskhand.etp.watches import Listener

Feedback = Callable[[float, str], None]
"""Called with a fraction 0..1 and a line of text; log lines begin with their level (``warning: …``), images with ``image: deskhand://…``."""


@dataclass(frozen=True)
class ToolSummary:
    """One hit of a search."""

    name: str
    group: str
    unit: str
    summary: str
    effects: str
    score: float = 0.0
    available: bool = True
    unavailable_reason: str = ""


@dataclass(frozen=True)
class ToolResult:
    """What a call gave. ``code`` is empty on success, else a key of errors.ERROR_NUMBERS; ``data`` is JSON-able."""

    code: str
    message: str
    data: Any = None
    retry: bool = False
    hint: str = ""
    duration: float = 0.0
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True when the tool did what it promises."""
        return not self.code


class ToolClient(Protocol):
    """Find, describe, call. Calls never raise for what a tool did; a broken connection raises ``node_unavailable``."""

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        """Ranked summaries, all when ``text`` is empty and ``limit`` 0."""
        ...

    def describe(self, name: str) -> dict[str, Any]:
        """The whole card. Raises ``unknown_tool`` with the nearest names."""
        ...

    def invoke(
        self, name: str, arguments: Mapping[str, Any], feedback: Feedback | None = None, cancelled: Callable[[], bool] | None = None, caller: str = ""
    ) -> ToolResult:
        """Call a tool and wait for its result; a continuous one is started and runs on, see the tools list_watches, read_events, stop_watch.

        ``details["events"]`` of any result holds what the caller's watches published since its last call.
        """
        ...

    def resource(self, uri: str) -> Resource:
        """The content behind a reference ``{"uri", "media_type", "bytes", "text"}`` of a result. Raises ``unknown_resource``."""
        ...

    def subscribe(self, watch_id: str, listener: Listener, since: int = 0) -> Callable[[], None]:
        """Hear the events of a watch whose number is above ``since`` in their order, until it ends (the last event says so) or the result is called.

        The listener is called in a thread of the client and must not wait for it. Raises ``unknown_watch``.
        """
        ...
