import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, transform_points
from deskhand.grasping.collision import lowest_point, opening, palm_box
from deskhand.grasping.generator import GraspGenerator
from deskhand.grasping.reach import reach_by_ik
from deskhand.grasping.sampling import FRICTION
from deskhand.motion.roll import out_of_plane
from deskhand.perception.fit.surface import complete_surface
from deskhand.testing.desk_scene import desk, one_of_each
from deskhand.testing.desk_scene import scene_object as an_object
from deskhand.types import IkSolution

ARM = load_arm("wx250s")
KINDS = [item.id for item in one_of_each() if not item.is_container]


def inside_a_box(points, centre, half, slack=0.0005):
    return bool(np.any(np.all(np.abs(points - centre) < half - slack, axis=1)))


def assert_holds(grasp, item):
    """The contacts lie on opposite sides of the object, inside the friction cone, under the pads."""
    local = transform_points(inverse(grasp.pose), grasp.contacts)
    gripper = ARM.gripper
    assert np.all(np.abs(local[:, 0]) < gripper.finger_breadth / 2)
    assert np.all(local[:, 2] < gripper.finger_depth)
    assert local[0, 1] * local[1, 1] < 0
    assert abs(np.ptp(local[:, 1]) - grasp.width) < 1e-6
    assert gripper.width_min < grasp.width < gripper.width_max
    surface = complete_surface(item, 0.002)
    for contact, sign in zip(local, np.sign(local[:, 1]), strict=True):
        near = np.linalg.norm(transform_points(inverse(grasp.pose), surface.points) - contact, axis=1) < 0.006
        normals = surface.normals[near] @ grasp.pose[:3, :3]
        assert (sign * normals[:, 1]).max() > np.cos(np.arctan(FRICTION))


def assert_hand_is_free(grasp, item, others, floor=0.0):
    """No corner of the open hand below the table, no finger or palm inside the object or its neighbours."""
    opened = opening(np.array([grasp.width]), ARM.gripper)
    assert lowest_point(grasp.pose[None], np.array([grasp.width]), ARM.gripper)[0] > floor
    boxes = [(part.centre[0], part.half[0]) for part in ARM.gripper.finger_parts(opened)] + [palm_box(ARM.gripper)]
    for other in (item, *others):
        points = transform_points(inverse(grasp.pose), complete_surface(other, 0.002).points)
        for centre, half in boxes:
            assert not inside_a_box(points, centre, half), f"the hand is in {other.id}"


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_grasps_that_hold_and_touch_nothing_else(name):
    objects = one_of_each()
    scene = desk(*objects)
    item = scene.get(name)
    grasps = GraspGenerator(ARM).generate(scene, name)
    assert len(grasps) >= 3
    scores = [grasp.score for grasp in grasps[:3]]
    assert scores == sorted(scores, reverse=True)
    assert grasps[0].pose[2, 2] < -0.95, "the best grasp of a free thing comes from above"
    for grasp in grasps:
        assert grasp.friction_margin > 0
        assert grasp.pose[2, 2] <= -np.cos(np.deg2rad(50.1))
        assert_holds(grasp, item)
        assert_hand_is_free(grasp, item, [other for other in objects if other.id != name and not other.is_container])


def test_the_best_grasp_of_a_long_object_is_near_its_middle():
    pen = an_object("pen_1", "cylinder", (0.13, 0.01, 0.01), (0.05, 0.0, 0.005), 0.7, "pen")
    best = GraspGenerator(ARM).generate(desk(pen), "pen_1")[0]
    assert np.linalg.norm(best.pose[:2, 3] - pen.position[:2]) < 0.015
    assert abs(best.pose[:3, 1] @ pen.pose[:3, 0]) < 0.1, "across, not along"


def test_a_neighbour_turns_the_grasp():
    block = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.0, 0.0, 0.015))
    wall = an_object("box_1", "box", (0.10, 0.02, 0.06), (0.0, 0.028, 0.03), label="box")
    grasps = GraspGenerator(ARM).generate(desk(block, wall), "block_1")
    assert abs(grasps[0].pose[1, 1]) < 0.3, "the fingers close along the wall, not against it"
    for grasp in grasps:
        assert_hand_is_free(grasp, block, [wall])


def test_a_block_boxed_in_on_all_sides_has_no_grasp():
    block = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.0, 0.0, 0.015))
    sides = [
        an_object(f"box_{i}", "box", (0.09, 0.02, 0.06), (0.027 * c, 0.027 * s, 0.03), yaw, "box")
        for i, (c, s, yaw) in enumerate([(1, 0, np.pi / 2), (-1, 0, np.pi / 2), (0, 1, 0), (0, -1, 0)])
    ]
    with pytest.raises(DeskhandError, match=r"would touch box_\d \(2 mm off\)") as caught:
        GraspGenerator(ARM).generate(desk(block, *sides), "block_1")
    assert caught.value.code == "no_grasp"


