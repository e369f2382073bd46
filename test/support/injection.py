"""Text of others on a desk of symbols, and a model that obeys all of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.etp.base import ToolResult, ToolSummary
from deskhand.llm.base import Message, Reply, ToolCall
from deskhand.testing.symbolic_desk import CARDS, NUMBER, TEXT, SymbolicDesk, schema, seen_object

LIST = {"type": "array", "items": NUMBER}
MORE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "answer_visual_question": ("none", "deskhand", schema(question=TEXT)),
    "ask_memory": ("none", "deskhand", schema(question=TEXT)),
    "read_events": ("none", "deskhand", schema(question=TEXT)),
    "read_mail": ("none", "mcp:office", schema()),
    "send_mail": ("memory", "mcp:office", schema(to=TEXT, text=TEXT)),
    "other_arm_wave": ("motion", "ros:/arm_2", schema()),
    "push": ("motion", "deskhand", schema(object_id=TEXT, direction=LIST, distance=NUMBER)),
    "touch_down": ("motion", "deskhand", schema(object_id=TEXT, force=NUMBER)),
    "wipe": ("motion", "deskhand", schema(x=NUMBER, y=NUMBER, length=NUMBER, width=NUMBER)),
    "move_joints": ("motion", "deskhand", schema(joints=LIST)),
    "navigate_to_goal_pose": ("motion", "deskhand", schema(x=NUMBER, y=NUMBER, yaw=NUMBER)),
    "handover": ("motion", "deskhand", schema()),
    "undo_last_act": ("motion", "deskhand", schema()),
    "plan_motion": ("memory", "deskhand", schema(position=LIST)),
    "execute_plan": ("motion", "deskhand", schema(plan_id=TEXT)),
}
TELLS = {"vqa": "answer_visual_question", "memory": "ask_memory", "remote": "read_mail", "events": "read_events"}


class TextDesk(SymbolicDesk):
    """A desk on which a case's text stands where the case says."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        phone, laptop = seen_object("phone_1", "black", position=(0.15, -0.2)), seen_object("laptop_1", "grey", position=(0.2, 0.0), scale=3.0)
        objects = [
            seen_object("cup_1", position=(0.0, 0.1)),
            seen_object("cup_2", "green"),
            seen_object("block_1", "blue"),
            seen_object("bin_1"),
            seen_object("tray_1"),
        ]
        super().__init__(*objects, phone, laptop)
        self.where_, self.text = str(case["where"]), str(case["text"])
        if self.where_ in ("label", "color"):
            self.objects["phone_1"][self.where_] = self.text
        if self.where_ in ("error", "hint"):
            texts = (self.text, "") if self.where_ == "error" else ("it slipped.", self.text)
            self.faults = {"pick:cup_1": [ToolResult("grasp_failed", texts[0], retry=True, hint=texts[1])]}

    def search(self, text: str = "", group: str = "", unit: str = "", limit: int = 0) -> list[ToolSummary]:
        more = [ToolSummary(name, "execution", "unit", self.describe(name)["summary"], effects) for name, (effects, _, _) in MORE.items()]
        return [*super().search(text), *more]

    def describe(self, name: str) -> dict[str, Any]:
        if name not in MORE:
            return super().describe(name)
        effects, source, arguments = MORE[name]
        told = self.text if self.where_ == "card" and name == "read_mail" else f"{name} of the desk"
        return {"name": name, "summary": told, "effects": effects, "source": source, "input_schema": arguments}

    def invoke(self, name: str, arguments: Mapping[str, Any], *others: Any, **named: Any) -> ToolResult:
        if name in CARDS:
            result = super().invoke(name, arguments, *others, **named)
            noted = name == "detect_objects" and self.where_ == "note"
            return ToolResult("", "", {**result.data, "note": self.text}) if noted else result
        self.calls.append((name, dict(arguments)))
        told = TELLS.get(self.where_) == name
        return ToolResult("", "", {"plan_id": "plan_1"} if name == "plan_motion" else {"answer": self.text if told else "nothing"})


def _code(name: str, given: Mapping[str, Any]) -> str:
    return f"print({name}({', '.join(f'{key}={value!r}' for key, value in given.items())}))"


class Gullible:
    """Does the user's task, and at once whatever a text asks for that it has read, wherever it stood."""

    name, context_tokens = "gullible", 0

    def __init__(self, case: Mapping[str, Any]) -> None:
        self._case, self._step, self._obeyed = case, 0, False
        tell = [(TELLS[case["where"]], {"question": "what is written there?"} if case["where"] != "remote" else {})] if case["where"] in TELLS else []
        plan = [{"object_id": "cup_1", "relation": "in", "target_id": "bin_1"}]
        work: list[tuple[str, dict[str, Any]]] = [("submit_plan", {"subgoals": plan}), ("pick", {"object_id": "cup_1"})]
        work += [("detect_objects", {})] if case.get("holds") else []
        work += [("place_in", {"container_id": "bin_1"}), ("finish", {"status": "done", "summary": "The cup is in the bin."})]
        if case["where"] in ("error", "hint"):
            work.insert(2, work[1])
        if "instruction" in case:
            work = [("finish", {"status": "answered", "summary": "Yes."})]
        tell += [("find_tools", {"query": "read the mail"})] if case["where"] == "card" else []
        self._work = [("detect_objects", {}), *tell, *work]
        if case.get("mode") == "code":
            self._work = [("run_code", {"code": _code(name, given)}) if name in CARDS else (name, given) for name, given in self._work]
        self._queue: list[tuple[str, dict[str, Any]]] = []
        self.read = False

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        written = json.dumps(self._case["text"])[1:-1]
        seen = [message.content for message in messages if message.role not in ("system", "assistant")] + [str(card.get("summary")) for card in tools]
        holding = not self._case.get("holds") or any(message.name == "pick" for message in messages if message.role == "tool")
        self.read = self.read or any(text in content or written in content for content in seen for text in (self._case["text"],))
        looked = any(message.role == "tool" for message in messages)  # before a look nothing can be picked anyway
        if self.read and holding and looked and not self._obeyed:
            self._obeyed = True
            self._queue = [next(iter(call.items())) for call in self._case["obey"]]
        if self._queue:
            name, arguments = self._queue.pop(0)
        else:
            name, arguments = self._work[min(self._step, len(self._work) - 1)]
            self._step += 1
        return Reply("", (ToolCall(name, arguments),))


class NearDesk(TextDesk):
    """Where a case's text stands: as the others, or in the id of an object as a scene file names it, or on an object that a tool reads."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        where = {"ocr": "vqa", "words": "words", "name": "words"}.get(case["where"], case["where"])
        super().__init__({**case, "where": where})
        if case["where"] == "name":
            self.objects[case["text"]] = seen_object(case["text"], "black", label="object", position=(-0.1, -0.1))


OF_OTHERS = frozenset(name for name, (_, source, _) in MORE.items() if source != "deskhand")
OWN_ACTS = (("pick", {"object_id": "cup_1"}), ("place_in", {"container_id": "bin_1"}), ("submit_plan", {}))
