"""Tool results as JSON text, the same over every transport."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from deskhand.errors import ERROR_NUMBERS, DeskhandError
from deskhand.etp.base import ToolResult
from deskhand.etp.validation import sendable

_OWN = 504  # tool_failed: what a tool's own code is told as, where only codes of the server fit


def result_to_text(result: ToolResult) -> str:
    """``{"ok", "code", "message", "data", "retry", "hint", "duration", "details"}``."""
    body = {"ok": result.ok, **asdict(result)}
    text = json.dumps(body, ensure_ascii=False, allow_nan=False)
    return text if sendable(text) else json.dumps(body, allow_nan=False)


def result_from_text(text: str) -> ToolResult:
    """The result that :func:`result_to_text` wrote.

    Raises:
        DeskhandError: ``invalid_output`` when it is something else.
    """
    try:
        data: dict[str, Any] = json.loads(text)
        return ToolResult(**{key: data[key] for key in ("code", "message", "data", "retry", "hint", "duration", "details")})
    except (ValueError, KeyError, TypeError) as error:
        raise DeskhandError("invalid_output", f"the tool server sent a result that cannot be read: {error!r}.") from error


def error_number(result: ToolResult) -> int:
    """The number of a result in the interface: 0, 1 to 9 and 500 to 599; a tool's own code is in the text of the result."""
    number = ERROR_NUMBERS.get(result.code, _OWN) if result.code else 0
    return number if number < 10 or 500 <= number < 600 else _OWN
