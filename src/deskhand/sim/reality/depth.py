"""What a real depth sensor adds: scale, bend, noise that neighbours share, flying pixels, holes where a surface gives nothing back."""

from __future__ import annotations

import cv2
import mujoco
import numpy as np
import numpy.typing as npt

from deskhand.geometry import Array, make_transform, rotation_about
from deskhand.sim.reality.spec import DepthReality, RealitySpec
from deskhand.sim.sensor import DepthSensor
from deskhand.types import Depth

DARK = 0.22
"""Brightest channel, 0..1 as displayed, below which a surface gives too little of the pattern back."""
SHINY = 0.3
"""MuJoCo's ``specular``, from which on a surface mirrors the pattern away."""
BLOTCH = 7.0  # [px] size of holes, as matching windows make them
CHANGING = 0.15  # share of the variance of the holes' field that changes from frame to frame: their outlines flicker
_FIELDS, _FIXED, _BEND, _AWAY = 301, 302, 303, 304  # streams of random numbers of one seed

Field = npt.NDArray[np.float32]


class DepthCamera:
    """Turns the true depth (H, W) of what a picture shows into what is measured."""

    def __init__(self, reality: RealitySpec, sensor: DepthSensor, shape: tuple[int, int]) -> None:
        self._sensor, self._errors, self._shape, seed = sensor, reality.depth, shape, reality.seed
        self._bend = bend_field(shape, np.random.default_rng([seed, _BEND])) * np.float32(self._errors.bend)
        self._fixed = smooth_noise(shape, self._errors.correlation, np.random.default_rng([seed, _FIXED]))
        self._blotches = smooth_noise(shape, BLOTCH, np.random.default_rng([seed, _FIELDS]))

    def measure(self, true_depth: Field, focal: float, rng: np.random.Generator, loss: Field | None = None) -> Depth:
        """Depth (H, W) [m], NaN where nothing is measured.

        Args:
            true_depth: (H, W) [m]
            focal: [px]
            rng: of this frame.
            loss: (H, W) share that each surface loses, from :func:`surface_losses`.
        """
        errors = self._errors
        square = true_depth * true_depth
        depth = true_depth * np.float32(1 + errors.scale) + self._bend * square
        if errors.noise > 0:
            fresh = smooth_noise(self._shape, errors.correlation, rng)
            shared = np.float32(np.sqrt(errors.fixed)) * self._fixed + np.float32(np.sqrt(1 - errors.fixed)) * fresh
            depth += np.float32(errors.noise) * square * shared
        measured = self._sensor.measure(depth, focal, rng)
        if errors.flying > 0:
            fly(depth, measured, errors.flying, self._sensor, rng)
        if loss is not None and loss.any():
            measured[self._lost(loss, rng)] = np.nan
        if errors.interference > 0:
            measured[smooth_noise(self._shape, 2 * BLOTCH, rng) < _quantile(errors.interference)] = np.nan
        return measured

    def _lost(self, loss: Field, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        fresh = smooth_noise(self._shape, BLOTCH, rng)
        field = np.float32(np.sqrt(1 - CHANGING)) * self._blotches + np.float32(np.sqrt(CHANGING)) * fresh
        return lost_in_blotches(field, loss)


def fly(depth: Field, measured: Depth, share: float, sensor: DepthSensor, rng: np.random.Generator) -> None:
    """Put a share of the pixels of ``measured`` at jumps of ``depth`` (H, W) [m] between the nearest and the farthest of their neighbours."""
    window = np.ones((3, 3), np.uint8)
    near, far = cv2.erode(depth, window), cv2.dilate(depth, window)
    rows, columns = np.nonzero((far - near > sensor.edge * near) & (far < sensor.far) & (near > sensor.near))
    chosen = rng.random(len(rows), dtype=np.float32) < share
    rows, columns = rows[chosen], columns[chosen]
    part = rng.random(len(rows), dtype=np.float32)
    between = near[rows, columns] + part * (far[rows, columns] - near[rows, columns])
    measured[rows, columns] = np.round(between / np.float32(sensor.step)) * np.float32(sensor.step)


def lost_in_blotches(field: Field, loss: Field) -> npt.NDArray[np.bool_]:
    """Which pixels (H, W) are lost: the share ``loss`` (H, W) of them, where a smooth ``field`` of unit variance is lowest."""
    return np.asarray(field < _quantile_of(loss))


def depth_pose(reality: RealitySpec, focal: float) -> Array:
    """color_T_depth: the small turn of the depth camera that puts its picture ``registration`` pixels beside the colour, as a badly calibrated pair does."""
    way = np.random.default_rng([reality.seed, _AWAY]).uniform(-np.pi, np.pi)
    return make_transform(rotation_about([np.cos(way), np.sin(way), 0.0], float(np.arctan2(reality.depth.registration, focal))), [0, 0, 0])


def surface_losses(model: mujoco.MjModel, errors: DepthReality) -> Field:
    """Share of the pixels that each geom (ngeom,) loses, by its material: dark, mirroring or clear."""
    losses = np.zeros(model.ngeom, np.float32)
    for geom in range(model.ngeom):
        material = int(model.geom_matid[geom])
        rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
        lightness = float(rgba[:3].max()) * _texture_light(model, material)
        specular = float(model.mat_specular[material]) if material >= 0 else 0.0
        loss = errors.dark * (1 - lightness / DARK) ** 0.5 if lightness < DARK else 0.0
        losses[geom] = max(loss, errors.shiny if specular >= SHINY else 0.0, errors.clear if rgba[3] < 1 else 0.0)
    return losses


def _texture_light(model: mujoco.MjModel, material: int) -> float:
    """Mean over a material's texture of the brightest channel, 0..1; 1 without a texture."""
    texture = int(model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB]) if material >= 0 else -1
    if texture < 0:
        return 1.0
    start, channels = int(model.tex_adr[texture]), int(model.tex_nchannel[texture])
    size = int(model.tex_width[texture]) * int(model.tex_height[texture]) * channels
    return float(model.tex_data[start : start + size].reshape(-1, channels)[:, :3].max(axis=1).mean()) / 255


