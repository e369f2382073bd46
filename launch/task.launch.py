"""Give one instruction to nodes that run, print how it goes, and end: ros2 launch deskhand task.launch.py instruction:='clean the desk'"""

import sys

from launch.actions import ExecuteProcess, Shutdown

from deskhand.nodes.launching import launch_description

ARGUMENTS = {
    "instruction": (None, "what the robot is to do, in words"),
    "mode": ("tools", "how the model acts"),
    "namespace": ("", "ROS namespace of the nodes"),
}


def make(values):
    namespace = ["-r", f"__ns:=/{values['namespace'].strip('/')}"] if values["namespace"] else []
    client = [sys.executable, "-m", "deskhand.nodes.task_client", f"--instruction={values['instruction']}", "--mode", values["mode"]]
    return [ExecuteProcess(cmd=[*client, "--ros-args", *namespace], name="task", output="screen", on_exit=Shutdown(reason="the task has ended"))]


def generate_launch_description():
    return launch_description(ARGUMENTS, make)
