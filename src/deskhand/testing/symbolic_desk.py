"""A desk of symbols behind the ToolClient protocol: exact tool names and shapes, no physics, faults on demand."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from typing import Any

from deskhand.errors import DeskhandError
from deskhand.etp.base import Feedback, ToolResult, ToolSummary
from deskhand.tools.look_notes import ON_THE_ARM
from deskhand.world.acts import announced
from deskhand.world.relations import SIDEWAYS, Body, stands_beside

SIZES = {
    "block": (0.03, 0.03, 0.03), "ball": (0.035, 0.035, 0.035), "cup": (0.04, 0.04, 0.05), "can": (0.038, 0.038, 0.07), "pen": (0.13, 0.01, 0.01),
    "marker": (0.12, 0.018, 0.018), "box": (0.036, 0.06, 0.042), "eraser": (0.022, 0.045, 0.014), "sponge": (0.04, 0.07, 0.025),
    "bin": (0.165, 0.17, 0.07), "tray": (0.165, 0.215, 0.035), "open_box": (0.16, 0.19, 0.055), "box_open": (0.16, 0.19, 0.055),
}  # fmt: skip
SHAPES = {"ball": "sphere", "cup": "cylinder", "can": "cylinder", "pen": "cylinder", "marker": "cylinder"}
CONTAINERS = ("bin", "tray", "open_box", "box_open")


def seen_object(
    name: str, color: str = "red", label: str = "", position: tuple[float, float] | None = None, scale: float = 1.0, on: str = "table"
) -> dict[str, Any]:
    """One object; its label is the id without the number."""
    label = label or name.rsplit("_", 1)[0]
    number = int(name.rsplit("_", 1)[1]) if name.rsplit("_", 1)[-1].isdigit() else 1
    container = label in CONTAINERS
    if position is None:
        spread = sum(map(ord, name)) % 7
        position = (0.0 + 0.04 * number, 0.28 * (1 if number % 2 else -1)) if container else (-0.1 + 0.04 * spread, -0.2 + 0.05 * ((spread * 3 + number) % 8))
    size = [edge * scale for edge in SIZES.get(label, (0.04, 0.04, 0.04))]
    return {
        "id": name, "label": label, "color": color, "shape": SHAPES.get(label, "box" if not container else "other"), "size": size,
        "position": [*position, size[2] / 2], "yaw": 0.0, "is_container": container, "support": on, "relation": "on", "confidence": 0.9,
    }  # fmt: skip


def schema(**properties: Any) -> dict[str, Any]:
    """Of a tool's arguments; those without a default are required."""
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name, value in properties.items() if "default" not in value],
        "additionalProperties": False,
    }


TEXT, NUMBER = {"type": "string"}, {"type": "number"}
CARDS: dict[str, tuple[str, dict[str, Any]]] = {
    "detect_objects": ("none", schema()),
    "look": ("motion", schema()),
    "describe_scene": ("none", schema()),
    "find_objects": ("none", schema(label={"type": "string", "default": ""}, color={"type": "string", "default": ""})),
    "query_relation": ("none", schema(object_id=TEXT, relation=TEXT, target_id=TEXT)),
    "check_goal": ("none", schema(conditions={"type": "array", "items": {"type": "object"}})),
    "get_robot_state": ("none", schema()),
    "check_reachable": ("none", schema(object_id=TEXT)),
    "pick": ("motion", schema(object_id=TEXT, next_container_id={**TEXT, "default": ""}, next_object_id={**TEXT, "default": ""})),
    "separate": ("motion", schema(object_id=TEXT)),
    "place_in": ("motion", schema(container_id=TEXT, next_object_id={**TEXT, "default": ""})),
    "place_on": ("motion", schema(target_id=TEXT)),
    "place_at": ("motion", schema(x=NUMBER, y=NUMBER, yaw={"default": None}, on={"default": None})),
    "handover": ("motion", schema()),
    "place_beside": ("motion", schema(target_id=TEXT, side=TEXT)),
    "put_aside": ("motion", schema(keep_clear={"type": "array", "default": []})),
    "move_home": ("motion", schema()),
    "open_gripper": ("motion", schema()),
    "close_gripper": ("motion", schema()),
    "stop_motion": ("motion", schema(reason=TEXT)),
}


