"""A brain without a network behind the same Protocol as a language model. Deterministic; keeps nothing between replies."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.agent.controls import FINISH
from deskhand.agent.moves import read_history
from deskhand.errors import DeskhandError
from deskhand.llm.base import SAID, Message, Reply, ToolCall
from deskhand.llm.brevity import whole_object
from deskhand.llm.config import ModelProfile
from deskhand.offline.brain import Brain
from deskhand.offline.script import Call, CallResult


class OfflineModel:
    """Computes its reply from the conversation alone: the script of :class:`Brain` is replayed with the results that the messages hold.

    Where the conversation goes on from the one before, the replay goes on too; what comes out is the same.
    """

    name = "offline"
    obeys_only_the_user = True
    """It reads nothing but the user's words by its grammar; text in results is never an instruction to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replay: _Replay | None = None

    def reply(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None = None) -> Reply:
        """The next call. Raises ``model_failed`` when the conversation is not one that it began."""
        if schema is not None:
            raise DeskhandError("model_failed", "the offline brain answers by tool calls only.", hint="Use a language model where a schema must be filled in.")
        system = next((message.content for message in messages if message.role == "system"), "")
        users = [message.content for message in messages if message.role == "user"]
        instruction = next((text for text in users if not text.startswith(SAID)), "")
        names = {str(card["name"]) for card in tools}
        results = _results(messages)
        with self._lock:
            replay = self._replay
            if replay is None or not replay.continues((instruction, system), results):
                replay = self._replay = _Replay(instruction, system, names)
            try:
                call = replay.go_on(results, names)
            except DeskhandError:
                self._replay = None
                raise
        if call.tool not in replay.offered:
            why = f"I need the tool {call.tool} for this, and it is not offered."
            call = Call(FINISH, {"status": "refused", "summary": why, "code": "unknown_tool"})
        return Reply(call.thought, (ToolCall(call.tool, call.arguments),))


def _results(messages: Sequence[Message]) -> list[tuple[str, tuple[str, ...]]]:
    """Each tool result with what the person said between it and the next reply; words before the first call count with that."""
    results: list[tuple[str, list[str]]] = []
    early: list[str] = []
    for message in messages:
        if message.role == "tool":
            results.append((message.content, early))
            early = []
        elif message.role == "user" and message.content.startswith(SAID):
            (results[-1][1] if results else early).append(message.content.removeprefix(SAID))
    return [(content, tuple(said)) for content, said in results]


class _Replay:
    """A script and the results that it has been given."""

    def __init__(self, instruction: str, system: str, names: set[str]) -> None:
        self._key = instruction, system
        self._names = names
        self._script = Brain(instruction, self._names, read_history(system)).script()
        self._call = next(self._script)
        self._given: list[tuple[str, tuple[str, ...]]] = []

    @property
    def offered(self) -> set[str]:
        """All tools that were offered: what is left out of the list later may be called still."""
        return self._names

    def continues(self, key: tuple[str, str], results: list[tuple[str, tuple[str, ...]]]) -> bool:
        return self._key == key and results[: len(self._given)] == self._given

    def go_on(self, results: list[tuple[str, tuple[str, ...]]], names: set[str]) -> Call:
        self._names |= names
        for content, told in results[len(self._given) :]:
            try:
                self._call = self._script.send(_heard(content, told))
            except StopIteration:
                raise DeskhandError("model_failed", "the task was finished already.") from None
            self._given.append((content, told))
        return self._call


def _heard(content: str, told: tuple[str, ...]) -> CallResult:
    try:
        body = json.loads(content)
    except json.JSONDecodeError as error:
        raise DeskhandError("model_failed", f"a tool result in the conversation is no JSON: {error}.") from error
    data = body.get("data")
    if isinstance(data, dict) and isinstance(data.get("objects"), list):  # as they are sent to a server, which this may stand behind
        data = {**data, "objects": [whole_object(item) if isinstance(item, dict) else item for item in data["objects"]]}
    return CallResult(bool(body.get("ok")), data, str(body.get("code", "")), str(body.get("message", "")), told)


def from_profile(_: ModelProfile) -> OfflineModel:
    """See deskhand.llm.making."""
    return OfflineModel()
