"""The page's text as HTML. What comes from a model, a tool or the scene is data: every word of it is escaped."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from deskhand.errors import UNVERIFIED
from deskhand.view.moment import DONE, FAILED, RUNS, WAITS, Moment, Row, Waiting, is_stopped

SHOWN_ROWS = 60
LONGEST_WHY = 400
LONGEST_ARGUMENTS = 90
MARKS: Mapping[str, tuple[str, str, str]] = {
    WAITS: ("?", "#e8890c", "waits for you"),
    RUNS: ("▸", "#1c7ed6", "runs"),
    DONE: ("✓", "#2b8a3e", "done"),
    FAILED: ("✗", "#c92a2a", "failed"),
}
FONT = "font-family:Inter,system-ui,sans-serif;font-size:13px;line-height:1.4;overflow-wrap:anywhere"


def status(moment: Moment) -> str:
    """The line that says what the robot does."""
    color, text = _status(moment)
    return f'<div style="{FONT};background:{color};color:#fff;border-radius:6px;padding:6px 10px;margin:2px 12px 4px;font-weight:600">{escape(text)}</div>'


def _status(moment: Moment) -> tuple[str, str]:
    if is_stopped(moment) and moment.safety is not None:
        return "#c92a2a", f"STOPPED: {moment.safety.reason or moment.safety.code}"
    if moment.silent:
        return "#c92a2a", "unknown: the safety node is not heard"
    if moment.waiting:
        return "#e8890c", f"waits for your leave: {moment.waiting[0].tool}{' (paused)' if moment.paused else ''}"
    if moment.question is not None:
        return "#e8890c", "asks you something"
    if moment.paused:
        return "#7048b6", "paused: no new motion begins"
    if moment.task.running:
        return "#1c7ed6", "works"
    return "#5c636b", "idle"


def task(moment: Moment) -> str:
    """The instruction, and how it went."""
    said, it = moment.task, ""
    if not said.instruction and not said.running and said.success is None:
        return ""
    if said.instruction:
        it += f'<div style="margin-bottom:4px"><b>“{escape(said.instruction)}”</b></div>'
    if not said.running and said.success is not None:
        color, word = ("#2b8a3e", "done") if said.success else ("#b26a00" if said.code == UNVERIFIED else "#c92a2a", said.code or "not done")
        it += f'<div style="color:{color}"><b>{escape(word)}</b> {escape(said.summary)}</div>'
    return f'<div style="{FONT};padding:0 14px 4px">{it}</div>'


def request(waiting: Waiting) -> str:
    """A call that waits for the operator's leave."""
    who = f'<div style="color:#868e96">asked by {escape(waiting.caller)}</div>' if waiting.caller else ""
    moves = "It moves the arm." if waiting.effects == "motion" else f"Effects: {waiting.effects}." if waiting.effects else ""
    call = f"<b>{escape(waiting.tool)}</b>({escape(brief(waiting.arguments, 300))})"
    return f'<div style="{FONT};padding:2px 14px">{call}<div>{escape(moves)}</div>{who}</div>'


def question(moment: Moment) -> str:
    """What the task wants to know."""
    if moment.question is None:
        return ""
    options = "".join(f"<li>{escape(option)}</li>" for option in moment.question.options)
    return f'<div style="{FONT};padding:2px 14px"><b>{escape(moment.question.text)}</b>{f"<ul>{options}</ul>" if options else ""}</div>'


def steps(rows: Iterable[Row], newest_first: bool = True) -> str:
    """The step list."""
    shown = list(rows)
    left_out = len(shown) - SHOWN_ROWS
    numbered = list(enumerate(shown, 1))[-SHOWN_ROWS:]
    items = [_row(number, row) for number, row in (reversed(numbered) if newest_first else numbered)]
    if left_out > 0:
        items.append(f'<div style="color:#868e96;padding:4px 0">and {left_out} earlier ones</div>')
    if not items:
        items.append('<div style="color:#868e96">Nothing has been done yet.</div>')
    return f'<div style="{FONT};padding:0 14px 8px">{"".join(items)}</div>'


def _row(number: int, row: Row) -> str:
    mark, color, word = MARKS[row.state]
    seconds = f"{row.seconds:.1f} s" if row.seconds is not None else ""
    when = time.strftime("%H:%M:%S", time.localtime(row.started)) if row.started else ""
    head = (
        f'<div style="display:flex;gap:6px"><span title="{word}" style="color:{color};font-weight:700;min-width:12px">{mark}</span>'
        f'<span style="flex:1"><span style="color:#868e96">{number}</span> <b>{escape(row.tool)}</b> '
        f'<span style="color:#495057">{escape(brief(row.arguments))}</span></span>'
        f'<span title="{when}" style="color:#868e96;white-space:nowrap">{seconds}</span></div>'
    )
    lines = []
    if row.why:
        lines.append(f'<div style="color:#495057;font-style:italic">{escape(_cut(row.why, LONGEST_WHY))}</div>')
    if row.progress and row.state in (RUNS, WAITS):
        lines.append(f'<div style="color:#1c7ed6">{escape(_cut(row.progress, 120))}</div>')
    if row.state == FAILED:
        lines.append(f'<div style="color:#c92a2a">{escape(row.code)}: {escape(_cut(row.message, LONGEST_WHY))}</div>')
    body = f'<div style="padding-left:18px">{"".join(lines)}</div>' if lines else ""
    return f'<div class="step" style="border-bottom:1px solid #e9ecef;padding:4px 0">{head}{body}</div>'


def brief(arguments: Mapping[str, Any], longest: int = LONGEST_ARGUMENTS) -> str:
    """Arguments in short: names where there are several, plain values where there is one."""
    values = [_value(value) for value in arguments.values()]
    text = values[0] if len(values) == 1 else ", ".join(f"{name} {value}" for name, value in zip(arguments, values, strict=True))
    return _cut(text, longest)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.4g}"
    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str, longest: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
