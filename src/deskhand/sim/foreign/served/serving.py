"""Serves one world on two sockets: what a robot may know on the first, what only a scorer may ask on the second. Imports nothing of deskhand's.

Robot: ``hello``, ``state``, ``step`` (arrays ``goals`` (n, joints) [rad] and ``grip`` (n,) of -1 open, 0 stay, 1 close: n periods of control), ``picture``.
Scorer: ``load`` (a case), ``outcome``, ``truth``, ``masks``, ``quit``. What the robot asks before a case is loaded is refused.
"""

from __future__ import annotations

import selectors
import socket
import traceback
from typing import Any, Protocol

import wire


class World(Protocol):
    """A simulated robot in a world."""

    def load(self, case: dict[str, Any]) -> dict[str, Any]:
        """Make the case and let it come to rest; what the scorer should know about it."""
        ...

    def hello(self) -> dict[str, Any]:
        """The robot: joints, period of control, cameras; the instruction."""
        ...

    def state(self) -> tuple[dict[str, Any], wire.Arrays]:
        """``time`` [s], ``steps``; positions and velocities of the joints and of the two fingers."""
        ...

    def step(self, goals: Any, grip: Any) -> None:
        """Control for as many periods as there are goals."""
        ...

    def picture(self, camera: str, width: int, height: int) -> tuple[dict[str, Any], wire.Arrays]:
        """Colour, depth [m], intrinsics and where the camera is mounted."""
        ...

    def outcome(self) -> dict[str, Any]:
        """Whether the task is done, by the environment's own test."""
        ...

    def truth(self) -> dict[str, Any]:
        """Where everything is."""
        ...

    def masks(self, camera: str, width: int, height: int) -> tuple[dict[str, Any], wire.Arrays]:
        """Which pixel shows which object."""
        ...


def serve(world: World, robot: socket.socket, scorer: socket.socket) -> None:
    """Answer until either side is gone or the scorer says ``quit``."""
    loaded = False
    with selectors.DefaultSelector() as waiting:
        waiting.register(robot, selectors.EVENT_READ)
        waiting.register(scorer, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                connection: socket.socket = key.fileobj  # type: ignore[assignment]
                try:
                    asked, arrays = wire.receive(connection)
                    if connection is scorer and asked.get("ask") == "quit":
                        return
                    try:
                        head, answer = _of_scorer(world, asked) if connection is scorer else _of_robot(world, asked, arrays, loaded)
                        loaded = loaded or asked.get("ask") == "load"
                    except Exception as error:  # told to the other side, which decides what to do about it
                        head, answer = {"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}, {}
                    wire.send(connection, head, answer)
                except wire.WireError:
                    return


def _of_robot(world: World, asked: dict[str, Any], arrays: wire.Arrays, loaded: bool) -> tuple[dict[str, Any], wire.Arrays]:
    what = asked.get("ask")
    if not loaded:
        raise ValueError("the scorer has loaded no case yet")
    if what == "hello":
        return world.hello(), {}
    if what == "state":
        return world.state()
    if what == "step":
        world.step(arrays["goals"], arrays["grip"])
        return world.state()
    if what == "picture":
        return world.picture(str(asked["camera"]), int(asked["width"]), int(asked["height"]))
    raise ValueError(f"a robot cannot ask {what!r}; it can ask hello, state, step, picture")


def _of_scorer(world: World, asked: dict[str, Any]) -> tuple[dict[str, Any], wire.Arrays]:
    what = asked.get("ask")
    if what == "load":
        return world.load(dict(asked["case"])), {}
    if what == "outcome":
        return world.outcome(), {}
    if what == "truth":
        return world.truth(), {}
    if what == "masks":
        return world.masks(str(asked["camera"]), int(asked["width"]), int(asked["height"]))
    raise ValueError(f"a scorer cannot ask {what!r}; it can ask load, outcome, truth, masks, quit")
