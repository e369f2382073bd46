import contextlib
import threading

import numpy as np
import pytest

pytest.importorskip("rclpy")
import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.signals import SignalHandlerOptions

from deskhand.errors import ERROR_NUMBERS
from deskhand.nodes import conversions
from deskhand.nodes.grasping_node import GraspingNode
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand.testing.desk_scene import desk, one_of_each
from deskhand.types import IkSolution
from deskhand_interfaces.srv import GenerateGrasps, SolveIK

DOMAIN = 62


class Ik(DeskhandNode):
    """Reaches whatever is not beyond ``far`` [m] along x."""

    def __init__(self, **kwargs):
        super().__init__("motion", **kwargs)
        self.far, self.asked = 1.0, 0
        self.create_service(SolveIK, "motion/solve_ik", self.solve, callback_group=self.reentrant)

    def solve(self, request, response):
        self.asked += 1
        if request.pose.pose.position.x > self.far:
            response.error_code, response.error_message = ERROR_NUMBERS["no_ik_solution"], "too far"
        else:
            response.solutions = [conversions.ik_solution_to_msg(IkSolution(np.full(6, 0.1), 0.0, 0.0, True))]
        return response


@pytest.fixture(scope="module")
def graph():
    rclpy.init(domain_id=DOMAIN, signal_handler_options=SignalHandlerOptions.NO)
    nodes = [GraspingNode(), Ik(), DeskhandNode("tester")]
    executor = MultiThreadedExecutor(6)
    for node in nodes:
        executor.add_node(node)

    def spin():
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    threading.Thread(target=spin, daemon=True).start()
    client = nodes[2].create_client(GenerateGrasps, "grasping/generate_grasps", callback_group=nodes[2].reentrant)
    yield nodes[1], client
    executor.shutdown(1.0)
    for node in nodes:
        node.close()
        node.destroy_node()
    rclpy.try_shutdown()


def ask(client, name, count=5, objects=None):
    request = GenerateGrasps.Request(scene=conversions.scene_to_msg(desk(*(objects or one_of_each()))), object_id=name, max_grasps=count)
    return call_service(client, request)


def test_grasps_are_served_with_the_joints_that_reach_them(graph):
    ik, client = graph
    ik.far = 1.0
    answer = ask(client, "block_1")
    assert answer.error_code == 0, answer.error_message
    grasps = [conversions.grasp_from_msg(item) for item in answer.grasps]
    assert len(grasps) == 5
    assert all(np.allclose(grasp.joints, 0.1) and grasp.pose[2, 2] < -0.6 for grasp in grasps)
    assert 0 < ik.asked <= 4 * 5 * 2


def test_failures_have_their_codes(graph):
    ik, client = graph
    assert ask(client, "banana_1").error_code == ERROR_NUMBERS["unknown_object"]
    ik.far = -1.0
    answer = ask(client, "block_1")
    assert answer.error_code == ERROR_NUMBERS["no_grasp"] and "reaches none" in answer.error_message
    answer = ask(client, "bin_1")
    assert answer.error_code == ERROR_NUMBERS["no_grasp"] and "two sides" in answer.error_message
