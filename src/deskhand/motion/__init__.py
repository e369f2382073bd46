"""Inverse kinematics, planning, timing, execution."""
