import numpy as np
import pytest
from backends import PLANNERS

from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_angle
from deskhand.motion.cartesian import deviation
from deskhand.motion.timing import differences
from deskhand.safety.kinematics import link_poses
from deskhand.testing.motion_desk import ARM, MODEL, MotionDesk, box, clutter, code_of, down, make_desk
from deskhand.types import CollisionObject, MotionGoal, Plan, PlanOptions, SceneUpdate, Shape

pytestmark = pytest.mark.parametrize("planner", PLANNERS, indirect=True)

FINE = 0.002  # [rad] between the states at which plans are looked at again


def fine(plan: Plan) -> np.ndarray:
    positions = plan.trajectory.positions
    steps = np.abs(np.diff(positions, axis=0)).max(axis=1)
    index = np.interp(np.arange(0, steps.sum() + FINE, FINE), np.concatenate([[0], np.cumsum(steps + 1e-12)]), np.arange(len(positions)))
    return np.column_stack([np.interp(index, np.arange(len(positions)), column) for column in positions.T])


def deepest(desk: MotionDesk, plan: Plan) -> float:
    poses = link_poses(MODEL, ARM.joints, fine(plan), {ARM.gripper.joint: desk.arm.finger})
    near = desk.service.envelope.checker.near(poses, desk.service.scene, cutoff=0.0)
    return max((-item.distance for item in near), default=0.0)


def random_goal(rng: np.random.Generator) -> np.ndarray:
    return down(rng.uniform(-0.1, 0.12), rng.uniform(-0.2, 0.2), rng.uniform(0.05, 0.15), rng.uniform(-1.5, 1.5))


def test_plans_in_clutter_touch_nothing_and_keep_all_limits() -> None:
    rng, made = np.random.default_rng(4), 0
    desk = make_desk()
    for _ in range(3):
        desk.service.update_scene(SceneUpdate(replace=clutter(rng)))
        desk.arm.joints = np.array(ARM.named_poses["home"], dtype=float)
        for _ in range(5):
            try:
                plan = desk.service.plan_motion(MotionGoal(poses=(random_goal(rng),)), PlanOptions(max_planning_time=10.0))
            except DeskhandError as error:
                assert error.code in ("goal_in_collision", "no_ik_solution"), error
                continue
            made += 1
            assert deepest(desk, plan) < 1e-3
            velocity, acceleration = differences(plan.trajectory)
            assert (velocity <= ARM.max_velocity * 1.01).all() and (acceleration <= ARM.max_acceleration * 1.01).all()
            desk.move_to(plan)
    assert made >= 8


def test_any_of_several_poses_is_taken_and_named() -> None:
    desk = make_desk()
    poses = (down(1.5, 0, 0.1), down(0.35, 0, 0.3), down(0.0, 0.1, 0.1))
    plan = desk.service.plan_motion(MotionGoal(poses=poses))
    assert plan.goal_index == 2
    reached = MODEL.tcp_pose(plan.end)
    assert np.linalg.norm(reached[:3, 3] - poses[2][:3, 3]) < 1e-3 and rotation_angle(reached, poses[2]) < 0.01


def test_named_and_joint_goals_end_where_they_say() -> None:
    desk = make_desk()
    named = desk.service.plan_motion(MotionGoal(named="upright"))
    np.testing.assert_allclose(named.trajectory.positions[-1], ARM.named_poses["upright"], atol=1e-5)
    goal = {**MODEL.arm_joints(ARM.named_poses["home"]), "waist": 0.8}
    joints = desk.service.plan_motion(MotionGoal(joints=goal), PlanOptions(speed_scale=0.3))
    assert joints.end["waist"] == pytest.approx(0.8, abs=1e-5)
    assert np.abs(joints.trajectory.velocities).max() <= 0.3 * np.pi


