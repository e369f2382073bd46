"""What an arm does as its file describes it: its poses, where it reaches on the table, inverse kinematics, one plan. Nothing moves."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, make_transform
from deskhand.motion.roll import ROLL_MET
from deskhand.motion.service import MotionService
from deskhand.safety.checker import CollisionChecker
from deskhand.safety.kinematics import link_poses
from deskhand.safety.scene import PlanningScene, pair
from deskhand.safety.settings import SafetySettings
from deskhand.types import JointState, MotionGoal

HEIGHT = 0.02  # [m] of the tcp over the table, at which objects are grasped
LIFT = 0.06  # [m] from which the hand comes down, and up to which it comes again
DIRECTIONS = np.radians(np.arange(-90, 91, 30))  # from the base's x axis
STEP = 0.02  # [m] between the radii of the map
ROLLS = (0.0, np.pi / 2)  # [rad] of the hand about the vertical
SEARCH = 0.03  # [s] for each place: what is not found by then is out of reach, or nearly
TOUCH = 1e-3  # [m] that links may be into each other: rounding
SOLVED = 0.95  # share of the directions in which a radius is within the work radius
SLOW = 0.1  # [s] for each drawn pose


@dataclass(frozen=True)
class Place:
    """A place on the table: from the base's axis [m], in this direction [rad]; how it is reached from straight above at :data:`HEIGHT`.

    ``how``: ``lifted`` (grasped, and brought up by :data:`LIFT`), ``low`` (not brought up), ``blocked`` (only in collision), ``out``.
    """

    radius: float
    direction: float
    how: str


@dataclass(frozen=True)
class Findings:
    """What was found.

    Attributes:
        contacts: by pose, pairs of what touches, with how deep [m].
        places: of the map.
        share: of the places between the two values of ``work_radius`` that are grasped and lifted.
        measured: least and most radius [m] of the widest ring in which nearly all are; None when there is none.
        solved, drawn: of the poses that drawn joints have, how many IK found again, and how many there were.
        ik: median and 95 % of the time of one [s].
        plan: seconds to plan from home to the middle of the work radius (of the measured one, where that is not reached); NaN
            when there is no plan, then ``plan_problem`` says why.
        plan_duration: seconds that the motion takes.
    """

    contacts: dict[str, list[tuple[str, str, float]]]
    places: list[Place]
    share: float
    measured: tuple[float, float] | None
    solved: int
    drawn: int
    ik: tuple[float, float]
    plan: float
    plan_duration: float
    plan_problem: str = ""


class _Standing:
    """A clock that stands still."""

    def now(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        pass


def measure(model: RobotModel, settings: SafetySettings, seed: int, poses: int, progress: Callable[[str], None]) -> Findings:
    """All of it; ``poses``: how many are drawn for IK. ``progress`` is told what goes on.

    Raises:
        DeskhandError: ``missing_dependency`` without a planner, ``config_error`` when it does not take the arm.
    """
    arm = model.arm
    home = np.asarray(arm.named_poses["home"])
    opened = {arm.gripper.joint: arm.gripper.position_of(arm.gripper.width_max)}
    names, positions = (*arm.joints, arm.gripper.joint), np.append(home, opened[arm.gripper.joint])
    state = JointState(names, positions, np.zeros(len(names)), np.zeros(0), 0.0)
    try:
        motion = MotionService(arm, lambda: state, _Standing(), settings=settings)
    except RuntimeError as error:
        raise DeskhandError("config_error", f"the planner does not take the URDF: {error}.") from error
    try:
        progress("named poses")
        contacts = {name: touching(model, np.asarray(values), opened) for name, values in arm.named_poses.items()}
        progress("reach")
        places = _reach(motion, home, opened)
        share, ring = _ring(places, arm.work_radius)
        progress("inverse kinematics")
        solved, drawn, times = _inverse(motion, np.random.default_rng(seed), opened, poses)
        progress("a plan")
        planned, lasts, problem = _plan(motion, arm.work_radius if share >= SOLVED or ring is None else ring)
    finally:
        motion.close()
    spread = (float(np.median(times)), float(np.quantile(times, 0.95))) if times else (float("nan"), float("nan"))
    return Findings(contacts, places, share, ring, solved, drawn, spread, planned, lasts, problem)


def touching(model: RobotModel, joints: Array, others: dict[str, float]) -> list[tuple[str, str, float]]:
    """Links that are in each other or in the table at ``joints`` (n,), and how deep [m], the deepest first."""
    poses = link_poses(model, model.arm.joints, np.atleast_2d(joints), others)
    near = CollisionChecker(model).near(poses, PlanningScene())
    worst = {pair(item.a, item.b): -item.distance for item in sorted(near, key=lambda item: -item.distance) if item.distance < -TOUCH}
    return [(a, b, depth) for (a, b), depth in sorted(worst.items(), key=lambda item: -item[1])]


def above(model: RobotModel, radius: float, direction: float, roll: float, height: float) -> Array:
    """world_T_tcp (4, 4) looking straight down, ``radius`` [m] from the base's axis, ``height`` [m] over the table."""
    base = model.arm.world_T_base
    heading = np.arctan2(base[1, 0], base[0, 0]) + direction
    x, y = np.array([np.cos(heading + roll), np.sin(heading + roll), 0.0]), np.array([np.sin(heading + roll), -np.cos(heading + roll), 0.0])
    position = base[:3, 3] + radius * np.array([np.cos(heading), np.sin(heading), 0.0])
    return make_transform(np.column_stack([x, y, [0.0, 0.0, -1.0]]), np.array([position[0], position[1], height]))


