"""The robot in Gazebo Harmonic and the stack: ros2 launch deskhand gazebo.launch.py task:=block_building seed:=3"""

import tempfile
from dataclasses import replace
from pathlib import Path

from deskhand.bringup.stack import gazebo_nodes
from deskhand.nodes.launching import STACK_ARGUMENTS, launch_description, node_action, stack_options
from deskhand.sim.gazebo.files import require_gazebo, write_gazebo
from deskhand.tasks import world_of

ARGUMENTS = {
    **STACK_ARGUMENTS,
    "task": ("desk_cleaning", "task whose scene is on the desk"),
    "seed": ("0", "seed of the scene"),
    "scene": ("", "scene file (YAML) instead of a task's scene"),
    "folder": ("", "folder for the files that Gazebo starts from; empty: a new one in the temporary folder"),
    "gui": ("false", "true: also show the world in Gazebo's window"),
}


def make(values):
    options = stack_options(values)
    require_gazebo()
    world = world_of(options.arm, values["task"], int(values["seed"]), Path(values["scene"]) if values["scene"] else None)
    files = write_gazebo(world, values["folder"] or tempfile.mkdtemp(prefix="deskhand_gazebo_"), options.namespace)
    nodes = gazebo_nodes(replace(options, arm=world.arm), files, gui=values["gui"].lower() == "true")
    return [node_action(spec) for spec in nodes]


def generate_launch_description():
    return launch_description(ARGUMENTS, make)
