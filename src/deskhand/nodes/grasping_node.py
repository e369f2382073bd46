"""Serves ``grasping/generate_grasps``; whether the arm reaches a grasp is asked of ``motion/solve_ik``. What was found is published, best first, as
``grasping/grasps``: poses of the tcp at closing.
"""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseArray
from rclpy.qos import QoSProfile

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError, error_from_number
from deskhand.geometry import Array
from deskhand.grasping.planar import start_of
from deskhand.grasping.reach import reach_by_ik
from deskhand.grasping.remote import make_generator
from deskhand.nodes import conversions
from deskhand.nodes.diagnostics import CallCounter, Health
from deskhand.nodes.frames import Frames
from deskhand.nodes.node import DeskhandNode, call_service, run_node
from deskhand.nodes.parameters import declare_parameters, setting
from deskhand.types import IkSolution
from deskhand_interfaces.srv import GenerateGrasps, SolveIK

THREADS = 4


@dataclass
class Parameters:
    """Of the grasping node.

    Attributes:
        arm: name in config/arms or file.
        max_grasps: how many are answered when the request says 0.
        check_reach: leave out what the arm does not reach.
        predictor: address of a grasp predictor (docs/grasping.md); empty for the built-in candidates.
    """

    arm: str = "wx250s"
    max_grasps: int = setting(20, low=1)
    check_reach: bool = True
    predictor: str = ""


class GraspingNode(DeskhandNode):
    """Node ``grasping``."""

    def __init__(self) -> None:
        super().__init__("grasping")
        self.parameters = declare_parameters(self, Parameters)
        arm = load_arm(self.parameters.arm)
        self._names = arm.joints
        reach = reach_by_ik(self._solve, start_of(RobotModel.load(arm))) if self.parameters.check_reach else None
        self._generator = make_generator(arm, reach, self.parameters.predictor)
        self._one = threading.Lock()
        self._frames = Frames(self)
        self._calls = CallCounter()
        self._ik = self.create_client(SolveIK, "motion/solve_ik", callback_group=self.reentrant)
        self._found = self.create_publisher(PoseArray, "grasping/grasps", QoSProfile(depth=5))
        self.create_service(GenerateGrasps, "grasping/generate_grasps", self._generate, callback_group=self.reentrant)

    def health(self) -> Health:
        """See base."""
        reach = self.parameters.check_reach and not self._ik.service_is_ready()
        values = {"predictor": self.parameters.predictor or "built in", **self._calls.values()}
        return Health("warning" if reach else "ok", f"nobody serves {self._ik.srv_name}" if reach else "", values)

    def _generate(self, request: GenerateGrasps.Request, response: GenerateGrasps.Response) -> GenerateGrasps.Response:
        try:
            scene = conversions.scene_from_msg(request.scene, self._frames)
            with self._one:
                grasps = self._generator.generate(scene, request.object_id, int(request.max_grasps) or self.parameters.max_grasps)
            response.grasps = [conversions.grasp_to_msg(grasp) for grasp in grasps]
            self._found.publish(PoseArray(header=conversions.header(scene.stamp), poses=[grasp.pose for grasp in response.grasps]))
            self.get_logger().info(f"{len(grasps)} grasps of {request.object_id}, best score {grasps[0].score:.2f}")
        except DeskhandError as error:
            response.error_code, response.error_message = error.number, str(error)
            self.get_logger().info(f"no grasps of {request.object_id!r}: {error.code}: {error}")
        except Exception as error:  # a bug must not leave the caller waiting
            response.error_code, response.error_message = DeskhandError("internal_error", "").number, f"{type(error).__name__}: {error}"
            self.get_logger().error(f"generate_grasps: {type(error).__name__}: {error}")
        self._calls.answered(response.error_message)
        return response

    def _solve(self, pose: Array, seed: Array | None, check_collisions: bool) -> list[IkSolution]:
        joints = None if seed is None else dict(zip(self._names, map(float, np.asarray(seed)), strict=True))
        request: Any = SolveIK.Request(
            pose=conversions.pose_stamped_to_msg(pose), seed=conversions.joints_to_msg(joints), max_solutions=1, check_collisions=check_collisions
        )
        answer = call_service(self._ik, request, timeout=5.0)
        if answer.error_code:
            raise error_from_number(answer.error_code, answer.error_message)
        return [conversions.ik_solution_from_msg(item) for item in answer.solutions]


def main() -> int:
    """Entry point."""
    return run_node(GraspingNode, THREADS)


if __name__ == "__main__":
    sys.exit(main())
