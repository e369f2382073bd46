"""Result files of the benchmarks that have make, run and show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deskhand.errors import DeskhandError


def result_of(file: Path, bench: str) -> dict[str, Any]:
    """What ``bench BENCH run --json`` wrote.

    Raises:
        DeskhandError: ``invalid_input`` when it cannot be read, or is a result of something else.
    """
    hint = f"Name a file that `bench {bench} run --json` wrote."
    try:
        data = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise DeskhandError("invalid_input", f"{file} cannot be read: {error}.", hint=hint) from error
    if not isinstance(data, dict) or data.get("bench") != bench:
        raise DeskhandError("invalid_input", f"{file} is no result of bench {bench}.", hint=hint)
    return data
