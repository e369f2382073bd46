"""What a structured-light depth sensor makes of the true depth: range, noise, quantisation, shadows, holes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from deskhand.types import Depth


@dataclass(frozen=True)
class DepthSensor:
    """Model of the sensor.

    Attributes:
        near, far: range [m].
        noise: standard deviation at 1 m [m]; it grows with the distance squared, as with every triangulating sensor.
        step: quantisation [m].
        baseline: from camera to projector [m]; what the projector does not reach is not measured.
        edge: relative jump of depth at which the pattern on either side is mixed up and lost.
        grazing: steepest surface that still returns the pattern, as depth change per pixel relative to the depth.
        dropout: fraction of pixels lost at random.
    """

    near: float = 0.25
    far: float = 2.5
    noise: float = 0.0016
    step: float = 0.001
    baseline: float = 0.045
    edge: float = 0.02
    grazing: float = 0.009
    dropout: float = 0.001

    def measure(self, true_depth: npt.NDArray[np.float32], focal: float, rng: np.random.Generator) -> Depth:
        """Depth (H, W) [m] as measured, NaN where nothing is.

        Args:
            true_depth: (H, W) [m]
            focal: focal length [px]
            rng: source of the noise; the same state gives the same picture.
        """
        depth = np.asarray(true_depth, dtype=np.float32)
        lost = (depth < self.near) | (depth > self.far)
        lost |= self._shadow(depth, focal)
        lost |= self._edges(depth, rng)
        lost |= rng.random(depth.shape, dtype=np.float32) < self.dropout
        noisy = depth + np.float32(self.noise) * depth * depth * self._correlated(depth.shape, rng)
        measured = np.round(noisy / np.float32(self.step)) * np.float32(self.step)
        measured[lost] = np.nan
        return np.asarray(measured, dtype=np.float32)

    @staticmethod
    def _correlated(shape: tuple[int, ...], rng: np.random.Generator) -> npt.NDArray[np.float32]:
        """Unit noise that neighbours share in part, as the sensor's matching window makes it."""
        white = rng.standard_normal(shape, dtype=np.float32)
        mixed = white.copy()
        mixed[:, 1:] += np.float32(0.5) * white[:, :-1]
        mixed[1:, :] += np.float32(0.5) * white[:-1, :]
        return np.asarray(mixed / np.float32(np.sqrt(1.5)), dtype=np.float32)

    def _shadow(self, depth: npt.NDArray[np.float32], focal: float) -> npt.NDArray[np.bool_]:
        """What the projector, to the right of the camera, does not see: its columns must rise from left to right."""
        columns = np.arange(depth.shape[1], dtype=np.float32)
        seen_at = columns - np.float32(focal * self.baseline) / np.clip(depth, 0.05, None)
        nearest = np.minimum.accumulate(seen_at[:, ::-1], axis=1)[:, ::-1]
        return np.asarray(seen_at > nearest + 0.5)

    def _edges(self, depth: npt.NDArray[np.float32], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
        """Pixels beside jumps of depth, most of them; and grazing surfaces."""
        across, down = np.zeros_like(depth), np.zeros_like(depth)
        across[:, :-1] = np.abs(np.diff(depth, axis=1))
        down[:-1] = np.abs(np.diff(depth, axis=0))
        jump = np.maximum(across, down) > self.edge * depth
        jump[:, 1:] |= jump[:, :-1].copy()
        jump[1:] |= jump[:-1].copy()
        edge = jump & (rng.random(depth.shape, dtype=np.float32) < 0.7)
        steep = np.zeros_like(jump)
        steep[1:, 1:] = (np.minimum(across[1:, 1:], across[1:, :-1]) > self.grazing * depth[1:, 1:]) | (
            np.minimum(down[1:, 1:], down[:-1, 1:]) > self.grazing * depth[1:, 1:]
        )
        return np.asarray(edge | steep)