def test_unnamed_points_of_the_cloud_are_in_the_way():
    block = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.0, 0.0, 0.015))
    free = GraspGenerator(ARM).generate(desk(block), "block_1")[0]
    y, z = np.meshgrid(np.arange(-0.06, 0.06, 0.003), np.arange(0.0, 0.08, 0.003))
    clutter = np.column_stack([y.ravel(), np.full(y.size, 0.031), z.ravel()]).astype(np.float32)
    scene = desk(block)
    scene = type(scene)(scene.objects, scene.table, 0.0, np.vstack([scene.cloud, clutter]))
    blocked = GraspGenerator(ARM).generate(scene, "block_1")
    assert blocked[0].clearance < free.clearance or abs(blocked[0].pose[1, 1]) < 0.5
    for grasp in blocked:
        local = transform_points(inverse(grasp.pose), clutter)
        for part in ARM.gripper.finger_parts(opening(np.array([grasp.width]), ARM.gripper)):
            assert not inside_a_box(local, part.centre[0], part.half[0])


def test_a_object_in_a_bin_can_be_grasped_between_the_walls():
    bin_ = an_object("bin_1", "box", (0.165, 0.17, 0.07), (0.0, 0.28, 0.035), 0.1, "bin", is_container=True, wall=0.004)
    block = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.01, 0.285, 0.019), 0.3, support="bin_1", relation="in")
    grasps = GraspGenerator(ARM).generate(desk(block, bin_), "block_1")
    for grasp in grasps:
        assert_hand_is_free(grasp, block, [], floor=0.004)


@pytest.mark.parametrize(
    ("size", "shape", "says"), [((0.08, 0.07, 0.05), "box", "two sides"), ((0.08, 0.08, 0.1), "cylinder", "two sides"), ((0.05, 0.04, 0.003), "box", "flat")]
)
def test_what_the_gripper_cannot_hold_is_said(size, shape, says):
    with pytest.raises(DeskhandError, match=says) as caught:
        GraspGenerator(ARM).generate(desk(an_object("box_1", shape, size, (0.0, 0.0, size[2] / 2))), "box_1")
    assert caught.value.code == "no_grasp"


def test_an_unknown_object_is_named_with_those_there_are():
    with pytest.raises(DeskhandError, match="block_1") as caught:
        GraspGenerator(ARM).generate(desk(an_object("block_1", "box", (0.03, 0.03, 0.03), (0, 0, 0.015))), "block_9")
    assert caught.value.code == "unknown_object"


def test_noisy_unnamed_shapes_are_grasped_by_their_outline():
    item = an_object("object_1", "box", (0.03, 0.06, 0.04), (0.05, 0.05, 0.02), 0.5, "object", noise=0.0008)
    item = type(item)(**{**item.__dict__, "shape": "other"})
    best = GraspGenerator(ARM).generate(desk(item), "object_1")[0]
    assert abs(best.width - 0.03) < 0.006
    assert abs(best.pose[:3, 1] @ item.pose[:3, 0]) > 0.95


def test_only_grasps_in_reach_are_given_and_either_way_round_will_do():
    scene = desk(an_object("block_1", "box", (0.03, 0.03, 0.03), (0.0, 0.0, 0.015)))
    asked = []

    def solve(pose, seed, check):
        asked.append(pose)
        if pose[0, 1] < 0:  # this arm cannot turn its hand that way
            raise DeskhandError("no_ik_solution", "out of reach")
        return [IkSolution(np.full(6, pose[2, 3]), 0.0, 0.0, True)]

    grasps = GraspGenerator(ARM, reach_by_ik(solve)).generate(scene, "block_1", 5)
    assert len(grasps) == 5
    for grasp in grasps:
        assert grasp.pose[0, 1] >= 0
        assert grasp.joints.shape == (6,)
        assert_holds(grasp, scene.get("block_1"))
    assert any(pose[0, 1] < 0 for pose in asked)


def test_out_of_reach_is_a_clear_failure():
    def solve(pose, seed, check):
        raise DeskhandError("no_ik_solution", "out of reach")

    with pytest.raises(DeskhandError, match="reaches none") as caught:
        GraspGenerator(ARM, reach_by_ik(solve)).generate(desk(an_object("block_1", "box", (0.03, 0.03, 0.03), (0.9, 0.0, 0.015))), "block_1")
    assert caught.value.code == "no_grasp"


@pytest.mark.parametrize("name", KINDS)
def test_a_hand_that_leans_in_one_plane_gets_only_such_grasps(name):
    arm = load_arm("jetarm")
    base = arm.world_T_base[:3, 3]
    scene = desk(*one_of_each())
    item = scene.get(name)
    grasps = GraspGenerator(arm).generate(scene, name)
    assert max(out_of_plane(grasp.pose, base) for grasp in grasps) < 1e-9
    for grasp in grasps:
        assert np.allclose(grasp.pose[:3, :3] @ grasp.pose[:3, :3].T, np.eye(3)) and np.linalg.det(grasp.pose[:3, :3]) > 0
        assert grasp.friction_margin > 0
        along = grasp.contacts[1] - grasp.contacts[0]
        assert np.arccos(min(1.0, abs(along @ grasp.pose[:3, 1]) / np.linalg.norm(along))) < np.arctan(FRICTION)
    if item.shape == "sphere":  # can be held from any side, so the hand may lean
        assert any(grasp.pose[2, 2] > -0.98 for grasp in grasps)
