"""Only some groups of the tools for a model: what each group brings is measured by leaving it out. The loop's own looks and checks stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from deskhand.errors import DeskhandError
from deskhand.etp.base import Feedback, ToolClient, ToolResult, ToolSummary
from deskhand.etp.card import GROUPS

if TYPE_CHECKING:
    from deskhand.etp.resources import Resource
    from deskhand.etp.watches import Listener

PRIMITIVES = ("plan_motion", "execute_plan", "move_joints", "move_home", "open_gripper", "close_gripper", "stop_motion")
"""Tools that move the arm and the fingers and nothing more: without them nothing moves, so they are offered whatever the groups."""
NONE = "none"


def groups_of(text: str) -> tuple[str, ...]:
    """Names of groups, separated by commas; all for an empty text, none for ``none``.

    Raises:
        DeskhandError: ``invalid_input`` with the valid names.
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names:
        return GROUPS
    if names == (NONE,):
        return ()
    for name in names:
        if name not in GROUPS:
            raise DeskhandError("invalid_input", f"there is no group of tools {name!r}; valid: {', '.join(GROUPS)}, or {NONE} alone.")
    return names


class OfferedTools:
    """The tools of some groups, and :data:`PRIMITIVES`. What is not offered is neither found nor described; calls are passed on, for the loop's own checks."""

    def __init__(self, tools: ToolClient, groups: tuple[str, ...]) -> None:
        self._tools = tools
        self._names = frozenset(hit.name for hit in tools.search() if hit.group in groups or hit.name in PRIMITIVES)

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        """See ToolClient."""
        hits = [hit for hit in self._tools.search(text, group, unit) if hit.name in self._names]
        return hits[:limit] if limit > 0 else hits

    def describe(self, name: str) -> dict[str, Any]:
        """See ToolClient."""
        if name not in self._names:
            raise DeskhandError("unknown_tool", f"there is no tool {name[:80]!r}.", retry=False, hint="Search for what you want to do.")
        return self._tools.describe(name)

    def invoke(
        self, name: str, arguments: Mapping[str, Any], feedback: Feedback | None = None, cancelled: Callable[[], bool] | None = None, caller: str = ""
    ) -> ToolResult:
        """See ToolClient."""
        return self._tools.invoke(name, arguments, feedback, cancelled, caller)

    def resource(self, uri: str) -> Resource:
        """See ToolClient."""
        return self._tools.resource(uri)

    def subscribe(self, watch_id: str, listener: Listener, since: int = 0) -> Callable[[], None]:
        """See ToolClient."""
        return self._tools.subscribe(watch_id, listener, since)
