"""``deskhand mcp``: the robot's tools for any MCP client."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from deskhand.commands.options import Reality
from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.etp.base import ToolClient


CORE = (
    *("detect_objects", "look", "describe_scene", "get_robot_state", "check_goal", "plan_structure"),
    *("pick", "place_in", "place_on", "place_at", "place_beside", "put_aside", "open_gripper", "move_home", "stop_motion"),
)
"""What most tasks take. A list of all tools is 250 kB, which a language model reads with every reply."""


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mcp")(mcp)


def offered(tools: str) -> tuple[str, ...] | None:
    """Names, groups and units that ``--tools`` means; None for all."""
    return None if tools == "all" else tuple(dict.fromkeys(name for part in tools.split(",") for name in (CORE if part == "core" else (part.strip(),)) if name))


def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP at /mcp instead of standard input and output.")] = False,
    host: Annotated[str, typer.Option(help="Address that --http listens on; other than this machine's own needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port that --http listens on.")] = 8765,
    token_file: Annotated[Path | None, typer.Option(help="File with the token that HTTP clients must bring. Default: DESKHAND_MCP_TOKEN.")] = None,
    namespace: Annotated[str, typer.Option(help="ROS namespace of the robot's tool server.")] = "",
    tools: Annotated[
        str,
        typer.Option(help="Tools that are listed: core, all, or groups, units and names with commas. The others are found by find_tools, called by call_tool."),
    ] = "core",
    pictures: Annotated[bool, typer.Option("--pictures", help="Images come with the results that refer to them, not only as links.")] = False,
    sim: Annotated[bool, typer.Option("--sim", help="Serve a simulated robot of this process instead of one that runs over ROS.")] = False,
    task: Annotated[str, typer.Option(help="--sim: task whose scene is on the desk.")] = "desk_cleaning",
    seed: Annotated[int, typer.Option(help="--sim: seed of the scene.")] = 0,
    scene: Annotated[Path | None, typer.Option(help="--sim: scene file (YAML) instead of a task's scene.")] = None,
    reality: Reality = "",
    approval: Annotated[str, typer.Option(help="--sim: never, motion or always. A running robot has its own; its operator approves.")] = "never",
) -> None:
    """Serve the robot's tools to MCP clients (Claude Desktop, an IDE, an agent elsewhere), until the client goes or Ctrl-C.

    What moves a real robot waits for its operator's leave (docs/safety.md), unless the operator has granted this client its session.
    """
    try:
        from deskhand.etp.remote.server import ToolServer
        from deskhand.etp.remote.transports import PATH, check_token, listening, read_token, serve_http, serve_stdio
    except ImportError as error:
        raise DeskhandError("missing_dependency", f"the Model Context Protocol is not installed ({error}).", hint="pip install mcp") from error
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    console = Console(stderr=True)
    with ExitStack() as stack:
        if http:  # what is wrong is said before a robot is started
            token = read_token(token_file)
            check_token(host, token)
            door = stack.enter_context(listening(host, port))
        client = stack.enter_context(_simulated(task, seed, scene, reality, approval) if sim else _running(namespace))
        wanted = offered(tools)
        _check_offered(wanted, client)
        server = ToolServer(client, wanted, pictures, version("deskhand")).server()
        if not http:
            serve_stdio(server)
            return
        console.print(f"serving http://{host}:{port}{PATH}{' with a token' if token else ''}; Ctrl-C ends it", highlight=False)
        serve_http(server, host, token, door)


def _check_offered(wanted: tuple[str, ...] | None, client: ToolClient) -> None:
    known = {name for hit in client.search() for name in (hit.name, hit.group, hit.unit)}
    if unknown := sorted(set(wanted or ()) - known):
        raise DeskhandError("invalid_input", f"--tools: there is no tool, group or unit {', '.join(unknown)}.", hint="deskhand tools list")


@contextmanager
def _running(namespace: str) -> Iterator[ToolClient]:
    try:
        from deskhand.nodes.ros_tools import connect
    except ImportError as error:
        raise DeskhandError("missing_dependency", f"ROS 2 is not on this path ({error}).", hint="Run `make setup`, or source your ROS 2.") from error
    with connect("mcp", namespace=namespace) as client:
        client.search(limit=1)  # nobody there is said at once
        yield client


@contextmanager
def _simulated(task: str, seed: int, scene: Path | None, reality: str, approval: str) -> Iterator[ToolClient]:
    from deskhand.etp.approval import Approval
    from deskhand.trials.base import TrialOptions
    from deskhand.trials.desk_session import desk_session

    told = "what the client asks for" if scene else None
    with desk_session(TrialOptions(task=task, seed=seed, scene=scene, instruction=told, reality=reality, local=True), approval=Approval(approval)) as session:
        session.warm_up()
        yield session
