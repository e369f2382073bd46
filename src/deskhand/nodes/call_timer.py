"""Times the call of a tool over ROS beside a bare service call of the same node.

Prints one JSON object: ``{"bare_ms", "tool_ms": [wall time of each]}``. For ``deskhand bench tools``; a process of its own, so that who starts it needs no
ROS. The bare service is ``tools/approve``, which answers at once when nothing waits; the tool is ``list_watches``, which does next to nothing.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from rclpy.utilities import remove_ros_args
from std_srvs.srv import Trigger

from deskhand.nodes.node import call_service
from deskhand.nodes.ros_tools import connect

WARM_UP = 20


def main() -> int:
    """Exit code 0 when every call was answered."""
    calls = int(remove_ros_args(sys.argv)[1])
    with connect("call_timer", wait_for=20.0) as client:
        bare = client.node.create_client(Trigger, "tools/approve", callback_group=client.node.reentrant)
        client.search(limit=1)

        def call_tool() -> None:
            result = client.invoke("list_watches", {})
            if not result.ok:
                raise SystemExit(f"list_watches: {result.code}: {result.message}")

        times = [(_time(lambda: call_service(bare, Trigger.Request(), wait_for=20.0)), _time(call_tool)) for _ in range(WARM_UP + calls)]
    bare_times, tool_times = zip(*times[WARM_UP:], strict=True)  # in turn, so that what else the machine does falls on both
    print(json.dumps({"bare_ms": bare_times, "tool_ms": tool_times}), flush=True)
    return 0


def _time(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
