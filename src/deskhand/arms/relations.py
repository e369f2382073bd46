"""What the fields of an arm's file must be to each other; nothing here looks into other files."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deskhand.arms.driver_config import SERVO_BUSES
from deskhand.arms.gripper import read_gripper
from deskhand.arms.layout import DRIVER
from deskhand.arms.problems import Problem

Sound = Callable[..., bool]
"""Whether nothing is wrong with the fields of these names."""
LEAST_SWEEP, MOST_SWEEP = 30.0, 4000.0  # [degrees] of a joint over all ticks of its servo
WIDEST = 0.3  # [m] between pads


def problems(data: Any, sound: Sound) -> Iterator[Problem]:
    """Each pair of fields that contradict each other; those with something wrong in them (``sound``) are left out."""
    if not isinstance(data, Mapping):
        return
    for rule in (_joints, _poses, _axis, _radius, _servo_names, _servo_ids, _sweeps, _ticks, _table, _health, _times, _dynamixel, _widths, _jaws):
        yield from rule(data, sound)


def _joints(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    if not sound("joints"):
        return
    names = data["joints"]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Problem("joints", f"{name} stands twice", "Name every joint once.")
    for field in ("max_velocity", "max_acceleration"):
        if sound(field) and len(data[field]) != len(names):
            yield Problem(field, f"it has {len(data[field])} values for {len(names)} joints", f"Give one for each of {', '.join(names)}.")


def _poses(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    poses = data.get("named_poses")
    if not isinstance(poses, Mapping):
        return
    if "home" not in poses:
        yield Problem("named_poses.home", "it is missing", "Give the pose in which the arm waits: out of the camera's view, touching nothing.")
    for name, values in poses.items():
        if sound("joints", f"named_poses.{name}") and len(values) != len(data["joints"]):
            yield Problem(f"named_poses.{name}", f"it has {len(values)} values for {len(data['joints'])} joints", "Give one for each of `joints` [rad].")
    if sound("driver.kinds", "driver.reference", "driver") and _own(data):
        wanted = data["driver"].get("reference", DRIVER.fields["reference"].default)
        if wanted not in poses:
            yield Problem("driver.reference", f"there is no pose {wanted!r} in named_poses", f"Name one of {', '.join(map(str, poses))}.")


def _own(data: Mapping[str, Any]) -> bool:
    return bool(set(data["driver"]["kinds"]) & set(SERVO_BUSES))


def _axis(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    if sound("approach_axis") and list(map(float, data["approach_axis"])) != [0, 0, 1]:
        yield Problem(
            "approach_axis", f"{data['approach_axis']} is not the tcp's z axis", "Turn the tcp in the URDF so that z points out of the gripper; say [0, 0, 1]."
        )


def _radius(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    if not sound("work_radius"):
        return
    low, high = data["work_radius"]
    if low >= high:
        yield Problem("work_radius", f"{low} is not below {high}", "Give the least first [m].")
    if sound("reach") and high > data["reach"]:
        yield Problem("work_radius", f"{high} m is beyond the reach of {data['reach']} m", "`deskhand arms check` measures how far it goes.")


def _servo_names(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    driver = data.get("driver")
    if not sound("joints", "driver.kinds") or not isinstance(driver, Mapping):
        return
    servos = driver.get("servos", {})
    if not isinstance(servos, Mapping):
        return
    for name in servos:
        if name not in data["joints"]:
            yield Problem(f"driver.servos.{name}", "there is no such joint in `joints`", f"Its joints: {', '.join(data['joints'])}.")
    missing = [name for name in data["joints"] if name not in servos]
    if missing and (servos or _own(data)):
        yield Problem("driver.servos", f"it lacks {', '.join(missing)}", "Give each joint its servo: {id, zero, step} or {id, at_0, at_1000}.")


def _servos(data: Mapping[str, Any], sound: Sound) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Sound ones: (field, servo), the gripper's last."""
    driver = data.get("driver")
    if not isinstance(driver, Mapping):
        return
    for name, servo in driver["servos"].items() if isinstance(driver.get("servos"), Mapping) else ():
        if sound(f"driver.servos.{name}"):
            yield f"driver.servos.{name}", servo
    if "gripper" in driver and sound("driver.gripper.id"):
        yield "driver.gripper", driver["gripper"]


