"""The simulated robot and the stack: ros2 launch deskhand sim.launch.py seed:=3"""

from pathlib import Path

from deskhand.bringup.stack import sim_nodes
from deskhand.nodes.launching import STACK_ARGUMENTS, launch_description, node_action, stack_options

ARGUMENTS = {
    **STACK_ARGUMENTS,
    "task": ("desk_cleaning", "task whose scene is on the desk"),
    "seed": ("0", "seed of the scene"),
    "scene": ("", "scene file (YAML) instead of a task's scene"),
    "reality": ("", "how the world differs from an ideal one: none, mild, hard or a YAML file; empty: as the scene file, else mild"),
}


def make(values):
    options = stack_options(values)
    scene = Path(values["scene"]) if values["scene"] else None
    return [node_action(spec) for spec in sim_nodes(options, task=values["task"], seed=int(values["seed"]), scene=scene, reality=values["reality"])]


def generate_launch_description():
    return launch_description(ARGUMENTS, make)
