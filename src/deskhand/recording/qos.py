"""Quality of service of a recorded topic, as rosbag2 writes it into a channel's metadata: ``ros2 bag play`` offers the topic as it was offered.

Policies are the numbers of rmw (Humble's rosbag2 reads nothing else). Jazzy's reads names, and numbers only in a file whose metadata record ``rosbag2`` says
that it is older (rosbag2_storage_mcap, ``read_metadata``): without that record it takes every policy for unknown.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

OFFERED = "offered_qos_profiles"
BAG_METADATA = "rosbag2"
_INFINITE = "{sec: 9223372036, nsec: 854775807}"
_KEEP_LAST, _RELIABLE, _BEST_EFFORT, _TRANSIENT_LOCAL, _VOLATILE, _AUTOMATIC = 1, 1, 2, 1, 2, 1


@dataclass(frozen=True)
class OfferedQos:
    """What one publisher offers; ``latched``: the last ``depth`` messages are kept for who comes later."""

    depth: int = 10
    reliable: bool = True
    latched: bool = False


USUAL = OfferedQos()
LATCHED = OfferedQos(depth=1, latched=True)


def qos_text(offered: Sequence[OfferedQos]) -> str:
    """The profiles of a topic's publishers, in YAML."""
    return "".join(
        f"- history: {_KEEP_LAST}\n"
        f"  depth: {qos.depth}\n"
        f"  reliability: {_RELIABLE if qos.reliable else _BEST_EFFORT}\n"
        f"  durability: {_TRANSIENT_LOCAL if qos.latched else _VOLATILE}\n"
        f"  deadline: {_INFINITE}\n"
        f"  lifespan: {_INFINITE}\n"
        f"  liveliness: {_AUTOMATIC}\n"
        f"  liveliness_lease_duration: {_INFINITE}\n"
        "  avoid_ros_namespace_conventions: false\n"
        for qos in offered
    )


def bag_metadata() -> dict[str, str]:
    """The record ``rosbag2`` of a file whose policies are numbers; the distribution is the one that is sourced."""
    return {"ROS_DISTRO": os.environ.get("ROS_DISTRO", ""), "serialized_metadata": ""}
