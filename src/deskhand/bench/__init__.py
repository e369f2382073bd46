"""Measurements and reports; nothing imports them but the command line."""

from deskhand.bringup.environment import apply_workstation_defaults

apply_workstation_defaults()  # MuJoCo reads MUJOCO_GL when it is first imported, here or in a worker
