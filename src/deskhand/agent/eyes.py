"""Pictures of the desk for a model with eyes: fetched after a look, and where a result refers to one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deskhand.agent.foreign import OWN
from deskhand.errors import DeskhandError
from deskhand.etp.base import ToolClient, ToolResult
from deskhand.llm.pictures import NONE, fitted
from deskhand.world.acts import LOOKS

log = logging.getLogger(__name__)

MARK = "mark_picture"
MOST = 2
"""Pictures of one result."""


@dataclass(frozen=True)
class Seen:
    """Pictures (JPEG) that belong to a result; ``foreign``: there may be writing in them."""

    images: tuple[bytes, ...] = ()
    foreign: bool = False


class Eyes:
    """Of one run. What cannot be fetched is left out: a model with eyes can do without, and a log line says why.

    Args:
        model: or a judge; its ``images`` say whether it is shown any, and ``image_side`` how large; both may change while it runs.
        tools: where pictures come from.
    """

    def __init__(self, model: object, tools: ToolClient, caller: str) -> None:
        self._model, self._tools, self._caller = model, tools, caller
        self._marks: bool | None = None

    @property
    def kept(self) -> str:
        """Which pictures stay in the conversation."""
        return str(getattr(self._model, "images", NONE))

    @property
    def open(self) -> bool:
        """Whether the model is shown pictures."""
        return self.kept != NONE

    def after(self, name: str, result: ToolResult) -> Seen:
        """The pictures that belong to a result: the desk with every object marked after a look, else what the result refers to."""
        if not self.open or not result.ok:
            return Seen()
        if name in LOOKS:
            return self.desk()
        images = tuple(image for uri in list(_pictures(result.data))[:MOST] if (image := self._fetched(uri)))
        quiet = name == MARK and isinstance(result.data, Mapping) and not result.data.get("writing", True)
        return Seen(images, bool(images) and not quiet)

    def after_all(self, results: Sequence[tuple[str, ToolResult]]) -> Seen:
        """Of several results (tool, result), as a piece of code gets them: the pictures of the newest that has any."""
        for name, result in reversed(results):
            if (seen := self.after(name, result)).images:
                return seen
        return Seen()

    def desk(self) -> Seen:
        """The desk as it was seen last, every object framed and named by its id."""
        if self._marks is None:
            try:
                self._marks = str(self._tools.describe(MARK).get("source", OWN)) == OWN
            except DeskhandError:
                self._marks = False
                log.warning("there is no tool %s: the model is shown no pictures of looks", MARK)
        if not self._marks:
            return Seen()
        return self.after(MARK, self._tools.invoke(MARK, {}, caller=self._caller))

    def _fetched(self, uri: str) -> bytes | None:
        try:
            return fitted(self._tools.resource(uri).data, int(getattr(self._model, "image_side", 640)))
        except DeskhandError as error:
            log.warning("the picture %s is not shown: %s", uri, error)
            return None


def _pictures(data: Any) -> Iterator[str]:
    """Addresses of the pictures that a result refers to."""
    if isinstance(data, Mapping):
        if isinstance(data.get("uri"), str) and str(data.get("media_type", "")).startswith("image/"):
            yield str(data["uri"])
        else:
            for value in data.values():
                yield from _pictures(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _pictures(value)
