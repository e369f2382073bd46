"""A process that serves motion/* and the gripper as the tests of RosRobot need them; killed in the middle of a call by its own hand."""

import os
import signal
import sys
import time

import numpy as np
from control_msgs.action import GripperCommand
from rclpy.action import ActionServer, CancelResponse
from sensor_msgs.msg import JointState

from deskhand.arms.config import load_arm
from deskhand.errors import ERROR_NUMBERS
from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode, run_node
from deskhand.types import IkSolution, SafetyStatus
from deskhand_interfaces.action import ExecutePlan
from deskhand_interfaces.msg import SafetyStatus as SafetyStatusMsg
from deskhand_interfaces.srv import CheckState, SolveIK

ARM = load_arm("wx250s")
OBJECT = 0.031  # [m] between the fingers


class Stack(DeskhandNode):
    def __init__(self):
        super().__init__("motion")
        group = {"callback_group": self.reentrant}
        self.finger, self.waist = ARM.gripper.position_of(ARM.gripper.width_max), 0.0
        self.states = self.create_publisher(JointState, "joint_states", 5)
        self.status = self.create_publisher(SafetyStatusMsg, "safety/status", 1)
        self.create_timer(0.02, self.publish, **group)
        self.create_service(SolveIK, "motion/solve_ik", self.solve, **group)
        self.create_service(CheckState, "motion/check_state", self.die, **group)
        self.plans = ActionServer(self, ExecutePlan, "motion/execute_plan", self.execute, cancel_callback=lambda _: CancelResponse.ACCEPT, **group)
        self.hand = ActionServer(self, GripperCommand, "gripper_controller/gripper_cmd", self.grip, **group)

    def publish(self):
        message = JointState(name=[*ARM.joints, ARM.gripper.joint], position=[self.waist, *ARM.named_poses["home"][1:], self.finger], velocity=[0.0] * 7)
        self.states.publish(message)
        self.status.publish(conversions.safety_status_to_msg(SafetyStatus(False)))

    def solve(self, request, response):
        if request.pose.pose.position.z > 1.0:
            response.error_code, response.error_message = ERROR_NUMBERS["no_ik_solution"], "too high."
        else:
            response.solutions = [conversions.ik_solution_to_msg(IkSolution(np.arange(6.0), 1e-4, 1e-3, True))]
        return response

    def die(self, request, response):
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)

    def execute(self, handle):
        result = ExecutePlan.Result(progress=1.0, duration=0.5)
        if handle.request.plan_id == "old":
            result = ExecutePlan.Result(error_code=ERROR_NUMBERS["plan_expired"], error_message="the scene has changed.")
        elif handle.request.plan_id == "stuck":
            result = ExecutePlan.Result(error_code=ERROR_NUMBERS["stalled"], error_message="the elbow stands.", progress=0.4, duration=0.7)
        elif handle.request.plan_id == "long":
            while not handle.is_cancel_requested:
                handle.publish_feedback(ExecutePlan.Feedback(progress=0.25))
                time.sleep(0.02)
            handle.canceled()
            return ExecutePlan.Result(error_code=ERROR_NUMBERS["cancelled"], error_message="halted.", progress=0.25, duration=0.3)
        else:
            self.waist = 0.5
        handle.succeed() if not result.error_code else handle.abort()
        return result

    def grip(self, handle):
        wanted = handle.request.command.position
        self.finger = max(wanted, ARM.gripper.position_of(OBJECT))
        handle.succeed()
        return GripperCommand.Result(
            position=self.finger, effort=handle.request.command.max_effort, stalled=self.finger > wanted, reached_goal=self.finger == wanted
        )


if __name__ == "__main__":
    sys.exit(run_node(Stack, threads=8))
