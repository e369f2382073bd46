"""What a balance has shown in a run: where the words ask for something that only a balance tells, nothing is done without a reading."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from deskhand.etp.base import ToolResult
from deskhand.language.intents import Instruction, Weigh

READ = "read_balance"


class WeighedEvidence:
    """Of one instruction."""

    def __init__(self, instruction: Instruction) -> None:
        self._wishes = [item for item in instruction.intents if isinstance(item, Weigh)]
        self._readings = 0

    @property
    def level(self) -> bool:
        """Whether the pans shall be level at the end: that is proved by a reading, and by nothing else."""
        return any(item.kind == "level" for item in self._wishes)

    def heard(self, tool: str, ok: bool) -> None:
        """A tool was called."""
        self._readings += ok and tool == READ

    def lacks(self, call: Callable[[str, Mapping[str, Any]], ToolResult]) -> tuple[str, str] | None:
        """(code, why) where the balance does not say so; ``call`` reads it once more where it has to be level now."""
        if not self._wishes:
            return None
        if self.level:
            result = call(READ, {})
            if not result.ok or not isinstance(result.data, Mapping):
                return result.code, f"whether the pans are level could not be seen: {result.message}"
            lower = str(result.data["lower"])
            return None if lower == "level" else ("task_incomplete", f"the {lower} pan is {result.data['difference_mm']} mm lower.")
        return None if self._readings else ("precondition_failed", "nobody has read the balance.")
