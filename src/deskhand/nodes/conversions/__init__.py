"""The one place where messages are made and read: ``x_to_msg`` and ``x_from_msg`` for the data of types/.

Every pose that is written is in frame ``world``; readers take a ``Placed`` for those that come in others. Readers of requests check what they read and
raise ``invalid_input``, so that a NaN or a quaternion of the wrong length ends here.
"""

from __future__ import annotations

from deskhand.nodes.conversions.geometry import (
    WORLD,
    Placed,
    cloud_from_msg,
    cloud_to_msg,
    duration_to_msg,
    header,
    only_world,
    pose_from_msg,
    pose_stamped_from_msg,
    pose_stamped_to_msg,
    pose_to_msg,
    time_from_msg,
    time_to_msg,
    transform_to_msg,
)
from deskhand.nodes.conversions.images import camera_info_from_msg, camera_info_to_msg, frame_from_msg, image_from_msg, image_to_msg
from deskhand.nodes.conversions.joints import joint_state_from_msg, joint_state_to_msg, joints_from_msg, joints_to_msg, trajectory_from_msg, trajectory_to_msg
from deskhand.nodes.conversions.motion import (
    collision_object_from_msg,
    collision_object_to_msg,
    ik_solution_from_msg,
    ik_solution_to_msg,
    motion_goal_from_msg,
    motion_goal_to_msg,
    pairs_from_msg,
    plan_from_msg,
    plan_options_from_msg,
    plan_options_to_msg,
    plan_to_msg,
    scene_update_from_msg,
    scene_update_to_msg,
    state_check_from_msg,
    state_check_to_msg,
)
from deskhand.nodes.conversions.safety import safety_status_from_msg, safety_status_to_msg
from deskhand.nodes.conversions.scene import grasp_from_msg, grasp_to_msg, scene_from_msg, scene_object_from_msg, scene_object_to_msg, scene_to_msg

__all__ = [
    "WORLD",
    "Placed",
    "camera_info_from_msg",
    "camera_info_to_msg",
    "cloud_from_msg",
    "cloud_to_msg",
    "collision_object_from_msg",
    "collision_object_to_msg",
    "duration_to_msg",
    "frame_from_msg",
    "grasp_from_msg",
    "grasp_to_msg",
    "header",
    "ik_solution_from_msg",
    "ik_solution_to_msg",
    "image_from_msg",
    "image_to_msg",
    "joint_state_from_msg",
    "joint_state_to_msg",
    "joints_from_msg",
    "joints_to_msg",
    "motion_goal_from_msg",
    "motion_goal_to_msg",
    "only_world",
    "pairs_from_msg",
    "plan_from_msg",
    "plan_options_from_msg",
    "plan_options_to_msg",
    "plan_to_msg",
    "pose_from_msg",
    "pose_stamped_from_msg",
    "pose_stamped_to_msg",
    "pose_to_msg",
    "safety_status_from_msg",
    "safety_status_to_msg",
    "scene_from_msg",
    "scene_object_from_msg",
    "scene_object_to_msg",
    "scene_to_msg",
    "scene_update_from_msg",
    "scene_update_to_msg",
    "state_check_from_msg",
    "state_check_to_msg",
    "time_from_msg",
    "time_to_msg",
    "trajectory_from_msg",
    "trajectory_to_msg",
    "transform_to_msg",
]
