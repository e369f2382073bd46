"""What goes wrong on purpose, once a world: a slip, an object moved by hand, a block knocked off, old pictures, holes in the depth.

The simulation asks after every few steps; the robot stack knows nothing of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.geometry import Array
from deskhand.sim.spec import CONTAINER_KINDS
from deskhand.types import Depth

if TYPE_CHECKING:
    from deskhand.sim.simulation import Simulation

FAULTS = ("slip", "moved_object", "knocked_tower", "stale_frames", "depth_holes")
EVERY = 10  # simulation steps between two looks
SLIPPERY = 1e-4  # friction
SLIP_TIME = 0.6  # [s]
LIFTED = 0.035  # [m] above where it lay
NEAR = 0.035  # [m] from the axis of the hand
ABOVE = (0.015, 0.10)  # [m] between the fingers and the top of what they come down to
SHOVE = 0.05  # [m] that an object is moved
HAND_AWAY = 0.14  # [m]
STANDS = 0.5  # [s] that a block has stood on another
KNOCK = (0.45, 0.25)  # [m/s] sideways and up
STALE_FROM, STALE_COUNT = 2, 3  # pictures that are right, then pictures that are old
HOLES = 0.20  # share of the depth
HOLE_SIZE = 2.5  # [px]


def check_fault(name: str) -> None:
    """Raises ``invalid_input`` with the faults there are."""
    if name and name not in FAULTS:
        raise DeskhandError("invalid_input", f"there is no fault {name!r}; known: {', '.join(FAULTS)}.")


class Fault:
    """One fault of :data:`FAULTS`; ``happened`` tells whether it came about."""

    def __init__(self, name: str, seed: int = 0) -> None:
        check_fault(name)
        self.name, self.happened = name, name == "depth_holes"
        self._random = np.random.default_rng([seed, 77])
        self._steps = self._pictures = 0
        self._until = self._since = -1.0
        self._saved: Array | None = None
        self._start: Array | None = None

    # ------------------------------------------------------------ in the physics

    def step(self, sim: Simulation) -> None:
        """After a step of the physics; the caller holds the simulation's lock."""
        self._steps += 1
        if self._steps % EVERY:
            return
        if self._start is None:
            self._start = sim.data.xpos[list(sim.built.object_bodies)].copy()
        if self._saved is not None and sim.time > self._until:
            sim.model.geom_friction[:] = self._saved
            self._saved = None
        if self.happened:
            return
        if self.name == "slip":
            self._slip(sim)
        elif self.name == "moved_object":
            self._move(sim)
        elif self.name == "knocked_tower":
            self._knock(sim)

    def _slip(self, sim: Simulation) -> None:
        assert self._start is not None
        held = sim.truth().in_hand
        for index, (item, body) in enumerate(zip(sim.built.spec.objects, sim.built.object_bodies, strict=True)):
            if item.name in held and sim.data.xpos[body][2] > self._start[index][2] + LIFTED:
                self._saved, self._until, self.happened = sim.model.geom_friction.copy(), sim.time + SLIP_TIME, True
                slippery = np.isin(sim.model.geom_bodyid, [body, *sim.built.finger_bodies])
                sim.model.geom_friction[slippery] = SLIPPERY
                return

    def _move(self, sim: Simulation) -> None:
        tips = sim.data.xpos[list(sim.built.finger_bodies)]
        hand = sim.tcp()
        if sim.truth().in_hand or np.linalg.norm(tips[0] - tips[-1]) < 1e-6:
            return
        for index, body in enumerate(sim.built.object_bodies):
            item = sim.built.spec.objects[index]
            centre = sim.data.xpos[body]
            gap = hand[2] - centre[2]
            if item.kind in CONTAINER_KINDS or self._carries(sim, index) or not ABOVE[0] < gap < ABOVE[1]:
                continue
            if np.hypot(*(hand - centre)[:2]) < NEAR and self._shift(sim, index):
                self.happened = True
                return

    def _shift(self, sim: Simulation, index: int) -> bool:
        """Put an object aside, to where most room is around it."""
        centre = sim.data.xpos[sim.built.object_bodies[index]].copy()
        best = max(self._around(), key=lambda way: self._room(sim, index, centre + SHOVE * way))
        if self._room(sim, index, centre + SHOVE * best) < SHOVE:
            return False
        address = sim.model.jnt_qposadr[sim.model.body_jntadr[sim.built.object_bodies[index]]]
        sim.data.qpos[address : address + 3] = centre + SHOVE * best + [0, 0, 0.001]
        sim.data.qvel[sim.built.free_dofs[index]] = [0, 0, -0.02, 0, 0, 0]
        return True

    def _knock(self, sim: Simulation) -> None:
        top = self._topmost(sim)
        if top is None or np.linalg.norm(sim.tcp() - sim.data.xpos[sim.built.object_bodies[top]]) < HAND_AWAY:
            self._since = -1.0
            return
        if self._since < 0:
            self._since = sim.time
        if sim.time - self._since < STANDS:
            return
        centre = sim.data.xpos[sim.built.object_bodies[top]]
        way = max(self._around(), key=lambda way: self._room(sim, top, centre + 2 * SHOVE * way))
        sim.data.qvel[sim.built.free_dofs[top]] = [*(KNOCK[0] * way[:2]), KNOCK[1], 0, 0, 0]
        self.happened = True

    def _topmost(self, sim: Simulation) -> int | None:
        """Index of the highest object that stands on another, at rest."""
        in_hand = sim.truth().in_hand
        best: int | None = None
        for index, (item, body) in enumerate(zip(sim.built.spec.objects, sim.built.object_bodies, strict=True)):
            still = np.abs(sim.data.qvel[sim.built.free_dofs[index]]).max() < 0.02
            stands = sim.data.xpos[body][2] > 0.8 * max(item.size) and self._rests(sim, index)
            if still and stands and item.name not in in_hand and (best is None or sim.data.xpos[body][2] > sim.data.xpos[sim.built.object_bodies[best]][2]):
                best = index
        return best

    def _rests(self, sim: Simulation, index: int) -> bool:
        """Whether it lies on another object that is no container."""
        centre = sim.data.xpos[sim.built.object_bodies[index]]
        return any(
            other != index
            and item.kind not in CONTAINER_KINDS
            and np.hypot(*(centre - sim.data.xpos[body])[:2]) < max(item.size) / 2
            and centre[2] > sim.data.xpos[body][2] + 0.01
            for other, (item, body) in enumerate(zip(sim.built.spec.objects, sim.built.object_bodies, strict=True))
        )

    def _carries(self, sim: Simulation, index: int) -> bool:
        centre = sim.data.xpos[sim.built.object_bodies[index]]
        bodies = [body for other, body in enumerate(sim.built.object_bodies) if other != index]
        return any(np.hypot(*(sim.data.xpos[body] - centre)[:2]) < 0.03 and abs(sim.data.xpos[body][2] - centre[2]) > 0.008 for body in bodies)

    def _around(self) -> list[Array]:
        turn = float(self._random.uniform(0, 2 * np.pi))
        return [np.array([np.cos(angle), np.sin(angle), 0.0]) for angle in turn + np.arange(8) * np.pi / 4]

    @staticmethod
    def _room(sim: Simulation, index: int, place: Array) -> float:
        """Distance [m] from a place to the next object, 0 where the arm does not reach."""
        base, (least, most) = sim.arm.world_T_base[:2, 3], sim.arm.work_radius
        if not least + 0.01 < float(np.hypot(*(place[:2] - base))) < most - 0.01:
            return 0.0
        others = [(body, item) for other, (body, item) in enumerate(zip(sim.built.object_bodies, sim.built.spec.objects, strict=True)) if other != index]
        return min((float(np.hypot(*(sim.data.xpos[body] - place)[:2])) - 0.4 * max(item.size[:2]) for body, item in others), default=1.0)

    # ------------------------------------------------------------ in the camera

    def stale(self) -> bool:
        """Whether this picture is the one before once more; to be asked once a picture."""
        if self.name != "stale_frames":
            return False
        self._pictures += 1
        old = STALE_FROM < self._pictures <= STALE_FROM + STALE_COUNT
        self.happened |= old
        return old

    def holed(self, depth: Depth, rng: np.random.Generator) -> Depth:
        """The depth with a fifth of it lost, in patches."""
        if self.name != "depth_holes":
            return depth
        from scipy.ndimage import gaussian_filter

        field = gaussian_filter(rng.standard_normal(depth.shape).astype(np.float32), HOLE_SIZE)
        return np.where(field < np.quantile(field, HOLES), np.float32(np.nan), depth)
