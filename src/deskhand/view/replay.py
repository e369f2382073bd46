"""A recorded episode as a source: what the page would have shown at any time of it."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deskhand.arms.config import ArmConfig
from deskhand.geometry import pose_from_xyz_quaternion
from deskhand.recording.episode import messages
from deskhand.recording.episode.pictures import executed_grasps
from deskhand.recording.episode.reader import Episode, Look
from deskhand.recording.episode.timeline import Call, calls_from, thoughts
from deskhand.types import Image, SafetyStatus, Scene, SceneObject, Table
from deskhand.view.moment import DONE, FAILED, Hand, Moment, Row, Task

TABLE = Table(np.eye(4), (0.8, 0.8))
"""Where a look did not record the table."""
SHOWN_GRASP = 3.0
"""[s] that a grasp stays to be seen after the fingers began to close."""


@dataclass(frozen=True)
class _Joints:
    """Recorded joint states as arrays: ``times`` (T,) [s], ``positions`` (T, n)."""

    names: tuple[str, ...]
    times: np.ndarray[Any, Any]
    positions: np.ndarray[Any, Any]


class Replay:
    """A :class:`deskhand.view.moment.Source` with a clock that can be set, run and halted.

    Attributes:
        span: first and last time of the episode [s], ROS time.
    """

    def __init__(self, episode: Episode, arm: ArmConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self.episode, self.arm = episode, arm
        self._joints = _joints(episode)
        self._looks = episode.looks()
        self._scenes = [scene_from_json(data) for _, data in episode.json(messages.SCENE)]
        self._pictures: dict[int, Image] = {}
        self._calls = calls_from(episode.events)
        self._whys = thoughts(self._calls, episode.steps)
        self._safety = _safety(episode)
        self._grasps = executed_grasps(episode, self._calls, arm)
        times = [stamp for topic, stamp, _ in episode.messages if topic not in (messages.TF_STATIC, messages.CAMERA) and stamp > 0.0]
        self.span = (min(times, default=0.0), max(times, default=0.0))
        self._clock, self._lock = clock, threading.Lock()
        self._at, self._speed, self._since = self.span[0], 0.0, clock()
        self._last: Moment | None = None

    # ------------------------------------------------------------ the clock

    @property
    def time(self) -> float:
        """ROS time that is shown [s]."""
        with self._lock:
            return self._now()

    def _now(self) -> float:
        return min(self._at + self._speed * (self._clock() - self._since), self.span[1])

    def seek(self, stamp: float) -> None:
        """Show this time [s]; the clock goes on from there if it ran."""
        with self._lock:
            self._at, self._since = min(max(stamp, self.span[0]), self.span[1]), self._clock()

    def play(self, speed: float) -> None:
        """Run ``speed`` times as fast as it was; 0 halts. At the end it begins anew."""
        with self._lock:
            now = self._now()
            self._at, self._since = self.span[0] if speed > 0 and now >= self.span[1] else now, self._clock()
            self._speed = speed

    @property
    def speed(self) -> float:
        """0 while it stands, also at its end."""
        with self._lock:
            return 0.0 if self._now() >= self.span[1] else self._speed

    # ------------------------------------------------------------ what is shown

    def moment(self) -> Moment:
        """See Source. Parts that have not changed since the last call are the same objects."""
        new = self.at(self.time)
        old, self._last = self._last, new
        if old is None:
            return new
        kept = {name: getattr(old, name) for name in ("rows", "task", "safety", "hands") if getattr(old, name) is not None and _same(old, new, name)}
        return Moment(**{**vars(new), **kept})

    def at(self, stamp: float) -> Moment:
        """What the page shows at ``stamp`` [s]."""
        look = _before(self._looks, stamp, lambda item: item.stamp)
        scene = _before(self._scenes, stamp, lambda item: item.stamp)
        safety = _before(self._safety, stamp, lambda item: item[0])
        return Moment(
            time=stamp,
            joints=self._joints_at(stamp),
            scene=None if scene is None else self._scenes[scene],
            picture=None if look is None else self._picture(look),
            hands=tuple(Hand(grasp.world_T_tcp, grasp.width) for grasp in self._grasps if grasp.stamp <= stamp < grasp.stamp + SHOWN_GRASP),
            rows=tuple(_row(call, why, stamp) for call, why in zip(self._calls, self._whys, strict=True) if call.sim_started <= stamp),
            task=self._task(stamp),
            safety=None if safety is None else self._safety[safety][1],
        )

    def _task(self, stamp: float) -> Task:
        result = self.episode.result
        if stamp < self.span[1]:
            return Task(str(result.get("instruction", "")), running=True)
        success = result.get("success")
        return Task(str(result.get("instruction", "")), False, success, str(result.get("error_code", "")), str(result.get("summary", "")))

    def _joints_at(self, stamp: float) -> dict[str, float]:
        joints = self._joints
        if not len(joints.times):
            return {}
        return {name: float(np.interp(stamp, joints.times, column)) for name, column in zip(joints.names, joints.positions.T, strict=True)}

    def _picture(self, index: int) -> Image:
        if index not in self._pictures:
            look: Look = self._looks[index]
            self._pictures[index] = look.image()
        return self._pictures[index]


def scene_from_json(data: dict[str, Any]) -> Scene:
    """A scene as an episode has it: no points; boxes along the axes of ``world`` where their orientation was not recorded."""
    table = data.get("table")
    found = Table(pose_from_xyz_quaternion(table["position"], table["orientation"]), tuple(table["size"])) if table else TABLE
    return Scene(tuple(map(_object, data["objects"])), found, float(data["stamp"]))


def _object(data: dict[str, Any]) -> SceneObject:
    return SceneObject(
        id=data["id"],
        label=data["label"],
        color=data.get("color", ""),
        shape=data.get("shape", "box"),
        size=np.asarray(data["size"], float),
        pose=pose_from_xyz_quaternion(data["position"], data.get("orientation", (0.0, 0.0, 0.0, 1.0))),
        points=np.zeros((0, 3), np.float32),
        confidence=float(data.get("confidence", 1.0)),
        is_container=bool(data.get("is_container")),
        wall=float(data.get("wall", 0.0)),
        support=data.get("support", "table"),
        relation=data.get("relation", "on"),
    )


def _joints(episode: Episode) -> _Joints:
    """All joint states on the joints of all; a joint that a message leaves out stands where it was last said to be."""
    states = episode.joints
    names = tuple(dict.fromkeys(name for _, message in states for name in message.name))
    last = dict.fromkeys(names, 0.0)
    rows = []
    for _, message in states:
        last.update(zip(message.name, map(float, message.position), strict=True))
        rows.append([last[name] for name in names])
    order = np.argsort([stamp for stamp, _ in states], kind="stable")
    times = np.array([stamp for stamp, _ in states], float)[order]
    return _Joints(names, times, np.array(rows, float).reshape(len(states), len(names))[order])


def _safety(episode: Episode) -> list[tuple[float, SafetyStatus]]:
    said = episode.json(messages.SAFETY)
    return [(stamp, SafetyStatus(bool(data.get("stopped")), data.get("code", ""), data.get("reason", ""), stamp)) for stamp, data in said]


def _row(call: Call, why: str, stamp: float) -> Row:
    begun = Row(call.tool, call.arguments, call.id, caller=call.caller, why=why, started=call.started)
    if stamp < call.sim_ended or call.code == "unfinished":
        return begun
    return replace(begun, state=DONE if call.ok else FAILED, code=call.code, message=call.message, seconds=call.duration)


def _before(items: Sequence[Any], stamp: float, key: Callable[[Any], float]) -> int | None:
    """Index of the last item that is not after ``stamp``."""
    index = bisect_right(items, stamp, key=key) - 1
    return index if index >= 0 else None


def _same(old: Moment, new: Moment, name: str) -> bool:
    if name == "hands":  # arrays do not compare as one
        return len(old.hands) == len(new.hands) and all(a.pose is b.pose for a, b in zip(old.hands, new.hands, strict=True))
    return bool(getattr(old, name) == getattr(new, name))
