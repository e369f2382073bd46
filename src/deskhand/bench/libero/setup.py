"""How episodes of foreign tasks are run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from deskhand.sim.reality.file import load_reality
from deskhand.sim.reality.spec import RealitySpec


@dataclass(frozen=True)
class Setup:
    """How episodes are run.

    Attributes:
        python: of the simulator's environment.
        kind: of its world.
        references: file of taught views; None: nothing is taught.
        brain: profile of the model.
        seconds: of wall time that a task may take.
        sensor: errors of the camera: ``none``, or a name of config/reality, drawn from ``seed``.
        ros: through the real nodes over DDS, in place of one process.
    """

    python: Path
    kind: str
    references: Path | None
    brain: str = "offline"
    seconds: float = 600.0
    sensor: str = "none"
    seed: int = 0
    ros: bool = False

    @property
    def reality(self) -> RealitySpec | None:
        """Errors of the camera; None: none."""
        return load_reality(self.sensor, self.seed)
