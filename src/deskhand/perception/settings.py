"""What can be set in perception; every length in metres."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PerceptionSettings:
    """Defaults suit a depth camera with 1 to 3 mm noise at 0.5 to 1.2 m.

    Attributes:
        frames: pictures that a look is made of: more take longer and have less noise.
        max_table_offset: how far the found table may be from world z = 0 before it is an error [m].
        max_table_tilt: how far its normal may be from world z [rad].
        scale_error: relative error of the depth to be expected; the data sheets of D400 and Gemini 330 cameras allow 2 and 0.8 % at most.
        height_error: error of the camera's calibrated height to be expected [m]: a residual of hand-eye calibration.
        min_height: lowest height above the table that counts as an object [m].
        max_height: above this nothing is looked at [m].
        join_distance: neighbouring pixels further apart than this belong to different objects [m].
        chroma_step: neighbouring pixels whose chromaticity (r, g, b over their sum) differs more do so too.
        fill_reach: holes in the depth are filled this far from an object [px].
        min_pixels: smaller segments are noise.
        self_padding: robot shapes are grown by this much before their points are removed [m].
        object_voxel: edge of the voxels of an object's points [m].
        cloud_voxel: the same of the scene's cloud [m].
        max_points: of one object.
        memory: looks an object that is not seen keeps its id for.
    """

    frames: int = 3
    max_table_offset: float = 0.03
    max_table_tilt: float = 0.06
    scale_error: float = 0.005
    height_error: float = 0.0015
    min_height: float = 0.005
    max_height: float = 0.5
    join_distance: float = 0.010
    chroma_step: float = 0.055
    fill_reach: int = 4
    min_pixels: int = 45
    self_padding: float = 0.012
    object_voxel: float = 0.003
    cloud_voxel: float = 0.004
    max_points: int = 1500
    memory: int = 1000
