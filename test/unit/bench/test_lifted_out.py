"""What is held and taken to be deep in something is lifted out of it before the arm goes elsewhere."""

import pytest

from deskhand.bench.grasp.picks import bench
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform
from deskhand.sim.worldfile import world_from_dict
from deskhand.skills.pick import pick
from deskhand.types import CollisionObject, SceneUpdate, Shape

BLOCK = {"kind": "block", "name": "block", "color": "blue", "size": [0.032, 0.032, 0.032], "pose": [0.03, 0.05]}


def wall_around_the_hand(desk, reach):
    """An obstacle that what is held is in, ``reach`` [m] to each side of where it is, and 2 cm deep."""
    pose = desk.robot.tcp_pose() @ desk.belief.held.tcp_T_object
    size = (2 * reach, 2 * reach, float(pose[2, 3]) + 0.004)
    shape = Shape("box", size)
    desk.robot.update_scene(SceneUpdate(add=(CollisionObject("tray_1", (shape,), make_transform(None, (*pose[:2, 3], size[2] / 2))),)))


def test_the_arm_gets_away_with_what_it_holds():
    with bench(world_from_dict({"objects": [BLOCK]})) as desk:
        context = desk.context()
        assert pick(context, context.look().objects[0].id).ok
        wall_around_the_hand(desk, 0.004)
        assert any("tray_1" in pair[:2] for pair in desk.robot.check_state().collisions)
        context.go_home()
        assert context.at_home() and desk.in_hand() == ("block",)


def test_a_hand_in_contact_itself_stays_where_it_is():
    with bench(world_from_dict({"objects": [BLOCK]})) as desk:
        context = desk.context()
        assert pick(context, context.look().objects[0].id).ok
        wall_around_the_hand(desk, 0.06)
        before = desk.robot.tcp_pose()
        with pytest.raises(DeskhandError) as caught:
            context.go_home()
        assert caught.value.code == "start_in_collision"
        assert abs(desk.robot.tcp_pose() - before).max() < 0.002