def test_a_straight_line_stays_within_half_a_millimetre() -> None:
    desk = make_desk()
    rng = np.random.default_rng(2)
    for _ in range(6):
        above = random_goal(rng)
        above[2, 3] = 0.16
        over = desk.service.plan_motion(MotionGoal(poses=(above,)))
        desk.move_to(over)
        start = MODEL.tcp_pose(over.end)
        end = start.copy()
        end[2, 3] -= 0.1
        plan = desk.service.plan_cartesian((end,), PlanOptions(max_deviation=0.0005))
        tcp = link_poses(MODEL, ARM.joints, fine(plan))[ARM.tcp]
        assert deviation(tcp[:, :3, 3], np.array([start[:3, 3], end[:3, 3]])) < 5e-4
        assert max(rotation_angle(pose, start) for pose in tcp[::5]) < 0.01
        assert np.linalg.norm(tcp[-1, :3, 3] - end[:3, 3]) < 5e-4


def test_a_polyline_keeps_to_its_corners() -> None:
    desk = make_desk()
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0, 0, 0.15),))))
    corners = [down(0, 0, 0.15), down(0, 0, 0.10), down(0.05, 0.05, 0.10), down(0.05, 0.05, 0.15, yaw=0.5)]
    plan = desk.service.plan_cartesian(tuple(corners[1:]))
    tcp = link_poses(MODEL, ARM.joints, fine(plan))[ARM.tcp]
    assert deviation(tcp[:, :3, 3], np.array([corner[:3, 3] for corner in corners])) < 2e-3
    assert rotation_angle(tcp[-1], corners[-1]) < 0.01


def test_a_line_into_an_obstacle_is_incomplete_and_says_why() -> None:
    desk = make_desk()
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0.0, 0.0, 0.16),))))
    desk.service.update_scene(SceneUpdate(add=(box("block", 0.0, 0.0, 0.05, (0.04, 0.09, 0.1)),)))
    with pytest.raises(DeskhandError, match="block") as caught:
        desk.service.plan_cartesian((down(0, 0, 0.05),))
    assert caught.value.code == "path_incomplete"
    part = desk.service.plan_cartesian((down(0, 0, 0.05),), PlanOptions(min_fraction=0.2))
    assert 0.2 <= part.fraction < 0.7
    assert deepest(desk, part) < 1e-3


def test_allowed_contact_lets_the_hand_in_and_only_there() -> None:
    desk = make_desk()
    desk.service.update_scene(SceneUpdate(add=(box("block", 0.0, 0.0, 0.03, (0.04, 0.06, 0.06)),)))
    pose = down(0.0, 0.0, 0.05)
    assert code_of(desk.service.plan_motion, MotionGoal(poses=(pose,))) == "goal_in_collision"
    plan = desk.service.plan_motion(MotionGoal(poses=(pose,)), PlanOptions(allow=(("gripper", "block"),)))
    assert np.linalg.norm(MODEL.tcp_pose(plan.end)[:3, 3] - pose[:3, 3]) < 1e-3
    # The table stays an obstacle, whatever is allowed.
    assert code_of(desk.service.plan_motion, MotionGoal(poses=(down(0, 0, -0.01),)), PlanOptions(allow=(("gripper", "block"),))) == "goal_in_collision"
    assert code_of(desk.service.plan_motion, MotionGoal(poses=(pose,)), PlanOptions(allow=(("gripper", "table"),))) == "invalid_input"


def test_what_is_held_moves_along_and_is_kept_out_of_obstacles() -> None:
    desk = make_desk()
    service = desk.service
    grasp = down(0.0, 0.0, 0.03)
    service.update_scene(SceneUpdate(add=(box("bar", 0.0, 0.0, 0.03, (0.02, 0.02, 0.06)),)))
    desk.move_to(service.plan_motion(MotionGoal(poses=(grasp,)), PlanOptions(allow=(("gripper", "bar"),))))
    service.update_scene(SceneUpdate(attach="bar"))
    assert service.scene.held is not None and not service.scene.obstacles
    # It stands on the table: the lift begins in contact.
    desk.move_to(service.plan_cartesian((down(0, 0, 0.15),)))
    # Over a wall: the bare hand could come this low, the bar could not.
    service.update_scene(SceneUpdate(add=(box("wall", 0.1, 0.0, 0.04, (0.03, 0.2, 0.08)),)))
    assert code_of(service.plan_motion, MotionGoal(poses=(down(0.1, 0, 0.12),))) == ""
    assert code_of(service.plan_motion, MotionGoal(poses=(down(0.1, 0, 0.10),))) == "goal_in_collision"
    there = service.plan_motion(MotionGoal(poses=(down(0.1, 0.0, 0.12),)))
    assert deepest(desk, there) < 1e-3
    desk.move_to(there)
    service.update_scene(SceneUpdate(detach=True))
    assert service.scene.held is None
    np.testing.assert_allclose(service.scene.obstacles["bar"].pose[:3, 3], [0.1, 0.0, 0.12], atol=2e-3)


