"""Serves ``perception/detect_objects``: takes a new picture and says what is on the desk; ``perception/add_view`` adds another view to it.

Camera and joint states are listened to only while a picture is awaited.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import Image, JointState

from deskhand.arms.config import ArmConfig, load_arm
from deskhand.arms.model import RobotModel
from deskhand.calibration.drift import require_still
from deskhand.cameras.config import load_camera
from deskhand.cameras.registration import RegistrationWatch
from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.nodes import conversions
from deskhand.nodes.camera_client import CameraClient
from deskhand.nodes.diagnostics import CallCounter, Health
from deskhand.nodes.measured_joints import MeasuredJoints
from deskhand.nodes.node import DeskhandNode, run_node
from deskhand.nodes.parameters import declare_parameters
from deskhand.nodes.tf import TfListener
from deskhand.perception.detectors.config import load_detectors, users_file
from deskhand.perception.fusion import Views
from deskhand.perception.pipeline import Perception
from deskhand.perception.settings import PerceptionSettings
from deskhand.perception.taught.naming import TaughtNames
from deskhand.perception.temporal_filter import steady
from deskhand.types import Frame, Scene
from deskhand.types import JointState as Joints
from deskhand.world.taught import store_path
from deskhand_interfaces.msg import SceneObjects
from deskhand_interfaces.srv import DetectObjects

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
CARRIED = 2.0  # times as much may a camera seem to have moved that the arm carries: its joints' errors come to it
CAMERA_CHECK = 30.0  # [s] for which a camera that stood where it should is trusted
_JOINTS_APART = 0.15  # [s] between the picture and the joint state at most
THREADS = 4


@dataclass(frozen=True)
class Parameters(PerceptionSettings):
    """Parameters of the node, besides those of PerceptionSettings.

    Attributes:
        arm: name or file.
        camera: name in config/cameras or file of a camera whose transform nobody publishes; empty: it comes by /tf.
        objects_file: kinds of objects; empty: config/objects.yaml.
        detectors: file that says which detectors are used; empty: that of DESKHAND_DETECTORS, ~/.deskhand/detectors.yaml, or config/detectors.yaml.
        segmenter: ``geometry``, ``piles`` (the weights that come with deskhand) or an ONNX file; empty: what config/segmenter.yaml says.
        taught: file of the objects that people have taught; empty: that of DESKHAND_TAUGHT, or ~/.deskhand/taught.sqlite; ``none``: no such names.
        self_filter: leave out the robot's own points; needs joint_states.
        memory_file: file of the tool server's memory: ids go on from there; empty: they begin anew.
        timeout: [s] of wall time to wait for a picture.
        check_registration: look at the first pictures whether depth is aligned to colour, and refuse it where it is not.
        max_camera_shift, max_camera_turn: [m], [rad] that a camera whose file `deskhand calibrate` wrote may have moved since; 0: not looked at.
    """

    arm: str = "wx250s"
    camera: str = ""
    objects_file: str = ""
    detectors: str = ""
    segmenter: str = ""
    taught: str = ""
    self_filter: bool = True
    memory_file: str = ""
    timeout: float = 5.0
    check_registration: bool = True
    max_camera_shift: float = 0.008
    max_camera_turn: float = 0.02


class PerceptionNode(DeskhandNode):
    """Node ``perception``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__("perception", **kwargs)
        self.parameters = declare_parameters(self, Parameters)
        settings = PerceptionSettings(**{item.name: getattr(self.parameters, item.name) for item in fields(PerceptionSettings)})
        detectors = load_detectors(self.parameters.detectors or users_file())
        taught = None if self.parameters.taught == "none" else self.parameters.taught or store_path()
        files = self.parameters.objects_file or None, self.parameters.memory_file or None
        self._perception = Perception(settings, *files, detectors, taught, self.parameters.segmenter)
        self._model = RobotModel.load(load_arm(self.parameters.arm)) if self.parameters.self_filter else None
        self._views = Views(self._perception, self._model)
        self._tf = TfListener(self)
        self._mount = load_camera(self.parameters.camera) if self.parameters.camera else None
        self._camera_checked = float("-inf")
        self._registration = RegistrationWatch() if self.parameters.check_registration else None
        if self._mount is not None:
            self._tf.put(self._mount.parent, self._mount.child, self._mount.pose, static=True)
        self._camera = CameraClient(self, self._extrinsics, self.parameters.timeout)
        self._one = threading.Lock()
        self._calls = CallCounter()
        self._last_look = (0, 0.0)  # objects, and how long it took [s]
        self._joints = JointWatch(self, load_arm(self.parameters.arm))
        self._scene = self.create_publisher(SceneObjects, "perception/scene", LATCHED)
        self._annotated = self.create_publisher(Image, "perception/annotated", LATCHED)
        for name, add in (("detect_objects", False), ("add_view", True)):
            self.create_service(DetectObjects, f"perception/{name}", partial(self._detect, add), callback_group=self.reentrant)

    def start(self) -> None:
        """Read what was taught before anybody waits for a look."""
        if isinstance(self._perception.taught, TaughtNames):
            self._perception.taught.read()

    def health(self) -> Health:
        """See base."""
        objects, seconds = self._last_look
        values = {"objects of the last look": objects, "last look took [s]": seconds, "busy": self._one.locked(), **self._calls.values()}
        return Health(values=values)

    def _detect(self, add: bool, _: DetectObjects.Request, response: DetectObjects.Response) -> DetectObjects.Response:
        asked = self.seconds()
        try:
            with self._one:
                scene = self._look(asked, add)
            response.scene = conversions.scene_to_msg(scene)
        except DeskhandError as error:
            response.error_code, response.error_message = error.number, str(error)
            self.get_logger().warning(f"detect_objects: {error.code}: {error}")
        except Exception as error:  # a bug must not leave the caller waiting
            response.error_code, response.error_message = DeskhandError("internal_error", "").number, f"{type(error).__name__}: {error}"
            self.get_logger().error(f"detect_objects: {type(error).__name__}: {error}")
        self._calls.answered(response.error_message)
        return response

    def _look(self, asked: float, add: bool) -> Scene:
        """Pictures exposed after ``asked`` [s], and what is on them, or on them and those of the looks before."""
        if self._model is None:
            frames, joints = self._camera.burst(asked, self.parameters.frames), None
        else:
            with self._joints:
                frames = self._camera.burst(asked, self.parameters.frames)
                joints = self._joints.at(frames[-1].stamp)
        scene = self._timed(frames, joints, add)
        self._scene.publish(conversions.scene_to_msg(scene))
        self._annotated.publish(conversions.image_to_msg(self._perception.annotated(scene), scene.stamp, "camera_color_optical_frame"))
        return scene

    def check_camera(self, frame: Frame) -> None:
        """Before a task's first look: is a camera that was calibrated still where it was? Raises ``camera_moved``."""
        if self._mount is None or not self._mount.calibration or not self.parameters.max_camera_shift:
            return
        if not 0 <= frame.stamp - self._camera_checked < CAMERA_CHECK:
            share = 1.0 if self._mount.parent == "world" else CARRIED
            require_still(frame, self._mount, share * self.parameters.max_camera_shift, share * self.parameters.max_camera_turn)
            self._camera_checked = frame.stamp

    def _timed(self, frames: list[Frame], joints: Joints | None, add: bool) -> Scene:
        if self._registration is not None:
            self._registration.look(frames[-1].color, frames[-1].depth)
        self.check_camera(frames[-1])
        begun = time.perf_counter()
        scene = self._views.look(steady(frames), joints, add)
        self._last_look = (len(scene.objects), time.perf_counter() - begun)
        self.get_logger().info(f"{len(scene.objects)} objects in {1000 * self._last_look[1]:.0f} ms: {', '.join(o.id for o in scene.objects)}")
        return scene

    def _extrinsics(self, frame_id: str) -> Array:
        return self._tf.lookup("world", frame_id, timeout=1.0)


