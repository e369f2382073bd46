"""What tools that watch have in common: pictures from the session's feed, thinned, with the robot left out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.etp.tool import ToolContext
from deskhand.geometry import Array
from deskhand.perception.monitor.sample import IsRobot, Mask, PictureThinner, ThinnedPicture
from deskhand.perception.monitor.settings import SAMPLE
from deskhand.perception.self_filter import joint_map, robot_points
from deskhand.skills.robot import SensorFeed, SensorReading
from deskhand.tools.looking import last_look
from deskhand.tools.viewing import SETTINGS, desk_view, owners
from deskhand.types import Frame, JointState


@dataclass(frozen=True)
class WatchedPicture:
    """A picture that is watched. ``begins``: the camera has come to where it is, so that nothing can be said of what was before; ``tcp`` is world_T_tcp."""

    sample: ThinnedPicture
    sampler: PictureThinner
    frame: Frame
    tcp: Array
    begins: bool

    @property
    def eye(self) -> Array:
        """Position (3,) of the camera in the levelled world [m]."""
        return self.sampler.fit.levelled(self.frame).world_T_camera[:3, 3]


def feed_of(ctx: ToolContext) -> SensorFeed:
    """The feed of the session; outside of one a new one."""
    return ctx.feed if ctx.feed is not None else SensorFeed(ctx.robot)


def pictures(ctx: ToolContext) -> Iterator[SensorReading]:
    """Readings with pictures until the tool is cancelled. Raises what the robot raises."""
    return feed_of(ctx).pictures(ctx.cancelled)


def watched(ctx: ToolContext) -> Iterator[WatchedPicture]:
    """Pictures as they come, levelled to the table, until the tool is cancelled.

    Raises:
        DeskhandError: ``no_table`` where the camera does not see the table, and what the robot raises.
    """
    model = RobotModel.load(ctx.robot.arm)
    sampler: PictureThinner | None = None
    for reading in pictures(ctx):
        frame = reading.frame
        assert frame is not None
        begins = sampler is None or not sampler.same_view(frame)
        if sampler is None or begins:
            sampler = PictureThinner(frame)
        links = model.forward(joint_map(reading.joints))
        yield WatchedPicture(sampler.take(frame, _is_robot(model, links)), sampler, frame, links[ctx.robot.arm.tcp], begins)


def shown_objects(ctx: ToolContext, picture: WatchedPicture) -> dict[str, Mask]:
    """Pixels of every object of the last look in a thinned picture."""
    scene = last_look(ctx)
    stride = slice(SAMPLE.stride // 2, None, SAMPLE.stride)
    own = owners(desk_view(ctx, picture.frame), scene)[stride, stride]
    return {item.id: np.asarray(own == number) for number, item in enumerate(scene.objects)}


def target_pixels(ctx: ToolContext, picture: WatchedPicture, object_id: str) -> Mask:
    """The pixels of an object in a thinned picture. Raises ``object_lost``."""
    own = shown_objects(ctx, picture)[object_id] & np.isfinite(picture.sample.depth)
    if own.sum() < 8:
        raise DeskhandError("object_lost", f"{object_id} is not where the last look saw it.", hint="Call detect_objects, then start again.")
    return np.asarray(own)


def _is_robot(model: RobotModel, links: dict[str, Array]) -> IsRobot:
    return lambda points: robot_points(points, model, links, SETTINGS.self_padding)


def finger_width(ctx: ToolContext, joints: JointState) -> float:
    """Distance of the pads [m]."""
    gripper = ctx.robot.arm.gripper
    return float(gripper.width_of(float(joints.of([gripper.joint])[0])))
