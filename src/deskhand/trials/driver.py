"""How well the driver of bus servos does on an emulated arm: on a noisy wire, when the cable is pulled, along a pick, and when it must stop."""

from __future__ import annotations

import struct
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deskhand.arms.bus import lx16a, rrc
from deskhand.arms.bus.rrc import RrcBus
from deskhand.arms.driver import ArmDriver
from deskhand.arms.emulate.bank import make_servos
from deskhand.arms.emulate.faults import WireFaults
from deskhand.arms.emulate.reality import load_reality
from deskhand.arms.emulate.rig import Rig
from deskhand.arms.emulate.rrc import RrcEmulator
from deskhand.arms.follower import straight
from deskhand.arms.model import RobotModel
from deskhand.errors import DeskhandError
from deskhand.geometry import make_transform, rotation_rpy
from deskhand.motion.service import MotionService
from deskhand.types import MotionGoal, Plan, PlanOptions, Trajectory

NOISE = 0.05  # share of the frames that are damaged
RECENT = 8  # answers of a servo that count as its last
RECOVERY = 0.1  # [s]
STOP = 0.1  # [s]
STILL = 0.002  # [rad] that a stopped arm may still move
BACK = 5.0  # [s] for a plugged-in arm to be taken again
TaskEnd = Callable[[str], None]


@dataclass(frozen=True)
class Noise:
    """On a wire that damages :data:`NOISE` of the frames. ``wrong`` positions were believed that no servo has sent; times [s]."""

    bus: str
    frames: int
    damaged: int
    doubted: int
    wrong: int
    recovery_median: float
    recovery_longest: float
    good: bool


class _Wire:
    """Watches the frames of a rig: what servos really sent, and when a position or the question for it was damaged."""

    def __init__(self, rig: Rig, kind: str) -> None:
        self._rig, self._kind = rig, kind
        self.said: dict[int, deque[int]] = {servo.id: deque(maxlen=RECENT) for servo in rig.servos}
        self.spoilt: dict[int, float] = {}
        self._send, self._write = rig.port.send, rig.port.write
        rig.port.send = self.send  # type: ignore[method-assign]
        rig.port.write = self.write  # type: ignore[method-assign]

    def send(self, frame: bytes) -> None:
        """From the servos."""
        servo, position = self._position(frame)
        if servo in self.said and position is not None:
            self.said[servo].append(position)
        before = self._rig.port.faults.damaged
        self._send(frame)
        if position is not None:
            self._note(servo, before)

    def write(self, data: bytes) -> None:
        """From the driver."""
        before = self._rig.port.faults.damaged
        self._write(data)
        if self._kind == "hiwonder_rrc" and len(data) == 7 and data[4] == rrc.READ_POSITION:
            self._note(data[5], before)
        elif self._kind == "lx16a" and len(data) == 6 and data[4] == lx16a.READ_POSITION:
            self._note(data[2], before)

    def _note(self, servo: int, before: int) -> None:
        if self._rig.port.faults.damaged > before and servo in self.said:
            self.spoilt.setdefault(servo, self._rig.clock())

    def _position(self, frame: bytes) -> tuple[int, int | None]:
        if self._kind == "hiwonder_rrc":
            answer = frame[2] == rrc.BUS_SERVO and frame[5] == rrc.READ_POSITION and len(frame) == 10
            return frame[4], struct.unpack("<h", frame[7:9])[0] if answer else None
        answer = frame[4] == lx16a.READ_POSITION and len(frame) == 8
        return frame[2], struct.unpack("<h", frame[5:7])[0] if answer else None


