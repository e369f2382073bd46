"""The truth for the scorer from Gazebo's own poses and contacts, over Gazebo's transport: nothing of it is on a ROS topic."""

from __future__ import annotations

import json
import logging
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.bringup.stack import gazebo_environment
from deskhand.errors import DeskhandError
from deskhand.geometry import Array, pose_from_xyz_quaternion
from deskhand.sim.fixtures.kinds import fixture_parts
from deskhand.sim.fixtures.spec import FixtureJoint, joint_name
from deskhand.sim.gazebo.robot import contact_topic, finger_links
from deskhand.sim.gazebo.sdf import LINK, WORLD
from deskhand.sim.spec import Truth, TruthObject, WorldSpec

log = logging.getLogger(__name__)

POSES = f"/world/{WORLD}/dynamic_pose/info"
TOUCH = 0.15  # [s] of simulated time for which a contact counts: Gazebo reports contacts only while there are some
FIRST = 90.0  # [s] wall time that Gazebo may take to load the world
SILENT = 10.0  # [s] wall time


class GazeboTruth:
    """Listens to a running Gazebo. Use as a context manager, or call :meth:`close`."""

    def __init__(self, world: WorldSpec, partition: str) -> None:
        """Begin to listen; Gazebo may start later.

        Raises:
            DeskhandError: ``missing_dependency`` without the ``gz`` command.
        """
        self._world = world
        self._fingers = finger_links(load_arm(world.arm))
        self._news = threading.Condition()
        self._poses: dict[str, Array] = {}
        self._speeds: dict[str, float] = {}
        self._time, self._heard = -1.0, float("-inf")
        self._touched: dict[str, dict[str, float]] = {link: {} for link in self._fingers}
        self._listeners: list[subprocess.Popen[str]] = []
        self._closed = False
        self._joints = {joint_name(item.name, joint.name): joint for item in world.fixtures for joint in fixture_parts(item).joints}
        environment = gazebo_environment(partition)
        try:
            self._listen(POSES, self._on_poses, environment)
            for link in self._fingers:
                self._listen(contact_topic(link), lambda message, link=link: self._on_contacts(link, message), environment)
        except OSError as error:
            self.close()
            raise DeskhandError("missing_dependency", f"Gazebo's command gz cannot be started: {error}.", hint="See docs/gazebo.md.") from error

    def __enter__(self) -> GazeboTruth:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening. Safe to call again."""
        self._closed = True
        for listener in self._listeners:
            listener.kill()
            listener.wait()
            if listener.stdout is not None:
                listener.stdout.close()
        self._listeners = []

    def get(self) -> Truth:
        """Where everything was at Gazebo's last word; the first call waits for the world.

        Raises:
            DeskhandError: ``timeout`` when Gazebo tells nothing.
        """
        names = {item.name for item in self._world.objects} | self._joints.keys()
        with self._news:
            if not self._news.wait_for(lambda: names <= self._poses.keys(), FIRST):
                silent = ", ".join(sorted(names - self._poses.keys()))
                raise DeskhandError("timeout", f"Gazebo has not told where these are within {FIRST:g} s: {silent}.")
            if time.monotonic() - self._heard > SILENT:
                raise DeskhandError("timeout", f"Gazebo has told no poses for {SILENT:g} s.")
            objects = tuple(
                TruthObject(item.name, item.kind, item.size, self._poses[item.name], self._speeds.get(item.name, 0.0)) for item in self._world.objects
            )
            joints = {name: position_of(joint, self._poses[name]) for name, joint in self._joints.items()}
            return Truth(self._time, objects, self._held(), joints)

    def _held(self) -> tuple[str, ...]:
        """What all fingers touch."""
        touched = [{name for name, stamp in self._touched[link].items() if self._time - stamp < TOUCH} for link in self._fingers]
        return tuple(sorted(set.intersection(*touched)))

    # ------------------------------------------------------------ Gazebo's transport

    def _listen(self, topic: str, take: Any, environment: Mapping[str, str]) -> None:
        command = ["gz", "topic", "--echo", "--topic", topic, "--json-output"]
        listener = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment, start_new_session=True
        )
        self._listeners.append(listener)
        threading.Thread(target=self._read, args=(listener, take), name=f"truth {topic}", daemon=True).start()

    def _read(self, listener: subprocess.Popen[str], take: Any) -> None:
        assert listener.stdout is not None
        try:
            for line in listener.stdout:
                if line.startswith("{"):
                    take(json.loads(line))
        except ValueError as error:  # close() may come in the middle of a line
            if not self._closed:
                log.error("Gazebo is not listened to any more, it told what cannot be read: %s", error)

    def _on_poses(self, message: Mapping[str, Any]) -> None:
        stamp, poses = stamp_of(message), dict(poses_of(message))
        with self._news:
            elapsed = stamp - self._time
            self._poses |= {name: poses[name] for name in self._joints if name in poses}
            for item in self._world.objects:
                if item.name not in poses:
                    continue
                if item.name in self._poses and elapsed > 0:
                    moved = np.linalg.norm(poses[item.name][:3, 3] - self._poses[item.name][:3, 3])
                    self._speeds[item.name] = float(moved / elapsed)
                self._poses[item.name] = poses[item.name]
            self._time, self._heard = stamp, time.monotonic()
            self._news.notify_all()

    def _on_contacts(self, link: str, message: Mapping[str, Any]) -> None:
        stamp = stamp_of(message)
        with self._news:
            for contact in message.get("contact", ()):
                for side in ("collision1", "collision2"):
                    model, _, rest = str(contact.get(side, {}).get("name", "")).partition("::")
                    if rest.startswith(f"{LINK}::"):
                        self._touched[link][model] = stamp


def position_of(joint: FixtureJoint, pose: Array) -> float:
    """Where a fixture's joint is [m or rad], by the pose (4, 4) of the link that it moves in its fixture, which is the unit one at 0."""
    axis = np.asarray(joint.axis)
    if joint.kind == "slide":
        return float(axis @ pose[:3, 3])
    across = np.cross(axis, [1.0, 0.0, 0.0] if abs(axis[0]) < 0.9 else [0.0, 1.0, 0.0])
    turned = pose[:3, :3] @ across
    return float(np.arctan2(axis @ np.cross(across, turned), across @ turned))


def stamp_of(message: Mapping[str, Any]) -> float:
    """Simulated time [s] of a message of Gazebo as JSON: zeros are left out, 64 bit numbers are text."""
    stamp = message.get("header", {}).get("stamp", {})
    return int(stamp.get("sec", 0)) + int(stamp.get("nsec", 0)) * 1e-9


def poses_of(message: Mapping[str, Any]) -> Iterator[tuple[str, Array]]:
    """Names and poses (4, 4) of a ``gz.msgs.Pose_V`` as JSON."""
    for pose in message.get("pose", ()):
        position, turn = pose.get("position", {}), pose.get("orientation", {})
        xyzw = [float(turn.get(axis, 0.0)) for axis in "xyzw"]
        yield pose.get("name", ""), pose_from_xyz_quaternion([float(position.get(axis, 0.0)) for axis in "xyz"], xyzw)
