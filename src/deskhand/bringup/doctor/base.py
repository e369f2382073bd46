"""What a check comes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """Outcome of one check; ``advice`` says what to do when it failed."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