def measure_noise(model: RobotModel, kind: str, frames: int, seed: int, told: TaskEnd = lambda _: None) -> Noise:
    """``frames`` from the driver, while it moves to and fro; watched from when it has taken the arm."""
    rig = Rig(model, kind, WireFaults.share(NOISE, seed), seed=seed)
    while not rig.step():
        pass
    wire = _Wire(rig, kind)
    ends = [np.array(model.arm.named_poses[name]) for name in ("home", "start")]
    believed = {servo.id: rig.driver.reading(servo.id)[1] for servo in rig.servos}
    recoveries: list[float] = []
    wrong, follower = 0, None
    while rig.emulator.served < frames:
        if not rig.step():
            continue
        if follower is None or not follower.active:
            follower = rig.driver.follow(straight(model.arm.joints, rig.driver.joint_state().of(model.arm.joints), ends[0]))
            ends.reverse()
            told(f"{kind}: {rig.emulator.served} of {frames} frames")
        for servo in rig.servos:
            position, stamp = rig.driver.reading(servo.id)
            if stamp != believed.get(servo.id):
                believed[servo.id] = stamp
                wrong += position not in wire.said[servo.id]
                if servo.id in wire.spoilt and stamp >= wire.spoilt[servo.id]:
                    recoveries.append(stamp - wire.spoilt.pop(servo.id))
    longest = max(recoveries, default=0.0)
    damaged, doubted = rig.port.faults.damaged, rig.driver.status().doubted
    return Noise(kind, rig.emulator.served, damaged, doubted, wrong, float(np.median(recoveries)), longest, wrong == 0 and longest <= RECOVERY)


@dataclass(frozen=True)
class Replug:
    """A real pseudo-terminal, pulled out and put in. ``back`` of ``times`` the arm was there again; ``slowest`` [s]; ``moved`` [rad] by it, at most."""

    times: int
    back: int
    slowest: float
    moved: float
    good: bool


def measure_replug(model: RobotModel, times: int, told: TaskEnd = lambda _: None) -> Replug:
    """In real time."""
    arm = model.arm
    servos = [arm.driver.servos[joint] for joint in arm.joints]
    places = {servo.id: servo.pulse_of(angle) for servo, angle in zip(servos, arm.named_poses["home"], strict=True)}
    places[arm.driver.gripper.id if arm.driver.gripper else 10] = 200.0
    back, slowest, moved = 0, 0.0, 0.0
    with tempfile.TemporaryDirectory() as folder, RrcEmulator(make_servos(places), link=str(Path(folder) / "arm")) as emulator:
        driver = ArmDriver(model, RrcBus(emulator.path))
        driver.start()
        try:
            driver.wait_connected(BACK)
            for index in range(times):
                told(f"cable pulled {index + 1} of {times} times")
                before = driver.joint_state().of(arm.joints)
                emulator.line.unplug()
                while driver.status().connected:
                    time.sleep(0.002)
                emulator.line.plug()
                began = time.monotonic()
                driver.wait_connected(BACK)
                slowest = max(slowest, time.monotonic() - began)
                moved = max(moved, float(np.abs(driver.joint_state().of(arm.joints) - before).max()))
                back += 1
        except DeskhandError:
            pass  # what is not back is counted
        finally:
            driver.close()
    return Replug(times, back, slowest, moved, back == times and moved <= 2 * arm.resolution)


@dataclass(frozen=True)
class Pick:
    """Planned motions of a pick, at the bus's timing. Errors [rad] of all joints, by the driver's own count; ``real_*`` by where the joints really were;
    ``ended_*`` the same of the tcp [mm] where a completed motion ended. ``servos``: what is wrong with them (config/servos).
    """

    bus: str
    servos: str
    motions: int
    completed: int
    seconds: float
    tracking_rms: float
    tracking_max: float
    real_rms: float
    real_max: float
    ended_median: float
    ended_largest: float
    round_time: float
    good: bool


class _RigClock:
    """The planner's."""

    def __init__(self, rig: Rig) -> None:
        self._rig = rig

    def now(self) -> float:
        """[s]"""
        return self._rig.clock()

    def sleep(self, seconds: float) -> None:
        """Let the driver work."""
        self._rig.run(seconds)


def plan_pick(model: RobotModel, rig: Rig, place: tuple[float, float]) -> list[Trajectory]:
    """Above an object at ``place`` [m] in front of the arm's base, down, up, home; each from where the one before ends."""
    service = MotionService(model.arm, rig.driver.joint_state, _RigClock(rig))
    base = model.arm.world_T_base[:3, 3]
    above = make_transform(rotation_rpy(np.pi, 0.0, np.arctan2(place[1], place[0])), [base[0] + place[0], base[1] + place[1], 0.10])
    down = above.copy()
    down[2, 3] = 0.03
    acts: tuple[Callable[[PlanOptions], Plan], ...] = (
        lambda options: service.plan_motion(MotionGoal(poses=(above,)), options),
        lambda options: service.plan_cartesian([down], options),
        lambda options: service.plan_cartesian([above], options),
        lambda options: service.plan_motion(MotionGoal(named="home"), options),
    )
    plans: list[Trajectory] = []
    try:
        for act in acts:
            start = None if not plans else dict(zip(plans[-1].joint_names, map(float, plans[-1].positions[-1]), strict=True))
            plans.append(act(PlanOptions(start=start)).trajectory)
    finally:
        service.close()
    return plans


