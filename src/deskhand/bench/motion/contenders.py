"""What is measured side by side: deskhand's own motion service with each of its planners, and the libraries that others build on."""

from __future__ import annotations

from importlib.util import find_spec

from deskhand.arms.config import ArmConfig
from deskhand.bench.motion.contender import Contender, Outcome
from deskhand.bench.motion.tasks import StillArm, Task, put
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.motion.base import Backend
from deskhand.motion.embedded import EmbeddedBackend
from deskhand.motion.search import PADDINGS
from deskhand.motion.service import MotionService
from deskhand.safety.scene import PlanningScene
from deskhand.safety.settings import load_safety
from deskhand.types import MotionGoal, Plan, PlanOptions


class Deskhand:
    """The motion service as the node has it, envelope and all, on one of its planners."""

    def __init__(self, arm: ArmConfig, backend: Backend | None = None) -> None:
        self.arm, self.still = arm, StillArm(arm)
        self.service = MotionService(arm, self.still.joint_state, self.still, backend)
        self.name = f"deskhand ({self.service.backend.name})"
        self._others = {arm.gripper.joint: self.still.finger}
        self._empty = PlanningScene()

    def load(self, task: Task) -> None:
        """See base. The planner's scene is built here, as the others' are."""
        put(self.service, self.still, task)
        self.service.backend.in_collision(self.service.scene, task.start, self._others, padding=PADDINGS[0])

    def ik(self, pose: Array, seed: Array) -> Array | None:
        """See base. The embedded planner's first solution; other planners have no such call, so their whole answer."""
        backend = self.service.backend
        if isinstance(backend, EmbeddedBackend):
            return backend.first_ik(pose, seed)
        found = backend.solve_ik(self._empty, pose, seed, self._others, check_collisions=False, max_time=0.1)
        return found[0].joints if found else None

    def nearest_ik(self, pose: Array, seed: Array) -> Array | None:
        """As the service answers one solution: it looks for one that is near the seed."""
        found = self.service.backend.solve_ik(self._empty, pose, seed, self._others, check_collisions=False, max_time=0.1)
        return found[0].joints if found else None

    def free(self, states: Array) -> int:
        """See base."""
        scene, backend = self.service.scene, self.service.backend
        return sum(not backend.in_collision(scene, state, self._others, padding=PADDINGS[0]) for state in states)

    def plan(self, pose: Array, max_time: float) -> Outcome | None:
        """See base."""
        try:
            return _outcome(self.service.plan_motion(MotionGoal(poses=(pose,)), PlanOptions(max_planning_time=max_time)))
        except DeskhandError:
            return None

    def approach(self, pose: Array) -> Outcome | None:
        """See base."""
        try:
            return _outcome(self.service.plan_cartesian((pose,)))
        except DeskhandError:
            return None

    def close(self) -> None:
        """See base."""
        self.service.close()


def _outcome(plan: Plan) -> Outcome:
    return Outcome(plan.length, plan.trajectory)


def contenders(arm: ArmConfig) -> tuple[list[Contender], dict[str, str]]:
    """Those that are installed, the embedded planner first; and why the others are missing."""
    found: list[Contender] = [Deskhand(arm)]
    missing: dict[str, str] = {}
    lacking = [name for name in ("ompl", "pinocchio", "coal") if find_spec(name) is None]
    if lacking:
        missing["ompl"] = f"no {', '.join(lacking)} (pip install ompl pin coal)"
    else:
        from deskhand.bench.motion.ompl_stack import MOVEIT_STEP, OmplStack

        found += [OmplStack(arm), OmplStack(arm, MOVEIT_STEP, "ompl, MoveIt's step")]
    if find_spec("moveit") is None:
        missing["moveit"] = "no moveit_py (ROS 2 Jazzy: apt install ros-jazzy-moveit-py)"
    else:
        from deskhand.motion.process import ProcessBackend

        settings = load_safety()
        backend = ProcessBackend("moveit", "deskhand.nodes.moveit_backend:make_moveit", arm, (*settings.walls(), *settings.keep_out))
        found.append(Deskhand(arm, backend))
    return found, missing
