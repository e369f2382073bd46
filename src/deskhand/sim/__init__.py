"""The simulated robot and worlds. Only the sim node, the tasks and the scorer import this; a test enforces it."""

from deskhand.bringup.environment import apply_workstation_defaults

apply_workstation_defaults()  # MuJoCo reads MUJOCO_GL when it is first imported