class SymbolicDesk:
    """``faults`` maps a tool (or "tool:object") to results to give instead of doing it, first come first served; ``before`` is called before every tool."""

    def _beside(self, item: Any, condition: Any) -> bool:
        return stands_beside(Body.seen(item), Body.seen(self.objects[condition["target_id"]]), condition["relation"])

    def __init__(
        self, *objects: dict[str, Any], faults: Mapping[str, list[ToolResult]] | None = None, before: Callable[[SymbolicDesk, str], None] | None = None
    ) -> None:
        self.objects: dict[str, dict[str, Any]] = {item["id"]: copy.deepcopy(item) for item in objects}
        self.faults = {name: list(results) for name, results in (faults or {}).items()}
        self.before = before
        self.holding = ""
        self.stopped = ""
        self.tight: set[str] = set()
        """What others lie so close to that no finger fits between, until it is separated."""
        self.narrow: set[str] = set()
        """What a look without a motion does not show."""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.lies: set[str] = set()
        """Tools that answer success without doing anything."""

    # ------------------------------------------------------------ ToolClient

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        return [
            ToolSummary(name, "execution" if effects == "motion" else "perception", "unit", f"{name} of the desk", effects)
            for name, (effects, _) in CARDS.items()
        ]

    def describe(self, name: str) -> dict[str, Any]:
        if name not in CARDS:
            raise DeskhandError("unknown_tool", f"there is no tool {name!r}.")
        return {"name": name, "summary": f"{name} of the desk", "effects": CARDS[name][0], "input_schema": CARDS[name][1]}

    def invoke(
        self, name: str, arguments: Mapping[str, Any], feedback: Feedback | None = None, cancelled: Callable[[], bool] | None = None, caller: str = ""
    ) -> ToolResult:
        self.calls.append((name, dict(arguments)))
        if self.before:
            self.before(self, name)
        target = next(iter(arguments.values()), "") if arguments else ""
        for key in (f"{name}:{target}", name):
            if self.faults.get(key):
                return self.faults[key].pop(0)
        if self.stopped and CARDS[name][0] == "motion" and name != "stop_motion":
            return ToolResult("safety_stop", f"stopped: {self.stopped}")
        if name in self.lies:
            return ToolResult("", "", {})
        answer: ToolResult = getattr(self, f"_{name}")(**announced(name, arguments)[0])  # what comes next is no matter where nothing has a way to go
        return answer

    # ------------------------------------------------------------ tools

    def _visible(self) -> list[dict[str, Any]]:
        return copy.deepcopy([item for item in self.objects.values() if not item.get("hidden")])

    def _detect_objects(self) -> ToolResult:
        seen = [item for item in self._visible() if item["id"] not in self.narrow]
        return ToolResult("", "", {"objects": seen, "stamp": 1.0, "note": ON_THE_ARM if self.narrow else ""})

    def _look(self) -> ToolResult:
        return ToolResult("", "", {"objects": self._visible(), "stamp": 1.0, "message": "", "camera": "arm", "views": 3, "unseen": 0.2})

    def _describe_scene(self) -> ToolResult:
        return ToolResult("", "", {"text": "a desk", "objects": self._visible()})

    def _find_objects(self, label: str = "", color: str = "") -> ToolResult:
        return ToolResult("", "", {"objects": [item for item in self._visible() if label in item["label"] and color in item["color"]]})

    def _check_goal(self, conditions: list[dict[str, Any]]) -> ToolResult:
        unmet = []
        for condition in conditions:
            item = self.objects.get(condition["object_id"])
            if item is not None and condition["relation"] in SIDEWAYS and self._beside(item, condition):
                continue
            if item is None or item["support"] != condition["target_id"] or item["relation"] != condition["relation"]:
                unmet.append({**condition, "reason": f"it is {item['relation']} {item['support']}" if item else "not seen"})
        return ToolResult("", "", {"satisfied": not unmet, "unmet": unmet})

    def _query_relation(self, object_id: str, relation: str, target_id: str) -> ToolResult:
        item = self.objects[object_id]
        return ToolResult("", "", {"holds": item["support"] == target_id and item["relation"] == relation, "reason": ""})

    def _get_robot_state(self) -> ToolResult:
        return ToolResult("", "", {"joints": {}, "tcp_position": [0, 0, 0.2], "gripper_width": 0.03, "holding": self.holding, "stopped": bool(self.stopped)})

    def _check_reachable(self, object_id: str) -> ToolResult:
        return ToolResult("", "", {"reachable": True, "reason": ""})

    def _pick(self, object_id: str) -> ToolResult:
        if self.holding:
            return ToolResult("already_holding", f"the gripper holds {self.holding}.")
        if object_id not in self.objects or self.objects[object_id].get("hidden"):
            return ToolResult("unknown_object", f"there is no object {object_id!r}.")
        if object_id in self.tight or any(item["support"] == object_id for item in self.objects.values()):
            return ToolResult("no_grasp", f"something lies on {object_id}, or close beside it.")
        self.holding = object_id
        self.objects[object_id] |= {"support": "gripper", "relation": "held"}
        return ToolResult("", "", {"object_id": object_id, "label": self.objects[object_id]["label"], "width": 0.03, "lifted": 0.1})

    def _separate(self, object_id: str) -> ToolResult:
        if object_id not in self.tight:
            return ToolResult("invalid_input", f"nothing lies close beside {object_id}.")
        self.tight.discard(object_id)
        return ToolResult("", "", {"object_id": object_id, "moved": 0.03})

    def _put(self, target: str, relation: str, position: list[float]) -> ToolResult:
        if not self.holding:
            return ToolResult("not_holding", "the gripper is empty.")
        item = self.objects[self.holding]
        item |= {"support": target, "relation": relation, "position": [position[0], position[1], position[2]]}
        self.holding = ""
        return ToolResult("", "", {"placed": item["id"], "object_id": item["id"], "seen": True, "seen_as": item["id"], "position": item["position"]})

    def _place_in(self, container_id: str) -> ToolResult:
        other = self.objects.get(container_id)
        if other is None or not other["is_container"]:
            return ToolResult("precondition_failed", f"{container_id} is no container.")
        return self._put(container_id, "in", other["position"])

    def _place_on(self, target_id: str) -> ToolResult:
        if target_id not in self.objects:
            return ToolResult("unknown_object", f"there is no object {target_id!r}.")
        below = self.objects[target_id]
        if any(item["support"] == target_id for item in self.objects.values()):
            return ToolResult("no_free_space", f"something lies on {target_id}.")
        return self._put(target_id, "on", [below["position"][0], below["position"][1], below["position"][2] + below["size"][2]])

    def _place_at(self, x: float, y: float, yaw: float | None = None, on: list[str] | None = None) -> ToolResult:
        return self._put(on[0] if on else "table", "on", [x, y, 0.02])

    def _handover(self) -> ToolResult:
        return ToolResult("", "", {"object_id": self.holding}) if self.holding else ToolResult("not_holding", "the gripper is empty.")

    def _place_beside(self, target_id: str, side: str) -> ToolResult:
        if target_id not in self.objects:
            return ToolResult("unknown_object", f"there is no object {target_id!r}.")
        x, y = {"left_of": (0, 1), "right_of": (0, -1), "behind": (1, 0), "in_front_of": (-1, 0), "near": (0, 1)}[side]
        place = self.objects[target_id]["position"]
        return self._put("table", "on", [place[0] + 0.06 * x, place[1] + 0.06 * y, 0.02])

    def _put_aside(self, keep_clear: list[list[float]] | None = None) -> ToolResult:
        taken = [*(keep_clear or []), *(item["position"][:2] for item in self.objects.values() if item["id"] != self.holding)]
        places = [(0.04 * i - 0.1, 0.04 * j - 0.24) for i in range(7) for j in range(13)]
        x, y = max(places, key=lambda place: min(math.dist(place, other) for other in taken))
        return self._put("table", "on", [x, y, 0.02])

    def _move_home(self) -> ToolResult:
        return ToolResult("", "", {})

    def _open_gripper(self) -> ToolResult:
        if self.holding:
            self._put("table", "on", [0.0, 0.0, 0.02])
        return ToolResult("", "", {"width": 0.049})

    def _close_gripper(self) -> ToolResult:
        return ToolResult("", "", {"width": 0.0})

    def _stop_motion(self, reason: str) -> ToolResult:
        self.stopped = reason
        return ToolResult("", "", {"stopped": True})

    # ------------------------------------------------------------ for tests

    def where(self) -> dict[str, str]:
        """Object -> support, containers left out."""
        return {name: item["support"] for name, item in self.objects.items() if item["label"] not in CONTAINERS}
