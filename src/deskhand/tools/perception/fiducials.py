"""Fiducials in the picture."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from deskhand.etp.tool import ToolContext, tool
from deskhand.geometry import quaternion_from_matrix
from deskhand.perception.fiducials import Marker, find_markers
from deskhand.tools.objects import number_or_none, rounded
from deskhand.tools.pictures import stored_picture

Family = Literal["apriltag_36h11", "apriltag_25h9", "apriltag_16h5", "aruco_original", "aruco_4x4", "aruco_5x5", "aruco_6x6", "aruco_7x7"]


class MarkerData(TypedDict):
    """One marker."""

    number: Annotated[int, Field(description="the id that it codes")]
    corners: Annotated[list[list[float]], Field(description="[column, row] of its corners, clockwise from its upper left one [px]")]
    position: Annotated[list[float] | None, Field(description="its middle [x, y, z] in world [m]; null without its size")]
    quaternion: Annotated[list[float] | None, Field(description="x to its right, y up it, z out of it, in world, x y z w; null without its size")]
    error: Annotated[float | None, Field(description="rms distance of its corners from where that pose puts them [px]")]
    ambiguity: Annotated[float | None, Field(description="0 to 1; near 1 another tilt fits as well")]


class MarkersSeen(TypedDict):
    """All markers of the family in the picture, by number."""

    markers: list[MarkerData]


@tool(
    group="perception",
    unit="detection",
    needs=("camera",),
    timeout=20.0,
    when_to_use="To find AprilTag or ArUco codes printed on objects, trays or fixtures, with their numbers and, given their size, their pose.",
    limits="One family of square black codes per call. The pose needs the edge length and comes from the colour picture alone: small, far or flat-on ones "
    "have an uncertain tilt (ambiguity). A stored picture counts as taken from where the camera is now.",
    examples=[
        ("Where are the AprilTags of 4 cm on the desk?", {"family": "apriltag_36h11", "edge": 0.04}),
        ("Which ArUco numbers are in this stored picture?", {"family": "aruco_4x4", "picture": "deskhand://c"}),
    ],
    failures=[("The picture is no longer kept", {"picture": "deskhand://gone"}, "unknown_resource")],
)
def detect_fiducials(
    ctx: ToolContext,
    family: Annotated[Family, Field(description="which family of codes")] = "apriltag_36h11",
    edge: Annotated[float | None, Field(ge=0.003, le=1.0, description="[m] side of the black square; null: no pose")] = None,
    picture: Annotated[str, Field(max_length=200, description="uri of a colour picture; empty: a new one of the camera")] = "",
) -> MarkersSeen:
    """Detect fiducials (AprilTag, ArUco) in the picture: number, corners and, by their size, pose in world."""
    frame = ctx.robot.observe()
    image = stored_picture(ctx.resources, picture) if picture else frame.color
    intrinsics = frame.intrinsics if image.shape == frame.color.shape else None
    found = find_markers(image, family, intrinsics, edge)

    def data(marker: Marker) -> MarkerData:
        pose = None if marker.camera_T_marker is None else frame.world_T_camera @ marker.camera_T_marker
        return MarkerData(
            number=marker.number,
            corners=[rounded(corner, 2) for corner in marker.corners],
            position=None if pose is None else rounded(pose[:3, 3]),
            quaternion=None if pose is None else rounded(quaternion_from_matrix(pose[:3, :3])),
            error=number_or_none(marker.error, 3),
            ambiguity=number_or_none(min(marker.ambiguity, 1.0), 3),
        )

    return MarkersSeen(markers=[data(marker) for marker in found])
