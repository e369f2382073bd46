"""A tool server on a desk robot, a client and a listener of its events, in a ROS domain of their own."""

import contextlib
import json
import os
import threading

import rclpy
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import String

from deskhand.nodes.node import DeskhandNode
from deskhand.nodes.ros_tools import RosToolClient
from deskhand.nodes.tool_server_node import ToolServerNode
from deskhand.testing.desk_robot import DeskRobot
from deskhand.testing.desk_scene import one_of_each

DOMAIN = 71


class SlowRobot(DeskRobot):
    """Its motions last until they are let go or cancelled."""

    def __init__(self, objects):
        super().__init__(objects)
        self.moving, self.go = threading.Semaphore(0), threading.Event()
        self.go.set()

    def execute(self, plan_id, progress=None, cancelled=None):
        self.moving.release()
        while not self.go.wait(0.01):
            if progress:
                progress(0.5, "on the way")
            if cancelled and cancelled():
                self.go.set()
        return super().execute(plan_id, progress, cancelled)


class Graph:
    """A tool server on a robot of the test, a client, and what was said on tools/events."""

    def __init__(self, folder, approval="never", mounts="", others="never", settings=""):
        self.robot = SlowRobot([item for item in one_of_each() if item.id in ("block_1", "pen_1", "bin_1")])
        overrides = [Parameter("episode", value=str(folder)), Parameter("approval", value=approval), Parameter("lock_wait", value=0.2)]
        overrides += [Parameter("mounts", value=mounts), Parameter("approval_others", value=others), Parameter("settings", value=str(settings))]
        self.server = ToolServerNode(self.robot, parameter_overrides=overrides)
        self.node = DeskhandNode("test_client")
        self.client = RosToolClient(self.node)
        self.events, self.news = [], threading.Condition()
        self.node.create_subscription(String, "tools/events", self._on_event, 200, callback_group=self.node.reentrant)
        self.executors = [MultiThreadedExecutor(num_threads=count) for count in (2, 4)]
        self.threads = []
        for executor, node in zip(self.executors, (self.server, self.node), strict=True):
            executor.add_node(node)
            self.threads.append(threading.Thread(target=self._spin, args=(executor,), daemon=True))
            self.threads[-1].start()

    def _spin(self, executor):
        with contextlib.suppress(ExternalShutdownException):
            executor.spin()

    def _on_event(self, message):
        with self.news:
            self.events.append(json.loads(message.data))
            self.news.notify_all()

    def event(self, **fields):
        """Wait for an event with these fields."""

        def found():
            return next((event for event in self.events if fields.items() <= event.items()), None)

        with self.news:
            assert self.news.wait_for(found, timeout=15), (fields, self.events)
            return found()

    def ok(self, name, **arguments):
        result = self.client.invoke(name, arguments, caller="test")
        assert result.ok, result
        return result.data

    def start(self, name, arguments, **options):
        results = []
        thread = threading.Thread(target=lambda: results.append(self.client.invoke(name, arguments, **options)), daemon=True)
        thread.start()
        return thread, results

    def close(self):
        self.robot.go.set()
        self.server.close()
        self.client.close()
        for executor in self.executors:
            executor.shutdown(timeout_sec=2)
        for thread in self.threads:
            thread.join(5)
        self.server.destroy_node()
        self.node.destroy_node()


@contextlib.contextmanager
def ros_domain():
    """Rclpy in the domain of these tests."""
    before = os.environ.get("ROS_DOMAIN_ID")
    os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO, domain_id=DOMAIN)
    yield
    rclpy.try_shutdown()
    if before is None:
        del os.environ["ROS_DOMAIN_ID"]
    else:
        os.environ["ROS_DOMAIN_ID"] = before
