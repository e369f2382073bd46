"""A node that publishes one frame over and over, as a camera does, and where the joints are."""

import time

import numpy as np
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image, JointState
from tf2_msgs.msg import TFMessage

from deskhand.nodes import conversions
from deskhand.nodes.node import DeskhandNode
from deskhand.types import JointState as Joints

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL, reliability=ReliabilityPolicy.RELIABLE)
COLOR, DEPTH, INFO = "camera/color/image_raw", "camera/aligned_depth_to_color/image_raw", "camera/color/camera_info"


class Robot(DeskhandNode):
    """Publishes one frame over and over, as a camera does, and where the joints are."""

    def __init__(self, one, encoding="32FC1"):
        super().__init__("robot")
        self.one, self.encoding = one, encoding
        self.with_pictures = self.with_joints = True
        self.late = 0.0
        self.lost, self.exposed, self.pause, self.next = 0.0, 0, 0.0, 0.0
        self.color, self.depth = (self.create_publisher(Image, topic, 2) for topic in (COLOR, DEPTH))
        self.info = self.create_publisher(CameraInfo, INFO, 2)
        self.joints = self.create_publisher(JointState, "joint_states", 5)
        self.tf = self.create_publisher(TFMessage, "/tf_static", LATCHED)
        pose = conversions.pose_to_msg(one.frame.world_T_camera)
        transform = TransformStamped(header=conversions.header(0.0, "world"), child_frame_id=one.frame.intrinsics.frame_id)
        transform.transform.rotation = pose.orientation
        p, t = pose.position, transform.transform.translation
        t.x, t.y, t.z = p.x, p.y, p.z
        self.tf.publish(TFMessage(transforms=[transform]))
        self.create_timer(0.1, self._expose, callback_group=self.reentrant)
        self.create_timer(0.02, self._tell_joints, callback_group=self.reentrant)

    def _expose(self):
        if not self.with_pictures or not self.color.get_subscription_count():
            return
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.pause
        stamp, frame = self.seconds() - self.late, self.one.frame
        self.exposed += 1
        depth = frame.depth if self.encoding == "32FC1" else np.nan_to_num(np.round(frame.depth * 1000)).astype(np.uint16)
        depth = np.where(np.random.default_rng(self.exposed).random(depth.shape) < self.lost, np.zeros_like(depth), depth)
        self.info.publish(conversions.camera_info_to_msg(frame.intrinsics, stamp))
        self.color.publish(conversions.image_to_msg(frame.color, stamp, frame.intrinsics.frame_id))
        self.depth.publish(conversions.image_to_msg(depth, stamp, frame.intrinsics.frame_id))

    def _tell_joints(self):
        if self.with_joints:
            state = self.one.joints
            empty = np.zeros(0)
            self.joints.publish(conversions.joint_state_to_msg(Joints(state.names, state.positions, empty, empty, self.seconds())))
