"""What isolated tools know of the robot and the world: a copy of what is believed, and readings of the robot and of the memory that they ask for."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.errors import DeskhandError
from deskhand.etp.tool import Ask, Placement
from deskhand.skills.belief import Belief
from deskhand.skills.robot import Robot
from deskhand.world.history.recorder import Memory

READS: dict[str, frozenset[str]] = {
    "robot": frozenset({"now", "sleep", "observe", "joint_state", "tcp_pose", "camera_mount", "safety_status", "solve_ik"}),
    "memory": frozenset(
        {"now", "sessions_ago", "ids", "states_now", "state", "current_id", "history", "states_of", "states_at", "all_states", "scene_at", "moment",
         "first_look", "last_moment", "moment_before", "moment_at", "before_session", "events"}
    ),
}  # fmt: skip
"""Whom an isolated tool may ask, and for what: what moves nothing and changes nothing that is known."""
LONGEST = 5.0
"""[s] that the robot's process waits at most to answer one question."""


class _Refused(DeskhandError, AttributeError):
    """A method that an isolated tool has not; for ``hasattr`` there is none."""


class Reader:
    """A robot, or a memory, as a worker process sees it: what it is asked is answered by the process that has it."""

    def __init__(self, of: str, ask: Ask, **known: Any) -> None:
        self._of, self._ask = of, ask
        self.__dict__.update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in READS[self._of]:
            raise _Refused("access_denied", f"an isolated tool has no {self._of}: ctx.{self._of}.{name} is no reading.", hint="Tell the operator.")
        return lambda *arguments, **named: self._ask(self._of, name, [_plain(value) for value in arguments], {key: _plain(named[key]) for key in named})


@dataclass(frozen=True)
class World:
    """A :class:`deskhand.etp.tool.Carried`; ``arm`` is pickled by itself, ``session`` the number of the memory's session, None where there is no memory."""

    arm: bytes
    believed: dict[str, Any]
    placed: dict[str, Placement]
    session: int | None

    def fields(self, ask: Ask) -> dict[str, Any]:
        """See Carried."""
        memory = None if self.session is None else cast(Memory, Reader("memory", ask, session=self.session))
        return {"robot": Reader("robot", ask, arm=_unpacked_arm(self.arm)), "belief": Belief.of(self.believed, memory), "placed": self.placed}


@lru_cache(maxsize=2)
def _unpacked_arm(data: bytes) -> ArmConfig | None:
    """Always the same one for the same arm: what is made of an arm (its model, 60 ms) is remembered by it."""
    arm: ArmConfig | None = pickle.loads(data)
    return arm


class WorldCarrier:
    """A :class:`deskhand.etp.tool.Carrier` of what the tools of one session share."""

    def __init__(self, robot: Robot, belief: Belief, placed: dict[str, Placement]) -> None:
        self._robot, self._belief, self._placed = robot, belief, placed

    def packed(self) -> bytes:
        """See Carrier."""
        memory = self._belief.memory
        arm = pickle.dumps(getattr(self._robot, "arm", None), pickle.HIGHEST_PROTOCOL)
        return pickle.dumps(World(arm, self._belief.shown(), dict(self._placed), None if memory is None else memory.session), pickle.HIGHEST_PROTOCOL)

    def answer(self, of: str, what: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> bytes:
        """See Carrier."""
        if what not in READS.get(of, ()):
            raise DeskhandError("access_denied", f"an isolated tool may not ask the {of[:20]} for {what[:40]!r}: it is no reading.")
        asked: Any = self._robot if of == "robot" else self._belief.memory
        try:
            if of == "robot":
                arguments = [np.asarray(value, float) if isinstance(value, list) else value for value in arguments]  # poses are arrays
                self._check_short(what, *arguments, **named)
            answer = getattr(asked, what)(*arguments, **named)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise DeskhandError("invalid_input", f"the {of} cannot be asked for {what} like that: {error}.") from error
        return pickle.dumps(answer, pickle.HIGHEST_PROTOCOL)

    def _check_short(self, what: str, argument: Any = None, **named: Any) -> None:
        """Raises ``invalid_input`` for a question that would keep this process waiting or computing: the tool's own time bounds only its worker."""
        waits = {"sleep": argument, "observe": named.get("newer_than", argument)}.get(what)
        seconds = 0.0 if waits is None else float(waits) - (self._robot.now() if what == "observe" else 0.0)
        if not seconds <= LONGEST or (what == "solve_ik" and named):
            raise DeskhandError("invalid_input", f"an isolated tool may wait {LONGEST:g} s at most for {what}, and ask for one solution.")


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return sorted(value) if isinstance(value, set | frozenset) else value
