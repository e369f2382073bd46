"""``deskhand record``: a robot's senses and words into one MCAP file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from deskhand.commands.which_arm import RunningArm


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("record")(record)


def record(
    out: Annotated[Path | None, typer.Option(help="File to write. Default: a new one in ./recordings.")] = None,
    arm: RunningArm = "",
    topic: Annotated[list[str] | None, typer.Option(help="Topic to record, of any type; may be given again. Default: camera, joints, words.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="Pictures as they are, ten times the size, instead of JPEG and PNG.")] = False,
    picture_rate: Annotated[float, typer.Option(min=0, help="Pictures of each topic a second, at most; 0: all.")] = 0.0,
    namespace: Annotated[str, typer.Option(help="ROS namespace of the robot's nodes.")] = "",
) -> None:
    """Record a running robot until Ctrl-C. The file opens in Foxglove and is read by `ros2 bag play` and `deskhand replay`."""
    from deskhand.bringup.environment import workstation_defaults
    from deskhand.bringup.spec import NodeSpec, Value

    os.environ.update(workstation_defaults(os.environ))
    if not arm:  # written down for the replay
        from deskhand.nodes.connected import arm_of_robot

        arm = arm_of_robot(namespace)
    parameters: dict[str, Value] = {"arm": arm, "raw": raw, "picture_rate": float(picture_rate)}
    if out is not None:
        parameters["file"] = str(out.resolve())
    if topic:
        parameters["topics"] = list(topic)
    spec = NodeSpec(name="session_recorder", executable="session_recorder_node", namespace=namespace, parameters=parameters)
    sys.stdout.flush()
    os.execv(sys.executable, spec.command())
