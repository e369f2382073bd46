"""Grasps of objects that are no simple solid, from points of their shapes as a camera sees them."""

import numpy as np
import pytest

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.geometry import inverse, make_transform, rotation_rpy, transform_points
from deskhand.grasping.collision import closing
from deskhand.grasping.generator import GraspGenerator
from deskhand.grasping.wrist import WristReach
from deskhand.perception.fit.revolution_completion import turned, turning_axis
from deskhand.perception.fit.surface import complete_surface
from deskhand.sim.convex import surface_of
from deskhand.sim.shapes import SHAPES, shape_pieces
from deskhand.testing.desk_scene import EYE, desk
from deskhand.types import SceneObject

ARM = load_arm("wx250s")
GENERATOR = GraspGenerator(ARM)


def samples(name, spacing=0.0022):
    """Points and normals all over a shape, in its own frame; those inside other pieces left out."""
    pieces = shape_pieces(name, SHAPES[name].size)
    vertices, faces = surface_of(pieces)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    area = np.linalg.norm(normal, axis=1) / 2
    rng = np.random.default_rng(3)
    face = rng.choice(len(faces), int(area.sum() / spacing**2 * 2), p=area / area.sum())
    u, v = np.sort(rng.random((2, len(face))), axis=0)
    points = a[face] * u[:, None] + b[face] * (v - u)[:, None] + c[face] * (1 - v)[:, None]
    return points, normal[face] / (2 * area[face])[:, None]


def seen(name, xy=(0.05, 0.03), yaw=0.5, shape="other", label="object"):
    """The shape as one camera sees it: the nearest point of every 1.5 mm of its picture, with 0.5 mm of noise."""
    size = np.array(SHAPES[name].size)
    pose = make_transform(rotation_rpy(0, 0, yaw), (*xy, size[2] / 2))
    points, normals = samples(name)
    points, normals = transform_points(pose, points), normals @ pose[:3, :3].T
    facing = np.einsum("ij,ij->i", normals, EYE - points) > 0.15 * np.linalg.norm(EYE - points, axis=1)
    points = points[facing]
    away = points - EYE
    far = np.linalg.norm(away, axis=1)
    ray = away / far[:, None]
    cell = np.round(np.column_stack([np.arctan2(ray[:, 1], -ray[:, 0]), np.arcsin(ray[:, 2])]) / 0.002).astype(int)
    order = np.argsort(far)
    _, first = np.unique(cell[order], axis=0, return_index=True)
    points = points[order][first] + np.random.default_rng(1).normal(0, 0.0005, (len(first), 3))
    return SceneObject(name, label, "red", shape, size, pose, points.astype(np.float32), 0.9)


def truly_held(grasp, name, item):
    """What the true shape has between the pads when they close, in the tcp frame, and how deep the open fingers reach into it."""
    points = transform_points(item.pose, samples(name, 0.0015)[0])
    met = closing(grasp.pose[None], np.array([grasp.opening]), ARM.gripper, points)
    local = transform_points(inverse(grasp.pose), points)
    hit = [np.all(np.abs(local - part.centre[0]) < part.half[0] - 0.0015, axis=1).sum() for part in ARM.gripper.finger_parts(np.array([grasp.opening]))]
    return float(met.width[0]), sum(hit)


@pytest.mark.parametrize("name", ["mug", "tumbler", "bowl", "ring", "l_piece", "t_piece", "u_piece", "cross", "hammer", "brush", "wrench", "arch"])
def test_what_has_rims_or_arms_is_held_by_them(name):
    shape = "cylinder" if SHAPES[name].size[0] == SHAPES[name].size[1] and name != "cross" else "other"
    item = seen(name, shape=shape)
    for rank, grasp in enumerate(GENERATOR.generate(desk(item), name, 3)):
        width, inside = truly_held(grasp, name, item)
        assert inside <= 3, f"the open fingers reach into the {name}"
        assert ARM.gripper.width_min < width < ARM.gripper.width_max - 0.002
        assert rank or abs(width - grasp.width) < 0.007


def test_a_mug_is_not_a_solid_cylinder():
    surface = complete_surface(seen("mug", shape="cylinder"))
    assert not surface.simple
    tumbler = complete_surface(seen("tumbler", shape="cylinder"))
    inward = np.einsum("ij,ij->i", tumbler.normals[:, :2], tumbler.points[:, :2] - [0.05, 0.03]) < 0
    assert inward.sum() > 20  # the inside of the wall is there, to press against


