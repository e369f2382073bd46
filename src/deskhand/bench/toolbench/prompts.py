"""What a language model is asked: one message an item, and the JSON that it must answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from deskhand.bench.toolbench.items import Item
from deskhand.bench.toolbench.judge import shown_output
from deskhand.etp.registry import Registry
from deskhand.llm.base import ChatModel, Message

_RULES = (
    "You control a robot arm at a desk by calling tools. You are shown one moment of a task: what somebody said, the calls until now with their results, "
    "and a picture of the desk now. Answer one question about it with JSON and nothing else."
)
_ASKED = {
    "need": 'Must something be found out by a tool before the right answer or the next act is certain? Answer {"need": true} or {"need": false}. '
    'Example: "What colour is the cup?" when a result says that the cup is white: {"need": false}.',
    "selection": 'Which of the tools is to be called now? Answer {"tool": NAME}. Example: {"tool": "move_home"}.',
    "call": 'Call the tool. Answer {"arguments": {…}} that fit its schema. Example: {"arguments": {"object_id": "cup_1"}}.',
    "act": 'What is the next call? Answer {"action": {"tool": NAME, "arguments": {…}}}. Example: {"action": {"tool": "move_home", "arguments": {}}}.',
    "chain": "Which of the tools are to be called, in which order, to reach what is wanted? Name no more than it takes. "
    'Answer {"tools": [NAME, …]}. Example: {"tools": ["detect_objects", "pick"]}.',
}


class Asked:
    """A language model as an answerer; with ``blind`` it is shown no pictures."""

    def __init__(self, model: ChatModel, registry: Registry, folder: Path, blind: bool) -> None:
        self.name = model.name + (" (blind)" if blind else "")
        self._model, self._registry, self._folder, self._blind = model, registry, folder, blind

    def need(self, item: Item) -> dict[str, Any]:
        """See Answerer."""
        return self._ask("need", item, item.history, {"need": {"type": "boolean"}})

    def selection(self, item: Item) -> dict[str, Any]:
        """See Answerer."""
        return self._ask("selection", item, item.history, {"tool": {"enum": list(item.candidates)}}, item.candidates)

    def call(self, item: Item) -> dict[str, Any]:
        """See Answerer."""
        schema = self._registry.get(item.reference["tool"]).card.input_schema
        return self._ask("call", item, item.history, {"arguments": schema}, (item.reference["tool"],))

    def act(self, item: Item, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """See Answerer."""
        shown = [*history[:-1], {**history[-1], "result": shown_output(history[-1]["result"], item.reference["shown"])}]
        action = {"type": "object", "properties": {"tool": {"enum": list(item.candidates)}, "arguments": {"type": "object"}}, "required": ["tool", "arguments"]}
        return self._ask("act", item, shown, {"action": action}, item.candidates)

    def chain(self, item: Item) -> dict[str, Any]:
        """See Answerer."""
        names = {"type": "array", "items": {"enum": list(item.candidates)}}
        return self._ask("chain", item, item.history, {"tools": names}, item.candidates)

    def _ask(self, stage: str, item: Item, history: Sequence[Mapping[str, Any]], fields: dict[str, Any], tools: Sequence[str] = ()) -> dict[str, Any]:
        cards = [self._registry.get(name).card for name in tools]
        told = [f"Tool {card.name}: {card.summary} {card.when_to_use} Limits: {card.limits} Arguments: {json.dumps(card.input_schema)}" for card in cards]
        calls = [json.dumps(turn) for turn in history] or ["none"]
        text = "\n".join([f"Said: {item.say}", "Calls until now:", *calls, *told, _ASKED[stage]])
        pictures = () if self._blind else ((self._folder / item.picture).read_bytes(),)
        schema = {"type": "object", "properties": fields, "required": list(fields)}
        reply = self._model.reply([Message("system", _RULES), Message("user", text, images=pictures)], (), schema)
        try:
            answer = json.loads(reply.text)
        except ValueError:
            return {}
        return answer if isinstance(answer, dict) else {}
