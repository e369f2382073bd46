"""A gripper in a container that is too small for it to open: it goes back the way it came in, and leaves the container where it stands."""

import numpy as np
import pytest
import yaml

pytest.importorskip("mujoco")
from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.worldfile import load_world
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.gripper import close_gripper, open_gripper
from deskhand.skills.robot.local import Devices, make_local_robot
from deskhand.types import MotionGoal, PlanOptions

DOWN = np.diag([1.0, -1.0, -1.0])


@pytest.mark.parametrize("size", [[0.075, 0.075, 0.06], [0.09, 0.07, 0.07], [0.09, 0.09, 0.06]], ids=["seen as solid", "seen as solid, oblong", "seen as open"])
def test_it_comes_out_and_the_container_stays(size, tmp_path):
    file = tmp_path / "scene.yaml"
    file.write_text(yaml.safe_dump({"objects": [{"name": "box", "kind": "box_open", "pose": [0.05, 0.0], "size": size, "color": "red"}]}))
    simulation = Simulation(load_world(file))
    camera = SimCamera(simulation)
    robot = make_local_robot(load_arm("wx250s"), Devices(SimArm(simulation), SimGripper(simulation), camera, SimClock(simulation)))
    try:
        ctx = SkillContext(robot, Belief())
        (box,) = ctx.look().objects
        assert close_gripper(ctx).ok
        above, inside = (make_transform(DOWN, (*box.position[:2], box.top + height)) for height in (0.08, -0.035))
        ctx.execute(ctx.plan(MotionGoal(poses=(above,))))
        ctx.execute(ctx.plan_line((inside,), PlanOptions(allow=(("gripper", box.id),))))
        before = simulation.truth().get("box").pose[:3, 3].copy()
        jammed = open_gripper(ctx)
        assert jammed.code == "gripper_failed" and "move_home" in jammed.message
        ctx.go_home()
        assert ctx.at_home() and open_gripper(ctx).ok
        assert np.linalg.norm(simulation.truth().get("box").pose[:3, 3] - before) < 0.02
    except DeskhandError as error:
        pytest.fail(f"{error.code}: {error}")
    finally:
        robot.close()
        camera.close()
