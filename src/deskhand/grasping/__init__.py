"""Grasps for a parallel gripper from point clouds."""
