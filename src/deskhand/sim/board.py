"""A calibration board in the simulated world: a thin plate with the board's picture on its face."""

from __future__ import annotations

import mujoco
import numpy as np

from deskhand.calibration.board import Board
from deskhand.geometry import quaternion_from_matrix
from deskhand.sim.spec import BoardSpec

NAME = "calibration_board"
THICKNESS = 0.002  # [m]
PIXELS_PER_SQUARE, MARGIN = 128, 32
"""[px] of the texture, and of white paper around the squares. Its sides are multiples of 64: halved again and again for the view from afar (mipmaps), an odd
number of rows would lose one, and the squares would be drawn 0.1 % too large."""


def add_board(spec: mujoco.MjSpec, placed: BoardSpec) -> None:
    """Add the plate to the world, or to the link that carries it; it has no mass to speak of and touches nothing."""
    board = Board.parse(placed.board)
    picture, (width, height) = _paper(board), board.size
    rows, columns = picture.shape
    texture = spec.add_texture(name=NAME, type=mujoco.mjtTexture.mjTEXTURE_2D, width=columns, height=rows, nchannel=3)
    texture.data = np.repeat(picture[..., None], 3, axis=2).tobytes()
    material = spec.add_material(name=NAME, specular=0.05, shininess=0.05)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = NAME
    margin = MARGIN * board.square / PIXELS_PER_SQUARE
    low, high = np.array([-margin, -margin]), np.array([width + margin, height + margin])
    corners = np.array([[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]])
    # z of the board's frame goes into the paper, so its face is at z = 0 and its back at z > 0
    vertices = np.vstack([np.column_stack([corners, np.full(4, z)]) for z in (0.0, THICKNESS)])
    face = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    mesh = spec.add_mesh(name=NAME)
    mesh.uservert = vertices.ravel()
    mesh.usertexcoord = np.vstack([face, np.zeros((4, 2))]).ravel()  # the back is as white as the paper's corner
    mesh.userface = np.array(
        [[0, 2, 1], [0, 3, 2], [4, 5, 6], [4, 6, 7], [0, 1, 5], [0, 5, 4], [1, 2, 6], [1, 6, 5], [2, 3, 7], [2, 7, 6], [3, 0, 4], [3, 4, 7]]
    ).ravel()
    body = spec.body(placed.link) if placed.link else spec.worldbody
    body.add_geom(
        name=NAME,
        type=mujoco.mjtGeom.mjGEOM_MESH,
        meshname=NAME,
        material=NAME,
        pos=placed.pose[:3, 3],
        quat=np.roll(quaternion_from_matrix(placed.pose[:3, :3]), 1),
        contype=0,
        conaffinity=0,
        group=1,
        mass=1e-6,
    )


def _paper(board: Board) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The board's picture with its white margin."""
    return np.pad(board.picture(PIXELS_PER_SQUARE), MARGIN, constant_values=245)
