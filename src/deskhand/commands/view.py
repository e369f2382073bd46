"""``deskhand view``: the operator page of nodes that run, or a recorded episode in it."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Annotated

import typer

from deskhand.errors import DeskhandError


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("view")(view)


def view(
    episode: Annotated[Path | None, typer.Argument(help="Folder of a recorded episode to replay. Default: the nodes that run.")] = None,
    port: Annotated[int, typer.Option(help="Port; the next free one where it is taken.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on. The page has no password: whoever reaches it moves the arm.")] = "127.0.0.1",
    arm: Annotated[str, typer.Option(help="Arm, a name in config/arms or a YAML file. Default: as the episode or the robot's nodes say.")] = "",
    namespace: Annotated[str, typer.Option(help="ROS namespace of the nodes.")] = "",
) -> None:
    """Watch the robot in the browser, give it instructions, approve, pause and stop; or look at an episode again. Ctrl-C ends it."""
    from deskhand.view.page import free_port, load_viser

    load_viser()
    free = free_port(host, port)
    if episode is None:
        _join(free, host, arm, namespace)
    else:
        _replay(episode, free, host, arm)


def _join(port: int, host: str, arm: str, namespace: str) -> None:
    """Become the node ``view`` of a robot that runs."""
    from deskhand.bringup.environment import apply_workstation_defaults
    from deskhand.bringup.spec import NodeSpec

    apply_workstation_defaults()
    if not arm:
        from deskhand.nodes.connected import arm_of_robot

        arm = arm_of_robot(namespace)
    node = NodeSpec("view", "view_node", namespace=namespace, parameters={"arm": arm, "host": host, "port": port})
    typer.echo(f"operator page: http://{host}:{port}; Ctrl-C ends it")
    command = node.command()
    os.execv(command[0], command)


def _replay(folder: Path, port: int, host: str, arm: str) -> None:
    from deskhand.arms.config import load_arm
    from deskhand.arms.model import RobotModel
    from deskhand.recording.episode.reader import read_episode
    from deskhand.view.page import Page
    from deskhand.view.replay import Replay

    episode = read_episode(folder)
    chosen = load_arm(arm or str(episode.result.get("arm") or "wx250s"))
    replay = Replay(episode, chosen)
    if replay.span[0] >= replay.span[1]:
        raise DeskhandError("invalid_input", f"nothing was recorded in {folder}.")
    with Page(replay, RobotModel.load(chosen), host=host, port=port) as page:
        typer.echo(f"{folder}: {replay.span[1] - replay.span[0]:.1f} s, {page.url}; Ctrl-C ends it")
        threading.Event().wait()
