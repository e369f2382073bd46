"""``deskhand approve``: the operator's leave for tool calls of others, at a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from deskhand.errors import DeskhandError

ANSWERS = "y: this call. a: this call and all others of this caller's session. n: no. q: leave (what waits goes on waiting)"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("approve")(approve)


def approve(
    revoke: Annotated[str | None, typer.Option(help="Take back what was granted to this caller (as `approve` shows it), or to `all`, and end.")] = None,
    namespace: Annotated[str, typer.Option(help="ROS namespace of the robot's tool server.")] = "",
) -> None:
    """Ask you for every tool call that waits for the operator's leave, until Ctrl-C: those of MCP clients and other nodes that may move the arm.

    The operator page asks the same; whoever answers first decides.
    """
    if revoke is None and not sys.stdin.isatty():
        raise DeskhandError("invalid_input", "there is no terminal to ask at.", hint="Approve on the operator page, or call tools/approve or tools/deny.")
    from deskhand.bringup.environment import apply_workstation_defaults

    apply_workstation_defaults()
    try:
        from deskhand.nodes.approvals import ApprovalClient
        from deskhand.nodes.ros_tools import connect
    except ImportError as error:
        raise DeskhandError("missing_dependency", f"ROS 2 is not on this path ({error}).", hint="Run `make setup`, or source your ROS 2.") from error
    with connect("approve", namespace=namespace) as client:
        approvals = ApprovalClient(client.node)
        if revoke is not None:
            taken = approvals.revoke("" if revoke == "all" else revoke)
            typer.echo(f"taken back from: {', '.join(taken) or 'nobody; no such caller has a grant'}")
            return
        client.search(limit=1)  # nobody there is said at once
        typer.echo(f"waiting for calls that need your leave; Ctrl-C ends this\n{ANSWERS}")
        while True:
            request = approvals.next(0.5)
            if request is None:
                continue
            answer = typer.prompt(shown(request), default="n", show_default=False).strip().lower()[:1]
            if answer == "q":
                return
            typer.echo(approvals.decide(request["id"], answer in ("y", "a"), grant=answer == "a"))


def shown(request: Mapping[str, Any]) -> str:
    """A request as one question."""
    arguments = json.dumps(request["arguments"], ensure_ascii=False)
    return f"{request['caller'] or 'somebody without a name'} wants {request['tool']} {arguments[:400]}  [y/a/n/q]"
