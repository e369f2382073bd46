"""The one account of what is where, as looks have shown it and as acts have left it. Everybody who needs to know asks it.

An object that a look does not show stays known as it was; :meth:`WorldModel.visible` tells what the newest look has shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deskhand.world.acts import LETS_GO, LOOKS, PUTS, goal_met, support_after
from deskhand.world.relations import TABLE

Seen = Mapping[str, Any]
"""An object as the tools describe it (tools/objects.py)."""
DESCRIBED = frozenset(("id", "position", "size"))


@dataclass(frozen=True)
class Put:
    """Where the hand has put an object, verified: ``relation`` to ``target``, an id or ``table``; of what was put beside another, that."""

    relation: str
    target: str


class WorldModel:
    """Applies the results of tools, in the order in which they came.

    Attributes:
        objects: id -> the object as it was last seen, or as a verified act left it; what a later look does not show stays.
        held: id of what the hand holds, or empty.
        looked: whether anybody has looked.
        put: where the hand has put objects since they were last picked, by the ids that they have now.
        handled: ids of all that the hand has held.
        renamed: id -> the id that it was picked, or seen after it was put down, under.
    """

    def __init__(self) -> None:
        self.objects: dict[str, Seen] = {}
        self.held = ""
        self.looked = False
        self.put: dict[str, Put] = {}
        self.handled: set[str] = set()
        self.renamed: dict[str, str] = {}
        self._visible: dict[str, None] = {}

    def visible(self) -> list[Seen]:
        """The objects of the newest look, as they are since then; what is held among them."""
        return [self.objects[name] for name in self._visible if name in self.objects]

    def called_now(self, name: str) -> str:
        """The id that an object has now."""
        seen: set[str] = set()
        while name in self.renamed and name not in seen:
            seen.add(name)
            name = self.renamed[name]
        return name

    def apply(self, tool: str, arguments: Mapping[str, Any], ok: bool, data: Any) -> None:
        """A tool has answered. A failed call changes nothing that is known; what is so then, a look tells."""
        data = data if isinstance(data, Mapping) else {}
        if not ok:
            return
        if isinstance(data.get("objects"), list):
            self._see(tool, arguments, [item for item in data["objects"] if isinstance(item, Mapping) and set(item) >= DESCRIBED])
        if tool == "get_robot_state":
            self._hold(str(data.get("holding") or ""))
        elif tool == "pick":
            self._pick(str(arguments.get("object_id", "")), data)
        elif tool in PUTS:
            self._put(tool, arguments, data)
        elif tool in LETS_GO:
            self._let_go()

    def _see(self, tool: str, arguments: Mapping[str, Any], items: list[Seen]) -> None:
        names = {str(item["id"]): item for item in items}
        self.objects |= names
        if tool in LOOKS or (tool == "find_objects" and not arguments):
            self.looked = self.looked or tool in LOOKS
            self._visible = dict.fromkeys(names) | ({self.held: None} if self.held in self.objects else {})
        if self.held and self.held not in names:
            self._carry()
        for name in names.keys() & self.renamed.keys():  # it is there after all
            del self.renamed[name]

    def _hold(self, name: str) -> None:
        if self.held and self.held != name:
            self._let_go()
        self.held = name
        self._carry()

    def _pick(self, asked: str, data: Mapping[str, Any]) -> None:
        name = str(data.get("object_id") or asked)
        if name != asked:
            self._rename(asked, name)
        if name in self.objects and data.get("label"):
            self.objects[name] = {**self.objects[name], "label": str(data["label"])}
        self.put.pop(name, None)
        self.handled.add(name)
        self.held = name
        self._carry()

    def _carry(self) -> None:
        if self.held in self.objects:
            self.objects[self.held] = {**self.objects[self.held], "relation": "held", "support": "gripper"}
            self._visible.setdefault(self.held)

    def _put(self, tool: str, arguments: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        name = str(data.get("seen_as") or self.held)
        if not self.held:
            return
        if name != self.held:
            self._rename(self.held, name)
            self.handled.add(name)
        relation, support = support_after(tool, arguments)
        if name in self.objects:
            now = {"relation": relation, "support": support, "position": self._where(arguments, data, name), "yaw": None}  # how it lies a look will tell
            self.objects[name] = {**self.objects[name], **now}
            self._visible.setdefault(name)
        self.put[name] = Put(*goal_met(tool, arguments))
        self.held = ""

    def _where(self, arguments: Mapping[str, Any], data: Mapping[str, Any], name: str) -> list[float]:
        """Where it is now [m]: as measured, as asked for, or where its support is."""
        before = [float(value) for value in self.objects[name]["position"]]
        if isinstance(data.get("position"), list | tuple) and len(data["position"]) == 3:
            return [float(value) for value in data["position"]]
        x, y = arguments.get("x"), arguments.get("y")
        if isinstance(x, int | float) and isinstance(y, int | float):
            return [float(x), float(y), before[2]]
        target = self.objects.get(str(arguments.get("container_id") or arguments.get("target_id") or ""))
        return [*map(float, target["position"][:2]), before[2]] if target is not None else before

    def _let_go(self) -> None:
        if self.held in self.objects:
            self.objects[self.held] = {**self.objects[self.held], "relation": "on", "support": TABLE}
        self.held = ""

    def _rename(self, old: str, new: str) -> None:
        """What was known as ``old`` is known as ``new``; where both are known they are two objects, and only the call was about the other one."""
        if old in self.objects and new not in self.objects:
            self.objects[new] = {**self.objects.pop(old), "id": new}
            self._visible.pop(old, None)
        self.renamed[old] = new
