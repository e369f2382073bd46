"""Times ``motion/solve_ik`` as the package's own clients see it.

Prints one JSON object: ``{"calls", "solved", "ms": [wall time of each], "errors": {code: how many}}``. For ``deskhand bench motion --ros``; a process of
its own, so that who starts it needs no ROS.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter

import numpy as np
import rclpy
from rclpy.utilities import remove_ros_args

from deskhand.arms.config import load_arm
from deskhand.arms.model import RobotModel
from deskhand.errors import error_from_number
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand_interfaces.srv import SolveIK

WARM_UP = 20


def main() -> int:
    """Exit code 0 when every pose was solved."""
    parser = argparse.ArgumentParser(prog="ik_timer", description=__doc__.splitlines()[0])
    parser.add_argument("--arm", required=True)
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(remove_ros_args(sys.argv)[1:])
    model, rng = RobotModel.load(load_arm(arguments.arm)), np.random.default_rng(arguments.seed)
    limits = np.array([model.limits[name][:2] for name in model.arm.joints])
    rclpy.init(args=sys.argv)
    node = DeskhandNode("ik_timer")
    client = node.create_client(SolveIK, "motion/solve_ik", callback_group=node.reentrant)
    times: list[float] = []
    errors: Counter[str] = Counter()
    for index in range(WARM_UP + arguments.calls):
        pose = model.tcp_pose(model.arm_joints(rng.uniform(limits[:, 0] * 0.98, limits[:, 1] * 0.98)))
        request = SolveIK.Request(pose=conversions.pose_stamped_to_msg(pose), check_collisions=False)
        began = time.perf_counter()
        answer = call_service(client, request, wait_for=20.0)
        if index >= WARM_UP:
            times.append(1000 * (time.perf_counter() - began))
            if answer.error_code:
                errors[error_from_number(answer.error_code, answer.error_message).code] += 1
    solved = arguments.calls - errors.total()
    print(json.dumps({"calls": arguments.calls, "solved": solved, "ms": times, "errors": errors}), flush=True)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0 if solved == arguments.calls else 1


if __name__ == "__main__":
    sys.exit(main())
