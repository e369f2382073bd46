"""Reading the memory: how objects are, were at a moment, and what happened to them. Also from another process, while one writes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.errors import DeskhandError
from deskhand.types import Scene, SceneObject, Table
from deskhand.world.history import rows
from deskhand.world.history.records import PRESENT, Event, Moment, State
from deskhand.world.history.store import Store


def scene_of(objects: tuple[SceneObject, ...], stamp: float) -> Scene:
    """A scene of remembered objects; the table is a plane at the origin."""
    return Scene(objects, Table(np.eye(4), (0.0, 0.0)), stamp)


class MemoryReader:
    """Opens a memory file for reading only. Safe to use from several threads."""

    def __init__(self, path: str | Path) -> None:
        self._store = Store(path, writes=False)
        self.session = 0

    def open(self) -> MemoryReader:
        """Open it.

        Raises:
            DeskhandError: ``config_error`` when it cannot be read, ``memory_broken``, ``memory_busy``.
        """
        self._store.open()
        self.session = int(self._store.read("SELECT COALESCE(MAX(id), 0) FROM sessions")[0][0])
        return self

    def close(self) -> None:
        """Let the file go."""
        self._store.close()

    def __enter__(self) -> MemoryReader:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def path(self) -> str:
        """Its file."""
        return self._store.path

    def now(self) -> float:
        """ROS time [s] of the last moment."""
        moment = self.last_moment()
        return moment.stamp if moment else time.time()

    def sessions_ago(self, session: int) -> str:
        """How long before the present session another one began, in words."""
        begun = dict(self._store.read("SELECT id, begun FROM sessions WHERE id IN (?, ?)", (session, self.session)))
        seconds = max(0.0, begun.get(self.session, time.time()) - begun.get(session, 0.0))
        for unit, length in (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0)):
            if seconds >= 2 * length:
                return f"{seconds / length:.0f} {unit}"
        return f"{seconds:.0f} seconds"

    # ------------------------------------------------------------ states

    def ids(self) -> list[str]:
        """Every object that was ever seen, oldest first."""
        return [name for (name,) in self._store.read("SELECT object FROM states GROUP BY object ORDER BY MIN(id)")]

    def states_now(self) -> list[State]:
        """How every known object is, also those that vanished."""
        return self._states("ended IS NULL")

    def state(self, object_id: str) -> State:
        """How one object is; one that is known under another id by now, under that.

        Raises:
            DeskhandError: ``unknown_object`` naming the known ones.
        """
        object_id = self.current_id(object_id)
        found = self._states("ended IS NULL AND object = ?", (object_id,))
        if not found:
            known = ", ".join(self.ids()) or "none"
            raise DeskhandError("unknown_object", f"there is no memory of {object_id!r}; known: {known}.", hint="Use one of these ids.")
        return found[0]

    def current_id(self, object_id: str) -> str:
        """The id under which an object is known by now."""
        while renamed := self.events([object_id], ["renamed"], limit=1, newest_first=True):
            if self._states("ended IS NULL AND object = ?", (object_id,)):
                break
            object_id = str(renamed[0].detail["to"])
        return object_id

    def history(self, object_id: str) -> list[State]:
        """Every state of an object, oldest first."""
        return self._states("object = ?", (object_id,))

    def states_of(self, ids: Iterable[str]) -> list[State]:
        """Every state of these objects, newest first."""
        names = list(ids)
        return self._states(f"object IN ({', '.join('?' * len(names))})", names)[::-1]

    def states_at(self, moment: int) -> list[State]:
        """How every known object was right after this moment."""
        return self._states("begun <= ? AND (ended IS NULL OR ended > ?)", (moment, moment))

    def all_states(self) -> list[State]:
        """Every state of every object, oldest first."""
        return self._states("1")

    def scene_at(self, moment: int) -> Scene:
        """The desk as it was right after this moment: what was there, without points; the table is a plane at the origin."""
        objects = tuple(state.object for state in self.states_at(moment) if state.status in PRESENT)
        return scene_of(objects, self.moment(moment).stamp)

    def _states(self, where: str, values: Sequence[Any] = ()) -> list[State]:
        found = self._store.read(f"SELECT {rows.STATE_COLUMNS} FROM states WHERE {where} ORDER BY begun, id", values)
        return [rows.state_from(row) for row in found]

    # ------------------------------------------------------------ moments

    def moment(self, number: int) -> Moment:
        """By its id."""
        found = self._moments("m.id = ?", (number,))
        if not found:
            raise DeskhandError("invalid_input", f"there is no moment {number} in the memory.")
        return found[0]

    def first_look(self) -> Moment | None:
        """The first look of the newest session that has one."""
        found = self._moments("m.kind = 'look' AND m.session = (SELECT MAX(session) FROM moments WHERE kind = 'look')", order="m.id LIMIT 1")
        return found[0] if found else None

    def last_moment(self) -> Moment | None:
        """The newest."""
        found = self._moments("1", order="m.id DESC LIMIT 1")
        return found[0] if found else None

    def moment_before(self, number: int) -> Moment | None:
        """The one before."""
        found = self._moments("m.id < ?", (number,), "m.id DESC LIMIT 1")
        return found[0] if found else None

    def moment_at(self, stamp: float) -> Moment | None:
        """The last one of this session not after ROS time ``stamp`` [s]; None when that is before its first."""
        found = self._moments("m.session = ? AND m.stamp <= ?", (self._session(), stamp), "m.id DESC LIMIT 1")
        return found[0] if found else None

    def before_session(self) -> int:
        """The id of the last moment of earlier sessions, 0 for none."""
        return int(self._store.read("SELECT COALESCE(MAX(id), 0) FROM moments WHERE session < ?", (self._session(),))[0][0])

    def _session(self) -> int:
        found = self._store.read("SELECT MAX(session) FROM moments")[0][0]
        return int(found or 0)

    def _moments(self, where: str, values: Sequence[Any] = (), order: str = "m.id") -> list[Moment]:
        found = self._store.read(f"SELECT {rows.MOMENT_COLUMNS} FROM moments m WHERE {where} ORDER BY {order}", values)
        return [rows.moment_from(row) for row in found]

    # ------------------------------------------------------------ events

    def events(
        self,
        ids: Iterable[str] | None = None,
        kinds: Iterable[str] | None = None,
        since: int = 0,
        until: int | None = None,
        limit: int = 1000,
        newest_first: bool = False,
    ) -> list[Event]:
        """What happened after the moment ``since``, at latest at ``until``, to these objects, of these kinds (None: any); oldest first or newest first."""
        where: list[str] = ["e.moment > ?"]
        values: list[Any] = [since]
        if until is not None:
            where.append("e.moment <= ?")
            values.append(until)
        for column, wanted in (("e.object", ids), ("e.kind", kinds)):
            if wanted is not None:
                names = list(wanted)
                where.append(f"{column} IN ({', '.join('?' * len(names))})")
                values += names
        direction = "DESC" if newest_first else "ASC"
        found = self._store.read(
            f"SELECT e.id, e.object, e.kind, e.detail, {rows.MOMENT_COLUMNS} FROM events e JOIN moments m ON m.id = e.moment "
            f"WHERE {' AND '.join(where)} ORDER BY e.id {direction} LIMIT ?",
            [*values, limit],
        )
        return [rows.event_from(row) for row in found]