def test_a_wall_that_hangs_over_is_told_from_the_side_that_is_seen():
    item = seen("bowl", shape="cylinder")
    wall = turned(np.asarray(item.points, float), item.position[:2], 0.0)
    assert wall is not None
    assert wall.radius_at(np.array([0.036]))[0] == pytest.approx(0.044, abs=0.003)
    assert wall.radius_at(np.array([0.01]))[0] == pytest.approx(0.045 * (0.62 + 0.38 * 0.25), abs=0.004)
    _, normals = wall.sides(0.006)
    assert np.median(normals[:, 2]) < -0.2  # looks down
    assert turned(np.asarray(seen("cross").points, float), np.array([0.05, 0.03]), 0.0) is None


def test_the_hand_opens_less_between_neighbours():
    from deskhand.testing.desk_scene import scene_object as an_object

    middle = an_object("block_1", "box", (0.03, 0.03, 0.03), (0.05, 0, 0.015))
    walls = [an_object(f"box_{k}", "box", (0.03, 0.12, 0.05), (0.05 + s * 0.0525, 0, 0.025), color="blue") for k, s in ((1, -1), (2, 1))]
    ends = [an_object(f"can_{k}", "box", (0.07, 0.02, 0.05), (0.05, s * 0.0275, 0.025), color="green") for k, s in ((1, -1), (2, 1))]
    wide = GENERATOR.generate(desk(middle), "block_1", 1)[0]
    tight = GENERATOR.generate(desk(middle, *walls, *ends), "block_1", 1)[0]
    assert wide.opening > tight.opening > tight.width
    assert tight.clearance > 0 and tight.score < wide.score


@pytest.mark.parametrize("name", ["wx250s", "jetarm"])
def test_what_the_wrist_cannot_reach_is_told_and_nothing_that_it_can(name):
    arm = load_arm(name)
    wrist = WristReach(RobotModel.load(arm))
    angle = np.linspace(-1, 1, 9)
    poses = [
        make_transform(np.diag([1.0, -1.0, -1.0]), [*(arm.world_T_base[:2, 3] + radius * np.array([np.cos(a), np.sin(a)])), z])
        for radius in np.linspace(*arm.work_radius, 6)
        for a in angle
        for z in (0.01, 0.04)
    ]
    assert wrist.within(np.array(poses)).all()
    leaning_in = make_transform(rotation_rpy(0, np.pi / 2 + np.pi, 0), [arm.world_T_base[0, 3] + arm.reach, 0, 0.05])  # the wrist further out than the hand
    assert not wrist.within(np.array([leaning_in, make_transform(None, [2.0, 0, 0])])).any()


@pytest.mark.parametrize("shape", ["box", "cylinder"])
def test_the_axis_of_a_bottle_is_found_and_its_neck_is_held(shape):
    """A bottle that perception took for a solid around what is seen of it: 9 mm beside its axis."""
    height = np.linspace(0.0, 0.16, 90)
    radius = np.where(height < 0.07, 0.0215, np.where(height < 0.10, 0.0215 - (height - 0.07) / 0.03 * 0.0145, 0.007))
    axis, random = np.array([0.06, 0.02]), np.random.default_rng(5)
    towards = np.arctan2(*(EYE[:2] - axis)[::-1])
    angle = towards + np.linspace(-1.3, 1.3, 26)
    rings = [np.column_stack([axis[0] + r * np.cos(angle), axis[1] + r * np.sin(angle), np.full(26, z)]) for z, r in zip(height, radius, strict=True)]
    points = np.vstack(rings) + random.normal(0, 0.0004, (26 * 90, 3))
    out = (EYE[:2] - axis) / np.linalg.norm(EYE[:2] - axis)
    pose = make_transform(None, (*(axis + 0.009 * out), 0.08))
    item = SceneObject("bottle", "bottle", "black", shape, np.array([0.026, 0.026, 0.16]), pose, points.astype(np.float32), 0.9)
    found = turning_axis(points, 0.0)
    assert found is not None and np.linalg.norm(found - axis) < 0.0007
    for grasp in GENERATOR.generate(desk(item), "bottle", 4):
        off = axis - grasp.pose[:2, 3]
        beside = abs(float(off @ grasp.pose[:2, 1]))  # of the plane in the middle between the pads, where a straight hand has the axis
        assert beside < 0.003 or grasp.pose[2, 2] > -0.99
        assert abs(grasp.width - 2 * np.interp(grasp.contacts[:, 2].mean(), height, radius)) < 0.006


