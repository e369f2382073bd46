"""``deskhand record-demonstration``: a person shows how something is done, and the running robot's own camera takes a picture after each act."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol

import numpy as np
import typer

from deskhand.errors import DeskhandError
from deskhand.types import CameraIntrinsics, Frame, JointState

RESTS = 2  # pictures of each rest: between them nothing moves
APART = 0.2  # [s] between them


class ToolClient(Protocol):
    """What calls tools of a running robot (nodes/ros_tools.py)."""

    def invoke(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """A tool's result."""
        ...

    def resource(self, uri: str) -> Any:
        """The content of what a result refers to."""
        ...


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("record-demonstration")(record_demonstration)


def record_demonstration(
    out: Annotated[Path, typer.Argument(help="File to write, .zip; must not exist. Put it into a folder that the robot was started with (--files).")],
    namespace: Annotated[str, typer.Option(help="ROS namespace of the robot's nodes.")] = "",
) -> None:
    """Show a running robot how something is done: it takes pictures before the first act and after each, when your hands are out of the picture."""
    from deskhand.perception.demonstration.video import SUFFIX, write_video

    if out.exists() or out.suffix.lower() != SUFFIX:
        raise DeskhandError("invalid_input", f"{out} exists, or does not end with {SUFFIX}.", hint="Name a new file, such as pyramid.zip.")
    try:
        from deskhand.nodes.ros_tools import connect
    except ImportError as error:
        raise DeskhandError("missing_dependency", f"ROS 2 is not on this path ({error}).", hint="Run `make setup`, or source your ROS 2.") from error
    with connect(namespace=namespace) as client:
        joints = joints_of(client)
        count = write_video(out, taken(client, _next), joints)
    typer.echo(f'{count} pictures in {out}. Then: deskhand do "do what {out.name} shows"')


def _next(number: int) -> bool:
    """Whether the person has shown one more act."""
    what = f"Do act {number} (q: that was all)" if number else "Lay out the scene"
    text = f"{what}, take your hands away and press Enter"
    return str(typer.prompt(text, default="", show_default=False)).strip().lower() not in ("q", "quit")


def taken(client: ToolClient, more: Callable[[int], bool]) -> Iterator[Frame]:
    """Pictures of each rest, for as long as there are ``more`` (asked with the number of acts until then).

    Raises:
        DeskhandError: what the tool failed with.
    """
    number = 0
    while more(number):
        data = _called(client, "capture_rgbd", {"count": RESTS, "interval": APART})
        camera, pose = CameraIntrinsics(**data["camera"]), np.asarray(data["world_T_camera"], dtype=float)
        for shot in data["shots"]:
            color, depth = (client.resource(shot[name]["uri"]).array() for name in ("color", "depth"))
            yield Frame(np.ascontiguousarray(color), depth.astype(np.float32), camera, pose, float(shot["stamp"]))
        number += 1


def joints_of(client: ToolClient) -> JointState:
    """Where the arm is, which must stand still meanwhile."""
    joints = {str(name): float(value) for name, value in _called(client, "get_robot_state", {})["joints"].items()}
    zeros = np.zeros(len(joints))
    return JointState(tuple(joints), np.array(list(joints.values())), zeros, zeros, 0.0)


def _called(client: ToolClient, name: str, arguments: dict[str, Any]) -> Any:
    result = client.invoke(name, arguments)
    if not result.ok:
        raise DeskhandError(result.code or "tool_failed", result.message, hint=result.hint)
    return result.data