def test_containers_are_hollow() -> None:
    from deskhand.motion.obstacles import obstacle_from_object
    from deskhand.types import SceneObject

    desk = make_desk()
    for shape in ("box", "cylinder"):
        size = np.array([0.16, 0.16, 0.10])
        pose = make_transform(translation=(0.0, 0.15, 0.05))
        item = SceneObject("bin", "bin", "red", shape, size, pose, np.zeros((0, 3), np.float32), 1.0, is_container=True, wall=0.004)
        desk.service.update_scene(SceneUpdate(replace=(obstacle_from_object(item),)))
        assert desk.service.solve_ik(down(0.0, 0.15, 0.06, yaw=0.4))[0].collision_free
        assert code_of(desk.service.solve_ik, down(0.0, 0.15 + 0.08, 0.06)) == "goal_in_collision"
        assert code_of(desk.service.solve_ik, down(0.0, 0.15, 0.006)) == "goal_in_collision"


@pytest.mark.parametrize("kind", ["points", "mesh"])
def test_clouds_and_meshes_are_obstacles_too(kind: str) -> None:
    desk = make_desk()
    low, high = np.array([-0.02, -0.1, 0.0]), np.array([0.02, 0.1, 0.2])
    if kind == "points":
        grid = np.stack(np.meshgrid(*(np.arange(a, b, 0.005) for a, b in zip(low, high, strict=True)), indexing="ij"), axis=-1).reshape(-1, 3)
        shape = Shape("points", (0.005,), vertices=grid)
    else:
        corners = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        faces = np.array([face for a, b, c, d in quads for face in ((a, b, c), (a, c, d))], dtype=np.int32)
        shape = Shape("mesh", (), vertices=corners, faces=faces)
    desk.service.update_scene(SceneUpdate(add=(CollisionObject("thing", (shape,)),)))
    assert code_of(desk.service.solve_ik, down(0.0, 0.0, 0.19)) == "goal_in_collision"
    before, behind = down(-0.03, 0.17, 0.1), down(-0.03, -0.17, 0.1)
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(before,))))
    plan = desk.service.plan_motion(MotionGoal(poses=(behind,)))
    assert deepest(desk, plan) < 1e-3


def test_a_start_in_light_contact_is_left_and_a_deep_one_is_refused() -> None:
    desk = make_desk()
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0.0, 0.0, 0.05),))))
    fingers = 0.101 - 0.066 - 0.043  # tips 8 mm below the tcp
    assert fingers < 0
    touching = box("pad", 0.0, 0.0, 0.0, (0.1, 0.1, 2 * (0.05 - 0.008 + 0.004)))
    desk.service.update_scene(SceneUpdate(replace=(touching,)))
    check = desk.service.check_state()
    assert not check.valid
    assert any({"pad", "left_finger_link"} == {a, b} and 0.002 < depth < 0.006 for a, b, depth in check.collisions)
    plan = desk.service.plan_motion(MotionGoal(named="home"))
    np.testing.assert_allclose(plan.trajectory.positions[-1], ARM.named_poses["home"], atol=1e-5)
    deep = box("pad", 0.0, 0.0, 0.0, (0.1, 0.1, 0.16))
    desk.service.update_scene(SceneUpdate(replace=(deep,)))
    with pytest.raises(DeskhandError, match="pad") as caught:
        desk.service.plan_motion(MotionGoal(named="home"))
    assert caught.value.code == "start_in_collision"


