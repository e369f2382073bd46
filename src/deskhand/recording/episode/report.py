"""``report.html``: one self-contained page that shows what a task was, how it went, and why."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from deskhand.arms.config import load_arm
from deskhand.errors import UNVERIFIED
from deskhand.recording.episode import messages
from deskhand.recording.episode.pictures import ExecutedGrasp, draw_grasp, executed_grasps
from deskhand.recording.episode.reader import Episode, Look, read_episode
from deskhand.recording.episode.timeline import PHASES, Call, calls_from, thoughts, time_shares
from deskhand.recording.pictures import to_jpeg
from deskhand.types.resources import resource_path

FILE = "report.html"
LIMIT = 4000  # characters of a result that are shown


def write_report(folder: Path) -> Path:
    """Make ``report.html`` from what is in an episode folder; returns its path.

    Raises:
        DeskhandError: ``invalid_input`` when there is no recording.
    """
    path = Path(folder) / FILE
    path.write_text(render(read_episode(folder)))
    return path


def render(episode: Episode) -> str:
    """The page."""
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((resource_path("config/report") / "report.html.j2").read_text())
    return template.render(**page(episode))


def _outcome(result: Mapping[str, Any]) -> str:
    if "success" not in result:
        return "unknown"
    return "success" if result["success"] else "unverified" if result.get("outcome") == UNVERIFIED else "failure"


def page(episode: Episode) -> dict[str, Any]:
    """Everything that the template shows."""
    result = episode.result
    calls = calls_from(episode.events)
    looks = _looks(episode, calls)
    wall = float(result.get("wall_s") or sum(call.duration for call in calls))
    shares = result.get("phases") or time_shares(calls, wall)
    total = sum(shares.values()) or 1.0
    return {
        "result": result,
        "outcome": _outcome(result),
        "complete": episode.complete,
        "first": looks[0] if looks else None,
        "last": looks[-1] if len(looks) > 1 else None,
        "looks": looks,
        "shares": [{"name": name, "seconds": shares.get(name, 0.0), "percent": 100 * shares.get(name, 0.0) / total} for name in PHASES],
        "bars": _bars(calls),
        "plan": next((step["text"] for step in episode.steps if step["tool"] == "submit_plan" and step["text"]), ""),
        "calls": [_shown(number, call, thought) for number, (call, thought) in enumerate(zip(calls, thoughts(calls, episode.steps), strict=True), 1)],
        "failed": sum(not call.ok for call in calls),
        "safety": _safety(episode),
    }


def _looks(episode: Episode, calls: list[Call]) -> list[dict[str, Any]]:
    """Every look, with the grasps that were made before the next one."""
    camera, arm_name = episode.camera(), episode.result.get("arm")
    looks = episode.looks()
    grasps = executed_grasps(episode, calls, load_arm(arm_name)) if camera is not None and arm_name else []
    shown = []
    for index, look in enumerate(looks):
        end = looks[index + 1].stamp if index + 1 < len(looks) else float("inf")
        made = [grasp for grasp in grasps if look.stamp <= grasp.stamp < end]
        jpeg = _with_grasps(look, episode, made, str(arm_name)) if made else look.jpeg
        shown.append(
            {
                "stamp": look.stamp,
                "source": _data_url(jpeg),
                "plain": _data_url(look.jpeg),
                "objects": look.objects,
                "grasps": [{"name": _target(grasp, calls), "held": grasp.held, "width_mm": 1000 * grasp.width} for grasp in made],
            }
        )
    return shown


def _data_url(jpeg: bytes) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"


def _with_grasps(look: Look, episode: Episode, grasps: list[ExecutedGrasp], arm_name: str) -> bytes:
    camera, image = episode.camera(), look.image()
    assert camera is not None
    for grasp in grasps:
        image = draw_grasp(image, camera, grasp, load_arm(arm_name).gripper)
    return to_jpeg(image)


def _target(grasp: ExecutedGrasp, calls: list[Call]) -> str:
    call = next(call for call in calls if call.id == grasp.call_id)
    return str(call.arguments.get("object_id", call.tool))


def _bars(calls: list[Call]) -> dict[str, Any]:
    """Tool calls on a time line of wall clock, each cut into its phases."""
    if not calls:
        return {"rows": [], "ticks": [], "span": 0.0}
    start = calls[0].started
    span = max(call.started + call.duration for call in calls) - start or 1.0
    rows = []
    for call in calls:
        left, parts = call.started - start, []
        for name in PHASES:
            seconds = call.phases.get(name, 0.0)
            if seconds > 0:
                parts.append({"phase": name, "left": 100 * left / span, "width": 100 * seconds / span})
                left += seconds
        title = f"{call.tool}({_brief(call.arguments)}) {call.duration:.2f} s {call.code}"
        rows.append({"tool": call.tool, "target": _brief(call.arguments), "ok": call.ok, "seconds": call.duration, "title": title, "parts": parts})
    step = next(value for value in (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 3600) if span / value <= 12 or value == 3600)
    ticks = [{"left": 100 * second / span, "text": f"{second} s"} for second in range(0, int(span) + 1, step)]
    return {"rows": rows, "ticks": ticks, "span": span}


def _brief(arguments: dict[str, Any]) -> str:
    return ", ".join(str(value) if isinstance(value, str | int | float) else "…" for value in arguments.values())[:60]


def _shown(number: int, call: Call, thought: str) -> dict[str, Any]:
    data = json.dumps(call.data, indent=1, ensure_ascii=False)
    return {
        "number": number,
        "tool": call.tool,
        "arguments": json.dumps(call.arguments, ensure_ascii=False),
        "ok": call.ok,
        "code": call.code,
        "message": call.message,
        "seconds": call.duration,
        "sim": call.sim_ended - call.sim_started,
        "data": data if len(data) <= LIMIT else f"{data[:LIMIT]}\n… {len(data) - LIMIT} more characters in episode.mcap",
        "phase": call.phase,
        "thought": thought,
    }


def _safety(episode: Episode) -> list[dict[str, Any]]:
    """Stops, with their reasons."""
    return [{"stamp": stamp, **data} for stamp, data in episode.json(messages.SAFETY) if data.get("stopped")]
