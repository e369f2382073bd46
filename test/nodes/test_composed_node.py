"""Several nodes in one process, as a bring-up starts them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import rclpy
from rcl_interfaces.srv import GetParameters
from rclpy.context import Context

from deskhand.bringup.domains import free_domain
from deskhand.bringup.spec import StackOptions
from deskhand.bringup.stack import sim_nodes
from deskhand.bringup.supervisor import Supervisor
from deskhand.nodes.node import DeskhandNode, call_service
from deskhand.nodes.spinner import Spinner

WANTED = ("perception", "grasping")


def test_each_node_is_there_under_its_name_with_its_parameters_and_all_end_together(tmp_path: Path) -> None:
    spec = next(spec for spec in sim_nodes(StackOptions(arm="jetarm", composed=True)) if spec.name == "composed")
    context = Context()
    with free_domain() as domain:
        rclpy.init(context=context, domain_id=domain)
        with Supervisor([replace(spec, arguments=WANTED)], log_folder=tmp_path, environment={"ROS_DOMAIN_ID": str(domain)}) as supervisor:
            supervisor.wait_ready(60.0)
            node = DeskhandNode("asks", context=context)
            spinner = Spinner(node, 2)
            spinner.start()
            end = time.monotonic() + 10.0
            while not set(WANTED) <= set(node.get_node_names()) and time.monotonic() < end:
                time.sleep(0.05)
            arms = [call_service(node.create_client(GetParameters, f"{name}/get_parameters"), GetParameters.Request(names=["arm"])) for name in WANTED]
            assert [answer.values[0].string_value for answer in arms] == ["jetarm", "jetarm"]
            spinner.end()
            node.destroy_node()
        rclpy.shutdown(context=context)
    said = (tmp_path / "composed.log").read_text()
    assert "ready composed" in said and "Traceback" not in said
