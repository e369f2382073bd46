"""``deskhand replay``: a recording again, to nodes that cannot tell it from the robot, or to perception in this process."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deskhand.errors import DeskhandError

if TYPE_CHECKING:
    from deskhand.types import Scene


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay)


def replay(
    file: Annotated[Path, typer.Argument(help="Recording: an MCAP file, or a folder with one.")],
    rate: Annotated[float, typer.Option(min=0.01, help="2 for twice as fast.")] = 1.0,
    again: Annotated[bool, typer.Option("--again", help="From the beginning when it is at its end.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also what the robot made of its senses, not only camera, joints and transforms.")] = False,
    local: Annotated[bool, typer.Option("--local", help="No ROS: run perception over the recording here and print what is on the desk.")] = False,
    every: Annotated[float, typer.Option(min=0, help="local: seconds of the recording between looks.")] = 2.0,
    arm: Annotated[str, typer.Option(help="local: arm. Default: the one that was recorded.")] = "",
    camera: Annotated[str, typer.Option(help="local: where a fixed camera was, a name in config/cameras or a YAML file. Default: as recorded.")] = "",
    memory: Annotated[Path | None, typer.Option(help="local: file of a memory that is told what is seen.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="local: write {file, looks: [{stamp, objects}]}.")] = None,
) -> None:
    """Publish a recording with its clock; start the nodes that shall live on it with use_sim_time."""
    from deskhand.recording.reader import mcap_in

    path = mcap_in(file)
    if local:
        looks = look_at_recording(path, every, arm, camera, memory)
        if json_file is not None:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(json.dumps({"file": str(path), "looks": looks}, indent=1))
        return
    from deskhand.bringup.environment import workstation_defaults
    from deskhand.bringup.spec import NodeSpec, Value

    parameters: dict[str, Value] = {"file": str(path.resolve()), "rate": float(rate), "again": again, "everything": everything}
    os.environ.update(workstation_defaults(os.environ))
    sys.stdout.flush()
    os.execv(sys.executable, NodeSpec(name="replay", executable="replay_node", parameters=parameters).command())


def look_at_recording(path: Path, every: float, arm: str, camera: str, memory: Path | None) -> list[dict[str, Any]]:
    """Run perception over the recorded frames, ``every`` [s] of them, and print each look.

    Raises:
        DeskhandError: ``invalid_input`` when there is no frame in the recording.
    """
    from contextlib import ExitStack

    from deskhand.arms.model import RobotModel
    from deskhand.cameras.config import load_camera
    from deskhand.perception.pipeline import Perception
    from deskhand.recording.feed import Feed
    from deskhand.recording.reader import Recording
    from deskhand.skills.belief import Belief
    from deskhand.world.history.recorder import Memory

    model = RobotModel.load(arm or Recording(path).metadata().get("arm", "wx250s"))
    perception, looks, now = Perception(), [], [0.0]
    with ExitStack() as stack:
        belief = Belief(stack.enter_context(Memory(memory, lambda: now[0]))) if memory is not None else None
        for seen in Feed(path, model, every, load_camera(camera).pose if camera else None):
            now[0] = seen.frame.stamp
            scene = perception.detect(seen.frame, model if seen.joints is not None else None, seen.joints)
            if belief is not None:
                belief.see(scene, seen.frame)
            looks.append(_told(scene))
    if not looks:
        raise DeskhandError("invalid_input", f"{path} holds no colour and aligned depth with camera_info.")
    return looks


def _told(scene: Scene) -> dict[str, Any]:
    from rich.console import Console

    from deskhand.recording.episode.plain import scene_to_json

    data = scene_to_json(scene)
    console = Console(highlight=False)
    console.print(f"[bold]{scene.stamp:.2f} s[/]: {len(scene.objects)} objects")
    for item in scene.objects:
        x, y, z = item.position
        console.print(f"  {item.id:<16} {item.color} {item.label}, {item.relation} {item.support}, at ({x:.3f}, {y:.3f}, {z:.3f}) m", markup=False)
    return data