def test_upright_holds_along_the_whole_way() -> None:
    desk = make_desk()
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0.0, 0.18, 0.14),))))
    plan = desk.service.plan_motion(MotionGoal(poses=(down(0.0, -0.18, 0.14),)), PlanOptions(upright_tolerance=0.2, max_planning_time=8))
    tilts = [np.arccos(np.clip(-pose[2, 2], -1, 1)) for pose in link_poses(MODEL, ARM.joints, plan.trajectory.positions)[ARM.tcp]]
    assert max(tilts) < 0.33  # roll and pitch may add up to 0.28


def test_a_plan_is_used_once_and_expires_when_the_world_changes() -> None:
    desk = make_desk()
    service = desk.service

    def fresh() -> str:
        return service.plan_motion(MotionGoal(named="upright")).id

    name = fresh()
    assert service.take(name).id == name
    assert code_of(service.take, name) == "plan_used"
    assert code_of(service.take, "plan_of_nobody") == "unknown_plan"
    name = fresh()
    service.update_scene(SceneUpdate(add=(box("new", 0.1, 0.3, 0.02, (0.02, 0.02, 0.04)),)))
    assert code_of(service.take, name) == "plan_expired"
    assert code_of(service.take, name) == "plan_expired"
    name = fresh()
    desk.arm.joints[1] += 0.1
    assert code_of(service.take, name) == "plan_expired"
    desk.arm.joints[1] -= 0.1
    name = fresh()
    desk.clock.time += 1000
    assert code_of(service.take, name) == "plan_expired"
    desk.arm.finger = 0.015
    name = fresh()
    desk.arm.finger = 0.037
    assert code_of(service.take, name) == "plan_expired"


def test_a_plan_holds_again_in_the_scene_that_it_was_made_for() -> None:
    """As one made for a desk on which lies what the hand still holds."""
    desk = make_desk()
    service, where = desk.service, (0.02, 0.02, 0.04)
    service.update_scene(SceneUpdate(add=(box("held", 0.1, 0.3, 0.02, where),)))
    service.update_scene(SceneUpdate(attach="held"))
    service.update_scene(SceneUpdate(add=(box("held", -0.1, 0.25, 0.02, where),), detach=True))
    plan = service.plan_motion(MotionGoal(named="upright")).id
    service.update_scene(SceneUpdate(attach="held"))
    assert service.scene.held is not None
    service.update_scene(SceneUpdate(add=(box("held", -0.1, 0.25, 0.02, where),), detach=True))
    assert service.take(plan).id == plan
    other = service.plan_motion(MotionGoal(named="upright")).id
    service.update_scene(SceneUpdate(add=(box("held", -0.1, 0.251, 0.02, where),)))
    assert code_of(service.take, other) == "plan_expired"
    new = service.scene.version
    service.update_scene(SceneUpdate(add=(box("held", -0.1, 0.252, 0.02, where),)))
    assert service.scene.version > new  # no number is given twice


def test_what_the_scene_or_time_has_overtaken_is_not_kept_and_still_says_why() -> None:
    desk = make_desk()
    service, kept = desk.service, lambda: len(desk.service.snapshot()[1][1])
    names = [service.plan_motion(MotionGoal(named="upright"), PlanOptions(draft=True)).id for _ in range(3)]
    assert kept() == 3
    service.update_scene(SceneUpdate(add=(box("new", 0.1, 0.3, 0.02, (0.02, 0.02, 0.04)),)))
    last = service.plan_motion(MotionGoal(named="upright")).id
    assert kept() == 1
    with pytest.raises(DeskhandError, match="the planning scene has changed since"):
        service.take(names[0])
    desk.clock.time += 1000
    service.plan_motion(MotionGoal(named="upright"))
    assert kept() == 1
    with pytest.raises(DeskhandError, match="s old"):
        service.take(last)


def test_chained_plans_are_made_ahead_of_the_motion() -> None:
    desk = make_desk()
    first = desk.service.plan_motion(MotionGoal(poses=(down(0, 0, 0.15),)))
    second = desk.service.plan_cartesian((down(0, 0, 0.1),), PlanOptions(start=first.end))
    assert code_of(desk.service.take, second.id) == "plan_expired"  # the arm is not there
    second = desk.service.plan_cartesian((down(0, 0, 0.1),), PlanOptions(start=first.end))
    desk.move_to(desk.service.take(first.id))
    assert desk.service.take(second.id).id == second.id


