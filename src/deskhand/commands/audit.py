"""``deskhand audit``: is a record of what the robot did whole and unchanged?"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from deskhand.errors import DeskhandError

group = typer.Typer(name="audit", help="The record of instructions, tool calls, approvals and stops.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(group)


NOT_VOUCHED = 3
"""Exit code: nothing is wrong, and whether the end is there cannot be told."""


@group.callback()
def _group() -> None:
    """One command a verb."""


@group.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(help="audit.jsonl of an episode, or one of ~/.ros/deskhand/audit.")],
    json_file: Annotated[
        Path | None, typer.Option("--json", help='Write {"file", "lines", "head", "torn_bytes", "problem", "events": {name: count}, "good", "vouched"}.')
    ] = None,
) -> None:
    """Check every line's place in the chain, and by the signed head that none is missing at the end.

    Exit code 0 only when nothing was changed or taken away; 3 when nobody vouches for the end: the file has no head (deleted, or the process was killed
    before it signed one), or this robot's key is not here. Half a last line is what a crash leaves; it is told, and no fault.
    """
    from deskhand.safety.audit import SIGNED, UNKNOWN, check

    try:
        found = check(file)
        lines = file.read_bytes().splitlines()[: found.lines]
    except OSError as error:
        raise DeskhandError("invalid_input", f"{file} cannot be read: {error.strerror}.") from error
    events = Counter(str(json.loads(line)["event"]) for line in lines)
    if json_file is not None:
        json_file.parent.mkdir(parents=True, exist_ok=True)
        data = {"file": str(file), "lines": found.lines, "head": found.head, "torn_bytes": len(found.torn), "problem": found.problem}
        json_file.write_text(json.dumps({**data, "events": dict(events), "good": not found.problem, "vouched": found.head == SIGNED}, indent=1))
    typer.echo(f"{found.lines} lines in order: {', '.join(f'{count} {name}' for name, count in sorted(events.items())) or 'no events'}")
    if found.torn:
        typer.echo(f"after them half a line of {len(found.torn)} bytes, as a crash leaves it")
    ends = {SIGNED: "none is missing at the end (signed head)", UNKNOWN: "whether lines are missing at the end cannot be told without this robot's key"}
    if found.problem:
        raise DeskhandError("config_error", f"{file}: {found.problem}", hint="Keep the file as it is.")
    typer.echo(ends.get(found.head, "whether lines are missing at the end cannot be told: the file has no head"))
    if found.head != SIGNED:
        raise typer.Exit(NOT_VOUCHED)
