"""Records as rows of the file, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from deskhand.geometry import pose_from_xyz_quaternion, quaternion_from_matrix
from deskhand.types import SceneObject
from deskhand.world.history.records import Event, Moment, State
from deskhand.world.history.store import Statement

STATE_COLUMNS = (
    "id, object, status, begun, last, ended, confidence, label, label_source, color, shape, material, container, wall, support, relation, "
    "x, y, z, qx, qy, qz, qw, size_x, size_y, size_z"
)
MOMENT_COLUMNS = "m.id, m.session, m.stamp, m.wall, m.kind"
_PUT_STATE = f"INSERT INTO states({STATE_COLUMNS}) VALUES ({', '.join('?' * 26)})"


def put_moment(moment: Moment) -> Statement:
    """The statement that adds it."""
    return "INSERT INTO moments(id, session, stamp, wall, kind) VALUES (?, ?, ?, ?, ?)", (moment.id, moment.session, moment.stamp, moment.wall, moment.kind)


def put_event(event: Event) -> Statement:
    """The statement that adds it."""
    detail = json.dumps(dict(event.detail), ensure_ascii=False)
    return "INSERT INTO events(id, moment, object, kind, detail) VALUES (?, ?, ?, ?, ?)", (event.id, event.moment.id, event.object_id, event.kind, detail)


def put_state(state: State) -> Statement:
    """The statement that adds it."""
    item = state.object
    values = (
        *(state.id, item.id, state.status, state.begun, state.last, state.ended, state.confidence),
        *(item.label, item.label_source, item.color, item.shape, item.material, int(item.is_container), float(item.wall), item.support, item.relation),
        *map(float, item.position),
        *map(float, quaternion_from_matrix(item.pose[:3, :3])),
        *map(float, item.size),
    )
    return _PUT_STATE, values


def confirm_state(state: State) -> Statement:
    """The statement that says that it still is so."""
    return "UPDATE states SET last = ?, confidence = ? WHERE id = ?", (state.last, state.confidence, state.id)


def end_state(state: State, moment: Moment) -> Statement:
    """The statement that says until when it was so."""
    return "UPDATE states SET ended = ? WHERE id = ?", (moment.id, state.id)


def state_from(row: Sequence[Any]) -> State:
    """From a row of :data:`STATE_COLUMNS`."""
    number, name, status, begun, last, ended, confidence, label, source, color, shape, material, container, wall, support, relation, *pose = row
    item = SceneObject(
        id=name,
        label=label,
        color=color,
        shape=shape,
        size=np.array(pose[7:10], dtype=float),
        pose=pose_from_xyz_quaternion(pose[:3], pose[3:7]),
        points=np.zeros((0, 3), np.float32),
        confidence=confidence,
        label_source=source,
        material=material,
        is_container=bool(container),
        wall=wall,
        support=support,
        relation=relation,
    )
    return State(number, item, status, begun, last, ended, confidence)


def moment_from(row: Sequence[Any]) -> Moment:
    """From a row of :data:`MOMENT_COLUMNS`."""
    return Moment(*row)


def event_from(row: Sequence[Any]) -> Event:
    """From a row of the event's id, object, kind and detail, followed by :data:`MOMENT_COLUMNS`."""
    number, name, kind, detail, *moment = row
    return Event(number, moment_from(moment), name, kind, json.loads(detail))
