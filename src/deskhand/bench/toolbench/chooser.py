"""Chooses without a language model: the search of the tools, what cards need and give, and values read from the instruction and the history.

It sees what a model would see of an item and nothing else; it never sees pictures.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from deskhand.bench.toolbench.choices import names_side
from deskhand.bench.toolbench.items import Item
from deskhand.bench.toolbench.knowing import FELT, UNSEEN, what_tells
from deskhand.bench.toolbench.reading import (
    arguments_of,
    asks_act,
    asks_only,
    asks_told,
    described,
    named_in,
    names_unseen,
    supposed,
    told_of,
    unmeasured,
    values_in,
    without_values,
)
from deskhand.etp.card import Card
from deskhand.etp.predicates import parsed
from deskhand.etp.registry import Registry
from deskhand.language.attributes import attributes_in, is_about_unseen

_OF_OBJECTS = re.compile(r"(object|target|container)_ids?|removed|others")
_FIRST = 5  # tools of the search that may be what is wanted
_VOTERS, _SOFT, _MOST = 10, 0.06, 0.35  # nearest tools that say what is asked for; score by which one counts e times as much; share that it takes
_SURELY = 0.8  # share of a kind from which on it counts against an act that is read
_MEASURING = ("active_perception", "force_and_compliance", "physical_and_contact_state", "depth_and_3d_geometry")
_AS_GOOD = 0.85  # of the best score
_TAKES = 0.4  # of the search's score, for taking what the words give
_SIDED = 0.35  # of the search's score, for taking the side that is named
_PLACES, _AMOUNTS = {"x", "y", "position", "point", "points", "pixel", "waypoints"}, {"distance", "direction", "joints", "length", "width"}
_ASKED = 0.25  # of the search's score, for acting where the words only ask what would be
_LEFT = 0.15  # of the search's score, for each object of the words that it does not take
_WORDS, _MANY = {"text", "words", "phrase", "phrases", "what", "question", "instruction"}, 9


class Chooser:
    """The policy; ``name`` as it stands in tables."""

    name = "chooser"

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def need(self, item: Item) -> dict[str, Any]:
        """Needed where what the words are about holds in no result: there was no look; it is an object or a place that no look has shown, nobody having looked
        from elsewhere; it is something of an object that no picture tells and that was not measured. Not needed for handling what is seen, and for what the
        look tells of every object. Else what was learned of such words says so, or, without a sentence model, the nearest tools together.
        """
        called = {turn["tool"] for turn in item.history if "result" in turn}
        if not any(self._gives(name, "scene_known") for name in called):
            return {"need": True}
        if unmeasured(item.say, item.history):
            return {"need": True}
        if names_unseen(item.say, item.history) or (is_about_unseen(item.say) and not attributes_in(item.say)):
            return {"need": not any(self._looks_elsewhere(self._registry.get(name).card) for name in called)}
        kinds = what_tells(item.say)
        if attributes_in(item.say) or asks_told(item.say, item.history) or (asks_act(item.say) and kinds.get(UNSEEN, 0.0) < _SURELY):
            return {"need": False}
        if kinds:
            return {"need": self._is_untold(max(kinds, key=lambda kind: kinds[kind]), item)}
        searched = self._searched(item.say)
        nearest = [name for name in sorted(searched, key=lambda name: -searched[name]) if self._registry.get(name).card.mode == "on_demand"][:_VOTERS]
        finding = [name for name in nearest if self._finds_out(self._registry.get(name).card)]
        if called & set(finding):
            return {"need": False}
        votes = {name: math.exp((searched[name] - searched[nearest[0]]) / _SOFT) for name in nearest}
        return {"need": sum(votes[name] for name in finding) > _MOST * sum(votes.values())}

    def _is_untold(self, kind: str, item: Item) -> bool:
        """Whether no call told yet what words of a kind of :mod:`deskhand.bench.toolbench.knowing` are about."""
        cards = [(turn, self._registry.get(turn["tool"]).card) for turn in item.history if "result" in turn]
        if kind == UNSEEN:
            return not any(self._looks_elsewhere(card) for _, card in cards)
        return kind == FELT and not named_in(item.say, item.history) <= {told_of(turn) for turn, card in cards if self._finds_out(card)}

    def _looks_elsewhere(self, card: Card) -> bool:
        """Whether a tool sees what a look from one place does not."""
        return card.unit == "active_perception" and "camera" in card.needs and "scene_known" in {parsed(text)[0] for text in card.postconditions}

    def _finds_out(self, card: Card) -> bool:
        """Whether a tool measures what the look that was taken does not tell: it goes and looks from elsewhere, or feels."""
        return card.unit in _MEASURING and bool({"arm", "camera"} & set(card.needs))

    def selection(self, item: Item) -> dict[str, Any]:
        """The candidate that is wanted, or that makes it possible."""
        return {"tool": self._next(item.say, item.history, item.candidates)}

    def call(self, item: Item) -> dict[str, Any]:
        """The arguments of the designated tool."""
        return {"arguments": arguments_of(self._registry.get(item.reference["tool"]).card, item.say, item.history)}

    def act(self, item: Item, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The next call after the history with the designated call."""
        tool = self._next(item.say, history, item.candidates)
        return {"action": {"tool": tool, "arguments": arguments_of(self._registry.get(tool).card, item.say, history)}}

    def chain(self, item: Item) -> dict[str, Any]:
        """The candidate that is wanted most, and before it what gives it what it needs."""
        holds = self._holds(item.history)
        scores = {name: score for name, score in self._scores(item.say).items() if name in item.candidates}
        order = sorted(scores, key=lambda name: -scores[name]) + sorted(set(item.candidates) - set(scores))
        ways = {name: self._way(name, item.candidates, holds, order, ()) for name in order}
        possible = [name for name in order if ways[name] is not None]
        if not possible:
            return {"tools": order[:1]}
        best = scores.get(possible[0], 0.0)
        near = [way for name in possible if (way := ways[name]) is not None and scores.get(name, -1.0) >= _AS_GOOD * best]
        chain = max(near or [[possible[0]]], key=len)  # of what is meant as likely, that which takes the rest along
        return {"tools": chain + self._made_for(chain[-1], order)}

    def _made_for(self, name: str, candidates: Sequence[str]) -> list[str]:
        """The candidate that a result of ``name`` is made for: a map to be asked, a plan to be carried out; one at most."""
        made = {need for need in self._given(name) if need.startswith("data:")}
        needs = {other: {lack for lack in self._lacking(other, set()) if lack.startswith("data:")} for other in candidates if other != name}
        takes = [other for other, wanted in needs.items() if wanted and wanted <= made]
        return sorted(takes, key=lambda other: -len(set(other.split("_")) & set(name.split("_")) - {"map"}))[:1]

    # ------------------------------------------------------------ what is wanted, and what serves it

    def _ranked(self, say: str) -> list[str]:
        scores = self._scores(say)
        return sorted(scores, key=lambda name: -scores[name]) or ["detect_objects"]

    def _scores(self, say: str) -> dict[str, float]:
        """Tools that answer at once, by what the search says and by whether they take what the words give: a place in numbers, or none; so many objects."""
        values, objects = values_in(say, ()), len(described(say))
        scores, asks, supposes = {}, asks_only(say), supposed(say)
        for name, score in self._searched(say).items():
            card = self._registry.get(name).card
            if card.mode == "on_demand":
                acts = card.effects == "motion" and card.group == "execution"
                score -= _ASKED * (acts and (supposes or (asks and not self._finds_out(card))))
                fields = card.input_schema
                takes = _PLACES & set(fields.get("properties", {}))
                without = [name for name in fields.get("required", []) if name in _PLACES | _AMOUNTS and name not in values]
                given = bool(takes & set(values))
                score += _SIDED * names_side(card, say)
                score += _TAKES * given - _TAKES * (bool(_PLACES & set(values)) and not given) - 2 * _TAKES * bool(without)
                scores[name] = score - _LEFT * max(0, objects - self._objects_taken(card))
        return scores

    def _searched(self, say: str) -> dict[str, float]:
        """What the search says of the words, and of the words without what tells which objects, places and amounts are meant, in the mean."""
        each = [{hit.name: hit.score for hit in self._registry.search(text)} for text in (say, without_values(say))]
        return {name: sum(scores.get(name, 0.0) for scores in each) / len(each) for name in each[0] | each[1]}

    def _objects_taken(self, card: Card) -> int:
        """How many objects a tool can be told of: by ids, by words, and the one that is held."""
        fields = set(card.input_schema.get("properties", {}))
        holds = any(parsed(text)[0] == "holding" for text in card.preconditions)
        if fields & _WORDS or any(field.endswith("_ids") for field in fields):
            return _MANY
        return sum(bool(_OF_OBJECTS.fullmatch(field)) for field in fields) + holds

    def _next(self, say: str, history: Sequence[Mapping[str, Any]], candidates: Sequence[str]) -> str:
        holds, ranked = self._holds(history), self._ranked(say)
        able = [name for name in candidates if not self._lacking(name, holds)]
        order = [name for name in ranked if name in candidates] + list(candidates)
        if history and (use := [name for name in self._made_for(history[-1]["tool"], order) if name in able]):
            return use[0]
        for wanted in ranked[:_FIRST]:
            if wanted in able and not self._repeated(wanted, history):
                return wanted
            for lack in self._lacking(wanted, holds):
                for name in order:
                    if name in able and name != wanted and self._serves(name, lack):
                        return name
        return next((name for name in order if name in able and not self._repeated(name, history)), order[0])

    def _repeated(self, name: str, history: Sequence[Mapping[str, Any]]) -> bool:
        return bool(history) and history[-1]["tool"] == name and "result" in history[-1]

    def _way(self, wanted: str, candidates: Sequence[str], holds: set[str], order: Sequence[str], asked: tuple[str, ...]) -> list[str] | None:
        """The calls that end with ``wanted``; None where something that it needs is given by no candidate."""
        chain: list[str] = []
        for lack in self._lacking(wanted, holds):
            given = {text for name in chain for text in self._given(name)}
            if lack in given:
                continue
            serving = [name for name in order if name not in asked and name != wanted and self._serves(name, lack) and lack not in self._lacking(name, holds)]
            ways = [way for name in serving if (way := self._way(name, candidates, holds, order, (*asked, wanted))) is not None]
            if not ways:
                return None
            chain += [each for each in min(ways, key=len) if each not in chain]
        return [*chain, wanted]

    def _lacking(self, name: str, holds: set[str]) -> list[str]:
        """Predicates, and results of other tools (``data:FIELD``), that a tool needs and that are not there."""
        card = self._registry.get(name).card
        needs = [parsed(text)[0] for text in card.preconditions]
        needs += ["scene_known" for field in card.input_schema.get("required", []) if _OF_OBJECTS.fullmatch(field)]
        needs += [f"data:{field}" for field in card.input_schema.get("required", []) if field.endswith(("_uri", "plan_id", "appearance"))]
        known = ("not_stopped", "object_known", "not_holding") if "holding" not in holds else ("not_stopped", "object_known")
        return [need for need in dict.fromkeys(needs) if need not in holds and need not in known]

    def _serves(self, name: str, lack: str) -> bool:
        if lack.startswith("data:"):
            field = lack.removeprefix("data:")
            return bool({field, field.removesuffix("_uri")} & set(self._registry.get(name).card.output_schema.get("properties", {})))
        return self._gives(name, lack)

    def _given(self, name: str) -> set[str]:
        card = self._registry.get(name).card
        fields = card.output_schema.get("properties", {})
        return {parsed(text)[0] for text in card.postconditions} | {f"data:{field}" for field in fields} | {f"data:{field}_uri" for field in fields}

    def _gives(self, name: str, predicate: str) -> bool:
        return any(parsed(text)[0] == predicate for text in self._registry.get(name).card.postconditions)

    def _holds(self, history: Sequence[Mapping[str, Any]]) -> set[str]:
        """What holds after the calls of a history, by their cards."""
        holds: set[str] = set()
        for turn in history:
            if "result" in turn:
                given = self._given(turn["tool"])
                holds = (holds - {"holding" if "not_holding" in given else "not_holding"} if given & {"holding", "not_holding"} else holds) | given
        return holds