def _reach(motion: MotionService, home: Array, opened: dict[str, float]) -> list[Place]:
    radii = np.arange(STEP, motion.arm.reach + STEP / 2, STEP)
    return [Place(float(radius), float(direction), _how(motion, float(radius), float(direction), home, opened)) for direction in DIRECTIONS for radius in radii]


def _how(motion: MotionService, radius: float, direction: float, home: Array, opened: dict[str, float]) -> str:
    reached = blocked = False
    for roll in ROLLS:
        low, high = (above(motion.model, radius, direction, roll, height) for height in (HEIGHT, HEIGHT + LIFT))
        found = motion.backend.solve_ik(motion.scene, low, home, opened, max_solutions=4, check_collisions=False, max_time=SEARCH)
        free = next((item for item in found if item.collision_free), None)
        blocked |= bool(found)
        reached |= free is not None
        if free is not None and motion.backend.solve_ik(motion.scene, high, free.joints, opened, max_time=SEARCH):
            return "lifted"
        if not found and motion.arm.free_roll:
            break  # a five-joint hand meets position and axis; another roll is no other place
    return "low" if reached else "blocked" if blocked else "out"


def _ring(places: list[Place], work: tuple[float, float]) -> tuple[float, tuple[float, float] | None]:
    """Share within the arm's own ring, and the widest ring in which nearly all places are grasped and lifted."""
    inside = [place.how == "lifted" for place in places if work[0] <= place.radius <= work[1]]
    radii = sorted({place.radius for place in places})
    good = [np.mean([place.how == "lifted" for place in places if place.radius == radius]) >= SOLVED for radius in radii]
    best, begin = None, None
    for index, fine in enumerate([*good, False]):
        if fine and begin is None:
            begin = index
        elif not fine and begin is not None:
            if best is None or radii[index - 1] - radii[begin] > best[1] - best[0]:
                best = (radii[begin], radii[index - 1])
            begin = None
    return float(np.mean(inside)) if inside else 0.0, best


def _inverse(motion: MotionService, random: np.random.Generator, opened: dict[str, float], poses: int) -> tuple[int, int, list[float]]:
    """Of drawn joints that touch nothing: is their pose of the tcp found again, and how long that takes [s]."""
    arm, model = motion.arm, motion.model
    lower, upper = (np.array([model.limits[name][side] for name in arm.joints]) for side in (0, 1))
    solved = 0
    times: list[float] = []
    for _ in range(20 * poses):
        if len(times) == poses:
            break
        joints = random.uniform(lower, upper)
        if motion.backend.in_collision(motion.scene, joints, opened):
            continue
        pose, began = model.tcp_pose(model.arm_joints(joints)), time.perf_counter()
        found = motion.backend.solve_ik(motion.scene, pose, (lower + upper) / 2, opened, max_time=SLOW)
        times.append(time.perf_counter() - began)
        solved += bool(found) and abs(found[0].roll_error) < ROLL_MET
    return solved, len(times), times


def _plan(motion: MotionService, work: tuple[float, float]) -> tuple[float, float, str]:
    poses = tuple(above(motion.model, sum(work) / 2, float(direction), roll, HEIGHT + LIFT) for direction in (0.0, 0.5, -0.5) for roll in ROLLS)
    began = time.perf_counter()
    try:
        plan = motion.plan_motion(MotionGoal(poses=poses))
    except DeskhandError as error:
        return float("nan"), float("nan"), str(error)
    return time.perf_counter() - began, plan.trajectory.duration, ""