class JointWatch:
    """Joint states while they are wanted (``with``), and the one nearest to an exposure."""

    def __init__(self, node: DeskhandNode, arm: ArmConfig) -> None:
        self._node = node
        self._measured = MeasuredJoints(arm, lambda text: node.get_logger().warning(text, throttle_duration_sec=10.0))
        self._news = threading.Condition()
        self._recent: list[Joints] = []
        self._subscription = None

    def __enter__(self) -> JointWatch:
        self._recent = []
        quality = QoSProfile(depth=20, reliability=ReliabilityPolicy.BEST_EFFORT)
        self._subscription = self._node.create_subscription(JointState, "joint_states", self._take, quality, callback_group=self._node.reentrant)
        return self

    def __exit__(self, *_: object) -> None:
        self._node.destroy_subscription(self._subscription)

    def _take(self, message: JointState) -> None:
        state = self._measured.read(message)
        with self._news:
            self._recent = [*self._recent[-400:], state]
            self._news.notify_all()

    def at(self, stamp: float, timeout: float = 1.5) -> Joints:
        """The state nearest to ``stamp`` [s]; several publishers of parts of the joints are merged.

        Raises:
            DeskhandError: ``stale_data`` when there is none near it.
        """
        with self._news:
            self._news.wait_for(lambda: any(state.stamp >= stamp for state in self._recent), timeout)
            near = sorted((state for state in self._recent if abs(state.stamp - stamp) <= _JOINTS_APART), key=lambda state: -abs(state.stamp - stamp))
        if not near:
            last = f"the last is of {self._recent[-1].stamp:.2f} s" if self._recent else "none came"
            raise DeskhandError(
                "stale_data",
                f"no joint_states at the time of the picture ({stamp:.2f} s): {last}.",
                retry=True,
                hint="Is the arm's driver running? Without an arm set self_filter to false.",
            )
        positions = {name: float(value) for state in near for name, value in zip(state.names, state.positions, strict=True)}
        empty = np.zeros(0)
        return Joints(tuple(positions), np.array(list(positions.values())), empty, empty, near[-1].stamp)


def main() -> int:
    """Entry point."""
    return run_node(PerceptionNode, THREADS)


if __name__ == "__main__":
    sys.exit(main())
