"""Which camera node a robot runs: our own, a vendor's, or none where one publishes already."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from deskhand.cameras.drivers import DRIVERS
from deskhand.errors import DeskhandError
from deskhand.recording.frames import COLOR, DEPTH, INFO
from deskhand.types.resources import resource_path

if TYPE_CHECKING:
    from deskhand.bringup.spec import NodeSpec, StackOptions, Value

Remappings = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class VendorNode:
    """A vendor's camera node, named "camera": how it is started, and where its topics differ from ours.

    ``own_namespace`` when its topics are relative; else they are below the node's name.
    """

    package: str
    executable: str
    parameters: Mapping[str, Value]
    remappings: Remappings = ()
    own_namespace: bool = False


VENDOR_NODES = {
    "realsense_ros": VendorNode(
        "realsense2_camera",
        "realsense2_camera_node",
        {
            "enable_color": True,
            "enable_depth": True,
            "align_depth.enable": True,
            "enable_sync": True,
            "rgb_camera.color_profile": "640x480x30",
            "depth_module.depth_profile": "640x480x30",
        },
    ),
    "orbbec_ros": VendorNode(
        "orbbec_camera",
        "orbbec_camera_node",
        {
            "camera_name": "camera",
            "enable_color": True,
            "enable_depth": True,
            "depth_registration": True,
            "enable_frame_sync": True,
            "color_width": 640,
            "color_height": 480,
            "depth_width": 640,
            "depth_height": 480,
        },
        remappings=((DEPTH, "camera/depth/image_raw"),),
        own_namespace=True,
    ),
}

PUBLISHED = {
    # Hiwonder/JetArm peripherals/launch/depth_camera.launch.py, as its lessons subscribe: no camera_info of the colour is used there, and where depth is
    # registered to colour that of depth says the same
    "jetarm_vendor": "/depth_cam/rgb/image_raw,/depth_cam/depth/image_raw,/depth_cam/depth/camera_info",
}
"""Topics (colour, aligned depth, camera_info) of cameras that a vendor's own launch file starts, by the name that ``camera`` gives them."""

CAMERAS = ("ros", *DRIVERS, *VENDOR_NODES, *PUBLISHED)
"""What ``camera`` of a bring-up can be: ``ros`` (one publishes already), our drivers, vendors' nodes, vendors' topics."""


def camera_nodes(options: StackOptions) -> tuple[list[NodeSpec], Remappings]:
    """The camera's node, if it is ours to start, and what every node of the stack is to remap.

    Raises:
        DeskhandError: ``config_error`` for an unknown camera or topics that are not three.
    """
    from deskhand.bringup.spec import PARAMETERS, NodeSpec

    if options.camera not in CAMERAS:
        raise DeskhandError("config_error", f"there is no camera {options.camera!r}; valid: {', '.join(CAMERAS)}.")
    if options.camera == "ros" or options.camera in PUBLISHED:
        return [], _remapped(options.camera_topics or PUBLISHED.get(options.camera, ""))
    if options.camera in VENDOR_NODES:
        vendor = VENDOR_NODES[options.camera]
        namespace = f"{options.namespace}/camera".strip("/") if vendor.own_namespace else options.namespace
        node = NodeSpec(name="camera", executable=vendor.executable, package=vendor.package, namespace=namespace, parameters=vendor.parameters)
        return [node], vendor.remappings
    if options.camera == "file" and not (options.camera_file and Path(options.camera_file).exists()):
        raise DeskhandError("config_error", f"the camera `file` needs a recording or a folder of pictures, got {options.camera_file!r}.")
    chosen = {"driver": options.camera, "file": options.camera_file, "mount": options.camera_mount}
    parameters: dict[str, Value] = {name: value for name, value in chosen.items() if value}
    files = (resource_path(PARAMETERS), *options.parameter_files)
    return [NodeSpec(name="camera", executable="camera_node", namespace=options.namespace, parameters=parameters, parameter_files=files)], ()


def _remapped(topics: str) -> Remappings:
    names = [name.strip() for name in topics.split(",") if name.strip()]
    if not names:
        return ()
    if len(names) != 3:
        raise DeskhandError("config_error", f"camera_topics must be three: colour, aligned depth and camera_info of the colour, got {topics!r}.")
    return tuple(zip((COLOR, DEPTH, INFO), names, strict=True))