def smooth_noise(shape: tuple[int, int], length: float, rng: np.random.Generator) -> Field:
    """A field (H, W) of unit variance in which pixels ``length`` apart hardly share anything: white noise on a grid, in between by cubic splines."""
    rows, columns = (max(4, int(np.ceil(side / length)) + 3) for side in shape)
    grid = rng.standard_normal((rows, columns), dtype=np.float32)
    scale = np.array([[1 / length, 0, 1 + rng.random()], [0, 1 / length, 1 + rng.random()]], np.float32)  # the grid lies elsewhere each time
    field = cv2.warpAffine(grid, scale, shape[::-1], flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REFLECT)
    return np.asarray(field / np.float32(0.86), dtype=np.float32)  # interpolating takes about this much of the standard deviation


def bend_field(shape: tuple[int, int], rng: np.random.Generator) -> Field:
    """A low-frequency field (H, W), 1 at its greatest, 0 in the mean: a bowl, and waves of less than one period over the picture."""
    v, u = np.meshgrid(np.linspace(-1, 1, shape[0]), np.linspace(-1, 1, shape[1]), indexing="ij")
    field = rng.choice([-1.0, 1.0]) * (u**2 + v**2) / 2
    for _ in range(3):
        across, down = rng.uniform(-2.5, 2.5, 2)
        field = field + rng.normal(0, 0.3) * np.sin(across * u + down * v + rng.uniform(0, 2 * np.pi))
    field = field - field.mean()
    return np.asarray(field / np.abs(field).max(), dtype=np.float32)


def _quantile(share: float) -> np.float32:
    quantile: np.float32 = _quantile_of(np.array([share], np.float32))[0]
    return quantile


def _quantile_of(share: Field) -> Field:
    """Below which a unit normal field lies with these probabilities (Winitzki's approximation of the inverse error function)."""
    x = np.clip(2 * share - 1, -0.9999, 0.9999)
    log = np.log(1 - x * x)
    first = 2 / (np.pi * 0.147) + log / 2
    quantile = np.sign(x) * np.sqrt(2 * (np.sqrt(first * first - log / 0.147) - first))
    return np.asarray(np.where(share > 0, quantile, -np.inf), dtype=np.float32)
