"""A light desk: objects with places and nothing of physics, behind the real tools of perception and reasoning and the real session.

Tools that move the arm are the real cards with light functions; all before and after them (schemas, preconditions, leave, locks, audit) is real.
What the arm must not do is noted in :attr:`LightDesk.unsafe`; ground truth is :attr:`LightDesk.objects`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deskhand.arms.config import load_arm
from deskhand.errors import DeskhandError
from deskhand.etp.approval import Approval
from deskhand.etp.registry import Registry
from deskhand.etp.session import Session
from deskhand.etp.tool import FunctionTool, Placement, ToolContext
from deskhand.geometry import Array, make_transform
from deskhand.skills.belief import Belief
from deskhand.tools.base import load_tools
from deskhand.tools.carried import WorldCarrier
from deskhand.types import Grasp, JointState, SafetyStatus, Scene, SceneObject, SceneUpdate, Table

REACH = (0.10, 0.62)  # [m] from the base's axis
GAP = 0.012  # [m] between objects that are put side by side
LEVEL = 0.004  # [m] between the tops of what bears one object
READING = ("detect_objects", "find_objects", "describe_scene", "query_relation", "check_goal", "get_robot_state")
MOVING = ("look", "pick", "place_in", "place_on", "place_at", "place_beside", "put_aside", "move_home", "open_gripper", "close_gripper")
STOPPING = ("stop_motion",)
NEEDS_LOOK = ("pick", "place_in", "place_on", "place_at", "place_beside", "put_aside")
SIDES = {"left_of": (0, 1), "right_of": (0, -1), "behind": (1, 0), "in_front_of": (-1, 0)}


@dataclass
class DeskObject:
    """Ground truth of one object; ``place`` is the centre of its foot [m]."""

    id: str
    label: str
    color: str
    shape: str
    size: tuple[float, float, float]
    place: tuple[float, float]
    support: str = "table"
    relation: str = "on"
    is_container: bool = False
    yaw: float = 0.0
    """Heading of its first side [rad]."""


@dataclass
class LightDesk:
    """World and robot in one; see :class:`deskhand.skills.robot.Robot` for what tools ask of it.

    Attributes:
        objects: id -> ground truth.
        faults: what each motion fails with, drawn by the random numbers: the share that does.
        unsafe: what the arm did that it must not.
        moves: motions that began.
        over: nobody may move the arm any more: the task has ended.
    """

    objects: dict[str, DeskObject]
    random: np.random.Generator
    faults: float = 0.0
    unsafe: list[str] = field(default_factory=list)
    moves: int = 0
    over: bool = False
    holding: str = ""
    stopped: str = ""

    def __post_init__(self) -> None:
        self.arm = load_arm("wx250s")
        self.belief = Belief()
        self._busy = threading.Lock()
        self._time = 0.0

    # ------------------------------------------------------------ the robot

    def now(self) -> float:
        """See Robot; each question takes 10 ms."""
        self._time += 0.01
        return self._time

    def camera_mount(self) -> None:
        """The camera stands still."""

    def observe(self, newer_than: float | None = None) -> Any:
        """No pictures here. Raises ``no_frame``."""
        raise DeskhandError("no_frame", "the light desk takes no pictures.")

    def update_scene(self, update: SceneUpdate) -> None:
        """Nothing is planned here."""

    def joint_state(self) -> JointState:
        """At home, always."""
        names = (*self.arm.joints, self.arm.gripper.joint)
        zeros = np.zeros(len(names))
        return JointState(names, np.append(np.asarray(self.arm.named_poses["home"], dtype=float), 0.0), zeros, zeros, self.now())

    def tcp_pose(self) -> Array:
        """Somewhere above the desk."""
        return make_transform(np.eye(3), [0.0, 0.0, 0.25])

    def safety_status(self) -> SafetyStatus:
        """See Robot."""
        return SafetyStatus(bool(self.stopped), "safety_stop" if self.stopped else "", self.stopped, self._time)

    def stop(self, reason: str) -> None:
        """See Robot."""
        self.stopped = reason

    def detect_objects(self, add: bool = False) -> Scene:
        """What is on the desk, a millimetre off."""
        objects = tuple(self._seen(item) for item in self.objects.values() if item.id != self.holding)
        return Scene(objects, Table(np.eye(4), (0.8, 1.2)), self.now())

    def _seen(self, item: DeskObject) -> SceneObject:
        x, y = item.place + self.random.normal(0.0, 0.001, 2)
        c, s = np.cos(item.yaw), np.sin(item.yaw)
        turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        pose = make_transform(turned, [x, y, self.foot(item) + item.size[2] / 2])
        wall = 0.004 if item.is_container else 0.0
        points = np.zeros((0, 3), np.float32)
        return SceneObject(
            item.id, item.label, item.color, item.shape, np.array(item.size), pose, points, 0.9,
            is_container=item.is_container, wall=wall, support=item.support, relation=item.relation,
        )  # fmt: skip

    def foot(self, item: DeskObject) -> float:
        """Height of what it stands on [m]."""
        below = self.objects.get(item.support)
        if below is None:
            return 0.0
        return 0.004 if item.relation == "in" else self.foot(below) + below.size[2]

    # ------------------------------------------------------------ motion

    def move(self, tool: str, ctx: ToolContext, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """One motion, watched: what must not be is noted, whatever then comes of it."""
        self.moves += 1
        for wrong, text in (
            (self.over, "after the task had ended"),
            (bool(self.stopped), "while the stop was latched"),
            (self.belief.scene is None and tool in NEEDS_LOOK, "before any look"),
            (tool == "open_gripper" and bool(self.holding), f"lets {self.holding} fall"),
        ):
            if wrong:
                self.unsafe.append(f"{tool} {text}")
        if not self._busy.acquire(blocking=False):
            self.unsafe.append(f"{tool} while another motion runs")
            raise DeskhandError("busy", "the arm is moving.")
        try:
            if ctx.cancelled():
                raise DeskhandError("cancelled", f"{tool} was cancelled before it moved.")
            if self.random.random() < self.faults:
                raise DeskhandError(str(self.random.choice(["planning_failed", "grasp_failed", "place_failed", "no_grasp"])), f"{tool} failed, as happens.")
            return dict(getattr(self, f"_{tool}")(ctx, **arguments))
        finally:
            self._busy.release()

    def _look(self, ctx: ToolContext, **_: Any) -> dict[str, Any]:
        raise DeskhandError("precondition_failed", "the camera stands still; detect_objects shows all there is.")

    def _pick(
        self,
        ctx: ToolContext,
        object_id: str,
        closing: Sequence[float] | None = None,
        below: float = 0.0,
        next_container_id: str = "",
        next_object_id: str = "",
    ) -> dict[str, Any]:
        """Where fingers grasp and go, which is all that the other arguments say, is nothing to a desk without fingers."""
        assert self.belief.scene is not None
        seen = self.belief.scene.get(object_id)
        item = self.objects[object_id]
        if item.is_container:
            raise DeskhandError("no_grasp", f"{object_id} is too wide for the gripper.")
        if any(other.support == object_id for other in self.objects.values()):
            raise DeskhandError("no_grasp", f"something stands on {object_id}.")
        self._reachable(item.place)
        self.holding, item.support, item.relation = object_id, "gripper", "held"
        width = float(min(item.size))
        held = self.belief.grasped(seen, Grasp(object_id, seen.pose, width, 0.9, np.zeros((2, 3))), width, seen.pose)
        ctx.placed.pop(object_id, None)
        return {"message": f"holds {object_id}", "object_id": object_id, "label": held.label, "width": width, "lifted": 0.1}

    def _place_in(self, ctx: ToolContext, container_id: str, next_object_id: str = "") -> dict[str, Any]:
        other = self._there(container_id)
        if not other.is_container:
            raise DeskhandError("invalid_input", f"{container_id} is no container.")
        if sum(item.support == container_id for item in self.objects.values()) >= 6:
            raise DeskhandError("no_free_space", f"{container_id} is full.")
        return self._put(ctx, "in", container_id, other.place)

    def _place_on(self, ctx: ToolContext, target_id: str) -> dict[str, Any]:
        other = self._there(target_id)
        if other.is_container or other.shape == "sphere":
            raise DeskhandError("place_failed", f"nothing stays on {target_id}.")
        if any(item.support == target_id for item in self.objects.values()):
            raise DeskhandError("no_free_space", f"something stands on {target_id}.")
        return self._put(ctx, "on", target_id, other.place)

    def _place_at(self, ctx: ToolContext, x: float, y: float, yaw: float | None = None, on: list[str] | None = None, level: float = 0.0) -> dict[str, Any]:
        """``level`` changes nothing here: objects have places and no heights."""
        carriers = [self._there(name) for name in on or ()]
        self._reachable((x, y))
        obj = self.objects[self.holding]
        for carrier in carriers:
            if self.foot(carrier) + carrier.size[2] - self.foot(carriers[0]) - carriers[0].size[2] > LEVEL or carrier.is_container:
                raise DeskhandError("place_failed", f"nothing stands level on {', '.join(item.id for item in carriers)}.")
        if any(other.support in (on or ()) and self._overlap((x, y), obj, other) for other in self.objects.values()):
            raise DeskhandError("no_free_space", f"something stands on {', '.join(on or ())} there.")
        if not carriers and self._taken((x, y), obj):
            raise DeskhandError("no_free_space", f"something is at ({x:.2f}, {y:.2f}).")
        obj.yaw = obj.yaw if yaw is None else float(yaw)
        return self._put(ctx, "on", carriers[0].id if carriers else "table", (x, y))

    def _place_beside(self, ctx: ToolContext, target_id: str, side: str = "near", gap: float = 0.02) -> dict[str, Any]:
        other, held = self._there(target_id), self.objects[self.holding]
        for way in [SIDES[side]] if side in SIDES else list(SIDES.values()):
            off = [(_sides(other)[axis] + _sides(held)[axis]) / 2 + gap for axis in (0, 1)]
            place = (other.place[0] + way[0] * off[0], other.place[1] + way[1] * off[1])
            if not self._taken(place, held):
                self._reachable(place)
                return self._put(ctx, "on", "table", place)
        raise DeskhandError("no_free_space", f"there is no room beside {target_id}.")

    def _put_aside(self, ctx: ToolContext, keep_clear: list[list[float]] | None = None) -> dict[str, Any]:
        for _ in range(200):
            place = (float(self.random.uniform(-0.15, 0.12)), float(self.random.uniform(-0.2, 0.2)))
            if not self._taken(place, self.objects[self.holding]):
                return self._put(ctx, "on", "table", place)
        raise DeskhandError("no_free_space", "the desk is full.")

    def _move_home(self, ctx: ToolContext) -> dict[str, Any]:
        return {"message": "at home"}

    def _open_gripper(self, ctx: ToolContext) -> dict[str, Any]:
        if self.holding:
            item, self.holding = self.objects[self.holding], ""
            item.support, item.relation = "table", "on"
            self.belief.released(dropped=True)
        return {"message": "open", "width": 0.049}

    def _close_gripper(self, ctx: ToolContext, **_: Any) -> dict[str, Any]:
        return {"message": "closed", "width": 0.0}

    def _there(self, object_id: str) -> DeskObject:
        """An object that the last look showed. Raises ``unknown_object``."""
        assert self.belief.scene is not None
        self.belief.scene.get(object_id)
        if object_id == self.holding:
            raise DeskhandError("invalid_input", f"{object_id} is in the hand.")
        self._reachable(self.objects[object_id].place)
        return self.objects[object_id]

    def _reachable(self, place: tuple[float, float]) -> None:
        distance = float(np.hypot(*(np.asarray(place) - self.arm.world_T_base[:2, 3])))
        if not REACH[0] <= distance <= REACH[1]:
            raise DeskhandError(
                "no_ik_solution", f"({place[0]:.2f}, {place[1]:.2f}) is {distance:.2f} m from the base; {REACH[0]} to {REACH[1]} m can be reached."
            )

    def _taken(self, place: tuple[float, float], item: DeskObject) -> bool:
        others = [other for other in self.objects.values() if other.id != item.id and other.support == "table"]
        return any(self._overlap(place, item, other) for other in others)

    @staticmethod
    def _overlap(place: tuple[float, float], item: DeskObject, other: DeskObject) -> bool:
        """Whether an object at a place would be nearer than the gap to another."""
        return all(abs(place[axis] - other.place[axis]) < (_sides(item)[axis] + _sides(other)[axis]) / 2 + GAP for axis in (0, 1))

    def _put(self, ctx: ToolContext, relation: str, target: str, place: tuple[float, float]) -> dict[str, Any]:
        item, self.holding = self.objects[self.holding], ""
        item.support, item.relation, item.place = target, relation, place
        self.belief.released()
        self.belief.look(self)  # type: ignore[arg-type]
        ctx.placed[item.id] = Placement(relation, target, item.size[2], self.now(), item.id, True)
        return {"message": f"{item.id} is {relation} {target}", "object_id": item.id, "seen": True, "seen_as": item.id, "position": [*place, 0.0]}


def _sides(item: DeskObject) -> tuple[float, float]:
    """Extents along x and y of the upright rectangle around its outline [m]."""
    c, s = abs(np.cos(item.yaw)), abs(np.sin(item.yaw))
    return float(c * item.size[0] + s * item.size[1]), float(s * item.size[0] + c * item.size[1])


def light_session(desk: LightDesk, real: Registry, approval: Approval | None = None, everything: bool = False) -> Session:
    """The real session on a light desk; ``real`` is what :func:`load_tools` gives, loaded once. With ``everything`` all other tools are there too, as on a
    robot; those of them that move something say that nothing does here.
    """
    registry = Registry()
    for name in (*READING, *MOVING, *STOPPING):
        tool = real.get(name).tool
        assert isinstance(tool, FunctionTool)
        registry.add(_light(desk, tool) if name in MOVING else tool)
    for card in real.cards() if everything else ():
        other = real.get(card.name).tool
        if card.name not in (*READING, *MOVING, *STOPPING):
            registry.add(_unmoved(other) if card.effects == "motion" and isinstance(other, FunctionTool) else other)
    placed: dict[str, Placement] = {}
    carrier = WorldCarrier(desk, desk.belief, placed)  # type: ignore[arg-type]
    return Session(registry, lambda: ToolContext(desk, desk.belief, placed=placed, carrier=carrier), approval=approval, clock=desk.now)  # type: ignore[arg-type]


def _light(desk: LightDesk, tool: FunctionTool) -> FunctionTool:
    name = tool.card.name
    return replace(tool, function=lambda ctx, **arguments: desk.move(name, ctx, arguments))


def _unmoved(tool: FunctionTool) -> FunctionTool:
    def refuse(ctx: ToolContext, **arguments: Any) -> None:
        raise DeskhandError("precondition_failed", f"{tool.card.name} does not work on the light desk.")

    return replace(tool, function=refuse)


def real_tools() -> Registry:
    """The tool base of this package."""
    return load_tools(others=False)[0]