def tcp_speeds(desk: MotionDesk, plan: Plan) -> np.ndarray:
    tcp = link_poses(MODEL, ARM.joints, plan.trajectory.positions, {ARM.gripper.joint: desk.arm.finger}, ARM.tcp)[ARM.tcp][:, :3, 3]
    return np.asarray(np.linalg.norm(np.diff(tcp, axis=0), axis=1) / np.diff(plan.trajectory.times))


def beside(desk: MotionDesk, plan: Plan, name: str, distance: float) -> np.ndarray:
    """(T,): the states nearer than ``distance`` to the obstacle ``name``."""
    poses = link_poses(MODEL, ARM.joints, plan.trajectory.positions, {ARM.gripper.joint: desk.arm.finger})
    near = desk.service.envelope.checker.near(poses, desk.service.scene, cutoff=distance)
    result = np.zeros(len(plan.trajectory.times), dtype=bool)
    result[[item.state for item in near if name in (item.a, item.b)]] = True
    return result


@pytest.mark.parametrize(("name", "y", "distance"), [("vase", 0.15, 0.03), ("person_1", 0.70, 0.5)])
def test_the_tcp_is_slow_beside_obstacles_and_from_afar_beside_people(name: str, y: float, distance: float) -> None:
    desk = make_desk()
    desk.service.update_scene(SceneUpdate(replace=(box(name, 0.0, y, 0.15, (0.06, 0.06, 0.3)),)))
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0.05, -0.25, 0.12),))))
    plan = desk.service.plan_motion(MotionGoal(poses=(down(0.0, y - 0.11 if name == "vase" else 0.15, 0.12),)))
    near, speeds = beside(desk, plan, name, distance), tcp_speeds(desk, plan)
    assert 5 < near.sum() < len(near) - 5, "the way is partly beside it"
    assert speeds[near[1:] & near[:-1]].max() <= 0.25 * 1.02
    assert speeds.max() > 0.35, "and faster elsewhere"


def test_what_may_be_touched_slows_nothing() -> None:
    """Along a slab, 2 cm above it: at the slow rule's speed, unless it may be touched."""
    desk = make_desk()
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0.0, -0.12, 0.06),))))
    desk.service.update_scene(SceneUpdate(replace=(box("slab", 0.0, 0.0, 0.01, (0.12, 0.36, 0.02)),)))
    way = (down(0.0, 0.12, 0.06),)
    slow = desk.service.plan_cartesian(way)
    fast = desk.service.plan_cartesian(way, PlanOptions(allow=(("gripper", "slab"),)))
    assert fast.trajectory.duration < 0.9 * slow.trajectory.duration
    assert slow.bounds["near_obstacle"] > 0.3 and fast.bounds["near_obstacle"] == 0


def test_of_several_poses_the_one_that_is_reached_first_is_chosen() -> None:
    """One asks for a long way of one joint, the other for shorter ways of several, which together are longer."""
    desk = make_desk()
    desk.move_to(desk.service.plan_motion(MotionGoal(poses=(down(0.05, 0.0, 0.15),))))
    start = np.array(desk.arm.joints)
    ways = np.array([[0.9, 0.0, 0.0, 0.0, 0.0, 0.0], [0.55, 0.0, 0.0, 0.55, 0.0, -0.55]])
    assert np.linalg.norm(ways[1]) > np.linalg.norm(ways[0])
    poses = [MODEL.tcp_pose(dict(zip(ARM.joints, start + way, strict=True))) for way in ways]
    alone = [desk.service.plan_motion(MotionGoal(poses=(pose,))).trajectory.duration for pose in poses]
    assert alone[1] < alone[0] - 0.05
    both = desk.service.plan_motion(MotionGoal(poses=tuple(poses)))
    assert both.goal_index == 1 and both.trajectory.duration < alone[0] - 0.05
