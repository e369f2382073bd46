"""The person of a rehearsal: answers each question by its key, from where everything really is, and does with the emulated arm what hands would do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from deskhand.arms.model import RobotModel
from deskhand.bench.rehearsal.nodes import RehearsedNodes
from deskhand.bench.rehearsal.unit import BLOCK, TRAY
from deskhand.bringup.first_day.dry_run import directions
from deskhand.errors import DeskhandError
from deskhand.geometry import inverse, transform_points

PICTURES = 16  # of the board: fewer than proposed; where they are too few, more are taken
RULER = 0.005  # [m] to which a person reads a ruler on a desk
MOVED = np.radians(3.0)  # that a person sees
Answer = Callable[[str, str, Any], Any]
"""Of key, text and default (a number's default, or the options)."""


def yes(*_: Any) -> bool:
    """Goes on."""
    return True


def nothing(*_: Any) -> None:
    """Done; the emulated world needs no hands for it."""


def usual(_key: str, _text: str, default: Any) -> Any:
    """Takes what is proposed."""
    return default


class Person:
    """See Operator; ``show`` prints, ``camera`` is ``fixed`` or ``wrist``. :meth:`stand_at` comes first."""

    nodes: RehearsedNodes

    def __init__(self, show: Callable[[str], None], camera: str = "fixed") -> None:
        self._show, self._camera = show, camera
        self._answers: dict[str, Answer] = self._common()

    def stand_at(self, nodes: RehearsedNodes, hands: Mapping[str, Answer]) -> None:
        """This is the arm; ``hands`` answers the questions of its own steps, by key or by the key's beginning with its dot."""
        self.nodes = nodes
        self._answers |= hands

    def say(self, text: str) -> None:
        """See Operator; from here on the person watches the arm."""
        self._show(text)
        self.nodes.servos.track.clear()

    def act(self, key: str, text: str) -> None:
        """See Operator."""
        self._answer(key, text, None, "done")

    def confirm(self, key: str, text: str) -> bool:
        """See Operator."""
        return bool(self._answer(key, text, None))

    def number(self, key: str, text: str, default: float | None) -> float:
        """See Operator."""
        return float(self._answer(key, text, default))

    def choose(self, key: str, text: str, options: tuple[str, ...], default: str) -> str:
        """See Operator."""
        answer = str(self._answer(key, text, default))
        if answer not in options:
            raise DeskhandError("internal_error", f"the rehearsal answers {answer!r} to {key}; the options are {', '.join(options)}.")
        return answer

    def _answer(self, key: str, text: str, default: Any, shown: str = "") -> Any:
        parts = key.split(".")
        names = [key, *(".".join(parts[:count]) + "." for count in range(len(parts) - 1, 0, -1))]
        name = next((name for name in names if name in self._answers), None)
        if name is None:
            raise DeskhandError("internal_error", f"the rehearsal has no answer to {key!r}: {text}")
        answer = self._answers[name](key, text, default)
        self._show(f"  ? {text}\n    > {shown or answer}   (rehearsed)")
        return answer

    # ------------------------------------------------------------ what every arm's day asks

    def _common(self) -> dict[str, Answer]:
        return {
            "optional.": yes,
            "system.go_on": yes,
            "dry_run.start": yes,
            "dry_run.": self._saw,
            "safety.obstacle_1": lambda *_: False,
            "safety.": usual,
            "camera.kind": lambda *_: "ros",
            "camera.where": lambda *_: self._camera,
            "camera.place": nothing,
            "camera.seen": yes,
            "registration.unknown": lambda *_: self._camera == "wrist",  # it sees nothing but the board; of its driver the person knows
            "registration.": nothing,
            "handeye.pictures": lambda *_: PICTURES,
            "handeye.start": yes,
            "handeye.": nothing,
            "look.block": nothing,
            "look.start": yes,
            "look.color": lambda *_: "red",
            "look.edge": lambda *_: 1000 * BLOCK[0],
            "look.x": lambda *_: self._measured(0),
            "look.y": lambda *_: self._measured(1),
            "pick.start": yes,
            "pick.seen": lambda *_: self.block_in_tray(),
        }

    def _saw(self, key: str, text: str, _default: Any) -> bool:
        """Whether the true arm moved as the question says."""
        servos, unit = self.nodes.servos, self.nodes.unit
        track = np.array(servos.track)
        if not len(track):
            return False
        away = track - track[0]
        frame, index = np.unravel_index(int(np.abs(away).argmax()), away.shape)
        swing = float(away[frame, index])
        if abs(swing) < MOVED or unit.truth.joints[int(index)] != key.rsplit(".", maxsplit=1)[-1]:
            return False
        return any(told in text for told in directions(RobotModel.load(unit.truth), track[0], int(index), swing))

    def _measured(self, axis: int) -> float:
        """[cm] from the base's middle to the block's, by a ruler."""
        unit = self.nodes.unit
        place = transform_points(inverse(unit.nominal.world_T_base), unit.objects[0].pose[:3, 3])[axis]
        return round(100 * round(float(place) / RULER) * RULER, 1)

    def block_in_tray(self) -> bool:
        """The truth, now."""
        truth = self.nodes.truth()
        block, tray = truth.get("block"), truth.get("tray")
        local = transform_points(inverse(tray.pose), block.pose[:3, 3])
        return bool(np.all(np.abs(local[:2]) < np.array(TRAY[:2]) / 2) and local[2] < TRAY[2] and not truth.in_hand)