def _servo_ids(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    first: dict[int, str] = {}
    for field, servo in _servos(data, sound):
        if servo["id"] in first:
            yield Problem(f"{field}.id", f"{servo['id']} is the id of {first[servo['id']]} too", "Give every servo its own number.")
        first.setdefault(servo["id"], field)
    if "dynamixel" in data.get("driver", {}) and sound("driver.dynamixel.shadows"):
        for second in data["driver"]["dynamixel"].get("shadows", {}):
            if second in first:
                yield Problem(
                    f"driver.dynamixel.shadows.{second}", f"{second} is the id of {first[second]} too", "A shadow is a second servo with its own number."
                )


def _sweeps(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    for field, servo in _servos(data, sound):
        if field == "driver.gripper":
            continue
        pairs = [pair for pair in (("at_0", "at_1000"), ("zero", "step")) if set(pair) & set(servo)]
        if len(pairs) != 1 or any(name not in servo for name in pairs[0]):
            yield Problem(field, f"it has {', '.join(servo)}", "Give either `at_0` and `at_1000`, or `zero` and `step`.")
        elif pairs[0][0] == "at_0":
            yield from _plausible(field, "at_1000", abs(servo["at_1000"] - servo["at_0"]))
        elif sound("driver.ticks"):
            low, high = data["driver"].get("ticks", (0, 1000))
            yield from _plausible(field, "step", abs(servo["step"] * (high - low)))
        if "range" in servo and servo["range"][0] >= servo["range"][1]:
            yield Problem(f"{field}.range", f"{servo['range'][0]:g} is not below {servo['range'][1]:g}", "Give the smaller tick first.")


def _plausible(field: str, name: str, sweep: float) -> Iterator[Problem]:
    if not LEAST_SWEEP <= sweep <= MOST_SWEEP:
        radians = " Are these radians?" if LEAST_SWEEP <= math.degrees(sweep) <= MOST_SWEEP else ""
        yield Problem(
            f"{field}.{name}",
            f"all ticks of the servo would turn the joint by {sweep:.3g} degrees",
            f"Give degrees; 4096 ticks a turn are 0.0879 a tick.{radians}",
        )


def _ticks(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    ticks = data.get("driver", {}).get("ticks") if sound("driver.ticks", "driver") or isinstance(data.get("driver"), Mapping) else None
    if ticks is None or not sound("driver.ticks"):
        return
    if ticks[0] >= ticks[1]:
        yield Problem("driver.ticks", f"{ticks[0]} is not below {ticks[1]}", "Give the least first.")


def _table(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    driver = data.get("driver")
    if not isinstance(driver, Mapping) or "gripper" not in driver or not sound("driver.gripper.table"):
        return
    rows = sorted(map(tuple, driver["gripper"]["table"]))
    for index, (_, width) in enumerate(driver["gripper"]["table"]):
        if not -0.01 <= width <= WIDEST:
            mm = f" Are these millimetres? {width:g} mm are {width / 1000:g} m." if 0 < width <= 1000 * WIDEST else ""
            yield Problem(f"driver.gripper.table[{index}][1]", f"pads {width:g} m apart cannot be", f"Give rows of [ticks, metres].{mm}")
            return
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(rows)]
    if any(ticks <= 0 for ticks, _ in steps) or not (all(width > 0 for _, width in steps) or all(width < 0 for _, width in steps)):
        yield Problem(
            "driver.gripper.table", "with growing ticks the distance of the pads must only grow or only shrink", "Measure it again, or take the wrong row out."
        )


def _health(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    driver = data.get("driver")
    if not isinstance(driver, Mapping) or "health" not in driver or not sound("driver.health"):
        return
    for low, high, default in (("warm", "hot", (60, 70)), ("low", "high", (0, 100))):
        least, most = driver["health"].get(low, default[0]), driver["health"].get(high, default[1])
        if least >= most:
            yield Problem(f"driver.health.{low}", f"{least:g} is not below `{high}`, which is {most:g}", "Exchange them, or mend the wrong one.")


def _times(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    driver = data.get("driver")
    if isinstance(driver, Mapping) and sound("driver.period", "driver.lookahead"):
        period, ahead = driver.get("period", 0.06), driver.get("lookahead", 0.12)
        if ahead < period:
            yield Problem("driver.lookahead", f"{ahead:g} s is less than the period of {period:g} s", "Give at least the period, better twice as much.")


def _dynamixel(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    driver = data.get("driver")
    if not isinstance(driver, Mapping) or "dynamixel" not in driver or not sound("driver.dynamixel", "driver.servos", "driver.gripper.id"):
        return
    told = driver["dynamixel"]
    shadows = told.get("shadows", {})
    known = {servo["id"] for _, servo in _servos(data, sound)} | set(shadows)
    for name in ("shadows", "output", "limits"):
        for servo in told.get(name, {}):
            if servo not in known or (name == "shadows" and shadows[servo] not in known):
                unknown = servo if servo not in known else shadows[servo]
                yield Problem(f"driver.dynamixel.{name}.{servo}", f"no servo has the id {unknown}", f"The ids: {', '.join(map(str, sorted(known)))}.")
    for servo in told.get("reversed", []):
        if servo not in known:
            yield Problem("driver.dynamixel.reversed", f"no servo has the id {servo}", f"The ids: {', '.join(map(str, sorted(known)))}.")
    for servo, (low, high) in told.get("limits", {}).items():
        if low >= high:
            yield Problem(f"driver.dynamixel.limits.{servo}", f"{low} is not below {high}", "Give the least first [ticks].")


def _widths(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    gripper = data.get("gripper")
    if not isinstance(gripper, Mapping):
        return
    for low, high, equal in (("width_min", "width_max", False), ("force_default", "force_max", True)):
        if sound(f"gripper.{low}", f"gripper.{high}"):
            least, most = gripper[low], gripper[high]
            if least > most or (least == most and not equal):
                yield Problem(
                    f"gripper.{low}",
                    f"{least:g} is {'not below' if not equal else 'above'} `{high}`, which is {most:g}",
                    "Exchange them, or mend the wrong one.",
                )


def _jaws(data: Mapping[str, Any], sound: Sound) -> Iterator[Problem]:
    gripper = data.get("gripper")
    if not isinstance(gripper, Mapping) or gripper.get("kind") != "pivot":
        return
    boxes = True
    for name in ("fixed_jaw", "moving_jaw"):
        for index, row in enumerate(gripper[name]) if sound(f"gripper.{name}") else ():
            if row[0] >= row[1] or row[2] >= row[3]:
                boxes = False
                yield Problem(f"gripper.{name}[{index}]", f"{row} is no box", "Give y from, y to, z from, z to [m], each from below its to.")
    if boxes and sound("gripper") and gripper["width_min"] < gripper["width_max"]:
        try:
            read_gripper(gripper)
        except (TypeError, ValueError) as error:
            yield Problem("gripper.pivot", str(error).removeprefix("gripper: "), "Measure the axis and the pads in the tcp's frame again; docs/arms.md.")