def measure_pick(model: RobotModel, kind: str, picks: int, seed: int, told: TaskEnd = lambda _: None, servos: str = "") -> Pick:
    """Picks at random places where the arm grasps from above."""
    generator, rig = np.random.default_rng(seed), Rig(model, kind, seed=seed, reality=replace(load_reality(servos), seed=seed))
    while not rig.step():
        pass
    motions, completed, squares, count, worst, real, ended = 0, 0, 0.0, 0, 0.0, [], []
    began = rig.clock()
    for index in range(picks):
        told(f"{kind} {servos}: pick {index + 1} of {picks}")
        radius, angle = generator.uniform(*model.arm.work_radius), generator.uniform(-0.7, 0.7)
        for trajectory in plan_pick(model, rig, (radius * np.cos(angle), radius * np.sin(angle))):
            motions += 1
            try:
                follower = rig.driver.follow(trajectory)
            except DeskhandError:
                continue  # the motion before did not bring it to where this one begins
            while follower.active:
                rig.step()
                real.append(follower.sample(follower.elapsed) - rig.true_angles())
            if follower.code == 0:
                completed += 1
                ends = [model.tcp_pose(model.arm_joints(joints))[:3, 3] for joints in (trajectory.positions[-1], rig.true_angles())]
                ended.append(1000 * float(np.linalg.norm(ends[1] - ends[0])))
            status = rig.driver.status()
            squares, count, worst = squares + status.tracking_rms**2, count + 1, max(worst, status.tracking_error)
    errors = np.abs(np.array(real))
    seconds = rig.clock() - began
    rms, real_rms = float(np.sqrt(squares / count)), float(np.sqrt(np.mean(errors**2)))
    median, largest = (float(np.percentile(ended, share)) for share in (50, 100)) if ended else (float("nan"),) * 2
    round_time = rig.driver.status().round_time
    return Pick(kind, servos, motions, completed, seconds, rms, worst, real_rms, float(errors.max()), median, largest, round_time, completed == motions)


@dataclass(frozen=True)
class Stops:
    """Cancels at full speed, and servos that grow too hot or run out of voltage. Times [s] until the arm stands, true positions."""

    bus: str
    cancels: int
    slowest: float
    by_fault: dict[str, float]
    good: bool


def measure_stops(model: RobotModel, kind: str, times: int, seed: int) -> Stops:
    """Each from a motion of its own. A fault counts from when it appears: the driver has to notice it first, so only a cancel has a bar."""
    generator, slowest = np.random.default_rng(seed), 0.0
    for _ in range(times):
        rig = _moving(model, kind, float(generator.uniform(0.3, 1.0)), seed)
        follower = rig.driver.follower
        assert follower is not None
        rig.driver.cancel(follower)
        slowest = max(slowest, _stands_after(rig))
    by_fault = {}
    for name, value, attribute in (("over-temperature", 78.0, "temperature"), ("under-voltage", 8.5, "supply")):
        rig = _moving(model, kind, 0.5, seed)
        for servo in rig.emulator.servos.values():
            setattr(servo, attribute, value)
        by_fault[name] = _stands_after(rig)
    return Stops(kind, times, slowest, by_fault, slowest <= STOP)


def _moving(model: RobotModel, kind: str, seconds: float, seed: int) -> Rig:
    rig = Rig(model, kind, seed=seed)
    while not rig.step():
        pass
    ends = [np.array(model.arm.named_poses[name]) for name in ("home", "start")]
    ends[1][0] += 1.2
    rig.driver.follow(straight(model.arm.joints, ends[0], ends[1]))
    rig.run(seconds)
    return rig


def _stands_after(rig: Rig) -> float:
    began, seen = rig.clock(), []
    while rig.clock() < began + 2.0:
        rig.step()
        seen.append((rig.clock() - began, rig.true_angles()))
    last = seen[-1][1]
    return next(since for since, angles in seen if np.abs(angles - last).max() < STILL)


def to_json(results: list[Any]) -> list[dict[str, Any]]:
    """Rows with their kind."""
    return [{"measured": type(result).__name__.lower(), **asdict(result)} for result in results]
