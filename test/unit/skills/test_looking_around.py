"""Choosing views: what a camera on the arm is brought to see, and the arm that makes way for one that stands still."""

from dataclasses import replace

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.cameras.config import CameraMount, load_camera
from deskhand.errors import DeskhandError
from deskhand.geometry import look_at, make_transform
from deskhand.perception.track.coverage import Coverage
from deskhand.sim.camera import RgbdRenderer, mounted
from deskhand.sim.devices import SimArm, SimCamera, SimClock, SimGripper
from deskhand.sim.simulation import Simulation
from deskhand.sim.spec import ObjectSpec, WorldSpec, pose_at
from deskhand.skills.base import SkillContext
from deskhand.skills.belief import Belief
from deskhand.skills.move import look
from deskhand.skills.robot.local import Devices, make_local_robot
from deskhand.skills.view_planning import DOUBTS, clear_pose, doubtful, hidden_by_arm, reachable_views
from deskhand.types import Scene, SceneObject, Table

WALL = ObjectSpec("wall", "box", (0.03, 0.14, 0.09), (0.5, 0.3, 0.1), 0.1, pose_at(0.06, 0.0, 0.045))
BEHIND = ObjectSpec("behind", "block", (0.03,) * 3, (0.8, 0.1, 0.1), 0.03, pose_at(0.015, 0.0, 0.015))
FIXED = (0.58, 0.0, 0.30)  # low: the wall hides the block


@pytest.fixture(scope="module")
def arm():
    return load_arm("wx250s")


def robot_with(world):
    simulation = Simulation(world)
    camera = world.camera
    mount = CameraMount(camera.link, camera.frame_id, camera.world_T_camera) if camera.link else None
    return simulation, make_local_robot(
        load_arm(world.arm), Devices(SimArm(simulation), SimGripper(simulation), SimCamera(simulation), SimClock(simulation), mount)
    )


def test_a_camera_on_the_arm_finds_what_stands_behind_and_measures_it(arm):
    simulation, robot = robot_with(replace(WorldSpec((WALL, BEHIND)), camera=mounted("wrist")))
    belief = Belief()
    try:
        result = look(SkillContext(robot, belief))
    except DeskhandError as error:
        pytest.skip(str(error))
    finally:
        robot.close()
    if result.code == "missing_dependency":
        pytest.skip(result.message)
    assert result.ok, result.message
    assert result.data["camera"] == "arm" and 2 <= result.data["views"] <= 3 + DOUBTS
    assert result.data["unseen"] < 0.5
    for name, color in (("wall", "brown"), ("behind", "red")):
        item = simulation.truth().get(name)
        near = [seen for seen in belief.scene.objects if np.linalg.norm(seen.position - item.pose[:3, 3]) < 0.012]
        assert [seen.color for seen in near] == [color], name
    assert len({item.id for item in belief.scene.objects}) == len(belief.scene.objects)


def test_what_is_hidden_in_part_is_looked_at_once_more_rather_than_guessed():
    simulation, robot = robot_with(replace(WorldSpec((WALL, BEHIND)), camera=mounted("wrist")))
    belief = Belief()
    try:
        result = look(SkillContext(robot, belief), views=1)
    except DeskhandError as error:
        pytest.skip(str(error))
    finally:
        robot.close()
    if result.code == "missing_dependency":
        pytest.skip(result.message)
    assert result.ok and 2 <= result.data["views"] <= 1 + DOUBTS
    seen = min(belief.scene.objects, key=lambda item: np.linalg.norm(item.position - simulation.truth().get("wall").pose[:3, 3]))
    assert np.abs(np.sort(seen.size) - np.sort(WALL.size)).max() < 0.005


def test_the_object_of_which_most_is_hidden_is_doubted_first_and_none_twice():
    scene = desk(item_at("a", (0.0, 0.0, 0.02)), item_at("b", (0.1, 0.0, 0.02), guessed=(0,)), item_at("c", (0.2, 0.0, 0.02), guessed=(0, 1)))
    assert doubtful(scene).id == "c"
    assert doubtful(scene, [scene.get("c").position]).id == "b"
    assert doubtful(scene, [item.position for item in scene.objects]) is None
    assert doubtful(desk(item_at("a", (0.0, 0.0, 0.02)))) is None


