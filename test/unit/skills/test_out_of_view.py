"""After letting go the arm goes no further than to where a camera that stands still sees the desk past it: the pictures themselves are compared."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.sim.camera import RgbdRenderer
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import WorldSpec
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.robot.local import Devices, make_local_robot
from deskhand.types import MotionGoal

OVER = ((0.8, 0.2, 0.3, 0.0, 1.0, 0.0), (-0.6, 0.1, 0.2, 0.0, 1.1, 0.0))
SEEN = 0.01  # [m] by which depth may differ where the same is seen


@pytest.fixture(scope="module")
def desk():
    simulation = Simulation(WorldSpec(()))
    try:
        with RgbdRenderer(simulation) as renderer:
            robot = make_local_robot(load_arm("wx250s"), Devices(SimArm(simulation), SimGripper(simulation), SimCamera(simulation), SimClock(simulation)))
            yield SkillContext(robot, Belief()), renderer
    except DeskhandError as error:
        pytest.skip(str(error))


def desk_pixels(frame, arm):
    """The pixels (H, W) whose points are on the desk within reach."""
    v, u = np.nonzero(frame.depth > 0)
    k, depth = frame.intrinsics, frame.depth[v, u]
    local = np.column_stack([(u - k.cx) / k.fx * depth, (v - k.cy) / k.fy * depth, depth])
    world = local @ frame.world_T_camera[:3, :3].T + frame.world_T_camera[:3, 3]
    away = np.linalg.norm(world[:, :2] - arm.world_T_base[:2, 3], axis=1)
    chosen = np.zeros(frame.depth.shape, bool)
    on = (np.abs(world[:, 2]) < SEEN) & (away > arm.work_radius[0]) & (away < arm.work_radius[1]) & (world[:, 0] > arm.world_T_base[0, 3])
    chosen[v[on], u[on]] = True
    return chosen


@pytest.mark.parametrize("over", OVER)
def test_the_desk_is_seen_past_the_arm_from_where_it_stops_on_its_way_home(desk, over):
    ctx, renderer = desk
    arm = ctx.robot.arm
    ctx.go_home()
    from_home = renderer.render()
    there = desk_pixels(from_home, arm)
    ctx.execute(ctx.plan(MotionGoal(joints=dict(zip(arm.joints, over, strict=True)))))
    hidden = np.abs(renderer.render().depth - from_home.depth)[there] > SEEN
    assert hidden.mean() > 0.03 and not ctx.out_of_view()
    ctx.leave(0.04)
    home = np.asarray(arm.named_poses["home"])
    left = np.abs(ctx.robot.joint_state().of(arm.joints) - home).max()
    assert ctx.out_of_view() and not ctx.at_home() and left < 0.8 * np.abs(np.asarray(over) - home).max()
    assert (np.abs(renderer.render().depth - from_home.depth)[there] > SEEN).mean() < 0.005
    ctx.look()
    assert not ctx.at_home()
