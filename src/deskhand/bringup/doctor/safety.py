"""``deskhand doctor`` on the safety settings that are in force: what they say, and in which file."""

from __future__ import annotations

from pathlib import Path

from deskhand.agent.rules import SafetyRules
from deskhand.bringup.doctor.base import Check
from deskhand.errors import DeskhandError
from deskhand.safety.settings import SafetySettings, load_safety
from deskhand.types.resources import resource_path


def check_safety(path: str | Path | None = None) -> Check:
    """The settings of a file, default ``config/safety.yaml``, can be read, and its rules are understood."""
    file = Path(path) if path else resource_path("config/safety.yaml")
    try:
        settings = load_safety(file)
        SafetyRules(settings.rules)
    except DeskhandError as error:
        return Check("safety", False, str(error), error.hint or f"Correct {file}; no node starts with it.")
    return Check("safety", True, f"{file}: {_told(settings)}")


def _told(settings: SafetySettings) -> str:
    workspace = ", ".join(f"{axis} {low:g} to {high:g}" for axis, low, high in zip("xyz", settings.lower, settings.upper, strict=True))
    slow, share = settings.slow.tcp_speed, 100 * settings.max_joint_speed
    speeds = f"tcp at most {settings.max_tcp_speed:g} m/s, {slow:g} near obstacles and people; joints at most {share:g} % of their limits"
    zones = ", ".join(zone.id.removeprefix("keep_out:") for zone in settings.keep_out) or "none"
    rules = "; ".join(repr(rule) for rule in settings.rules) or "none"
    approval = f"approval {settings.approval} (callers other than the operator's task: {settings.approval_others})"
    return f"{approval}; rules: {rules}; workspace {workspace} m; keep-out zones: {zones}; {speeds}"