def test_what_is_hardly_one_object_is_doubted_before_what_is_hidden():
    scene = desk(item_at("a", (0.0, 0.0, 0.02), guessed=(0, 1)), item_at("b", (0.1, 0.0, 0.02)), replace(item_at("c", (0.2, 0.0, 0.02)), confidence=0.4))
    assert doubtful(scene).id == "c"
    assert doubtful(scene, [scene.get("c").position]).id == "a"


def item_at(name, place, guessed=()):
    return SceneObject(name, "box", "red", "box", np.full(3, 0.04), make_transform(None, place), np.zeros((0, 3), np.float32), 0.9, guessed=guessed)


def desk(*objects):
    return Scene(objects, Table(np.eye(4), (1.0, 1.0)), 0.0)


def test_views_of_a_wrist_camera_are_poses_of_the_arm_that_look_at_the_desk(arm):
    model, mount = RobotModel.load(arm), load_camera("wrist")
    views = reachable_views(model, mount.parent, mount.pose)
    assert len(views) > 60
    for view in views[::20]:
        links = model.forward(dict(zip(arm.joints, map(float, view.joints), strict=True)))
        assert np.allclose(links["tcp"] @ mount.pose, view.world_T_camera, atol=1e-9)
        assert view.world_T_camera[2, 3] > 0.1 and view.world_T_camera[2, 2] < 0


def test_the_next_view_is_worth_what_the_ones_before_did_not_show(arm):
    try:
        with RgbdRenderer(Simulation(WorldSpec((WALL, BEHIND)))) as renderer:
            low, high = look_at(FIXED, (0.0, 0.0, 0.0)), look_at((-0.05, 0.0, 0.6), (0.0, 0.0, 0.0))
            renderer.camera = replace(renderer.camera, world_T_camera=low)
            frame = renderer.render()
    except DeskhandError as error:
        pytest.skip(str(error))
    points = frame.points().reshape(-1, 3)
    standing = points[(points[:, 2] > 0.01) & (np.abs(points[:, 0]) < 0.2) & (np.abs(points[:, 1]) < 0.2)]
    coverage = Coverage(arm)
    coverage.around(BEHIND.pose[:2, 3], 0.05)
    whole = coverage.unknown
    assert whole == 1.0 and coverage.gain(low, frame.intrinsics) > 0.9  # nothing known stands in the way yet
    coverage.look(frame, standing)
    left = coverage.unknown
    assert 0.2 < left < 0.9
    assert coverage.gain(low, frame.intrinsics) < 0.1 * left < 0.5 * left < coverage.gain(high, frame.intrinsics)


def test_the_arm_makes_way_for_a_camera_that_stands_still(arm):
    simulation = Simulation(WorldSpec(()))
    try:
        with RgbdRenderer(simulation) as renderer:
            frame = renderer.render()
    except DeskhandError as error:
        pytest.skip(str(error))
    model, state = RobotModel.load(arm), simulation.joint_state()
    name, _, hidden = clear_pose(arm, frame, state)
    assert name == "home" and hidden < 0.02
    before_the_desk = dict(zip(arm.joints, (0.0, 0.3, -0.2, 0.0, 0.8, 0.0), strict=True))
    assert hidden_by_arm(model, before_the_desk, frame) > 0.05
    above_the_base = replace(frame, world_T_camera=look_at((-0.55, 0.0, 0.75), (0.0, 0.0, 0.0)))  # home now stands between camera and desk
    name, joints, hidden = clear_pose(arm, above_the_base, state)
    home = dict(zip(arm.joints, map(float, arm.named_poses["home"]), strict=True))
    assert hidden < hidden_by_arm(model, home, above_the_base)
    assert hidden == pytest.approx(hidden_by_arm(model, {**home, **joints}, above_the_base), abs=0.02)