@pytest.mark.parametrize("size", [(0.06, 0.04, 0.05), (0.025, 0.025, 0.025), (0.05, 0.05, 0.12)])
def test_what_goes_round_no_axis_has_none(size):
    """The top and two sides of a box."""
    x, y, z = (np.linspace(-half, half, 25) for half in np.array(size) / 2)
    faces = [(x, y, z[-1:]), (x[-1:], y, z), (x, y[-1:], z)]
    points = np.vstack([np.stack(np.meshgrid(*face), axis=-1).reshape(-1, 3) for face in faces]) + np.random.default_rng(2).normal(0, 0.0004, (3 * 625, 3))
    axis = turning_axis(points, -size[2] / 2)
    assert axis is None or turned(points, axis, -size[2] / 2) is None


def thin_bowl(thickness, phase):
    """A bowl 110 mm wide and 50 mm high as one camera sees it, 1.5 mm apart: the near half of its outside, and the far half of its inside."""
    z = np.arange(0.002, 0.05, 0.0015)
    radius = 0.027 + 0.028 * np.sqrt(z / 0.05)
    angle = np.arange(0.0, 2 * np.pi, 0.0015 / 0.05) + phase
    z, angle = (each.ravel() for each in np.meshgrid(z, angle))
    radius = 0.027 + 0.028 * np.sqrt(z / 0.05)
    way = np.column_stack([np.cos(angle), np.sin(angle)])
    near = way @ (EYE[:2] / np.linalg.norm(EYE[:2])) > 0
    radius = np.where(near, radius, radius - thickness)
    points = np.column_stack([way * radius[:, None] + [0.05, 0.03], z]) + np.random.default_rng(1).normal(0, 0.0003, (len(z), 3))
    pose = make_transform(None, (0.05, 0.03, 0.025))
    size = np.array([0.11, 0.11, 0.05])
    return SceneObject("bowl", "bowl", "grey", "cylinder", size, pose, points.astype(np.float32), 0.9, is_container=True, wall=0.003)


@pytest.mark.parametrize("phase", [0.0, 0.01, 0.02])
def test_a_thin_wall_is_gripped_wherever_there_is_room(phase):
    """Walls are thinner than samples of them are apart; the Panda's hand is the widest of ours."""
    grasps = GraspGenerator(load_arm("panda")).generate(desk(thin_bowl(0.0025, phase)), "bowl", 16)
    around = [np.arctan2(*(grasp.pose[:2, 3] - [0.05, 0.03])[::-1]) for grasp in grasps]
    assert len(grasps) == 16 and min(grasp.clearance for grasp in grasps) > 0.001
    assert len({int(np.floor(angle / (np.pi / 3))) for angle in around}) >= 4
    assert all(grasp.pose[2, 3] > 0.025 and abs(grasp.width) < 0.015 for grasp in grasps)


def tall_mug(wall):
    """A mug 90 mm wide, 130 mm high, its walls 6 mm, as one camera sees it: the near half of its outside, the upper 3 cm of the far half of its inside."""
    z, angle = (each.ravel() for each in np.meshgrid(np.arange(0.002, 0.13, 0.0025), np.arange(0.0, 2 * np.pi, 0.05)))
    way = np.column_stack([np.cos(angle), np.sin(angle)])
    near = way @ (EYE[:2] / np.linalg.norm(EYE[:2])) > 0
    kept = near | (z > 0.1)
    radius = np.where(near, 0.038, 0.032) + 0.007 * z / 0.13
    points = np.column_stack([way * radius[:, None] + [0.05, 0.03], z])[kept] + np.random.default_rng(1).normal(0, 0.0005, (int(kept.sum()), 3))
    pose = make_transform(None, (0.05, 0.03, 0.065))
    return SceneObject("cup", "cup", "red", "cylinder", np.array([0.09, 0.09, 0.13]), pose, points.astype(np.float32), 0.9, wall=wall)


def test_a_mug_too_wide_for_the_hand_is_held_by_its_wall_with_room_on_both_sides():
    grasps = GraspGenerator(load_arm("panda")).generate(desk(tall_mug(0.003)), "cup", 8)
    assert len(grasps) == 8
    for grasp in grasps:
        outer = 0.038 + 0.007 * min(grasp.pose[2, 3], 0.13) / 0.13
        away = float(np.linalg.norm(grasp.pose[:2, 3] - [0.05, 0.03]))
        assert away - grasp.opening / 2 < outer - 0.006 - 0.005  # the finger inside: nobody has seen how thick the wall is
        assert away + grasp.opening / 2 > outer + 0.005
